package change_test

import (
	"testing"

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
