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

// Limit is the rule that keeps so many pods of a workload from being placed even
// if it had the cluster to itself, with pools as large as they may be; nil if
// none does, or if that is not judged. Those whose pods it counts, or wants to
// have near, may make room for it and are there, too.
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

// helpers are copies of those whose pods a workload counts or wants near, with as
// many pods as they may have.
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
				c.Count.Known = false // as many as there are nodes
			}
			all = append(all, &c)
		}
	}
	return all
}

// Scaling is whether all pods fit that an autoscaler may ask for.
type Scaling struct {
	Answer diag.Outcome
	// Limit is the rule by which they do not, if it is one of the workload alone.
	Limit *bound.Limit
	// Most is how many fit at most, if they do not.
	Most int
	// Pool and Size are a growing pool and the number of its nodes with which the
	// maximum begins to fit; "" if that is not asked.
	Pool string
	Size int
	Why  model.Reason
}

// scaling is questions about autoscalers.
type scaling struct{ *shared }

// Scaling judges a workload at the maximum of its autoscaler (R-W18).
func (up scaling) Scaling(w *workload.Workload) Scaling {
	switch {
	case w.Scale == nil:
		return Scaling{Answer: diag.None}
	case up.unknown(w).Given():
		return Scaling{Answer: diag.Unknown, Why: up.unknown(w)}
	}
	if why := up.leans(w); why.Given() {
		return Scaling{Answer: diag.Unknown, Why: why}
	}
	if why := up.foretold(w); why.Given() {
		return up.untried(w, why)
	}
	s := up.scene(up.contenders(w, w.Scale.Max)).with(w, w.Scale.Max)
	_, d := s.decide()
	c := s.of[w]
	if l := up.Limit(w, w.Scale.Max); l != nil {
		most := l.Most
		if !up.grows(w, w.Scale.Max) { // others may leave less
			most = min(most, placed(d, c))
		}
		return Scaling{Answer: diag.Never, Limit: l, Most: most}
	}
	answer := verdict(d, c)
	group, crowd := up.contenders(w, w.Scale.Max), up.crowd(w, w.Scale.Max)
	if crowd != nil && (answer == diag.Sometimes || answer == diag.Always) {
		ruled, gone := up.assembled(group).Roster, certificate.Loss{Meaning: certificate.Gone}
		if !search.AlwaysFits(w, ruled, up.everybody(group, crowd), search.NoLoss, gone, w.Scale.Max) {
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
		if up.yielding(w, up.contenders(w, w.Scale.Max)) != nil {
			return Scaling{Answer: diag.Unknown, Why: by(model.ByPriority)}
		}
		if up.grows(w, w.Scale.Max) {
			return up.begins(w)
		}
		return Scaling{Answer: diag.Never, Most: placed(d, c), Why: by(model.ByContention)}
	}
	return Scaling{Answer: diag.Unknown, Why: up.undecided(w)}
}

// untried is what is known without a trial (see foretold): a limit of the workload alone.
func (up scaling) untried(w *workload.Workload, why model.Reason) Scaling {
	if l := up.Limit(w, w.Scale.Max); l != nil {
		return Scaling{Answer: diag.Never, Limit: l, Most: l.Most}
	}
	return Scaling{Answer: diag.Unknown, Why: why}
}

func placed(d *certificate.Decision, w *workload.Workload) int {
	for i := range d.Workloads {
		if d.Workloads[i].Workload == w {
			return d.Workloads[i].MaxPlaced
		}
	}
	return 0
}

// scales reports whether all pods that an autoscaler may ask for always fit, which
// they do on the declared nodes, at every size.
func (up scaling) scales(w *workload.Workload) bool {
	return up.holds(w, w.Scale.Max, 0, func(at *shared, _ []*workload.Workload, _ bool) bool {
		return at == up.shared || scaling{at}.Scaling(w).Answer == diag.Always
	})
}

// begins finds at which size of a growing pool the maximum of an autoscaler
// begins to fit. Where several pools may grow for the pods no single size tells.
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
	group := up.closed(w, w.Scale.Max)
	if up.crowd(w, w.Scale.Max) != nil || len(up.crowdGrown(w, w.Scale.Max)) > 0 {
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
