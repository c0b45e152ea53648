package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// join replaces the workloads that stand for single pods by those that the pods belong
// to.
func join(d *certificate.Decision, parts *model.Model) {
	whole := func(w *workload.Workload) *workload.Workload {
		if g := parts.Groups[w]; g != nil {
			return g.Origin()
		}
		return w // it takes no part
	}
	for i := range d.Witness {
		d.Witness[i].Workload = whole(d.Witness[i].Workload)
	}
	for i := range d.Doubts {
		if d.Doubts[i].Resource == "" { // a doubt about a resource already names its owner
			d.Doubts[i].Workload, d.Doubts[i].Target = whole(d.Doubts[i].Workload), whole(d.Doubts[i].Target)
		}
	}
	if d.Stuck == nil {
		return
	}
	for i := range d.Stuck.Placements {
		d.Stuck.Placements[i].Workload = whole(d.Stuck.Placements[i].Workload)
	}
	var pending []certificate.Pending
	for _, p := range d.Stuck.Pending {
		p.Workload = whole(p.Workload)
		if last := len(pending) - 1; last >= 0 && pending[last].Workload == p.Workload {
			pending[last].Count += p.Count // the first one explains the rest
			continue
		}
		pending = append(pending, p)
	}
	d.Stuck.Pending = pending
}

// decision assembles the verdicts on the workloads of m.
func (d *decided) decision(m *model.Model, rules *decided) *certificate.Decision {
	out := &certificate.Decision{Verdict: d.whole(), RulesVerdict: rules.whole(), Exact: true, Groups: map[*workload.Workload][]*workload.Workload{}, Brief: map[*workload.Workload]bool{}}
	stuck := false
	for i := range d.outcomes {
		o := &d.outcomes[i]
		owners := unmerge(d.a.m, o.owners)
		for _, w := range owners {
			out.Groups[w] = owners
			out.Brief[w] = out.Brief[w] || o.proof.Company || o.proof.Kind != certificate.Shape && o.proof.Kind != certificate.Headroom
		}
		out.Total += o.pods
		out.MaxPlaced += o.most
		out.MinPlaced += o.least
		out.Exact = out.Exact && o.exact
		out.Witness = append(out.Witness, deal(d.a.m, d.a.placed(o.best))...)
		stuck = stuck || o.decided && len(o.worst) < o.pods
	}
	out.Doubts, out.Over = d.a.doubts, d.overruns()
	mine, ruled := d.tallies(), rules.tallies()
	most := 0 // what the rules alone allow
	for i := range rules.outcomes {
		most += rules.outcomes[i].most
	}
	out.MaxPlaced = min(out.MaxPlaced, most)
	if out.RulesVerdict == diag.Never {
		out.Verdict = diag.Never
	}
	doubts := firstDoubts(out.Doubts)
	for g := range m.Placeable() {
		w, t := g.Workload, mine[g.Workload]
		t.most = min(t.most, ruled[w].most) // resources make nothing possible
		verdict := certificate.WorkloadDecision{
			Workload: w, Pods: t.pods, Verdict: t.verdict(), RulesVerdict: ruled[w].verdict(), MaxPlaced: t.most, MinPlaced: t.least,
		}
		if verdict.Verdict == diag.Unknown {
			verdict.Why.Cause = doubts.cause(out.Groups[w], w, t)
		}
		out.Workloads = append(out.Workloads, verdict)
	}
	// A run of the decided components alone is not a maximal run of all of them.
	if stuck && !slices.ContainsFunc(d.outcomes, func(o outcome) bool { return !o.decided || o.unsure }) {
		out.Stuck = d.stuck()
	}
	return out
}

// doubtsOf finds the first doubt about the rules of each workload, in the order of the
// doubts.
type doubtsOf struct {
	all   []model.Doubt
	first map[*workload.Workload]int
	// groups caches the cause for the workloads of a component, by the first of them.
	groups map[*workload.Workload]model.Cause
}

func firstDoubts(all []model.Doubt) *doubtsOf {
	d := &doubtsOf{all: all, first: map[*workload.Workload]int{}, groups: map[*workload.Workload]model.Cause{}}
	for i := range all {
		if _, known := d.first[all[i].Workload]; !known {
			d.first[all[i].Workload] = i
		}
	}
	return d
}

// cause returns why the verdict on a workload is unknown: a failed certificate, the size,
// the budget, or else a doubt about its own rules or those of another workload in its
// group.
func (d *doubtsOf) cause(group []*workload.Workload, w *workload.Workload, t tally) model.Cause {
	switch {
	case t.refuted:
		return model.ByFault
	case !t.unsure && t.large:
		return model.BySize
	case !t.unsure:
		return model.ByBudget
	}
	if i, own := d.first[w]; own {
		return d.all[i].Cause()
	}
	if len(group) == 0 {
		return model.ByLabel
	}
	why, known := d.groups[group[0]]
	if !known {
		first := len(d.all)
		for _, o := range group {
			if i, doubtful := d.first[o]; doubtful {
				first = min(first, i)
			}
		}
		if why = model.ByLabel; first < len(d.all) {
			why = d.all[first].Cause()
		}
		d.groups[group[0]] = why
	}
	return why
}

func (d *decided) overruns() []certificate.Overrun {
	var all []certificate.Overrun
	for i := range d.outcomes {
		if o := &d.outcomes[i]; !o.decided && !o.unsure {
			cause := model.ByBudget
			switch {
			case o.refuted:
				cause = model.ByFault
			case o.large && !o.spent:
				cause = model.BySize
			}
			all = append(all, certificate.Overrun{Workloads: unmerge(d.a.m, o.owners), Pods: o.pods, Cause: cause})
		}
	}
	return all
}

// stuck concatenates the worst runs; the checker adds why the remaining pods fit nowhere.
func (d *decided) stuck() *certificate.Stuck {
	s := &certificate.Stuck{}
	got := map[*workload.Workload]int{}
	for _, o := range d.outcomes {
		for _, p := range deal(d.a.m, d.a.placed(o.worst)) {
			s.Placements = append(s.Placements, p)
			got[p.Workload]++
		}
	}
	pods := map[*workload.Workload]int{}
	for _, u := range d.a.units {
		if !u.g.Running {
			pods[u.g.Workload] += u.pods
			for _, w := range d.a.m.Members[u.g.Workload] {
				pods[w] = w.Count.N
			}
		}
	}
	for _, w := range unmerge(d.a.m, d.a.m.Workloads) {
		if got[w] < pods[w] {
			s.Pending = append(s.Pending, certificate.Pending{Workload: w, Count: pods[w] - got[w]})
		}
	}
	return s
}
