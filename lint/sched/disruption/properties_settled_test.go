package disruption_test

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// TestLossesWithoutDaemonSets compares verdicts on losses and drains while the pods of DaemonSets stay
// where they are (C16) with searches that place these pods in every order.
func TestLossesWithoutDaemonSets(t *testing.T) {
	count := map[[2]diag.Outcome]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 1200)) {
		g := newGenerator(seed, 516)
		s := g.sample(g.pick("Deployment", "Deployment", "StatefulSet"))
		for len(s.loads) == 1 {
			s = g.sample(s.loads[0].kind)
		}
		s = g.settled(s)
		s.running = nil
		if len(s.loads[0].rules) > 1 {
			s.loads[0].rules = s.loads[0].rules[:1]
		}
		for i := range s.boxes {
			if b := &s.boxes[i]; b.cpu < 0 {
				b.cpu = 2 + g.IntN(3)
			}
		}
		s.loads[1].cpu, s.loads[0].cpu = 1, 1
		j, m := judge(t, s.nodes(), s.manifests())
		web := find(t, m, "web")
		for _, key := range keys[:2] {
			for _, pair := range j.LossesWithoutDaemonSets(web, key) {
				if count[pair]++; pair[1] == diag.Always && pair[0] != diag.Always && pair[0] != diag.Unknown {
					t.Errorf("seed %d: the loss of %s is %s, but always without DaemonSets%s", seed, key, pair[0], s)
				}
			}
		}
	}
	t.Log(count)
	if n := trials.Share(t, 100); count[[2]diag.Outcome{diag.Always, diag.Always}] < n || count[[2]diag.Outcome{diag.Sometimes, diag.Unknown}] < n {
		t.Errorf("the generator is too tame: %v", count)
	}
}

// TestBudgetsOfDaemonSets leaves DaemonSets in the question if a budget may select their pods, as
// these count for it.
func TestBudgetsOfDaemonSets(t *testing.T) {
	const nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: a, count: 3, allocatable: {cpu: '4', pods: '10'}}\n"
	const manifest = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent, tier: x}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tier: x}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: budget, namespace: %s}
spec: {maxUnavailable: 1, selector: {matchLabels: {%s}}}
`
	for _, c := range []struct {
		namespace, labels string
		leftOut           bool
	}{
		{"shop", "app: web", true},
		{"shop", "app: agent", false},
		{"shop", "tier: x", false},
		{"other", "tier: x", true},
	} {
		j, m := judge(t, nodes, fmt.Sprintf(manifest, c.namespace, c.labels))
		web := find(t, m, "web")
		if v := j.WithoutDaemonSets(web, j.Rollouts(web)[0]); (v != "") != c.leftOut {
			t.Errorf("budget in %s for %s: the verdict without DaemonSets is %q", c.namespace, c.labels, v)
		}
	}
}
