package disruption_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/workload"
)

// drained is what becomes of the first workload when nodes are drained one at a
// time: over all complete placements and all ways in which the pods of the node
// are placed again (R-W19).
func (s sample) drained(t *testing.T) (answer diag.Outcome, tooMuch bool) {
	t.Helper()
	from, _, _ := s.settle(t, 0, nil)
	if len(from.complete) == 0 {
		return diag.None, true
	}
	worst := diag.Always
	for n := range s.boxes {
		after := s.clone()
		after.boxes[n].drained = true
		w := after.world(t, s.rest(nil))
		w.left = mostAsked
		ends, seen := map[bool]bool{}, map[grid]bool{}
		for _, g := range from.complete {
			for r := range from.rows {
				if from.rows[r].alone == nil {
					g = from.with(g, r, n, -from.on(g, r, n))
				}
			}
			w.reachFrom(g, seen, func(g grid, _ bool) { ends[w.pods(g, 0) == w.rows[0].pods] = true })
		}
		tooMuch = tooMuch || w.left <= 0
		switch {
		case ends[false] && !ends[true]:
			worst = diag.Never
		case ends[false] && worst != diag.Never:
			worst = diag.Sometimes
		}
	}
	return worst, tooMuch || from.tooMuch
}

// TestDrainAgreesWithRepairs holds answers on drains without budgets against all
// placements and all repairs.
func TestDrainAgreesWithRepairs(t *testing.T) {
	draw := func(seed int) sample {
		g := newGenerator(seed, 503)
		s := g.sample("Deployment")
		s.running = nil // which a drain takes away
		for i := range s.loads {
			if s.loads[i].kind == "DaemonSet" {
				s.loads[i].kind = "Deployment"
			}
			s.loads[i].replicas = min(s.loads[i].replicas, 3)
		}
		return s
	}
	said := func(j *disruption.Judge, w *workload.Workload) diag.Outcome { return j.Drain(w).Answer }
	agree(t, 250, draw, sample.drained, said, diag.Always, diag.Never, diag.Sometimes)
}

// scaled is how many pods of the first workload can be placed at the most and at
// the least, if an autoscaler asks for so many.
func (s sample) scaled(t *testing.T, pods int, alone bool) (most, least int, tooMuch bool) {
	t.Helper()
	s = s.clone()
	s.loads[0].replicas = pods
	if alone {
		s.loads, s.running = s.loads[:1], nil
	}
	w := s.world(t, s.rest(nil))
	least = pods
	w.reach(func(g grid, _ bool) { most, least = max(most, w.pods(g, 0)), min(least, w.pods(g, 0)) })
	return most, least, w.left <= 0
}

// TestScalingAgreesWithPlacements holds answers on autoscalers, and limits,
// against all placements at the maximum.
func TestScalingAgreesWithPlacements(t *testing.T) {
	count, open := map[diag.Outcome]int{}, map[diag.Outcome]int{}
	for seed := range trials.Of(t, 300) {
		g := newGenerator(seed, 504)
		s := g.sample("Deployment")
		s.loads[0].replicas = 1 + g.IntN(2)
		pods := 2 + g.IntN(4)
		scaler := fmt.Sprintf("---\n{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 1, maxReplicas: %d}}\n", pods)
		most, least, tooMuch := s.scaled(t, pods, false)
		alone, _, _ := s.scaled(t, pods, true)
		if tooMuch {
			count["?"]++
			continue
		}
		want := diag.Sometimes
		switch {
		case least == pods:
			want = diag.Always
		case most < pods:
			want = diag.Never
		}
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
		if got.Answer != want || got.Answer == diag.Never && got.Most < most {
			t.Errorf("seed %d: %+v at %d, want %s, most %d%s%s", seed, got, pods, want, most, s, strings.TrimSpace(scaler))
		}
	}
	t.Logf("%v, unknown %v", count, open)
	tame(t, count, diag.Always, diag.Never, diag.Sometimes, "limit")
}
