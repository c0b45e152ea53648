package disruption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// TestAdviceBesideARunningPod checks that a workload which a running pod keeps off a node gets advice of its
// own.
func TestAdviceBesideARunningPod(t *testing.T) {
	const nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: w, zones: {a: 1, b: 1}, allocatable: {cpu: 4, memory: 8Gi, pods: 20}}\n"
	manifests := "apiVersion: v1\nkind: Pod\nmetadata: {name: first, namespace: x, labels: {app: first}}\nspec:\n  nodeName: w-a-0\n  containers: [{name: c, image: x}]\n" +
		"  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: d0}}}]}}\nstatus: {phase: Running}\n"
	for i := range 3 {
		manifests += fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d%d, namespace: x}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: d%[1]d}}\n"+
			"  template:\n    metadata: {labels: {app: d%[1]d}}\n    spec: {containers: [{name: c, image: x}], affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "+
			"[{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: d%[1]d}}}]}}}\n", i)
	}
	advice, left := disruption.NewAdvice(), 1_000_000
	shared, m := judge(t, nodes, manifests)
	shared.ShareAdvice(advice, &left)
	differ := false
	for _, name := range []string{"d1", "d0", "d2"} {
		for replicas := 1; replicas <= 2; replicas++ {
			fresh, own := judge(t, nodes, manifests)
			edit := disruption.Replicas(replicas)
			got, want := shared.Holds(find(t, m, name), edit, 0), fresh.Holds(find(t, own, name), edit, 0)
			if got != want {
				t.Errorf("%d replicas of %s: %t, but %t asked alone", replicas, name, got, want)
			}
			differ = differ || name == "d0" && want != fresh.Holds(find(t, own, "d1"), edit, 0)
		}
	}
	if !differ {
		t.Error("the running pod makes no difference")
	}
}

// TestAdviceIsShared checks that a judge reuses the outcome of a trial among other workloads if
// its objects have equal contents, and that it does not if one of them differs.
func TestAdviceIsShared(t *testing.T) {
	const nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: w, count: 3, allocatable: {cpu: 4, memory: 8Gi, pods: 20}}\n"
	pair := func(cpu string) string {
		var b strings.Builder
		for i, request := range []string{"1500m", cpu} {
			fmt.Fprintf(&b, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d%d, namespace: x}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: d%d}}\n"+
				"  template:\n    metadata: {labels: {app: d%d}}\n    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: %s}}}], topologySpreadConstraints: [{maxSkew: 1, "+
				"topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: d%d}}}]}\n---\n", i, i, i, request, i)
		}
		return b.String()
	}
	advice, left := disruption.NewAdvice(), 1_000_000
	// tried reports whether three replicas hold, and returns the number of steps that the trial
	// takes.
	tried := func(manifests string) (held bool, steps int) {
		j, m := judge(t, nodes, manifests)
		j.ShareAdvice(advice, &left)
		w := find(t, m, "d0")
		j.Holds(w, disruption.Replicas(1), 0) // pay for the setup that all trials share
		before := m.Run().Spent()
		held = j.Holds(w, disruption.Replicas(3), 0)
		return held, m.Run().Spent() - before
	}
	held, cost := tried(pair("500m"))
	again, known := tried(pair("500m"))
	if held != again || known*10 > cost {
		t.Errorf("the same again: %t in %d steps, %t in %d", held, cost, again, known)
	}
	if other, cost := tried(pair("3500m")); other == held || cost <= known {
		t.Errorf("beside a larger neighbour: %t in %d steps, as it was beside a small one", other, cost)
	}
	if left <= 0 || left > 1_000_000-cost {
		t.Errorf("%d steps left of all trials", left)
	}
	left = 0
	if held, _ := tried(pair("400m")); held {
		t.Error("advice that nothing was left to try is given")
	}
}

// TestEditsChangeSomething checks that an edit of pod rules says whether there is such a rule.
func TestEditsChangeSomething(t *testing.T) {
	rule := func(use string) string {
		return "affinity: {" + use + ": {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}, "
	}
	edits := []disruption.Edit{
		disruption.SoftAntiAffinity(), disruption.Soft(model.AntiAffinity, "kubernetes.io/hostname"), disruption.Soft(model.Affinity, "kubernetes.io/hostname"),
		disruption.Soft(model.AntiAffinity, "topology.kubernetes.io/zone"), disruption.Soft(model.Affinity, "topology.kubernetes.io/zone"),
	}
	for _, c := range []struct {
		name, spec string
		want       []bool // of each edit
	}{
		{"no rule", "", []bool{false, false, false, false, false}},
		{"a node rule", "affinity: {nodeAffinity: {}}, ", []bool{false, false, false, false, false}},
		{"affinity", rule("podAffinity"), []bool{false, false, true, false, false}},
		{"anti-affinity", rule("podAntiAffinity"), []bool{true, true, false, false, false}},
	} {
		_, m := judge(t, "{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [{name: w, count: 2}]}",
			"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {"+c.spec+"containers: [{name: c, image: c}]}}}}")
		var got []bool
		for _, e := range edits {
			w := *find(t, m, "web")
			got = append(got, e.Make(&w))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
