package disruption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// TestTerminatingPodIsCompany checks a pod that requires any pod of its team nearby. A terminating
// old pod counts (R-A1), so the new pod may follow it, although it may not be near the other pods.
func TestTerminatingPodIsCompany(t *testing.T) {
	near := rule{use: "aff", key: keys[zone], labels: "all: pods"}
	u := updated{way: "rolling", unavailable: 1, sample: sample{
		boxes: []box{{name: "n0", host: "n0", zone: "a", pool: "q", cpu: -1, pods: -1}, {name: "n1", host: "n1", zone: "b", pool: "p", cpu: -1, pods: 1}},
		loads: []load{
			{kind: "Deployment", name: "web", replicas: 1, pool: "q", rules: []rule{near}, strategy: "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"},
			{kind: "Deployment", name: "db", replicas: 1, pool: "p"},
		},
	}}
	if v := u.verdict(t); v != diag.Sometimes {
		t.Errorf("%s", v)
	}
	j, m := judge(t, u.nodes(), u.manifests())
	if r := j.Rollout(find(t, m, "web"), 1); r.Verdict != diag.Unknown || r.Stuck != nil {
		t.Errorf("%+v", r)
	}
}

// TestDrainCountsNodesWithAllKeys checks that a node with only one of the keys of two spread
// constraints is in no domain of either (R-T2), so no pod has to wait for other pods there.
func TestDrainCountsNodesWithAllKeys(t *testing.T) {
	even := func(key string) rule {
		return rule{use: "spread", key: key, labels: "app: web", skew: 1, more: ", nodeTaintsPolicy: Honor"}
	}
	s := sample{
		boxes: []box{
			{name: "n0", host: "n0", zone: "c", cpu: -1, pods: -1},
			{name: "n1", host: "n1", zone: "b", rack: "r", cpu: -1, pods: -1},
			{name: "n2", host: "n2", zone: "a", rack: "r", cpu: -1, pods: -1},
		},
		loads: []load{{kind: "Deployment", name: "web", replicas: 3, rules: []rule{even(keys[rack]), even(keys[zone])}}},
	}
	if v, _ := s.drained(t); v != diag.Always {
		t.Errorf("%s", v)
	}
	j, m := judge(t, s.nodes(), s.manifests())
	if d := j.Drain(find(t, m, "web")); d.Answer != diag.Always {
		t.Errorf("%+v", d)
	}
}

// TestLossesBesidePodsThatWait checks a group in which some pods never fit. Those of the other workload may all
// be on one node, and then have no other node after its loss.
func TestLossesBesidePodsThatWait(t *testing.T) {
	s := sample{loads: []load{
		{kind: "StatefulSet", name: "web", replicas: 10},
		{kind: "StatefulSet", name: "db", replicas: 10, rules: []rule{{use: "anti", key: keys[host], labels: "all: pods"}}},
	}}
	for i := range 6 {
		s.boxes = append(s.boxes, bare(i, []string{"a", "b", "c"}[i%3], -1))
	}
	j, m := judge(t, s.nodes(), s.manifests())
	web := find(t, m, "web")
	if d := j.Drain(web); d.Answer != diag.Sometimes {
		t.Errorf("drain: %s, %s", d.Answer, d.Why.Cause)
	}
	for _, s := range j.Survives(web, keys[zone]) {
		if s.Verdict != diag.Sometimes {
			t.Errorf("loss of %s: %s, %s", s.Value, s.Verdict, s.Why.Cause)
		}
	}
}

// bare returns a node in a zone with an amount of CPU. If the amount is negative, the node
// declares none.
func bare(i int, zone string, cpu int) box {
	name := fmt.Sprintf("n%d", i)
	return box{name: name, host: name, zone: zone, cpu: cpu, pods: -1}
}

// TestRolloutsThatWereMisjudged checks small cases in which enumerated runs once contradicted the
// verdict.
func TestRolloutsThatWereMisjudged(t *testing.T) {
	surges := "updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"
	apart := func(key int, r rule) []rule {
		r.use, r.key, r.labels = "anti", keys[key], "app: web"
		return []rule{r}
	}
	for name, v := range map[string]struct {
		updated
		want diag.Outcome
	}{
		"a rule between revisions only": {updated{way: "rolling", surge: 1, sample: sample{
			boxes: []box{bare(0, "a", -1), bare(1, "b", -1)},
			loads: []load{{kind: "Deployment", name: "web", replicas: 2, rules: apart(zone, rule{mismatch: true}), strategy: "strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"}},
		}}, diag.Sometimes},
		"daemons that share a zone do not fit": {updated{way: "per node", surge: 1, sample: sample{
			boxes: []box{bare(0, "a", -1), bare(1, "a", -1)},
			loads: []load{{kind: "DaemonSet", name: "web", rules: apart(zone, rule{match: true}), strategy: surges}},
		}}, ""},
		"daemons twice beside others": {updated{way: "per node", surge: 1, sample: sample{
			boxes: []box{bare(0, "a", 3), bare(1, "b", -1)},
			loads: []load{{kind: "DaemonSet", name: "web", cpu: 1, strategy: surges}, {kind: "DaemonSet", name: "db", cpu: 2}},
		}}, diag.Never},
		"both generations beside others": {updated{way: "both", sample: sample{
			boxes: []box{bare(0, "a", 12)},
			loads: []load{{kind: "Rollout", name: "web", replicas: 3, cpu: 2, strategy: "strategy: {blueGreen: {activeService: web}}"}, {kind: "Deployment", name: "db", replicas: 1, cpu: 1}},
		}}, diag.Never},
	} {
		if got := v.verdict(t); got != v.want {
			t.Errorf("%s: runs say %q", name, got)
		}
		j, m := judge(t, v.nodes(), v.manifests())
		if got := j.Rollouts(find(t, m, "web"))[0]; got.Verdict != v.want {
			t.Errorf("%s: %q, want %q", name, got.Verdict, v.want)
		}
	}
}

// TestLimitLeavesHelpersIn checks pods that require any pod of their team nearby. If there are no
// other pods, they all follow the first pod into its domain, but other pods give them access to
// more domains.
func TestLimitLeavesHelpersIn(t *testing.T) {
	s := sample{
		boxes: []box{bare(0, "a", 1), bare(1, "b", 1)},
		loads: []load{
			{kind: "Deployment", name: "web", replicas: 1, cpu: 1, rules: []rule{{use: "aff", key: keys[zone], labels: "all: pods"}}},
			{kind: "Deployment", name: "db", replicas: 2, rules: []rule{{use: "anti", key: keys[zone], labels: "app: db"}}},
		},
	}
	j, m := judge(t, s.nodes(), s.manifests())
	if l := j.Limit(find(t, m, "web"), 2); l != nil {
		t.Errorf("%+v", l)
	}
}

// TestRemedyAmongNeighbours checks a remedy that gives the pods room by their own rules, but other
// pods take that room.
func TestRemedyAmongNeighbours(t *testing.T) {
	s := sample{
		boxes: []box{bare(0, "a", 2), bare(1, "b", 2)},
		loads: []load{
			{kind: "Deployment", name: "web", replicas: 2, cpu: 1, rules: []rule{{use: "anti", key: keys[host], labels: "app: web"}}, strategy: "strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"},
			{kind: "Deployment", name: "db", replicas: 2, cpu: 1},
		},
	}
	j, m := judge(t, s.nodes(), s.manifests())
	web := find(t, m, "web")
	r := j.Rollout(web, 2)
	if got := j.Remedies(web, &r); r.Verdict != diag.Never || slices.Contains(got, search.MatchLabelKeys) {
		t.Errorf("%s, %v", r.Verdict, got)
	}
}

// TestNoAtEverySize checks a group whose outcome depends on the pool size. With two additional
// nodes the StatefulSet uses both, and none is left for the drained pod. With one node the
// StatefulSet does not fit, and the pod can use the node.
func TestNoAtEverySize(t *testing.T) {
	const nodes = `apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools:
- {name: here, count: 1, labels: {rack: r}, allocatable: {}}
- {name: late, zones: {a: 0}, max: 2, labels: {rack: r}, allocatable: {pods: "1"}}
`
	const manifests = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}]}}, containers: [{name: c, image: c}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: db}, spec: {replicas: 1, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: db}}}]}}, containers: [{name: c, image: c}]}}}}
`
	j, m := judge(t, nodes, manifests)
	if d := j.Drain(find(t, m, "db")); d.Answer != diag.Unknown {
		t.Errorf("the drain is %s, although it works with one further node and not with two", d.Answer)
	}
}

// TestRolloutAsksWhereLabelsComeFromNodes checks a rule that separates pods by a label that they
// get from their nodes (R-P7). Once the old pod is bound, it has the label.
func TestRolloutAsksWhereLabelsComeFromNodes(t *testing.T) {
	nodes := box{name: "n0", host: "n0", zone: "a", cpu: -1, pods: -1}.String()
	j, m := judge(t, nodes, `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
        {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchExpressions: [{key: topology.kubernetes.io/zone, operator: Exists}]}}]}}
      containers: [{name: c, image: c}]
`)
	if r := j.Rollout(find(t, m, "web"), 1); r.Verdict != diag.Never {
		t.Errorf("%+v", r)
	}
}

// TestToleratesUnreachable checks pods that tolerate the taint of an unreachable node. Without
// tolerationSeconds they are not evicted (R-N16), so they are missing if they run there. They still
// count for a spread constraint, unlike pods that terminate.
func TestToleratesUnreachable(t *testing.T) {
	nodes := "kind: NodeTopology\napiVersion: schedlint.dev/v1alpha1\npools:\n- {name: w, zones: {a: 1, b: 1, c: 1}, allocatable: {cpu: \"4\"}}\n"
	app := func(kind, name, spec string) string {
		return fmt.Sprintf("apiVersion: apps/v1\nkind: %s\nmetadata: {name: %[2]s, namespace: d}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: %[2]s}}\n  template:\n    metadata: {labels: {app: %[2]s, all: pods}}\n    spec:\n      containers: [{name: c, image: i}]\n      %[3]s\n---\n", kind, name, spec)
	}
	const never = "tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute}]"
	const spread = "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {all: pods}}}]"
	for _, c := range []struct {
		manifests string
		want      diag.Outcome
		why       model.Cause
	}{
		{app("Deployment", "web", never), diag.Sometimes, model.NotEvicted},
		{app("ReplicaSet", "web", "tolerations: [{operator: Exists}]"), diag.Sometimes, model.NotEvicted},
		{app("Deployment", "web", "tolerations: [{operator: Exists, effect: NoExecute}]"), diag.Sometimes, model.NotEvicted},
		{app("Deployment", "web", "tolerations: [{key: node.kubernetes.io/unreachable, effect: NoExecute}]"), diag.Sometimes, model.NotEvicted},
		{app("StatefulSet", "web", "tolerations: []"), diag.Sometimes, model.NotRecreated},
		{app("Deployment", "web", "tolerations: [{key: node.kubernetes.io/unreachable, value: x, effect: NoExecute}]"), diag.Always, ""},
		{app("Deployment", "web", "tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}]"), diag.Always, ""},
		{app("Deployment", "web", "tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 60}, {operator: Exists, effect: NoExecute}]"), diag.Always, ""},
		{app("Deployment", "web", "tolerations: []") + app("Deployment", "db", never), diag.Always, ""},
		{app("Deployment", "web", spread) + app("Deployment", "db", never), diag.Unknown, model.ByToleration},
		{app("Deployment", "web", never) + app("Deployment", "db", spread), diag.Sometimes, model.NotEvicted},
	} {
		j, m := judge(t, nodes, c.manifests)
		for _, s := range j.Survives(find(t, m, "web"), keys[host]) {
			want, why := c.want, c.why
			if s.Meaning == certificate.Gone {
				want, why = diag.Always, ""
			}
			if s.Verdict != want || s.Why.Cause != why {
				t.Errorf("%s: loss of %s: %s, %s\n%s", s.Meaning, s.Value, s.Verdict, s.Why.Cause, c.manifests)
			}
		}
	}
}

// TestNoOrdinalSkipsAnother checks a StatefulSet whose second pod fits only while the first is missing, as both
// have volumes in a zone. The third is not created then, whatever node is lost before (R-W11); the checker refuses
// an answer from such a state.
func TestNoOrdinalSkipsAnother(t *testing.T) {
	s := sample{
		boxes: []box{
			{name: "n0", host: "n0", zone: "a", pool: "q", cpu: 4, pods: -1}, {name: "n1", host: "n1", zone: "b", pool: "q", cpu: 3, pods: -1},
			{name: "n2", host: "n2", zone: "a", cpu: -1, pods: 1}, {name: "n3", host: "n3", zone: "a", pool: "q", cpu: 1, pods: -1},
		},
		loads: []load{
			{kind: "StatefulSet", name: "web", replicas: 3, cpu: 2, pin: keys[zone], bound: bound{key: keys[zone], ordered: true, to: []string{"a", "a", ""}},
				rules: []rule{{use: "spread", key: keys[zone], labels: "app: web", skew: 1}}},
			{kind: "Deployment", name: "db", replicas: 2},
		},
	}
	j, m := judge(t, s.nodes(), s.manifests())
	for _, got := range j.Survives(find(t, m, "web"), keys[host]) {
		if got.Value != "n3" && got.Verdict != diag.Unknown { // no pod of web is on n3
			t.Errorf("%+v", got)
		}
	}
}

// TestWaitingPodTakesTheRoom checks rollouts that remove a pod first. A pod of another workload may wait for its
// room, although all pods have room together (T25).
func TestWaitingPodTakesTheRoom(t *testing.T) {
	node := func(name, cpu string) string {
		return fmt.Sprintf("---\napiVersion: v1\nkind: Node\nmetadata: {name: %[1]s, labels: {kubernetes.io/hostname: %[1]s}}\nstatus: {allocatable: {cpu: %[2]q, memory: 8Gi, pods: 110}}\n", name, cpu)
	}
	app := func(kind, name, spec, cpu, nodes string) string {
		return fmt.Sprintf("---\napiVersion: apps/v1\nkind: %[1]s\nmetadata: {name: %[2]s}\nspec:\n  selector: {matchLabels: {app: %[2]s}}\n%[3]s  template:\n    metadata: {labels: {app: %[2]s}}\n    spec:\n"+
			"      affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [%[5]s]}]}]}}}\n"+
			"      containers: [{name: c, image: c, resources: {requests: {cpu: %[4]s}}}]\n", kind, name, spec, cpu, nodes)
	}
	three := node("n0", "1") + node("n1", "1") + node("n2", "1")
	few := app("Deployment", "web", spare, "1", "n0, n1") + app("Deployment", "db", spare, "1", "n0") + app("Deployment", "cache", spare, "1", "n1, n2")
	two := node("n0", "1") + node("n1", "1")
	agent := app("DaemonSet", "agent", "", "200m", "n0, n1") + app("Deployment", "web", spare, "700m", "n0, n1") + app("Deployment", "db", spare, "300m", "n0")
	for name, c := range map[string]struct {
		nodes, apps string
		want        map[string]diag.Outcome
	}{
		"Deployments": {three, few, map[string]diag.Outcome{"web": diag.Sometimes, "db": diag.Sometimes, "cache": diag.Always}},
		"DaemonSet":   {two, agent, map[string]diag.Outcome{"agent": diag.Sometimes}},
		"in place":    {three, strings.Replace(few, "kind: Deployment\nmetadata: {name: web}\nspec:\n", "kind: StatefulSet\nmetadata: {name: web}\nspec:\n", 1), map[string]diag.Outcome{"web": diag.Sometimes}},
	} {
		j, m := judge(t, c.nodes, c.apps)
		for app, want := range c.want {
			w := find(t, m, app)
			if r := j.Rollouts(w)[0]; r.Verdict != want || want == diag.Sometimes && (r.Stuck == nil || !r.Crowded()) {
				t.Errorf("%s: %s: %s (%s), want %s", name, app, r.Verdict, r.Why.Cause, want)
			}
		}
	}
}
