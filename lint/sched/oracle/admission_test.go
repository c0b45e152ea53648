package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/workload"
)

// admitted makes a pod pass the plugins LimitRanger and RuntimeClass and the API server's validation.
// The class may be nil.
func admitted(draft *corev1.Pod, limits []*corev1.LimitRange, class *nodev1.RuntimeClass) (*core.Pod, error) {
	legacyscheme.Scheme.Default(draft)
	pod := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(draft, pod, nil); err != nil {
		return nil, err
	}
	attributes := admission.NewAttributesRecord(pod, nil, core.Kind("Pod").WithVersion("v1"), pod.Namespace, pod.Name,
		core.Resource("pods").WithVersion("v1"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
	plugin, factory := runtimeclass.NewRuntimeClass(), informers.NewSharedInformerFactory(nil, 0)
	plugin.SetExternalKubeInformerFactory(factory)
	plugin.SetExternalKubeClientSet(fake.NewClientset())
	if class != nil {
		if err := factory.Node().V1().RuntimeClasses().Informer().GetStore().Add(class); err != nil {
			return nil, err
		}
	}
	for _, r := range limits {
		if err := limitranger.PodMutateLimitFunc(r, pod); err != nil {
			return nil, err
		}
	}
	if err := plugin.Admit(context.Background(), attributes, nil); err != nil {
		return nil, err
	}
	if err := admit(pod, schema.GroupKind{Kind: "Pod"}); err != nil {
		return nil, err
	}
	for _, r := range limits {
		if err := limitranger.PodValidateLimitFunc(r, pod); err != nil {
			return nil, err
		}
	}
	return pod, plugin.Validate(context.Background(), attributes, nil)
}

// TestAdmission holds what schedlint reads from LimitRanges and RuntimeClasses against the admission
// plugins. Where schedlint gives no verdict, nothing is compared.
func TestAdmission(t *testing.T) {
	decided, changed, rejected := 0, 0, 0
	for i := range trials.Seeds(t, trials.Of(t, 3000)) {
		r := rand.New(rand.NewPCG(uint64(i), 91))
		chance := func(percent int) bool { return r.IntN(100) < percent }
		amount := func(name string) string {
			switch name {
			case "memory":
				return fmt.Sprintf("%dMi", 64<<r.IntN(4))
			case "example.com/dongle":
				return fmt.Sprint(1 + r.IntN(2))
			}
			return fmt.Sprintf("%dm", 250*(1+r.IntN(6)))
		}
		list := func(percent int) string {
			var all []string
			for _, name := range []string{"cpu", "memory", "ephemeral-storage", "example.com/dongle"} {
				if share := percent; name == "cpu" && chance(share) || chance(share/4) {
					all = append(all, fmt.Sprintf("%s: %q", name, amount(name)))
				}
			}
			return "{" + strings.Join(all, ", ") + "}"
		}
		manifests, class := "", ""
		var limits []string
		for chance([]int{80, 15, 0}[len(limits)]) {
			items := ""
			for _, kind := range []string{"Container", "Pod", "Container"}[:1+r.IntN(100)/70+r.IntN(100)/95] {
				item := "{type: " + kind
				for _, field := range []string{"default", "defaultRequest", "min", "max", "maxLimitRequestRatio"} {
					if most := map[string]int{"maxLimitRequestRatio": 5}[field]; kind == "Container" && chance(cmp.Or(most, 35)) || chance(8) {
						item += ", " + field + ": " + list(70)
					}
				}
				items += "- " + item + "}\n"
			}
			limits = append(limits, fmt.Sprintf("apiVersion: v1\nkind: LimitRange\nmetadata: {name: l%d, namespace: d}\nspec:\n  limits:\n%s", len(limits), indent(items)))
			manifests += limits[len(limits)-1] + "\n---\n"
		}
		named := ""
		if chance(50) {
			if chance(85) {
				named = "runtimeClassName: kata, "
			}
			class = "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: kata}\nhandler: kata\n"
			if chance(50) {
				class += "overhead: {podFixed: {cpu: 250m}}\n"
			}
			if chance(60) {
				class += "scheduling: {nodeSelector: {kata: 'yes'}, tolerations: [{key: kata, operator: Exists}]}\n"
			}
			manifests += class + "\n---\n"
		}
		if chance(15) {
			named += "nodeSelector: {kata: '" + []string{"yes", "no"}[r.IntN(2)] + "'}, "
		}
		if chance(5) {
			named += "overhead: {cpu: 250m}, "
		}
		container := func(name string) string {
			text := "{name: " + name + ", image: c"
			if chance(60) {
				text += ", resources: {requests: " + list(50) + ", limits: " + list(35) + "}"
			}
			return text + "}"
		}
		spec := "{" + named
		if chance(25) {
			spec += "initContainers: [" + container("i") + "], "
		}
		spec += "containers: [" + container("c")
		if chance(30) {
			spec += ", " + container("d")
		}
		spec += "]}"
		manifests += "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, namespace: d}\nspec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: " + spec + "}}\n"

		ours, err := NewOurs("", manifests)
		if err != nil {
			t.Fatal(err)
		}
		w := ours.Workloads["ReplicaSet d/web"]
		rejects := slices.ContainsFunc(w.Problems, func(p workload.Problem) bool { return p.Stage == workload.StageLimits })
		if w.Refused() && !rejects || w.Admission != "" || w.OpenClass() {
			continue
		}
		decided++
		draft := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "d"}}
		if err := yaml.Unmarshal([]byte(spec), &draft.Spec); err != nil {
			t.Fatal(err)
		}
		var limitRanges []*corev1.LimitRange
		for _, text := range limits {
			r := &corev1.LimitRange{}
			if err := yaml.Unmarshal([]byte(text), r); err != nil {
				t.Fatal(err)
			}
			legacyscheme.Scheme.Default(r)
			internal := &core.LimitRange{}
			if err := legacyscheme.Scheme.Convert(r, internal, nil); err != nil {
				t.Fatal(err)
			}
			if len(validation.ValidateLimitRange(internal)) == 0 { // otherwise it never gets into the cluster
				limitRanges = append(limitRanges, r)
			}
		}
		r.Shuffle(len(limitRanges), func(i, j int) { limitRanges[i], limitRanges[j] = limitRanges[j], limitRanges[i] })
		var runtimeClass *nodev1.RuntimeClass
		if class != "" {
			runtimeClass = &nodev1.RuntimeClass{}
			if err := yaml.Unmarshal([]byte(class), runtimeClass); err != nil {
				t.Fatal(err)
			}
		}
		pod, err := admitted(draft, limitRanges, runtimeClass)
		if (err != nil) != rejects {
			t.Fatalf("case %d: %v, want %v\n%s", i, w.Problems, err, manifests)
		}
		if err != nil {
			rejected++
			continue
		}
		if w.LimitRange != nil || len(w.Adds) > 0 {
			changed++
		}
		theirs, own := []string{}, []string{}
		for k, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
			for name, q := range c.Resources.Requests {
				theirs = append(theirs, fmt.Sprintf("%d %s %d", k, name, q.MilliValue()))
			}
		}
		for k, c := range slices.Concat(w.Spec.Containers, w.Spec.InitContainers) {
			requests := maps.Clone(c.Resources.Limits)
			if requests == nil {
				requests = corev1.ResourceList{}
			}
			maps.Copy(requests, c.Resources.Requests)
			for name, q := range requests {
				own = append(own, fmt.Sprintf("%d %s %d", k, name, q.MilliValue()))
			}
		}
		slices.Sort(theirs)
		slices.Sort(own)
		overhead := w.Spec.Overhead[corev1.ResourceCPU]
		other := pod.Spec.Overhead[core.ResourceCPU]
		tolerates := func(key string) bool { return key == "kata" }
		had := slices.ContainsFunc(pod.Spec.Tolerations, func(x core.Toleration) bool { return tolerates(x.Key) })
		has := slices.ContainsFunc(w.Spec.Tolerations, func(x corev1.Toleration) bool { return tolerates(x.Key) })
		if !slices.Equal(theirs, own) || !maps.Equal(w.Spec.NodeSelector, pod.Spec.NodeSelector) || overhead.Cmp(other) != 0 || had != has {
			t.Fatalf("case %d: %v %v %s %v, want %v %v %s %v\n%s", i, own, w.Spec.NodeSelector, overhead.String(), has, theirs, pod.Spec.NodeSelector, other.String(), had, manifests)
		}
	}
	t.Logf("%d compared, %d of them changed and %d rejected by admission", decided, changed, rejected)
	if decided < trials.Share(t, 60) || changed < trials.Share(t, 10) || rejected < trials.Share(t, 10) {
		t.Error("too few cases are decided, changed or rejected")
	}
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}
