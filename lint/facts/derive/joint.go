package derive

import (
	"cmp"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sched/simulate"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/workload"
)

// joint builds the facts about workloads that affect each other.
type joint struct{ *builder }

// joint adds the facts about workloads that affect each other, according to the decision about all of
// them. If d is nil, no decision was made.
func (b joint) joint(d *certificate.Decision) {
	b.askAll(askShortages, func() {
		for _, s := range bound.Shortages(b.m, b.faulty) {
			w := s.Workloads[0]
			for _, o := range s.Workloads {
				b.told[o] = true
			}
			fact := facts.Room{
				Others: len(s.Workloads) - 1, Outcome: diag.Never, Cause: "total", Pods: s.Pods, Most: s.Pods - s.Pending, Pending: s.Pending,
				Resource: string(s.Resource), Requested: s.Requested.String(), Offered: s.Offered.String(),
				Nodes: len(b.m.Topology.Nodes), Eligible: s.Nodes, Growth: message.GrownPools(s.Growth),
			}
			if !s.Each.IsZero() {
				fact.Cause, fact.Request, fact.Most, fact.Requested, fact.Offered = "size", s.Each.String(), s.Slots, "", ""
			}
			subject := about(w, requestSpan(w, s.Resource)).withAccount(w, func(x *Explainer) diag.Account { return x.together(w, s.Workloads, "") })
			for _, o := range s.Workloads[1:min(len(s.Workloads), maxNamed)] {
				at := requestSpan(o, s.Resource)
				if at.IsZero() {
					at = o.CountSpan()
				}
				subject = subject.related(at, "%s", message.AlsoRequests(o, s.Resource))
			}
			subject = subject.fix("%s", message.RequestLessTogether(s.Resource))
			fact.ID, fact.W = b.subject(subject), b.row(w)
			b.Room = append(b.Room, fact)
		}
	})
	if d == nil {
		return
	}
	b.never(d)
	for _, c := range search.Orders(b.m, d, b.faulty) {
		for _, w := range c.Workloads {
			b.orderDependent[w] = true
		}
		b.order(&c)
	}
}

// indices returns the row indices of workloads.
func (b joint) indices(ws []*workload.Workload) []int {
	list := make([]int, len(ws))
	for i, w := range ws {
		list[i] = b.row(w)
	}
	return list
}

// crowd adds a fact about workloads. Each of them fits alone, but they do not fit together.
func (b joint) crowd(c *search.Conflict) {
	w := c.Workloads[0]
	for _, o := range c.Workloads {
		b.told[o] = true
	}
	account := func(x *Explainer) diag.Account {
		return x.together(w, c.Workloads, message.TriedWithoutRequests, message.IgnoresRequests(c.Pods-c.Most))
	}
	fact := facts.Crowd{
		Workloads: b.indices(c.Workloads), Outcome: diag.Never, Pods: c.Pods, Most: c.Most, Pending: c.Pods - c.Most,
		Nodes: len(b.m.Topology.Nodes), Growth: []facts.GrownPool{},
	}
	if slices.ContainsFunc(c.Workloads, func(w *workload.Workload) bool { return b.m.Eligible(w).Growable > 0 }) {
		fact.Growth = message.GrownPools(b.m.Views[len(b.m.Views)-1].Growth())
	}
	s := Subject{}.of(w).withAccount(w, account)
	first := slices.IndexFunc(c.Core.Atoms, func(a search.Atom) bool { return a.Term != nil && (a.Workload == w || len(c.Workloads) > 1) })
	if first < 0 {
		first = slices.IndexFunc(c.Core.Atoms, func(a search.Atom) bool { return a.Workload == w })
	}
	for i, atom := range c.Core.Atoms {
		at, _, text := atomAt(b.m, atom)
		if i == first {
			s.Location = at
			s = s.of(atom.Workload)
		} else {
			s = s.related(at, "%s", text)
		}
		rule := facts.CoreRule{W: b.row(atom.Workload), Use: string(atom.Part)}
		switch {
		case atom.Term != nil:
			r := termRule(rule.W, atom.Term)
			rule.Use, rule.Key = r.Use, r.Key
		case atom.Part == search.PartPorts:
			rule.Use = "host-port"
			rule.Key, _ = portSpan(atom.Workload, b.m.Group(atom.Workload).HostPorts)
		case atom.Part == search.PartRequests:
			rule.Key = message.Requests(slices.DeleteFunc(slices.Clone(model.Written(b.m.Group(atom.Workload).Requests)), volume))
		case atom.Part != search.PartSlots:
			all := b.m.Excluded(atom.Workload, true)
			for i := range all {
				rule.Excluded = append(rule.Excluded, message.ExclusionRow(&all[i]))
			}
		}
		fact.Core = append(fact.Core, rule)
	}
	if s.Location.IsZero() {
		s.Location = w.CountSpan()
	}
	for _, o := range c.Workloads[:min(len(c.Workloads), maxNamed)] {
		s = s.related(o.CountSpan(), "%s", message.PodsOf(certain(b.m, o), o))
	}
	for _, text := range b.advisor().repairTexts(c.Workloads, c.Core.Repairs) {
		s = s.fix("%s", text)
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Crowds = append(b.Crowds, fact)
}

// never adds a fact for each conflict that keeps pods Pending in every run, unless another fact already
// reports it. A conflict is within one workload, or among several that each fit alone.
func (b joint) never(d *certificate.Decision) {
	never := map[*workload.Workload]bool{}
	for i := range d.Workloads {
		w := &d.Workloads[i]
		if w.Verdict != diag.Never {
			continue
		}
		if never[w.Workload] = true; b.faulty[w.Workload] || b.told[w.Workload] {
			continue
		}
		core, told := &search.Core{}, false
		b.m.Ask([]*workload.Workload{w.Workload}, search.WhyQuestion, b.m.Bounds([]*workload.Workload{w.Workload}), func() {
			core = cmp.Or(search.Explain(b.m, w.Workload, d), core)
			told = slices.ContainsFunc(core.Atoms, func(a search.Atom) bool { return b.faulty[a.Workload] || b.told[a.Workload] || b.undeclared(a) })
		})
		// Without a core, for want of steps, pods of others may be what the affinity needs.
		open := func(t *model.Term) bool { return b.undeclared(search.Atom{Term: t, Workload: w.Workload}) }
		if told || len(core.Atoms) == 0 && slices.ContainsFunc(b.m.Group(w.Workload).Terms, open) {
			continue
		}
		b.crowd(&search.Conflict{Workloads: []*workload.Workload{w.Workload}, Pods: w.Pods, Most: w.MaxPlaced, Core: core})
		b.faulty[w.Workload] = true
		row := b.row(w.Workload)
		b.Sharing = slices.DeleteFunc(b.Sharing, func(s facts.Sharing) bool { return s.W == row }) // of pods that do not run
	}
	for i := range d.Short {
		short := &d.Short[i]
		if slices.ContainsFunc(short.Workloads, func(w *workload.Workload) bool { return never[w] || b.faulty[w] || b.told[w] }) {
			continue
		}
		c := &search.Conflict{Workloads: short.Workloads, Pods: short.Pods, Most: short.Most, Core: &search.Core{}}
		if d.Chosen == nil {
			if why := search.ExplainShort(b.m, short); why != nil {
				c = why
			}
		}
		if !slices.ContainsFunc(c.Core.Atoms, b.undeclared) {
			b.crowd(c)
		}
	}
}

// undeclared reports whether a part of a core is required affinity to pods that no manifest declares. They
// may be deployed from elsewhere, unless they would need the hash of the workload's own revision.
func (b joint) undeclared(a search.Atom) bool {
	t, w := a.Term, a.Workload
	return t != nil && t.Use == model.Affinity && b.m.Self(t, w) != model.Yes && len(b.m.Others(t, w, true)) == 0 &&
		!slices.ContainsFunc(t.MatchKeys, func(key string) bool { return slices.Contains(w.Kind.Shared, key) })
}

// certain returns the minimum number of pods that a workload can have.
func certain(m *model.Model, w *workload.Workload) int {
	if w.Kind.PerNode() {
		return m.Eligible(w).Count
	}
	return w.Count.N
}

// order adds a fact about pods that fit on no node if other pods are scheduled first.
func (b joint) order(c *search.Conflict) {
	pending := c.Stuck.Pending[0]
	w := pending.Workload
	fact := facts.Order{Pods: certain(b.m, w), Pending: pending.Count, Refused: refusedNodes(pending.Reasons)}
	ws, on := search.Nodes(c.Stuck)
	var first []string
	for _, o := range ws {
		p := placed(b.row(o), "", on[o])
		fact.Placed, first = append(fact.Placed, p), append(first, message.Placed(&p, b.Facts))
	}
	at := w.CountSpan()
	if slices.ContainsFunc(fact.Refused, func(r facts.FilterNodes) bool { return !perNode[certificate.Reason(r.Filter)] }) {
		at = blocking(b.m, w, ws)
	}
	s := about(w, at).withAccount(w, func(x *Explainer) diag.Account {
		on := check.NewPlacement(x.b.m, c.Stuck.Placements)
		return diag.Account{Tables: []diag.NodeTable{x.table(w, message.NextPodAfter(w, first), on.Answers(w))}}
	})
	if s.Location != w.CountSpan() {
		s = s.related(w.CountSpan(), "%s", message.PodsOf(fact.Pods, w))
	}
	for i, o := range ws {
		if o == w {
			continue
		}
		s = s.related(blocking(b.m, o, []*workload.Workload{w}), "%s", message.ScheduledFirst(o, &fact.Placed[i]))
	}
	for _, p := range c.Stuck.Pending[1:] {
		s = s.related(p.Workload.CountSpan(), "%s", message.AlsoPending(p.Count, p.Workload))
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Orders = append(b.Orders, fact)
}

// perNode holds the filters that no rule of another workload has a part in.
var perNode = map[certificate.Reason]bool{
	certificate.RefusedByResources: true, certificate.RefusedByTaint: true, certificate.RefusedBySelector: true,
	certificate.RefusedByCordon: true, certificate.RefusedByName: true,
}

// leftOut adds a fact about the pods of a component that some simulated runs leave out for want of
// room, although others place all pods. The checker confirms the run.
func (b joint) leftOut(c *simulate.Component) {
	inFault := func(w *workload.Workload) bool { return b.faulty[w] || b.orderDependent[w] || !w.Count.Known }
	if c.Stuck == nil || c.Complete == 0 || c.Grows || slices.ContainsFunc(c.Workloads, inFault) || !b.wanted("orders") {
		return
	}
	b.m.Ask(c.Workloads, search.TogetherQuestion, b.m.Bounds(c.Workloads), func() {
		if conflict, ok := search.StuckRun(b.m.Permanent(), c.Workloads, c.Stuck); ok {
			b.order(&conflict)
		}
	})
}

// refusedNodes returns the number of nodes that each filter rejects. The largest number comes
// first.
func refusedNodes(reasons map[certificate.Reason]int) []facts.FilterNodes {
	rows := make([]facts.FilterNodes, 0, len(reasons))
	for filter, nodes := range reasons {
		rows = append(rows, facts.FilterNodes{Filter: string(filter), Nodes: nodes})
	}
	sorting.Stable(rows, func(a, b facts.FilterNodes) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Filter, b.Filter))
	})
	return rows
}

// blocking returns the span of the rule of w that blocks some of the given workloads. It prefers a
// hard term that selects pods of another of these workloads. The next choice is a hard term that
// selects the pods of w. The last choices are a host port and the number of pods.
func blocking(m *model.Model, w *workload.Workload, some []*workload.Workload) diag.Span {
	among := func(t *model.Term, own bool) bool {
		return slices.ContainsFunc(some, func(o *workload.Workload) bool { return (o == w) == own && m.Peer(t, w, o) == model.Yes })
	}
	return blockingTerm(m, w, func(t *model.Term) bool { return among(t, false) }, func(t *model.Term) bool { return among(t, true) })
}

// blockingTerm returns the span of the first hard term that the function others accepts. The next
// choice is the first hard term that the function own accepts. The last choices are a host port and
// the number of pods.
func blockingTerm(m *model.Model, w *workload.Workload, others, own func(*model.Term) bool) diag.Span {
	for _, asks := range []func(*model.Term) bool{others, own} {
		for _, t := range m.Group(w).Terms {
			if t.Hard && asks(t) {
				return w.File().ItemSpan(t.Node)
			}
		}
	}
	if ports := m.Group(w).HostPorts; len(ports) > 0 {
		if _, span := portSpan(w, ports); !span.IsZero() {
			return span
		}
	}
	return w.CountSpan()
}

// maxNamed is the maximum number of nodes in a sentence.
const maxNamed = 6

// circle adds a fact about workloads that are waiting for each other.
func (b joint) circle(c bound.Circle) {
	w := c.Workload
	b.faulty[w] = true
	t := b.m.Group(w).HardAffinity()[0]
	at := fieldSpan(w, t.Node, "labelSelector")
	if at.IsZero() {
		at = w.File().ItemSpan(t.Node)
	}
	s := about(w, at).withAccount(w, func(x *Explainer) diag.Account { return x.together(w, c.Path, "") })
	fact := facts.Circle{Members: b.indices(c.Path), Member: c.Member}
	for i, o := range c.Path {
		if i > 0 && o != w {
			s = s.related(o.Object.NameSpan(), "%s", message.AlsoWaits(o))
		}
	}
	s = s.fix(message.PreferOneTerm)
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Circles = append(b.Circles, fact)
}
