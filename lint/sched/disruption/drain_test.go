package disruption_test

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// TestDrainsOneAtATime checks pods that require each other. The successor of the first evicted pod
// has to join the others on the cordoned node. If there is also a budget, the last pod there is
// never evicted.
func TestDrainsOneAtATime(t *testing.T) {
	affinity := func(key string) string {
		return fmt.Sprintf("      affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: {matchLabels: {app: web}}}]}}\n", key)
	}
	budget := func(demands string) string {
		return "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: x}\nspec: {selector: {matchLabels: {app: web}}, " + demands + "}\n"
	}
	spread := func(more string) string {
		return "      topologySpreadConstraints: [{maxSkew: 2, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}" + more + "}]\n"
	}
	for name, c := range map[string]struct {
		kind, pod, more string
		pods            int
		want            diag.Outcome
		why             model.Cause
	}{
		"by node":               {"Deployment", affinity(keys[host]), budget("maxUnavailable: 1"), 2, diag.Never, ""},
		"by node, StatefulSet":  {"StatefulSet", affinity(keys[host]), budget("maxUnavailable: 1"), 2, diag.Never, ""},
		"by node, a share":      {"Deployment", affinity(keys[host]), budget("maxUnavailable: 25%"), 3, diag.Never, ""},
		"by node, minAvailable": {"Deployment", affinity(keys[host]), budget("minAvailable: 1"), 3, diag.Never, ""},
		"by zone, with room":    {"Deployment", affinity(keys[zone]), budget("maxUnavailable: 1"), 3, diag.Sometimes, ""}, // zone c has one node
		"all at once":           {"Deployment", affinity(keys[host]), budget("maxUnavailable: 2"), 2, diag.Always, model.LateRetry},
		"no budget":             {"Deployment", affinity(keys[host]), "", 2, diag.Always, model.LateRetry},
		"no budget, in order":   {"StatefulSet", affinity(keys[host]), "", 2, diag.Always, model.LateRetry},
		"one by one":            {"StatefulSet", affinity(keys[host]), "", 1, diag.Always, ""},
		"one pod":               {"Deployment", affinity(keys[host]), budget("maxUnavailable: 1"), 1, diag.Always, model.LateRetry},
		"spread":                {"Deployment", spread(", nodeTaintsPolicy: Honor"), budget("maxUnavailable: 1"), 5, diag.Always, ""},
	} {
		t.Run(name, func(t *testing.T) {
			j, web := crowded{cpu: "4", request: "100m", kind: c.kind, spec: fmt.Sprintf("  replicas: %d\n", c.pods), pod: c.pod, more: c.more}.judge(t)
			d := j.Drain(web)
			if d.Answer != c.want || d.Why.Cause != c.why {
				t.Errorf("%s (%s), want %s (%s)", d.Answer, d.Why.Cause, c.want, c.why)
			}
			if d.Answer == diag.Never && (d.Next == nil || d.Certain == 0 && d.Worst.Verdict != diag.Never) {
				t.Errorf("no budget refuses the last pod: %+v", d)
			}
		})
	}
}

// TestDrainsOfSharedBudgets checks that a budget that also selects pods of another workload may
// refuse evictions while those pods are Pending.
func TestDrainsOfSharedBudgets(t *testing.T) {
	const budget = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: all, namespace: x}\nspec: {selector: {}, maxUnavailable: 1}\n"
	for pods, want := range map[string]diag.Outcome{"1": diag.Always, "5": diag.Unknown} {
		apart := crowded{cpu: "4", request: "100m", kind: "Deployment", spec: "  replicas: 2\n", more: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: db, namespace: x}\nspec:\n  replicas: " + pods +
			"\n  selector: {matchLabels: {app: db}}\n  template:\n    metadata: {labels: {app: db}}\n    spec:\n      containers: [{name: c, image: x}]\n" +
			"      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}]}}\n---\n" + budget}
		j, web := apart.judge(t)
		if d := j.Drain(web); d.Answer != want || want == diag.Unknown && (d.Why.Cause != model.ByEviction || d.Why.Workload == nil) {
			t.Errorf("beside %s pods: %s (%s), want %s", pods, d.Answer, d.Why.Cause, want)
		}
	}
}

// TestDrainsOfFullNodes checks pods with a spread constraint that fill their nodes: however they are evicted, the
// nodes that are left have no room for all. With room for a node's pods they may find it.
func TestDrainsOfFullNodes(t *testing.T) {
	nodes := ""
	for n := range 30 {
		nodes += box{name: fmt.Sprint("n", n), host: fmt.Sprint("n", n), zone: "abc"[n%3 : n%3+1], cpu: 3, pods: -1}.String()
	}
	for pods, never := range map[int]bool{90: true, 88: true, 87: false} {
		s := sample{loads: []load{{kind: "Deployment", name: "web", replicas: pods, cpu: 1, rules: []rule{{use: "spread", key: keys[zone], labels: "app: web", skew: 3}}}}}
		j, m := judge(t, nodes, s.manifests())
		if d := j.Drain(find(t, m, "web")); (d.Answer == diag.Never) != never || never && d.Worst.Pending != pods-87 {
			t.Errorf("%d pods: %+v", pods, d)
		}
	}
}
