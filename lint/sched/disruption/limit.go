package disruption

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Limit is the rule that keeps so many pods of a workload from being placed even
// if it had the cluster to itself, with pools as large as they may be; nil if
// none does, or if that is not judged. Those whose pods it counts, or wants to
// have near, may make room for it and are there, too.
func (j *Judge) Limit(w *workload.Workload, pods int) *bound.Limit {
	c := *w
	c.Scale, c.Count.N, c.Count.Known = nil, pods, true
	ws := append(j.helpers(w), &c)
	m := j.m.Beside(ws)
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
func (j *Judge) helpers(w *workload.Workload) (all []*workload.Workload) {
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
	Why  string
}

// Scaling judges a workload at the maximum of its autoscaler (R-W18).
func (j *Judge) Scaling(w *workload.Workload) Scaling {
	switch {
	case w.Scale == nil:
		return Scaling{Answer: diag.None}
	case j.unknown(w) != "":
		return Scaling{Answer: diag.Unknown, Why: j.unknown(w)}
	}
	if why := j.leans(w); why != "" {
		return Scaling{Answer: diag.Unknown, Why: why}
	}
	s := j.scene(j.crowd(w, w.Scale.Max)).with(w, w.Scale.Max)
	_, d := s.decide()
	c := s.of[w]
	if l := j.Limit(w, w.Scale.Max); l != nil {
		most := l.Most
		if !j.grows(w, w.Scale.Max) { // others may leave less
			most = min(most, placed(d, c))
		}
		return Scaling{Answer: diag.Never, Limit: l, Most: most}
	}
	switch verdict(d, c) {
	case diag.Always:
		if j.grows(w, w.Scale.Max) && !j.scales(w) {
			return Scaling{Answer: diag.Unknown, Why: whyGrowth}
		}
		return Scaling{Answer: diag.Always}
	case diag.Sometimes:
		return Scaling{Answer: diag.Sometimes, Why: "it depends on which pods come first"}
	case diag.Never:
		if j.yielding(w, j.crowd(w, w.Scale.Max)) != nil {
			return Scaling{Answer: diag.Unknown, Why: whyPreempt}
		}
		if j.grows(w, w.Scale.Max) {
			return j.begins(w)
		}
		return Scaling{Answer: diag.Never, Most: placed(d, c), Why: "others take the room"}
	}
	return Scaling{Answer: diag.Unknown, Why: j.undecided(w)}
}

func placed(d *certificate.Decision, w *workload.Workload) int {
	for i := range d.Workloads {
		if d.Workloads[i].Workload == w {
			return d.Workloads[i].MaxPlaced
		}
	}
	return 0
}
