package disruption_test

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// updated is a sample together with the way in which its first workload is updated.
type updated struct {
	sample
	way                string
	surge, unavailable int
}

// updates maps the way of an update to a generator of samples with a random strategy.
var updates = map[string]func(g generator) updated{
	"rolling": generator.rolling,
	"beside DaemonSets": func(g generator) updated {
		u := g.rolling()
		u.sample = g.settled(u.sample)
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
		if rules := &u.loads[0].rules; g.chance(70) { // otherwise it rarely fits
			*rules = (*rules)[:min(1, len(*rules))]
		}
		u.loads[0].strategy = fmt.Sprintf("updateStrategy: {rollingUpdate: {maxSurge: %d, maxUnavailable: 0}}", u.surge)
		return u
	},
	"node by node": func(g generator) updated {
		u := updated{way: "node by node", sample: g.sample("DaemonSet"), unavailable: 1 + g.IntN(2)}
		if u.loads[0].rules = nil; g.chance(30) {
			u.loads[0].rules = []rule{{use: "anti", key: keys[g.IntN(3)], labels: "app: " + g.pick("web", "db")}}
		}
		if len(u.loads) > 1 && u.loads[1].kind == "Deployment" && g.chance(50) {
			u.loads[1].rules = []rule{{use: g.pick("aff", "aff", "anti", "spread"), key: keys[g.IntN(3)], labels: "app: web", skew: 1}}
		}
		u.loads[0].strategy = fmt.Sprintf("updateStrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: %d}}", u.unavailable)
		return u
	},
}

// rolling returns a rolling update.
func (g generator) rolling() updated {
	u := updated{way: "rolling", surge: g.IntN(3), unavailable: g.IntN(3)}
	if u.surge+u.unavailable == 0 {
		u.surge = 1
	}
	u.sample = g.sample("Deployment")
	u.loads[0].strategy = fmt.Sprintf("strategy: {rollingUpdate: {maxSurge: %d, maxUnavailable: %d}}", u.surge, u.unavailable)
	u.unavailable = min(u.unavailable, u.loads[0].replicas)
	return u
}

// outside marks a case in which no answer can be compared with runs, as it is unclear which pods count.
const outside diag.Outcome = "outside"

// verdict returns the outcome over all runs from all starts.
func (u updated) verdict(t *testing.T) diag.Outcome {
	t.Helper()
	v, _ := u.outcome(t)
	return v
}

// outcome returns the outcome over all runs from all maximal placements in which the pods of the first load
// run. In some of them, pods of other loads may wait, unless the result waits is false.
func (u updated) outcome(t *testing.T) (v diag.Outcome, waits bool) {
	t.Helper()
	from := u.start(t, 0)
	if from.tooMuch || from.unclear || !from.fits || from.rows[0].pods == 0 {
		return u.from(t, from), false
	}
	all := start{world: u.world(t, u.rest(nil)), fits: true}
	all.reach(func(g grid, complete bool) {
		whole := true
		for r, row := range all.rows {
			whole = whole && (row.of != 0 || all.pods(g, r) == row.pods)
		}
		if whole {
			all.complete = append(all.complete, g)
			waits = waits || !complete
		}
	})
	all.tooMuch = all.left <= 0
	return u.from(t, all), waits
}

// from returns the outcome over all runs from the complete placements of a start.
func (u updated) from(t *testing.T, from start) diag.Outcome {
	t.Helper()
	switch {
	case from.tooMuch:
		return tooMuch
	case from.unclear:
		return outside
	case !from.fits || from.rows[0].pods == 0: // a DaemonSet without a node
		return ""
	case len(from.complete) == 0:
		return outside
	}
	return u.rolling(t, from, u.way, u.surge, u.unavailable, nil).verdict()
}

// TestRolloutAgreesWithRuns compares verdicts on rollouts with all runs of the controllers' loops.
// The outcome is rarely never for a rollout that replaces pods one by one, because a pod that
// leaves first can be replaced in the same place.
func TestRolloutAgreesWithRuns(t *testing.T) {
	t.Parallel()
	for way, v := range map[string]struct {
		cases  int
		fewest map[diag.Outcome]int // out of 100 cases
	}{
		"rolling":           {700, map[diag.Outcome]int{"": 10, "spacious": 2, "counted always": 5, diag.Always: 20, diag.Never: 2, diag.Sometimes: 2}},
		"recreate":          {200, map[diag.Outcome]int{"": 10, "counted always": 3, diag.Always: 20, diag.Sometimes: 2}},
		"in place":          {200, map[diag.Outcome]int{"": 10, "counted always": 3, diag.Always: 20, diag.Sometimes: 1}},
		"both":              {250, map[diag.Outcome]int{"": 10, diag.Always: 15, diag.Never: 8, diag.Sometimes: 2}},
		"beside DaemonSets": {150, map[diag.Outcome]int{"without DaemonSets always": 10}},
		"node by node":      {150, map[diag.Outcome]int{"": 10, diag.Always: 20}},
		"per node":          {250, map[diag.Outcome]int{"": 10, diag.Always: 3, diag.Never: 5}},
	} {
		t.Run(way, func(t *testing.T) {
			cases := trials.Of(t, v.cases)
			count, open := map[diag.Outcome]int{}, map[diag.Outcome]int{}
			for seed := range trials.Seeds(t, cases) {
				u := updates[way](newGenerator(seed, 501))
				u.against(t, seed, count, open)
			}
			t.Logf("%v, undetermined %v", count, open)
			for verdict, percent := range v.fewest {
				if count[verdict] < trials.Share(t, v.cases*percent/100) {
					t.Errorf("the generator is too tame: %d of %d are %q", count[verdict], cases, verdict)
				}
			}
		})
	}
}

// against compares the judge's answer with all runs, and updates the counts.
func (u updated) against(t *testing.T, seed int, count, open map[diag.Outcome]int) {
	t.Helper()
	want, waits := u.outcome(t)
	if waits && u.loads[0].claim != "" { // which nodes its volume allows is not enumerated where others wait
		want = u.from(t, u.start(t, 0))
	}
	if want == outside || want == tooMuch {
		count[want]++
		return
	}
	j, m := judge(t, u.nodes(), u.manifests())
	if seed%2 == 0 {
		j.Use(search.Decide(m, search.Options{Each: true}))
	}
	web := find(t, m, "web")
	rollout := j.Rollouts(web)[0]
	got := rollout.Verdict
	counts := j.Judged(web) && u.loads[0].claim == "" // without volumes
	if counts && j.Spacious(web, rollout) {
		count["spacious"]++
		if want != diag.Always {
			t.Errorf("seed %d: %s, surge %d, unavailable %d: there is always room, want %q%s", seed, u.way, u.surge, u.unavailable, want, u)
		}
	}
	if v := j.WithoutDaemonSets(web, rollout); counts && v != "" && want != "" {
		count["without DaemonSets "+v]++
		if (v == diag.Always || v != diag.Unknown && !waits) && v != want {
			t.Errorf("seed %d: %s, surge %d, unavailable %d: %s without DaemonSets, want %q%s", seed, u.way, u.surge, u.unavailable, v, want, u)
		}
	}
	if j.FollowsRollout(web, &rollout) == diag.Sometimes {
		if count["runs show"]++; want != diag.Sometimes {
			t.Errorf("seed %d: %s, surge %d, unavailable %d: runs show both outcomes, want %q%s", seed, u.way, u.surge, u.unavailable, want, u)
		}
	}
	if counts && !waits {
		v := j.Counted(web, rollout)
		wrong := map[diag.Outcome]bool{
			diag.Never:     want != "",                                     // by the rules alone
			diag.Always:    want != "" && want != diag.Always,              // whatever other pods request
			diag.Sometimes: want != diag.Always && len(j.Workloads()) == 1, // by the rules alone
		}
		if count["counted "+v]++; wrong[v] {
			t.Errorf("seed %d: %s, surge %d, unavailable %d: counts say %q, want %q%s", seed, u.way, u.surge, u.unavailable, v, want, u)
		}
	}
	if got == diag.Unknown {
		open[want]++
		return
	}
	if count[want]++; got != want {
		t.Errorf("seed %d: %s, surge %d, unavailable %d: %q, want %q%s", seed, u.way, u.surge, u.unavailable, got, want, u)
	}
}
