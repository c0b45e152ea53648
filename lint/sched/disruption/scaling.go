package disruption

import (
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Limit returns the rule that keeps so many pods of a workload from being placed even
// if it had the cluster to itself, with pools at their maximum; nil if there is no such rule
// or it is not judged. Workloads whose pods it counts, or requires nearby, may make room
// for it and are included.
func (up scaling) Limit(w *workload.Workload, pods int) *bound.Limit {
	c := *w
	c.Scale, c.Count.N, c.Count.Known = nil, pods, true
	ws := append(up.helpers(w), &c)
	m := up.m.Beside(ws)
	if e := m.Eligible(&c); !m.Judged(&c) || e.Count+e.Growable == 0 {
		return nil
	}
	for _, l := range bound.Capacity(m, &c) {
		if l.Exceeded {
			return &l
		}
	}
	return nil
}

// helpers returns copies of the workloads whose pods a workload counts or requires nearby,
// with as many pods as they may have.
func (j *shared) helpers(w *workload.Workload) (all []*workload.Workload) {
	seen := map[*workload.Workload]bool{}
	for _, t := range j.m.Group(w).Terms {
		if !t.Hard || t.Use == model.AntiAffinity {
			continue
		}
		for _, o := range j.m.Others(t, w, true) {
			if seen[o] {
				continue
			}
			seen[o] = true
			c := *o
			if c.Count.N = max(o.Count.N, most(o)); o.Kind.PerNode() {
				c.Count.Known = false // one on each node
			}
			all = append(all, &c)
		}
	}
	return all
}

// Scaling is the verdict on the largest number of pods that an autoscaler may ask for.
type Scaling struct {
	Answer diag.Outcome
	// Limit is the rule by which the pods do not fit, if the workload's own rules suffice.
	Limit *bound.Limit
	// Most is the largest number of pods that fit, if not all do.
	Most int
	// Pool and Size are a growing pool and the number of nodes at which the maximum begins
	// to fit; Pool is "" if that was not determined.
	Pool string
	Size int
	Why  model.Reason
}

// scaling answers questions about autoscalers.
type scaling struct{ *shared }

// Scaling judges a workload at the maximum of its autoscaler (R-W18).
func (up scaling) Scaling(w *workload.Workload) Scaling {
	switch {
	case w.Scale == nil:
		return Scaling{Answer: diag.None}
	case up.unknown(w).Given():
		return Scaling{Answer: diag.Unknown, Why: up.unknown(w)}
	}
	if why := up.reasonDependsOnTransient(w); why.Given() {
		return Scaling{Answer: diag.Unknown, Why: why}
	}
	if why := up.reasonNoTrialDecides(w); why.Given() { // only a limit of the workload alone is known
		if l := up.Limit(w, w.Scale.Max); l != nil {
			return Scaling{Answer: diag.Never, Limit: l, Most: l.Most}
		}
		return Scaling{Answer: diag.Unknown, Why: why}
	}
	s := up.scene(up.contenders(w, w.Scale.Max)).with(w, w.Scale.Max)
	_, d := s.decide()
	c := s.of[w]
	if l := up.Limit(w, w.Scale.Max); l != nil {
		most := l.Most
		if !up.grows(w, w.Scale.Max) { // others may leave less
			most = min(most, decisionOf(d, c).MaxPlaced)
		}
		return Scaling{Answer: diag.Never, Limit: l, Most: most}
	}
	answer := verdict(d, c)
	group, crowd := up.contenders(w, w.Scale.Max), up.contendersOf(w, w.Scale.Max)
	if crowd != nil && (answer == diag.Sometimes || answer == diag.Always) {
		ruled, gone := up.assembled(group).Roster, certificate.Loss{Meaning: certificate.Gone}
		if !search.AlwaysFits(w, ruled, up.contendersOrGroup(group, crowd), search.NoLoss, gone, w.Scale.Max) {
			return Scaling{Answer: diag.Unknown, Why: by(model.ByCrowd)}
		}
		answer = diag.Always
	}
	switch answer {
	case diag.Always:
		if up.grows(w, w.Scale.Max) && !up.scales(w) {
			return Scaling{Answer: diag.Unknown, Why: by(model.ByGrowth)}
		}
		if why := up.m.ByNeighbour(w); why.Given() {
			return Scaling{Answer: diag.Unknown, Why: why}
		}
		return Scaling{Answer: diag.Always}
	case diag.Sometimes:
		return Scaling{Answer: diag.Sometimes, Why: by(model.ByOrder)}
	case diag.Never:
		if up.withoutPreemptible(w, up.contenders(w, w.Scale.Max)) != nil {
			return Scaling{Answer: diag.Unknown, Why: by(model.ByPriority)}
		}
		if up.grows(w, w.Scale.Max) {
			return up.begins(w)
		}
		return Scaling{Answer: diag.Never, Most: decisionOf(d, c).MaxPlaced, Why: by(model.ByContention)}
	}
	return Scaling{Answer: diag.Unknown, Why: up.undecided(w)}
}

// scales reports whether the maximum of an autoscaler, which always fits on the declared
// nodes, does so at every size.
func (up scaling) scales(w *workload.Workload) bool {
	return up.holdsAtEverySize(w, w.Scale.Max, 0, func(at *shared, _ []*workload.Workload, _ bool) bool {
		return at == up.shared || scaling{at}.Scaling(w).Answer == diag.Always
	})
}

// begins finds the size of a growing pool at which the maximum of an autoscaler
// begins to fit. If several pools may grow for the pods, no single size answers that.
func (up scaling) begins(w *workload.Workload) Scaling {
	s := Scaling{Answer: diag.Unknown, Why: by(model.ByGrowth)}
	e := up.m.Eligible(w)
	var pools []*topology.Pool
	extra := 0
	for i, g := range up.m.Topology.Growth {
		if e.Growth[i].All() && !slices.Contains(pools, g.Node.Pool) {
			pools, extra = append(pools, g.Node.Pool), g.Extra
		}
	}
	if len(pools) != 1 {
		return s
	}
	group := up.groupAtAnySize(w, w.Scale.Max)
	if up.contendersOf(w, w.Scale.Max) != nil || len(up.contendersGrown(w, w.Scale.Max)) > 0 {
		return s
	}
	fits := func(k int) bool {
		scene := up.scene(group).with(w, w.Scale.Max)
		m := up.m.Variant(scene.ws, model.GrownBy(up.m, pools[0], k))
		d := search.Decide(m, up.options(up.steps))
		v := verdict(d, scene.of[w])
		return v == diag.Always || v == diag.Sometimes
	}
	k := sort.Search(extra+1, fits)
	if k > extra {
		return Scaling{Answer: diag.Unknown, Why: by(model.ByLargestSize)}
	}
	s.Pool, s.Size = pools[0].Name, pools[0].Count+k
	s.Why = model.Reason{Cause: model.ByPoolSize, Name: s.Pool, Count: s.Size}
	return s
}
