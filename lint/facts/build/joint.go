package build

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// joint tells what becomes of several workloads together.
type joint struct{ *builder }

// joint tells what becomes of workloads together, leaving out those of which
// something is wrong already.
func (b joint) joint() {
	for _, c := range search.Conflicts(b.m, b.faulty) {
		for _, w := range c.Among {
			b.orderDependent[w] = true
		}
		if c.Core != nil {
			b.crowd(&c)
		} else {
			b.order(&c)
		}
	}
	b.askAll(askShortages, func() {
		for _, s := range bound.Shortages(b.m, b.faulty) {
			b.volume(&s)
		}
	})
}

func texts(ws []*workload.Workload) []string {
	list := make([]string, len(ws))
	for i, w := range ws {
		list[i] = w.String()
	}
	return list
}

// crowd tells of workloads of which each fits alone, but not all together.
func (b joint) crowd(c *search.Conflict) {
	w := c.Workloads[0]
	account := func(x *Explainer) diag.Account {
		return x.together(w, c.Workloads, "each was tried without resource requests: all pods can then be scheduled",
			fmt.Sprintf("the finding ignores resource requests, and at least %s left over without them; here they count", are(c.Pods-c.Most)))
	}
	fact := facts.Crowd{
		Workload: w.String(), Workloads: texts(c.Workloads), Outcome: diag.Never, Pods: c.Pods, Most: c.Most, Pending: c.Pods - c.Most,
		Nodes: len(b.m.Topology.Nodes), Reasons: []string{}, Growth: message.Growth(c.Growth),
	}
	s := Subject{}.of(w).because(w, account)
	for _, atom := range c.Core.Atoms {
		at, _, text := atomAt(b.m, atom)
		if atom.Term != nil && s.Location.IsZero() {
			s.Location = at
			s = s.of(atom.Workload)
		} else {
			s = s.related(at, "%s", text)
		}
		fact.Reasons = append(fact.Reasons, memberText(b.m, atom))
	}
	if s.Location.IsZero() {
		s.Location = w.CountSpan()
	}
	for _, o := range c.Workloads {
		s = s.related(o.CountSpan(), "%s of %s", plural(certain(b.m, o), "pod"), o)
	}
	for _, text := range b.advisor().repairTexts(c.Workloads, c.Core.Repairs) {
		s = s.fix("%s", text)
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Crowds = append(b.Crowds, fact)
}

// pods is how many pods of a workload are certain.
func certain(m *model.Model, w *workload.Workload) int {
	if w.Kind.PerNode() {
		return m.Eligible(w).Count
	}
	return w.Count.N
}

// reason is an atom in a few words.
func memberText(m *model.Model, a search.Atom) string {
	switch {
	case a.Term != nil:
		return fmt.Sprintf("%s has %s", a.Workload, message.Term(a.Term))
	case a.Part == "ports":
		text, _ := portSpan(a.Workload, m.Group(a.Workload).HostPorts)
		return fmt.Sprintf("%s uses host port %s", a.Workload, text)
	case a.Part == "slots":
		return fmt.Sprintf("%s uses pod slots", a.Workload)
	case a.Part == "requests":
		return fmt.Sprintf("%s requests more than some nodes have", a.Workload)
	}
	return fmt.Sprintf("%s cannot use all nodes (%s)", a.Workload, excludedText(m, a.Workload))
}

// order tells of pods that fit nowhere once others came first.
func (b joint) order(c *search.Conflict) {
	pending := c.Stuck.Pending[0]
	w := pending.Workload
	fact := facts.Order{Workload: w.String(), Pods: certain(b.m, w), Pending: pending.Count, Placed: []string{}, Reason: reason(pending.Reasons)}
	ws, on := search.Nodes(c.Stuck)
	for _, o := range ws {
		fact.Placed = append(fact.Placed, fmt.Sprintf("%s of %s on %s", plural(len(on[o]), "pod"), o, nodeNames(on[o])))
	}
	s := about(w, blocking(b.m, w, ws)).because(w, func(x *Explainer) diag.Account { return x.stuck(w, c.Stuck, fact.Placed) })
	if s.Location != w.CountSpan() {
		s = s.related(w.CountSpan(), "%s of %s", plural(fact.Pods, "pod"), w)
	}
	for _, o := range ws {
		if o == w {
			continue
		}
		s = s.related(blocking(b.m, o, []*workload.Workload{w}), "%s, scheduled first on %s", o, nodeNames(on[o]))
	}
	for _, p := range c.Stuck.Pending[1:] {
		s = s.related(p.Workload.CountSpan(), "%s of %s also stay Pending", plural(p.Count, "pod"), p.Workload)
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Orders = append(b.Orders, fact)
}

// blocking is the first hard term of a workload that has to do with one of
// others, or with its own pods, else its number of pods.
func blocking(m *model.Model, w *workload.Workload, others []*workload.Workload) diag.Span {
	for _, own := range []bool{false, true} {
		for _, t := range m.Group(w).Terms {
			if !t.Hard {
				continue
			}
			for _, o := range others {
				if (o == w) == own && m.Peer(t, w, o) == model.Yes {
					return w.File().ItemSpan(t.Node)
				}
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

// nodeNames names nodes, with how often a node comes.
func nodeNames(nodes []*topology.Node) string {
	var order []*topology.Node
	count := map[*topology.Node]int{}
	for _, n := range nodes {
		if count[n]++; count[n] == 1 {
			order = append(order, n)
		}
	}
	var list []string
	for i, n := range order {
		if i == maxNamed && len(order) > maxNamed+1 {
			list = append(list, fmt.Sprintf("%d more", len(order)-i))
			break
		}
		name := n.Name
		if count[n] > 1 {
			name += fmt.Sprintf(" (%d)", count[n])
		}
		list = append(list, name)
	}
	return strings.Join(list, ", ")
}

// maxNamed bounds the nodes that a sentence names.
const maxNamed = 6

// volume tells of a resource of which there is too little for workloads
// together.
func (b joint) volume(s *bound.Shortage) {
	w := s.Workloads[0]
	requested, offered := s.Sums()
	fact := facts.Room{
		Workload: w.String(), Others: len(s.Workloads) - 1, Outcome: diag.Never, Pods: s.Pods, Pending: s.Pending, Resource: string(s.Resource),
		Request: fmt.Sprintf("%s %s in total", requested, s.Resource), Room: "only " + offered,
		Nodes: len(b.m.Topology.Nodes), Eligible: s.Nodes, Growth: message.Growth(s.Growth),
	}
	switch {
	case !s.Each.IsZero():
		fact.Request, fact.Room = fmt.Sprintf("at least %s %s each", &s.Each, s.Resource), fmt.Sprintf("capacity for only %d of that size", s.Slots)
	case s.Resource == corev1.ResourcePods:
		fact.Request, fact.Room = "one pod slot each", "only "+offered+" pod slots"
	}
	subject := about(w, requestSpan(w, s.Resource)).because(w, func(x *Explainer) diag.Account { return x.together(w, s.Workloads, "") })
	for _, o := range s.Workloads[1:min(len(s.Workloads), maxNamed)] {
		at := requestSpan(o, s.Resource)
		if at.IsZero() {
			at = o.CountSpan()
		}
		subject = subject.related(at, "%s also requests %s", o, s.Resource)
	}
	subject = subject.fix("request less %s, run fewer pods, or add nodes", s.Resource)
	fact.ID, fact.W = b.subject(subject), b.row(w)
	b.Room = append(b.Room, fact)
}

// circle tells of a workload that waits for one that waits for it.
func (b joint) circle(c bound.Circle) {
	w := c.Workload
	b.faulty[w] = true
	t := b.m.Group(w).HardAffinity()[0]
	at := fieldSpan(w, t.Node, "labelSelector")
	if at.IsZero() {
		at = w.File().ItemSpan(t.Node)
	}
	s := about(w, at).because(w, func(x *Explainer) diag.Account { return x.together(w, c.Path, "") })
	fact := facts.Circle{Workload: w.String(), Member: c.Member}
	for i, o := range c.Path {
		fact.Members = append(fact.Members, o.String())
		if i > 0 && o != w {
			s = s.related(o.Object.NameSpan(), "%s waits as well", o)
		}
	}
	s = s.fix("make one of the required affinity terms preferred")
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Circles = append(b.Circles, fact)
}
