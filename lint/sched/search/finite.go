package search

import (
	"errors"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// decideFinite adds the workloads whose pods run to completion: always if all of their
// pods find nodes beside everything else at once, never if not even one finds a node in
// an empty cluster. Otherwise they wait.
func decideFinite(m *model.Model, d *certificate.Decision, o Options) {
	if !slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return ends(m, w) }) {
		return
	}
	parts := m.Split()
	rules := decideInstance(newState(parts, false, nil), o, true)
	hold(parts, rules, o)
	full := decideInstance(newState(parts, true, nil), o, true)
	hold(parts, full, o)
	all := full.decision(m, rules)
	if parts != m {
		join(all, parts)
	}
	hopeless := neverPlaced(parts, rules.a)
	for _, w := range all.Workloads {
		if ends(m, w.Workload) {
			convertToFinite(&w, hopeless[w.Workload])
			d.Workloads = append(d.Workloads, w)
		}
	}
	order := map[*workload.Workload]int{}
	for i, w := range m.Workloads {
		order[w] = i
	}
	slices.SortStableFunc(d.Workloads, func(x, y certificate.WorkloadDecision) int { return order[x.Workload] - order[y.Workload] })
}

// ends reports whether a workload has pods to be placed that run to completion.
func ends(m *model.Model, w *workload.Workload) bool {
	return w.Finite() && m.Groups[w].Placeable()
}

// convertToFinite turns a verdict about everything at once into one about pods that run to
// completion.
func convertToFinite(d *certificate.WorkloadDecision, hopeless bool) {
	switch {
	case hopeless:
		d.Verdict, d.RulesVerdict, d.Why, d.MaxPlaced, d.MinPlaced = diag.Never, diag.Never, model.Reason{}, 0, 0
		return
	case d.Verdict == diag.Never || d.Verdict == diag.Sometimes:
		d.Verdict, d.Why = diag.Unknown, model.Reason{Cause: model.Waits}
	}
	if d.RulesVerdict == diag.Never || d.RulesVerdict == diag.Sometimes {
		d.RulesVerdict = diag.Unknown
	}
}

// neverPlaced returns the workloads whose pods run to completion and never find a node,
// not even one pod, whatever else is there and however long it waits. The checker
// confirms each.
func neverPlaced(m *model.Model, a *state) map[*workload.Workload]bool {
	none := map[*workload.Workload]bool{}
	prove := func(g *model.Group, with []*workload.Workload) {
		if err := certificate.CheckerOf(m).NeverPlaced(m, g, with); err == nil {
			none[g.Origin()] = true
		} else if !errors.Is(err, certificate.ErrTooLong) {
			m.Run().Refuse([]*workload.Workload{g.Origin()}, err)
		}
	}
	for i, u := range a.units {
		if u.g.Finite() && !u.g.Running && u.pods > 0 && a.neverPlaced(i) {
			prove(u.g, nil)
		}
	}
	for _, c := range bound.Circles(m) {
		if g := m.Groups[c.Workload]; g.Finite() && model.Modelled(g) {
			prove(g, c.Path)
		}
	}
	return none
}

// neverPlaced reports whether no node ever takes a pod of a pod group: none passes the
// filters, is large enough and carries all keys, or no pod can be its company.
func (a *instance) neverPlaced(i int) bool {
	u := a.units[i]
	lonely := len(u.affinityKeys) > 0 && !u.first && len(u.company) == 0 && len(u.unsure) == 0 && !u.open
	return lonely || !slices.ContainsFunc(u.nodes.list, func(n int32) bool { return a.carries(int(n), u.keys) && a.carries(int(n), u.affinityKeys) })
}
