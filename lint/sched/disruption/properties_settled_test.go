package disruption_test

import (
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// TestLossesWithoutDaemonSets compares verdicts on losses and drains while the pods of DaemonSets stay
// where they are (C16) with searches that place these pods in every order.
func TestLossesWithoutDaemonSets(t *testing.T) {
	count := map[[2]diag.Outcome]int{}
	for seed := range trials.Of(t, 1200) {
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
