package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install" // registers the conversions
	schedulingbuiltin "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	"k8s.io/kubernetes/pkg/apis/scheduling/validation"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// prioritized makes a pod pass the plugin Priority of a cluster with the given classes.
func prioritized(draft *corev1.Pod, classes []*schedulingv1.PriorityClass) (*core.Pod, error) {
	pod := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(draft, pod, nil); err != nil {
		return nil, err
	}
	plugin, factory := priority.NewPlugin(), informers.NewSharedInformerFactory(nil, 0)
	plugin.SetExternalKubeClientSet(fake.NewClientset())
	plugin.SetExternalKubeInformerFactory(factory)
	for _, class := range classes {
		if err := factory.Scheduling().V1().PriorityClasses().Informer().GetStore().Add(class); err != nil {
			return nil, err
		}
	}
	attributes := admission.NewAttributesRecord(pod, nil, core.Kind("Pod").WithVersion("v1"), pod.Namespace, pod.Name,
		core.Resource("pods").WithVersion("v1"), "", admission.Create, &metav1.CreateOptions{}, false, nil)
	return pod, plugin.Admit(context.Background(), attributes, nil)
}

// TestPriorities holds the priorities and the rejected pods against the admission plugin.
func TestPriorities(t *testing.T) {
	decided, rejected, defaulted := 0, 0, 0
	for i := range trials.Seeds(t, trials.Of(t, 20_000)) {
		r := rand.New(rand.NewPCG(uint64(i), 97))
		pick := func(words ...string) string { return words[r.IntN(len(words))] }
		var manifests strings.Builder
		classes := schedulingbuiltin.SystemPriorityClasses()
		for _, class := range classes {
			legacyscheme.Scheme.Default(class) // as the API server creates them
		}
		names := []string{"high", "low", "batch"}[:r.IntN(4)]
		for _, name := range names {
			text := fmt.Sprintf("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: %s}\nvalue: %s\n%s%s", name,
				pick("-5", "0", "10", "10", "1000000000", "1000000001"), pick("", "preemptionPolicy: Never\n", "preemptionPolicy: PreemptLowerPriority\n"), pick("", "", "globalDefault: true\n"))
			fmt.Fprintf(&manifests, "---\n%s", text)
			class, internal := &schedulingv1.PriorityClass{}, &scheduling.PriorityClass{}
			if err := yaml.Unmarshal([]byte(text), class); err != nil {
				t.Fatal(err)
			}
			legacyscheme.Scheme.Default(class)
			if err := legacyscheme.Scheme.Convert(class, internal, nil); err != nil {
				t.Fatal(err)
			}
			if len(validation.ValidatePriorityClass(internal)) == 0 { // otherwise it never gets into the cluster
				classes = append(classes, class)
			}
		}
		spec := "{" + pick("", "priorityClassName: high, ", "priorityClassName: batch, ", "priorityClassName: system-node-critical, ") +
			pick("", "", "preemptionPolicy: Never, ", "preemptionPolicy: PreemptLowerPriority, ") +
			pick("", "", "priority: 0, ", "priority: 10, ", "priority: 2000001000, ") + "containers: [{name: c, image: c}]}"
		fmt.Fprintf(&manifests, "---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, namespace: d}\nspec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: %s}}\n", spec)

		ours, err := NewOurs("", manifests.String())
		if err != nil {
			t.Fatal(err)
		}
		w := ours.Workloads["ReplicaSet d/web"]
		if !w.Refused() && (w.Admission != "" || !w.Priority.Known) {
			continue
		}
		decided++
		draft := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "d"}}
		if err := yaml.Unmarshal([]byte(spec), &draft.Spec); err != nil {
			t.Fatal(err)
		}
		r.Shuffle(len(classes), func(i, j int) { classes[i], classes[j] = classes[j], classes[i] })
		pod, err := prioritized(draft, classes)
		if (err != nil) != w.Refused() {
			t.Fatalf("case %d: %v, want %v\n%s", i, w.Problems, err, &manifests)
		}
		if err != nil {
			rejected++
			continue
		}
		if slices.Contains(names, pod.Spec.PriorityClassName) && w.Spec.PriorityClassName == "" {
			defaulted++
		}
		if waits := *pod.Spec.PreemptionPolicy == core.PreemptNever; w.Priority.Value != int64(*pod.Spec.Priority) || w.Priority.Waits != waits || w.Priority.Declared != diag.Always {
			t.Fatalf("case %d: %+v, want %d and %s\n%s", i, w.Priority, *pod.Spec.Priority, *pod.Spec.PreemptionPolicy, &manifests)
		}
	}
	t.Logf("%d compared, %d of them rejected, %d with the default class", decided, rejected, defaulted)
	if decided < trials.Share(t, 10_000) || rejected < trials.Share(t, 4000) || defaulted < trials.Share(t, 300) {
		t.Error("too few cases are decided, rejected or get the default class")
	}
}
