package workload

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	extensionsv1beta1 "k8s.io/api/extensions/v1beta1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1beta1 "k8s.io/api/policy/v1beta1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	resourcev1alpha3 "k8s.io/api/resource/v1alpha3"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1beta1 "k8s.io/api/storagemigration/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/schedlint/schedlint/lint/source"
)

// loadSet reads manifests as the linter does, without the fields that are never read.
func loadSet(t testing.TB, text string) *Set {
	t.Helper()
	dir, table := t.TempDir(), NewTable()
	set, err := source.Load(source.Options{Dir: dir, Root: dir, Stdin: strings.NewReader(text), Keep: table.Read, Drop: Unread}, []string{"-"})
	if err != nil || len(set.Problems) > 0 {
		t.Fatalf("reading the manifests: %v %+v\n%s", err, set.Problems, text)
	}
	return Load(table, set.Objects)
}

// kindFixture holds the expectations for the manifest of one kind.
type kindFixture struct {
	name, count, labels string
	// shared are the labels with an unknown value that the controller adds equally to all pods.
	// perPod are the added labels with a different value for each pod.
	shared, perPod string
	template       string // the line on which the template starts
}

const (
	podsOfMachine = "kubevirt.io/created-by vm.kubevirt.io/name vmi.kubevirt.io/id"
	uidOfJob      = "batch.kubernetes.io/controller-uid controller-uid"
	indexOfJob    = "batch.kubernetes.io/job-completion-index"
)

// kindFixtures has a row for every row of the table of kinds. The manifests are in fixtures/kinds.
var kindFixtures = map[string]kindFixture{
	"Pod":                              {name: "Pod tools/probe", count: "1", labels: "app=probe", template: "2"},
	"Deployment":                       {name: "Deployment store/shop", count: "4 at line 8", labels: "app=shop tier=front", shared: "pod-template-hash", template: "13"},
	"ReplicaSet":                       {name: "ReplicaSet cache", count: "2 at line 7", labels: "app=cache", template: "12"},
	"ReplicationController":            {name: "ReplicationController old/legacy", count: "2 at line 8", labels: "app=legacy", template: "10"},
	"StatefulSet":                      {name: "StatefulSet store/ledger", count: "3 at line 8", labels: "app=ledger", shared: "controller-revision-hash", perPod: "apps.kubernetes.io/pod-index statefulset.kubernetes.io/pod-name", template: "14"},
	"DaemonSet":                        {name: "DaemonSet tools/collector", count: "unknown (one pod a node)", labels: "app=collector", shared: "controller-revision-hash pod-template-generation", template: "12"},
	"Rollout":                          {name: "Rollout store/basket", count: "3 at line 8", labels: "app=basket", shared: "rollouts-pod-template-hash", template: "17"},
	"Job":                              {name: "Job store/import", count: "2 at line 10", labels: "app=import batch.kubernetes.io/job-name=import job-name=import", shared: uidOfJob, perPod: indexOfJob, template: "12"},
	"CronJob":                          {name: "CronJob store/report", count: "1 (parallelism is 1 by default)", labels: "app=report", shared: "batch.kubernetes.io/controller-uid batch.kubernetes.io/job-name controller-uid job-name", template: "13"},
	"VirtualMachine":                   {name: "VirtualMachine lab/desk", count: "1", labels: "app=desk kubevirt.io=virt-launcher", perPod: podsOfMachine, template: "12"},
	"VirtualMachineInstance":           {name: "VirtualMachineInstance lab/probe-machine", count: "1", labels: "app=probe-machine kubevirt.io=virt-launcher", perPod: podsOfMachine, template: "2"},
	"VirtualMachineInstanceReplicaSet": {name: "VirtualMachineInstanceReplicaSet lab/runners", count: "3 at line 8", labels: "app=runners kubevirt.io=virt-launcher", perPod: podsOfMachine, template: "13"},
	"VirtualMachinePool":               {name: "VirtualMachinePool lab/desks", count: "2 at line 8", labels: "app=desks kubevirt.io=virt-launcher", shared: "kubevirt.io/vm-pool-revision-name", perPod: podsOfMachine, template: "19"},
}

func describeCount(c Count) string {
	s := "unknown"
	if c.Known {
		s = fmt.Sprint(c.N)
	}
	if c.Key != nil {
		return fmt.Sprintf("%s at line %d", s, c.Key.Line)
	}
	if c.Why != "" {
		s += " (" + c.Why + ")"
	}
	return s
}

func describeLabels(labels map[string]string) string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		all = append(all, k+"="+labels[k])
	}
	return strings.Join(all, " ")
}

func describeAdded(w *Workload, perPod bool) string {
	var all []string
	for _, k := range slices.Concat(w.Kind.Shared, w.Kind.PerPod) {
		if added, differs := w.Added(k); added && differs == perPod {
			all = append(all, k)
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestKinds reads the manifest of every kind.
func TestKinds(t *testing.T) {
	for _, kind := range ownKinds() {
		t.Run(kind.Kind, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "..", "fixtures", "kinds", strings.ToLower(kind.Kind)+".yaml"))
			if err != nil {
				t.Fatal(err)
			}
			set := loadSet(t, string(text))
			if len(set.Workloads) != 1 || len(set.Skipped)+len(set.NotJudged)+set.Others > 0 {
				t.Fatalf("got %+v", set)
			}
			w := set.Workloads[0]
			got := kindFixture{
				name: w.String(), count: describeCount(w.Count), labels: describeLabels(w.Labels),
				shared: describeAdded(w, false), perPod: describeAdded(w, true), template: fmt.Sprint(w.TemplateNode.Line),
			}
			if want := kindFixtures[kind.Kind]; got != want {
				t.Errorf("\n got %+v\nwant %+v", got, want)
			}
			if w.SpecNode == nil || w.Kind.Kind != kind.Kind || w.Refused() || len(w.Unknown)+len(w.Open) > 0 || w.Running || w.Terminating() {
				t.Errorf("got %+v", w)
			}
			if ns, _, ok := strings.Cut(strings.Fields(got.name)[1], "/"); ok && w.Namespace() != ns || !ok && w.Namespace() != "" {
				t.Errorf("namespace %q", w.Namespace())
			}
		})
	}
}

// TestKindsHaveFixtures keeps the table of kinds and the fixtures consistent.
func TestKindsHaveFixtures(t *testing.T) {
	var want, got []string
	for _, kind := range ownKinds() {
		want = append(want, strings.ToLower(kind.Kind)+".yaml")
	}
	entries, err := os.ReadDir(filepath.Join("..", "..", "fixtures", "kinds"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		got = append(got, e.Name())
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("fixtures/kinds has\n%s\nthe table of kinds needs\n%s", got, want)
	}
	if len(kindFixtures) != len(want) {
		t.Errorf("%d expectations for %d kinds", len(kindFixtures), len(want))
	}
}

func TestTable(t *testing.T) {
	table := NewTable()
	for _, row := range []struct {
		apiVersion, kind string
		found, relevant  bool
	}{
		{"apps/v1", "Deployment", true, true},
		{"apps/v1beta2", "Deployment", true, true},
		{"extensions/v1beta1", "Deployment", false, true},
		{"v1", "Deployment", false, true},
		{"v1", "Pod", true, true},
		{"", "Pod", true, true},
		{"apps.kruise.io/v1beta1", "StatefulSet", false, true},
		{"kubevirt.io/v1alpha3", "VirtualMachine", true, true},
		{"v1", "Service", false, false},
		{"serving.knative.dev/v1", "Service", false, true},
		{"v1", "ConfigMap", false, false},
		{"v1", "Node", false, true},
		{"v1", "Namespace", false, true},
		{"autoscaling/v2", "HorizontalPodAutoscaler", false, true},
		{"example.com/v1", "Anything", false, true},
	} {
		if found := table.Find(row.apiVersion, row.kind) != nil; found != row.found {
			t.Errorf("%s %s: found %t", row.apiVersion, row.kind, found)
		}
		if relevant := table.Relevant(row.apiVersion, row.kind); relevant != row.relevant {
			t.Errorf("%s %s: relevant %t", row.apiVersion, row.kind, relevant)
		}
	}
	for _, kind := range ownKinds() {
		if !table.Relevant(kind.Group+"/v1", kind.Kind) {
			t.Errorf("%s is passed over", kind.Kind)
		}
		for _, field := range slices.Concat(kind.Template, []string{"spec", "containers", "affinity", "labels", "metadata", "selector", "resources", "ports"}) {
			if Unread(field) {
				t.Errorf("%s: %s is not read", kind.Kind, field)
			}
		}
	}
}

func inWorkload(replicas string) string {
	return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  " + replicas + "\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}\n"
}

func inJob(fields string) string {
	return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  " + fields + "\n  template: {spec: {containers: [{name: c}]}}\n"
}

func inCronJob(outer, inner string) string {
	return "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  " + outer + "\n  jobTemplate:\n    spec:\n      " + inner + "\n      template: {spec: {containers: [{name: c}]}}\n"
}

func inVM(fields string) string {
	return "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\nspec:\n  " + fields + "\n  template: {spec: {domain: {}}}\n"
}

// counts has the pod counts for every form of manifest.
var counts = []struct{ text, want string }{
	{inWorkload("replicas: 3"), "3 at line 5"},
	{inWorkload("replicas: 0"), "0 at line 5"},
	{inWorkload("replicas: 3.0"), "3 at line 5"},
	{inWorkload("replicas: 0x10"), "16 at line 5"},
	{inWorkload(""), "1 (replicas is 1 by default)"},
	{inWorkload("replicas: null"), "1 (replicas is 1 by default)"},
	{inWorkload("replicas:"), "1 (replicas is 1 by default)"},
	{inWorkload("replicas: ${N}"), "unknown at line 5"},
	{inWorkload("replicas: '{{ .Values.replicas }}'"), "unknown at line 5"},
	{inWorkload("replicas: -1"), "unknown at line 5"},
	{inWorkload("replicas: 1.5"), "unknown at line 5"},
	{inWorkload("replicas: '3'"), "unknown at line 5"},
	{inWorkload("replicas: 3000000000"), "unknown at line 5"},
	{inWorkload("replicas: [3]"), "unknown at line 5"},

	{inJob(""), "1 (parallelism is 1 by default)"},
	{inJob("completions: 5"), "1 (parallelism is 1 by default)"},
	{inJob("parallelism: 5"), "5 at line 5"},
	{inJob("parallelism: 0"), "0 at line 5"},
	{inJob("parallelism: 5\n  completions: 3"), "3 at line 6"},
	{inJob("parallelism: 3\n  completions: 5"), "3 at line 5"},
	{inJob("parallelism: 3\n  completions: null"), "3 at line 5"},
	{inJob("parallelism: ${N}\n  completions: 5"), "unknown at line 5"},
	{inJob("parallelism: 5\n  completions: ${N}"), "unknown at line 6"},
	{inJob("suspend: true\n  parallelism: 5"), "0 at line 5"},
	{inJob("suspend: yes"), "0 at line 5"},
	{inJob("suspend: false\n  parallelism: 5"), "5 at line 6"},
	{inJob("suspend: 'true'\n  parallelism: 5"), "5 at line 6"},
	{inJob("suspend: ${OFF}"), "unknown at line 5"},

	{inCronJob("schedule: x", ""), "1 (parallelism is 1 by default)"},
	{inCronJob("schedule: x", "parallelism: 4"), "4 at line 8"},
	{inCronJob("suspend: true", "parallelism: 4"), "0 at line 5"},
	{inCronJob("schedule: x", "suspend: on"), "0 at line 8"},

	{inVM("runStrategy: Always"), "1"},
	{inVM("runStrategy: RerunOnFailure"), "1"},
	{inVM("runStrategy: Manual"), "1"},
	{inVM("runStrategy: Halted"), "0 at line 5"},
	{inVM("runStrategy: ${STRATEGY}"), "unknown at line 5"},
	{inVM("running: true"), "1"},
	{inVM("running: false"), "0 at line 5"},
	{inVM("running: no"), "0 at line 5"},
	{inVM("running: ${ON}"), "unknown at line 5"},
	{inVM(""), "1"},
}

// TestCounts checks pod counts, and the field that sets each count.
func TestCounts(t *testing.T) {
	for _, row := range counts {
		set := loadSet(t, row.text)
		if len(set.Workloads) != 1 {
			t.Errorf("%d workloads in\n%s", len(set.Workloads), row.text)
		} else if got := describeCount(set.Workloads[0].Count); got != row.want {
			t.Errorf("got %s, want %s\n%s", got, row.want, row.text)
		}
	}
}

// TestCountSpan checks that the location is that of the count, or that of the name if a default
// applies.
func TestCountSpan(t *testing.T) {
	for text, want := range map[string]int{"replicas: 3": 5, "paused: true": 3} {
		w := loadSet(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  "+text+"\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}\n").Workloads[0]
		if got := w.CountSpan(); got.Line != want {
			t.Errorf("%s: on line %d, want %d", text, got.Line, want)
		}
	}
}

// TestBuiltinKinds checks that the table has all kinds and groups of this Kubernetes release.
func TestBuiltinKinds(t *testing.T) {
	scheme := runtime.NewScheme()
	var errs []error
	for _, add := range []func(*runtime.Scheme) error{
		admissionv1.AddToScheme, admissionregistrationv1.AddToScheme, apidiscoveryv2.AddToScheme, apiserverinternalv1alpha1.AddToScheme, appsv1.AddToScheme,
		appsv1beta1.AddToScheme, authenticationv1.AddToScheme, authorizationv1.AddToScheme, autoscalingv1.AddToScheme, batchv1.AddToScheme, certificatesv1.AddToScheme,
		certificatesv1beta1.AddToScheme, coordinationv1beta1.AddToScheme, corev1.AddToScheme, discoveryv1.AddToScheme, eventsv1.AddToScheme, extensionsv1beta1.AddToScheme,
		flowcontrolv1.AddToScheme, imagepolicyv1alpha1.AddToScheme, networkingv1.AddToScheme, nodev1.AddToScheme, policyv1beta1.AddToScheme, rbacv1.AddToScheme,
		resourcev1.AddToScheme, resourcev1alpha3.AddToScheme, schedulingv1.AddToScheme, schedulingv1alpha2.AddToScheme, storagev1.AddToScheme, storagemigrationv1beta1.AddToScheme,
	} {
		errs = append(errs, add(scheme))
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for known := range scheme.AllKnownTypes() {
		if known.Version == runtime.APIVersionInternal || strings.HasSuffix(known.Kind, "List") || strings.HasSuffix(known.Kind, "Options") && known.Group != "" || known.Kind == "WatchEvent" {
			continue
		}
		// The kinds of request options are in every group.
		if kinds := strings.Fields(builtin[known.Group]); !slices.Contains(kinds, known.Kind) && !slices.Contains([]string{"CreateOptions", "GetOptions", "ListOptions", "PatchOptions", "UpdateOptions"}, known.Kind) {
			t.Errorf("%s is missing in %q", known.Kind, known.Group)
		}
	}
	for group, kinds := range builtin {
		if !slices.IsSorted(strings.Fields(strings.ToLower(kinds))) {
			t.Errorf("the kinds of %s are not in order", group)
		}
	}
}

// TestKindMeant checks that misspelled kinds are found, and that kinds of other projects are
// accepted.
func TestKindMeant(t *testing.T) {
	const body = "\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: c}]}}}\n"
	for object, want := range map[string]string{
		"apps/v1 Deploymnt": "Deployment", "apps/v1 Deployments": "Deployment", "apps/v1 deployment": "Deployment", "apps/v1 Depolyment": "Deployment",
		"apps/v1 Statefulset": "StatefulSet", "apps/v1beta1 StatefullSets": "StatefulSet", "apps/v1 DaemonSets": "DaemonSet", "v1 Pods": "Pod", "v1 POD": "Pod", "v1 Nod": "Node",
		"v1 Endpoint": "Endpoints", "v1 Configmap": "ConfigMap", "v1 Sercet": "Secret", "batch/v1 Cronjob": "CronJob", "batch/v1beta1 CronJobs": "CronJob", "batch/v1 Jobs": "Job",
		"networking.k8s.io/v1 NetworkPolicies": "NetworkPolicy", "networking.k8s.io/v1 Ingresses": "Ingress", "networking.k8s.io/v1 ingresses": "Ingress", "policy/v1 PodDisruptionBudgets": "PodDisruptionBudget",
		"policy/v1 PodDistruptionBudget": "PodDisruptionBudget", "autoscaling/v2 HorizontalPodAutoScaler": "HorizontalPodAutoscaler", "rbac.authorization.k8s.io/v1 Roles": "Role",
		"storage.k8s.io/v1 Storageclass": "StorageClass", "scheduling.k8s.io/v1 PriorityClasses": "PriorityClass", "extensions/v1beta1 Ingres": "Ingress",

		"apps/v1 PetSet": "", "apps/v1 DeploymentList": "", "apps/v1 Deploment4You": "", "apps/v1 Application": "", "v1 List": "", "v1 PodsList": "", "v1 Config": "", "v1 Template": "",
		"v1 Route": "", "v1 DeploymentConfig": "", "v1 BuildConfig": "", "v1 ImageStream": "", "v1 Role": "", "v1 Job": "", "v1 Log": "", "v1 Pool": "", "v1 Deployment": "", "v2 Pods": "",
		"batch.volcano.sh/v1alpha1 Jobs": "", "apps.example.com/v1 Deploymnt": "", "gateway.networking.k8s.io/v1 Ingresses": "", "metrics.k8s.io/v1beta1 Pods": "", "batch/v1 JobSet": "",
		"autoscaling.k8s.io/v1 HorizontalPodAutoscalers": "", "policy/v1 PodSecurityPolicy": "", "scheduling.k8s.io/v1alpha1 PodGroup": "", "extensions/v1beta1 ThirdPartyResource": "",
	} {
		version, kind, _ := strings.Cut(object, " ")
		set := loadSet(t, "apiVersion: "+version+"\nkind: "+kind+body)
		got := ""
		for _, r := range set.Refusals {
			got += strings.TrimPrefix(r.Problems[0].Fix, "write kind: ")
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", object, got, want)
		}
	}
	if set := loadSet(t, "apiVersion: v1\nkind: pods\nspec: {a: b}\n"); len(set.Refusals) > 0 {
		t.Error("what has no metadata is an object")
	}
}
