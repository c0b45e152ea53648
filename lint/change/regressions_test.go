package change_test

import (
	"testing"

	"github.com/schedlint/schedlint/lint/change"
	"github.com/schedlint/schedlint/lint/placement"
)

// TestTerminatingPodIsCompany is about a new pod that wants to be near any pod of
// its team: while the old pod is terminating that is one (R-A1), so it may follow
// it, though the others are where there is no room.
func TestTerminatingPodIsCompany(t *testing.T) {
	near := rule{use: "aff", key: keys[zone], labels: "all: pods"}
	u := updated{way: "rolling", unavailable: 1, sample: sample{
		boxes: []box{{name: "n0", host: "n0", zone: "a", cpu: -1, pods: -1}, {name: "n1", host: "n1", zone: "b", pool: "p", cpu: -1, pods: 1}},
		loads: []load{
			{kind: "Deployment", name: "web", replicas: 1, rules: []rule{near}, strategy: "strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}"},
			{kind: "Deployment", name: "db", replicas: 1, pool: "p"},
		},
	}}
	if v := u.verdict(t); v != placement.OrderDependent {
		t.Errorf("%s", v)
	}
	j, m := judge(t, u.nodes(), u.manifests())
	if r := j.Rollout(find(t, m, "web"), 1); r.Verdict != placement.Undetermined || r.Stuck != nil {
		t.Errorf("%+v", r)
	}
}

// TestDrainCountsNodesWithAllKeys is about a node that carries one of the keys of
// two spread constraints only: it is no domain of either (R-T2), so that nobody
// has to wait for pods there.
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
	if v, _ := s.drained(t); v != change.Yes {
		t.Errorf("%s", v)
	}
	j, m := judge(t, s.nodes(), s.manifests())
	if d := j.Drain(find(t, m, "web")); d.Answer != change.Yes {
		t.Errorf("%+v", d)
	}
}
