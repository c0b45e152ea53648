package placement

import (
	"errors"
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// Permanent is the model without the workloads whose pods end by themselves. They
// give back what they take, so they are in nobody's way for good: whatever is
// reached beside them could be reached without them, and what waits for them
// goes on once they have ended (R-Q3, R-Q4). Only company, and pods that a spread
// counts, may have an effect that lasts: a rule that selects them leaves the
// answer open, and so does one that selects declared pods of which nothing else
// is known. It is the model itself where there is nothing to leave out.
func (m *Model) Permanent() *Model {
	if m.permanent == nil {
		m.permanent = m.withoutFinite()
	}
	return m.permanent
}

func (m *Model) withoutFinite() *Model {
	ws := slices.DeleteFunc(slices.Clone(m.Workloads), (*workload.Workload).Finite)
	if len(ws) == len(m.Workloads) {
		return m
	}
	p := *m
	p.Workloads, p.index, p.parts, p.relations = ws, newLabelIndex(ws), nil, nil
	p.absent = m.without(func(g *Group) bool { return g.Finite() || !Modelled(g) })
	p.permanent = &p
	return &p
}

// without indexes the groups that are left out and may have pods at some time;
// nil if there are none.
func (m *Model) without(out func(*Group) bool) *labelIndex {
	var ws []*workload.Workload
	for _, w := range slices.Concat(m.Workloads, m.elsewhere) {
		if g := m.groups[w]; out(g) && mayExist(g) {
			ws = append(ws, w)
		}
	}
	if len(ws) == 0 {
		return nil
	}
	return newLabelIndex(ws)
}

// mayExist reports whether a group may have pods at some time.
func mayExist(g *Group) bool {
	return !g.Refused() && !g.Copy && !g.Superseded && (!g.Count.Known || g.Count.N > 0)
}

// leansOn are the doubts of a hard term that may count on absent pods: it asks for
// their company, or counts them.
func (m *Model) leansOn(t *Term, g *Group) []Doubt {
	switch {
	case !t.Hard || m.absent == nil || g.Spec.NodeName != "" || t.Use == AntiAffinity:
		return nil
	case t.Use == Spread && (t.sel.form != FormSet || g.Kind.PerNode()): // which refuse nobody (R-T5, R-N31)
		return nil
	}
	var all []Doubt
	for _, list := range m.absent.candidates(t, g.Workload) {
		for _, w := range list {
			if m.Peer(t, g.Workload, w) != No && !same(w, g.origin()) {
				all = append(all, Doubt{Workload: g.Workload, Term: t, Target: w, Why: unsettled(w)})
			}
		}
	}
	return all
}

// Doubts are those of the hard rules of some workloads, each of which leaves
// open what becomes of them: on which pods a rule counts that take no part, and
// whether it selects others.
func (m *Model) Doubts(ws []*workload.Workload) []Doubt {
	var all []Doubt
	for _, w := range ws {
		g := m.groups[w]
		for _, t := range g.Terms {
			if !t.Hard {
				continue
			}
			all = append(all, m.leansOn(t, g)...)
			if !m.maybeDoubtful(t, w) {
				continue
			}
			for _, list := range m.index.candidates(t, w) {
				m.run.Spend(len(list) * t.sel.cost())
				for _, o := range list {
					if key := t.sel.doubtful(w, o); key != "" && m.present(m.groups[o]) {
						all = append(all, Doubt{Workload: w, Term: t, Target: o, Key: key, Variable: t.sel.variable(o, key)})
					}
				}
			}
		}
	}
	return all
}

// maybeDoubtful reports whether a term of a workload asks for a label of which not all
// values are known.
func (m *Model) maybeDoubtful(t *Term, owner *workload.Workload) bool {
	m.run.Spend(t.sel.cost())
	return slices.ContainsFunc(t.sel.reqs, func(r requirement) bool {
		return r.own || m.index.opens(t, owner, r.key) || slices.ContainsFunc(r.values, Placeholder)
	})
}

// unsettled is why pods take no part that do not end by themselves.
func unsettled(w *workload.Workload) string {
	if why := unknown(w); why != "" || w.Count.Known || w.Kind.PerNode() {
		return why
	}
	return "the number of pods is not known"
}

// decideFinite adds the workloads whose pods end by themselves: always if all of
// them find a node beside everything else at once, and never if not even one
// finds one in an empty cluster. Else they wait.
func (m *Model) decideFinite(d *Decision, o Options) {
	if !slices.ContainsFunc(m.Workloads, m.ends) {
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
		if err := newVerifier(m, true).checkHomeless(g, with); err == nil {
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
