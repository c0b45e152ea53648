package change_test

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/lint/placement"
)

// updated is a random sample of which the first workload is updated in a way.
type updated struct {
	sample
	way                string
	surge, unavailable int
}

// updates are kinds of workloads with a random strategy each.
var updates = map[string]func(g generator) updated{
	"rolling": func(g generator) updated {
		u := updated{way: "rolling", surge: g.IntN(3), unavailable: g.IntN(3)}
		if u.surge+u.unavailable == 0 {
			u.surge = 1
		}
		u.sample = g.sample("Deployment")
		u.loads[0].strategy = fmt.Sprintf("strategy: {rollingUpdate: {maxSurge: %d, maxUnavailable: %d}}", u.surge, u.unavailable)
		u.unavailable = min(u.unavailable, u.loads[0].replicas)
		return u
	},
	"recreate": func(g generator) updated {
		u := updated{way: "recreate", sample: g.sample("Deployment")}
		u.loads[0].strategy = "strategy: {type: Recreate}"
		return u
	},
	"in place": func(g generator) updated {
		u := updated{way: "in place", sample: g.sample("StatefulSet"), unavailable: 1 + g.IntN(4)/3}
		u.loads[0].strategy = fmt.Sprintf("updateStrategy: {rollingUpdate: {maxUnavailable: %d}}", u.unavailable)
		u.unavailable = min(u.unavailable, u.loads[0].replicas)
		return u
	},
	"both": func(g generator) updated {
		u := updated{way: "both", sample: g.sample("Rollout")}
		u.loads[0].replicas = 1 + g.IntN(3)
		u.loads[0].strategy = "strategy: {blueGreen: {activeService: web}}"
		return u
	},
	"per node": func(g generator) updated {
		u := updated{way: "per node", sample: g.sample("DaemonSet"), surge: 1 + g.IntN(2)}
		u.loads[0].strategy = fmt.Sprintf("updateStrategy: {rollingUpdate: {maxSurge: %d, maxUnavailable: 0}}", u.surge)
		return u
	},
}

// outside is a case of which the judge says nothing that can be held against
// runs: the loads fit each, but not all together, so that nothing is at rest.
const outside placement.Verdict = "outside"

// verdict is that of all runs from all complete placements.
func (u updated) verdict(t *testing.T) placement.Verdict {
	t.Helper()
	from := u.start(t, 0)
	switch {
	case from.tooMuch:
		return tooMuch
	case from.unclear:
		return outside
	case !from.fits || from.rows[0].pods == 0: // of a DaemonSet for which no node is
		return ""
	case len(from.complete) == 0:
		return outside
	}
	return u.rolling(t, from, u.way, u.surge, u.unavailable).verdict()
}

// TestRolloutAgreesWithRuns holds verdicts on rollouts against all runs of the
// controllers' loops.
func TestRolloutAgreesWithRuns(t *testing.T) {
	for way, cases := range map[string]int{"rolling": 600, "recreate": 200, "in place": 200, "both": 200, "per node": 200} {
		t.Run(way, func(t *testing.T) {
			count, open := map[placement.Verdict]int{}, map[placement.Verdict]int{}
			for seed := range times(t, cases) {
				u := updates[way](newGenerator(seed, 501))
				want := u.verdict(t)
				j, m := judge(t, u.nodes(), u.manifests())
				got := j.Rollouts(find(t, m, "web"))
				if len(got) == 0 || want == outside || want == tooMuch {
					count[want]++
					continue
				}
				if got[0].Verdict == placement.Undetermined {
					open[want]++
					continue
				}
				count[want]++
				if got[0].Verdict != want {
					t.Errorf("seed %d: %s surge %d, unavailable %d: %q, want %q%s", seed, way, u.surge, u.unavailable, got[0].Verdict, want, u)
				}
			}
			t.Logf("%v, undetermined %v", count, open)
		})
	}
}
