package placement

import (
	"errors"
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// decideFinite adds the workloads whose pods end by themselves: always if all of
// them find a node beside everything else at once, and never if not even one
// finds one in an empty cluster. Else they wait.
func (m *Model) decideFinite(d *Decision, o Options) {
	if !slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return m.ends(w) }) {
		return
	}
	parts := m.split()
	rules := parts.decideEnding(false, o)
	parts.hold(rules, o)
	full := parts.decideEnding(true, o)
	parts.hold(full, o)
	all := full.decision(m, rules)
	if parts != m {
		all.join(parts)
	}
	hopeless := parts.hopeless(rules.a)
	for _, w := range all.Workloads {
		if m.ends(w.Workload) {
			w.wait(hopeless[w.Workload])
			d.Workloads = append(d.Workloads, w)
		}
	}
	order := map[*workload.Workload]int{}
	for i, w := range m.Workloads {
		order[w] = i
	}
	slices.SortStableFunc(d.Workloads, func(x, y WorkloadDecision) int { return order[x.Workload] - order[y.Workload] })
}

// ends reports whether a workload has pods to be placed that end by themselves.
func (m *Model) ends(w *workload.Workload) bool {
	return w.Finite() && Modelled(m.groups[w]) && !w.Running
}

// decideEnding decides the components that have pods which end.
func (m *Model) decideEnding(contend bool, o Options) *decided {
	d := &decided{a: newArena(m, contend, nil)}
	for _, c := range d.a.components() {
		if slices.ContainsFunc(c.owners, func(w *workload.Workload) bool { return w.Finite() }) {
			d.outcomes = append(d.outcomes, d.a.bounded(c, o))
		}
	}
	return d
}

// wait makes a verdict about everything at once one about pods that end.
func (d *WorkloadDecision) wait(hopeless bool) {
	switch {
	case hopeless:
		d.Verdict, d.RulesVerdict, d.Cause, d.MaxPlaced, d.MinPlaced = Never, Never, "", 0, 0
		return
	case d.Verdict == Never || d.Verdict == OrderDependent:
		d.Verdict, d.Cause = Undetermined, Waits
	}
	if d.RulesVerdict == Never || d.RulesVerdict == OrderDependent {
		d.RulesVerdict = Undetermined
	}
}

// hopeless are the workloads whose pods end of which not even one pod finds a
// node, whatever else is there and however long it waits. The checker tries it.
func (m *Model) hopeless(a *arena) map[*workload.Workload]bool {
	none := map[*workload.Workload]bool{}
	prove := func(g *Group, with []*workload.Workload) {
		if err := CheckerOf(m).Homeless(m, g, with); err == nil {
			none[g.origin()] = true
		} else if !errors.Is(err, errTooLong) {
			m.run.refuse([]*workload.Workload{g.origin()}, err)
		}
	}
	for i, u := range a.units {
		if u.g.Finite() && !u.g.Running && u.pods > 0 && a.homeless(i) {
			prove(u.g, nil)
		}
	}
	for _, c := range m.Circles() {
		if g := m.groups[c.Workload]; g.Finite() && Modelled(g) {
			prove(g, c.Path)
		}
	}
	return none
}

// homeless reports whether no node ever takes a pod of a unit: none passes the
// filters, is large enough and carries all keys, or there is no company for it.
func (a *arena) homeless(i int) bool {
	u := a.units[i]
	lonely := len(u.near) > 0 && !u.first && len(u.company) == 0 && len(u.unsure) == 0 && !u.open
	return lonely || !slices.ContainsFunc(u.nodes.list, func(n int32) bool { return a.carries(int(n), u.keys) && a.carries(int(n), u.near) })
}
