package disruption_test

import (
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// TestGrowingPools checks answers about changes if a pool has no node yet, or has some nodes and
// may grow.
func TestGrowingPools(t *testing.T) {
	const web = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 2, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {nodeSelector: {pool: p}, containers: [{name: c, image: c}]}}}}\n"
	for _, c := range []struct {
		name, pools   string
		rollout, zone diag.Outcome // for the loss of zone a
		drain         diag.Outcome
	}{
		{"nodes that may be more", "- {name: p, zones: {a: 2, b: 1}, max: 9, labels: {pool: p}}\n", diag.Always, diag.Always, diag.Always},
		{"no node yet", "- {name: p, zones: {a: 0}, max: 2, labels: {pool: p}}\n", diag.Unknown, "", diag.Unknown},
		{"other nodes in the zone", "- {name: p, zones: {a: 0}, max: 2, labels: {pool: p}}\n- {name: q, zones: {a: 1}}\n", diag.Unknown, diag.Unknown, diag.Unknown},
		{"pools for others", "- {name: p, zones: {a: 1, b: 1}, labels: {pool: p}}\n- {name: q, zones: {a: 0}, max: 3}\n", diag.Always, diag.Always, diag.Always},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, m := judge(t, "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n"+c.pools, web)
			w := find(t, m, "web")
			if r := j.Rollouts(w)[0]; r.Verdict != c.rollout {
				t.Errorf("a rollout is %s (%+v), want %s", r.Verdict, r.Why, c.rollout)
			}
			if d := j.Drain(w); d.Answer != c.drain {
				t.Errorf("a drain is %s (%+v), want %s", d.Answer, d.Why, c.drain)
			}
			var got diag.Outcome
			for _, s := range j.Survives(w, keys[zone]) {
				if s.Value == "a" && s.Meaning == certificate.Gone {
					got = s.Verdict
				}
			}
			if got != c.zone {
				t.Errorf("a loss of zone a is %s, want %s", got, c.zone)
			}
		})
	}
}
