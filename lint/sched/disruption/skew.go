package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// skewSteps bounds the search for rollouts that end unevenly.
const skewSteps = 100_000

// Skews reports whether a rollout that completes may leave the new pods beyond the skew of a
// hard constraint that also counts the old ones (C9). It is false if the search exceeds its steps.
func (u updates) Skews(w *workload.Workload, replicas int) bool {
	how := w.Rollout(replicas)
	hard := slices.ContainsFunc(u.m.Group(w).Terms, func(t *model.Term) bool { return t.Hard && t.Use == model.Spread })
	if !hard || how.Way == workload.PerNode || how.Way == workload.NoRollout {
		return false
	}
	brief := *u.shared
	brief.steps = skewSteps
	q := &rolling{j: &brief, w: w, group: u.group(w, false), Rollout: &Rollout{Rollout: how, Replicas: replicas}, known: map[int]*decided{}}
	return q.explore() == diag.Always && q.skewed
}

// Tighter reports whether a rollout may get stuck if the hard spread constraints
// of a workload leave out pods of other revisions (C10).
func (f fixes) Tighter(w *workload.Workload, replicas int) bool {
	own := revisionsCounted(w)
	if own == nil {
		return false
	}
	group := slices.Clone(f.group(w, false))
	group[slices.Index(group, w)] = own
	return !f.completes(own, group, f.contendersOf(w, replicas) != nil, f.m.Topology.Nodes, w.Rollout(replicas), replicas)
}
