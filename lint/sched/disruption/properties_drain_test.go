package disruption_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// drained returns the outcome for the first workload when nodes are drained one at a time. It
// enumerates all placements in which its pods run, and all orders in which the pods on a node are evicted,
// terminate and are placed again, within the budgets (R-W19, R-A1). The outcome is never if each
// placement has a node whose drain always leaves pods Pending.
func (s sample) drained(t *testing.T) (answer diag.Outcome, tooMuch bool) {
	t.Helper()
	from, _, _ := s.settle(t, 0, nil)
	if len(from.settled) == 0 {
		return diag.None, true
	}
	never, bad := 0, false
	lost := make([]bool, len(from.settled))
	for n := range s.boxes {
		d := s.drain(t, n)
		for i, g := range from.settled {
			if d.before = g; slices.ContainsFunc(s.loads, func(l load) bool { return l.pin != "" }) {
				clear(d.known)
			}
			ends := d.from(grid(string(g) + string(make([]byte, len(s.loads)*len(s.boxes)))))
			bad = bad || ends&stuck != 0
			lost[i] = lost[i] || ends == stuck
		}
		tooMuch = tooMuch || d.left <= 0
	}
	for i := range lost {
		if lost[i] {
			never++
		}
	}
	switch tooMuch = tooMuch || from.tooMuch; {
	case !bad:
		return diag.Always, tooMuch
	case never == len(lost):
		return diag.Never, tooMuch
	}
	return diag.Sometimes, tooMuch
}

// draining describes the drain of one node. After the rows for the loads, the world has one row of
// terminating pods for each load.
type draining struct {
	*world
	s     sample
	node  int
	known map[grid]ends
	// before is the state before the drain.
	before grid
}

// ends is a set of outcomes for the first workload: whole, or stuck, with pods missing or not
// evicted.
type ends int

const (
	whole ends = 1 << iota
	stuck
)

func (s sample) drain(t *testing.T, n int) *draining {
	t.Helper()
	after := s.clone()
	after.boxes[n].drained = true
	rows := s.rest(nil)
	for i, l := range s.loads {
		name := l.name + "-gone"
		rows = append(rows, row{name: name, text: l.pod(name, "old", `, deletionTimestamp: "2026-01-01T00:00:00Z"`, ""), of: i, once: l.once})
	}
	w := after.world(t, rows)
	w.left = mostAsked
	return &draining{w, s, n, map[grid]ends{}, ""}
}

// from returns the outcomes of all runs that start in a state.
func (d *draining) from(g grid) ends {
	if known, ok := d.known[g]; ok || d.left <= 0 {
		return known
	}
	loads := len(d.s.loads)
	all, moved := ends(0), false
	next := func(g grid) {
		moved = true
		all |= d.from(g)
	}
	for r := range loads {
		gone := loads + r
		there := d.pods(g, r)
		if d.s.loads[r].kind == "StatefulSet" { // its successor waits until the pod is gone
			there += d.pods(g, gone)
		}
		if there < d.rows[r].pods {
			for _, n := range d.takers(g, r) {
				if d.s.loads[r].mayUse(d.world, d.before, g, n, r, r) {
					next(d.with(g, r, n, 1))
				}
			}
		}
		if d.on(g, gone, d.node) > 0 {
			next(d.with(g, gone, d.node, -1))
		}
		guarded := d.s.loads[r].guarded && d.rows[r].pods-d.pods(g, r) >= d.s.loads[r].allowed
		if d.rows[r].alone == nil && d.on(g, r, d.node) > 0 && !guarded {
			next(d.with(d.with(g, r, d.node, -1), gone, d.node, 1))
		}
	}
	if !moved {
		if all = stuck; d.pods(g, 0) == d.rows[0].pods && d.on(g, 0, d.node) == 0 {
			all = whole
		}
	}
	d.known[g] = all
	return all
}

// TestDrainAgreesWithRuns compares answers about drains with all placements and all runs. An
// answer may be sometimes even though in each placement the drain of some node always leaves pods
// Pending.
func TestDrainAgreesWithRuns(t *testing.T) {
	draw := func(seed int) sample {
		g := newGenerator(seed, 503)
		s := g.sample(g.pick("Deployment", "Deployment", "StatefulSet"))
		s.running = nil // a drain would remove them
		s.boxes = s.boxes[:min(len(s.boxes), 4)]
		for i := range s.loads {
			l := &s.loads[i]
			if l.kind == "DaemonSet" {
				l.kind = "Deployment"
			}
			if l.replicas = min(l.replicas, 3); g.chance(35) {
				l.guarded, l.allowed = true, g.IntN(3)
			}
			if g.chance(30) {
				l.rules = []rule{{use: "aff", key: keys[g.IntN(2)], labels: g.pick("app: "+l.name, "all: pods")}}
			}
		}
		return s
	}
	drainsAgree(t, 400, draw)
}

// drainsAgree compares answers about drains with all runs. Without volumes, an answer is unknown only
// if the search takes too long.
func drainsAgree(t *testing.T, trialCount int, draw func(seed int) sample) {
	t.Helper()
	count := map[string]int{}
	for seed := range trials.Seeds(t, trials.Of(t, trialCount)) {
		s := draw(seed)
		want, tooMuch := s.drained(t)
		if tooMuch {
			count["?"]++
			continue
		}
		j, m := judge(t, s.nodes(), s.manifests())
		w := find(t, m, "web")
		d := j.Drain(w)
		count[fmt.Sprintf("%s for %s", d.Answer, want)]++
		open := d.Answer == diag.Unknown && (d.Why.Cause == model.ByBudget || len(w.Claims) > 0)
		later := d.Answer == diag.Sometimes && want == diag.Always // other drains and losses may come before
		if d.Answer != want && !(d.Answer == diag.Sometimes && want == diag.Never) && !open && !later {
			t.Errorf("seed %d: %s (%s), want %s%s", seed, d.Answer, d.Why.Cause, want, s)
		}
	}
	t.Log(count)
	for _, answer := range []diag.Outcome{diag.Always, diag.Never, diag.Sometimes} {
		if count[fmt.Sprintf("%s for %s", answer, answer)] < trials.Share(t, 5) {
			t.Errorf("the generator is too tame: %v", count)
		}
	}
}

// scaled returns the largest and the smallest number of pods of the first workload that are placed
// if an autoscaler asks for the given number while one of them and all other pods run. If these do not
// all fit, the autoscaler asks at once. If without is set, loads that never fit at all are left out first.
func (s sample) scaled(t *testing.T, pods int, alone, without bool) (most, least int, tooMuch bool) {
	t.Helper()
	s = s.clone()
	s.loads[0].replicas = 1
	if alone {
		s.loads, s.running = s.loads[:1], nil
	}
	from, placed, _ := s.settle(t, 0, nil)
	never := map[int]bool{}
	for i := range s.loads {
		never[i] = i > 0 && placed[i] == 0
	}
	if without && len(from.complete) == 0 && !from.tooMuch {
		from, _, _ = s.settle(t, 0, never)
	}
	s.loads[0].replicas = pods
	w := s.world(t, s.rest(from.without))
	least = pods
	if len(from.complete) == 0 {
		from.complete = []grid{w.empty()}
	}
	seen := map[grid]bool{}
	for _, g := range from.complete {
		w.reachFrom(g, seen, func(g grid, _ bool) { most, least = max(most, w.pods(g, 0)), min(least, w.pods(g, 0)) })
	}
	return most, least, w.left <= 0 || from.tooMuch
}

// scalerOf returns an autoscaler of web.
func scalerOf(least, most int) string {
	return fmt.Sprintf("---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: %d, maxReplicas: %d}}\n", least, most)
}

// outcomeOf returns the outcome if between least and most of all pods are placed.
func outcomeOf(least, most, all int) diag.Outcome {
	switch {
	case least == all:
		return diag.Always
	case most < all:
		return diag.Never
	}
	return diag.Sometimes
}

// TestScalingAgreesWithPlacements compares answers about autoscalers, and their limits, with all
// placements at the maximum.
func TestScalingAgreesWithPlacements(t *testing.T) {
	count, open := map[diag.Outcome]int{}, map[diag.Outcome]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 2000)) {
		g := newGenerator(seed, 504)
		s := g.sample("Deployment")
		s.loads[0].replicas = 1 + g.IntN(2)
		pods := 2 + g.IntN(4)
		scaler := scalerOf(1, pods)
		most, least, tooMuch := s.scaled(t, pods, false, false)
		alone, _, _ := s.scaled(t, pods, true, false)
		if tooMuch {
			count["?"]++
			continue
		}
		want := outcomeOf(least, most, pods)
		j, m := judge(t, s.nodes(), s.manifests()+scaler)
		web := find(t, m, "web")
		got := j.Scaling(web)
		if l := j.Limit(web, pods); l != nil && (alone == pods || l.Most < alone) {
			t.Errorf("seed %d: %+v, but %d of %d can be placed%s", seed, l, alone, pods, s)
		} else if l != nil {
			count["limit"]++
		}
		if got.Answer == diag.Unknown {
			open[want]++
			continue
		}
		count[want]++
		if got.Answer != want { // the judge may leave out workloads that never fit
			most, least, _ = s.scaled(t, pods, false, true)
			want = outcomeOf(least, most, pods)
		}
		if got.Answer != want || got.Answer == diag.Never && got.Most < most {
			t.Errorf("seed %d: %+v at %d, want %s, most %d%s%s", seed, got, pods, want, most, s, strings.TrimSpace(scaler))
		}
	}
	t.Logf("%v, unknown %v", count, open)
	tame(t, count, diag.Always, diag.Never, diag.Sometimes, "limit")
}
