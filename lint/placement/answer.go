package placement

import (
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// join names the workloads of which single pods were decided about.
func (d *Decision) join(parts *Model) {
	whole := func(w *workload.Workload) *workload.Workload {
		if g := parts.groups[w]; g != nil {
			return g.origin()
		}
		return w // it takes no part
	}
	for i := range d.Witness {
		d.Witness[i].Workload = whole(d.Witness[i].Workload)
	}
	for i := range d.Doubts {
		if d.Doubts[i].Resource == "" { // one of a resource names its owner already
			d.Doubts[i].Workload, d.Doubts[i].Target = whole(d.Doubts[i].Workload), whole(d.Doubts[i].Target)
		}
	}
	if d.Stuck == nil {
		return
	}
	for i := range d.Stuck.Placements {
		d.Stuck.Placements[i].Workload = whole(d.Stuck.Placements[i].Workload)
	}
	var pending []Pending
	for _, p := range d.Stuck.Pending {
		p.Workload = whole(p.Workload)
		if last := len(pending) - 1; last >= 0 && pending[last].Workload == p.Workload {
			pending[last].Count += p.Count // the first one is what the rest waits for
			continue
		}
		pending = append(pending, p)
	}
	d.Stuck.Pending = pending
}

// decision puts the answers together, about the workloads of m.
func (d *decided) decision(m *Model, rules *decided) *Decision {
	out := &Decision{Verdict: d.whole(), RulesVerdict: rules.whole(), Exact: true, groups: map[*workload.Workload][]*workload.Workload{}, brief: map[*workload.Workload]bool{}}
	stuck := false
	for i := range d.outcomes {
		o := &d.outcomes[i]
		owners := d.a.m.unmerge(o.owners)
		for _, w := range owners {
			out.groups[w] = owners
			out.brief[w] = out.brief[w] || o.proof.company || o.proof.kind != shape && o.proof.kind != roomy
		}
		out.Total += o.pods
		out.MaxPlaced += o.most
		out.MinPlaced += o.least
		out.Exact = out.Exact && o.exact
		out.Witness = append(out.Witness, d.a.m.deal(d.a.placed(o.best))...)
		stuck = stuck || o.decided && len(o.worst) < o.pods
	}
	out.Doubts, out.Over = d.a.doubts, d.overruns()
	mine, ruled := d.tallies(), rules.tallies()
	out.bound(rules)
	for _, w := range m.Workloads {
		g := m.groups[w]
		if !Modelled(g) || w.Running {
			continue
		}
		t := mine[w]
		t.most = min(t.most, ruled[w].most) // resources make nothing possible
		verdict := WorkloadDecision{
			Workload: w, Pods: t.pods, Verdict: t.verdict(), RulesVerdict: ruled[w].verdict(), MaxPlaced: t.most, MinPlaced: t.least,
		}
		if verdict.Verdict == Undetermined {
			verdict.Cause = out.cause(w, t)
		}
		out.Workloads = append(out.Workloads, verdict)
	}
	// A run of the decided components alone is no maximal run of the whole.
	if stuck && !slices.ContainsFunc(d.outcomes, func(o outcome) bool { return !o.decided || o.unsure }) {
		out.Stuck = d.stuck()
	}
	return out
}

// cause is why the verdict about a workload is open: a doubt about its own rules
// or those of one that it has to do with, or else the budget.
func (d *Decision) cause(w *workload.Workload, t tally) Cause {
	switch {
	case t.refuted:
		return ByFault
	case !t.unsure && t.large:
		return BySize
	case !t.unsure:
		return ByBudget
	}
	for _, own := range []bool{true, false} {
		for _, q := range d.Doubts {
			if q.Workload == w || !own && slices.Contains(d.groups[w], q.Workload) {
				return q.Cause()
			}
		}
	}
	return ByLabel
}

// bound takes over what the rules alone make impossible.
func (d *Decision) bound(rules *decided) {
	most := 0
	for i := range rules.outcomes {
		most += rules.outcomes[i].most
	}
	d.MaxPlaced = min(d.MaxPlaced, most)
	if d.RulesVerdict == Never {
		d.Verdict = Never
	}
}

func (d *decided) overruns() []Overrun {
	var all []Overrun
	for i := range d.outcomes {
		if o := &d.outcomes[i]; !o.decided && !o.unsure {
			cause := ByBudget
			switch {
			case o.refuted:
				cause = ByFault
			case o.large && !o.spent:
				cause = BySize
			}
			all = append(all, Overrun{d.a.m.unmerge(o.owners), o.pods, cause})
		}
	}
	return all
}

func (a *arena) placed(path []step) []Placed {
	all := make([]Placed, len(path))
	for i, s := range path {
		all[i] = Placed{Workload: a.units[s.unit].g.Workload, Node: a.nodes[s.node]}
	}
	return all
}

// stuck puts the runs that place least together; the checker says why the pods
// that are left over fit nowhere.
func (d *decided) stuck() *Stuck {
	s := &Stuck{}
	got := map[*workload.Workload]int{}
	for _, o := range d.outcomes {
		for _, p := range d.a.m.deal(d.a.placed(o.worst)) {
			s.Placements = append(s.Placements, p)
			got[p.Workload]++
		}
	}
	pods := map[*workload.Workload]int{}
	for _, u := range d.a.units {
		if !u.g.Running {
			pods[u.g.Workload] += u.pods
			for _, w := range d.a.m.members[u.g.Workload] {
				pods[w] = w.Count.N
			}
		}
	}
	for _, w := range d.a.m.unmerge(d.a.m.Workloads) {
		if got[w] < pods[w] {
			s.Pending = append(s.Pending, Pending{Workload: w, Count: pods[w] - got[w]})
		}
	}
	return s
}
