package model

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// neighbours are the workloads that take no part in decisions, though they may have pods for
// good: what their pods leave to others is not known.
type neighbours struct {
	all []*workload.Workload
	// nodes and growth have the first of all that may use each node, or a further one.
	nodes, growth []*workload.Workload
	// apart has the first of all that required anti-affinity keeps apart from a workload.
	apart map[*workload.Workload]*workload.Workload
	// near is the first that may use the same nodes, by the node rules of a workload.
	near map[string]*workload.Workload
}

// NotModeled returns the workloads that take no part in decisions and may have pods that do
// not end by themselves. Whether all pods can be scheduled is not known with one of them.
func (m *Model) NotModeled() []*workload.Workload { return m.beside().all }

// Neighbour returns the first workload, by name, that takes no part in decisions and may be
// in the way of the pods of w, or nil: its pods may be on the same nodes, or required
// anti-affinity keeps the two apart. A yes about w then holds only without it.
func (m *Model) Neighbour(w *workload.Workload) *workload.Workload {
	n := m.beside()
	g := m.Groups[w]
	if len(n.all) == 0 || g == nil || !Modelled(g) {
		return nil
	}
	key := g.Signature
	near, known := n.near[key]
	if !known {
		near = n.sharing(m.Eligible(w))
		n.near[key] = near
	}
	if near == nil {
		return n.apart[w]
	}
	return near
}

// ByNeighbour returns the reason why a yes about w is not known, if a neighbour is one.
func (m *Model) ByNeighbour(w *workload.Workload) Reason {
	if o := m.Neighbour(w); o != nil {
		return Reason{Cause: ByNeighbour, Workload: o}
	}
	return Reason{}
}

func (m *Model) beside() *neighbours {
	return Keep(m, func() *neighbours {
		n := &neighbours{}
		for _, w := range m.Workloads {
			if g := m.Groups[w]; !Modelled(g) && mayExist(g) && !w.Finite() {
				n.all = append(n.all, w)
			}
		}
		if len(n.all) > 0 && !m.Topology.Empty() {
			n.find(m)
		}
		return n
	})
}

func (n *neighbours) find(m *Model) {
	n.nodes, n.growth = make([]*workload.Workload, len(m.Topology.Nodes)), make([]*workload.Workload, len(m.Topology.Growth))
	n.apart, n.near = map[*workload.Workload]*workload.Workload{}, map[string]*workload.Workload{}
	rules := map[string]bool{} // node rules that are in nodes and growth
	for _, o := range n.all {
		widest := m.widest(o)
		leave := m.Guest(widest)
		if key := m.Groups[widest].Signature; !rules[key] {
			rules[key] = true
			e := m.Eligible(widest)
			m.run.Spend(len(e.Nodes) + len(e.Growth))
			mark(n.nodes, e.Nodes, o)
			mark(n.growth, e.Growth, o)
		}
		leave()
		for _, t := range m.Groups[o].Terms {
			if t.Hard && t.Use == AntiAffinity {
				n.keepApart(m, t, o, m.Index)
			}
		}
	}
	hidden := NewLabelIndex(n.all)
	for _, w := range m.Workloads {
		for _, t := range m.Groups[w].Terms {
			if t.Hard && t.Use == AntiAffinity && Modelled(m.Groups[w]) && n.apart[w] == nil {
				if o := firstPeer(m, t, w, hidden); o != nil {
					n.apart[w] = o
				}
			}
		}
	}
}

func mark(nodes []*workload.Workload, passes []Passes, o *workload.Workload) {
	for i := range nodes {
		if nodes[i] == nil && passes[i].All() {
			nodes[i] = o
		}
	}
}

// keepApart notes whom a term of o may keep away.
func (n *neighbours) keepApart(m *Model, t *Term, o *workload.Workload, index *labelIndex) {
	for _, list := range index.Candidates(t, o) {
		m.run.Spend(len(list) * t.Sel.Cost())
		for _, w := range list {
			if n.apart[w] == nil && m.Peer(t, o, w) != No {
				n.apart[w] = o
			}
		}
	}
}

// firstPeer is the first workload of an index that a term of w may select.
func firstPeer(m *Model, t *Term, w *workload.Workload, index *labelIndex) *workload.Workload {
	for _, list := range index.Candidates(t, w) {
		m.run.Spend(len(list) * t.Sel.Cost())
		for _, o := range list {
			if m.Peer(t, w, o) != No {
				return o
			}
		}
	}
	return nil
}

// sharing is the first workload that may use a node which passes for another.
func (n *neighbours) sharing(e *Eligibility) *workload.Workload {
	for _, list := range []struct {
		by     []*workload.Workload
		passes []Passes
	}{{n.nodes, e.Nodes}, {n.growth, e.Growth}} {
		for i, o := range list.by {
			if o != nil && list.passes[i].All() {
				return o
			}
		}
	}
	return nil
}

// widest returns a copy of a workload with no node rule but those that its pods are known
// to keep. Gates, and objects that change or refuse pods, only add rules, and where only the
// number of pods is unknown all rules hold. Other schedulers and Kueue may place pods as if
// they tolerated every taint.
func (m *Model) widest(w *workload.Workload) *workload.Workload {
	c := *w
	open := func(field string) bool {
		return slices.ContainsFunc(w.Open, func(path string) bool { return strings.HasPrefix(path, field) })
	}
	why := m.Groups[w].Unknown.Cause
	anywhere := why == ByScheduler || why == ByQueue || open("nodeName")
	if anywhere {
		c.Spec.NodeName = ""
	}
	if anywhere || why == ByNodeLabel || open("nodeSelector") {
		c.Spec.NodeSelector = nil
	}
	if anywhere || why == ByNodeLabel || open("affinity") {
		c.Spec.Affinity = nil
	}
	if anywhere || open("tolerations") {
		c.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	return &c
}

// openNamespaces takes workloads out of decisions for which a rule may count, or not, as the
// namespace of one of the two, or a label of it, is a placeholder: the owner of the rule, or
// the other if only that is open.
func (m *Model) openNamespaces() {
	variable := slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return source.Placeholder(w.Namespace()) })
	for _, labels := range m.Namespaces {
		for _, v := range labels {
			variable = variable || source.Placeholder(v)
		}
	}
	for _, w := range m.Workloads {
		for _, t := range m.Groups[w].Terms {
			if t.Hard && (variable || slices.ContainsFunc(t.Namespaces, source.Placeholder) || t.ns.open()) {
				m.openPeers(t, w)
			}
		}
	}
}

func (m *Model) openPeers(t *Term, w *workload.Workload) {
	open := source.Placeholder
	own := open(w.Namespace()) && len(t.Namespaces) == 0 || slices.ContainsFunc(t.Namespaces, source.Placeholder) || t.ns.open()
	for _, list := range m.Index.Candidates(t, w) {
		m.run.Spend(len(list) * t.Sel.Cost())
		for _, o := range list {
			labels := m.Namespaces[o.Namespace()]
			labelled := t.NamespaceSelector != nil && slices.ContainsFunc(SortedKeys(labels), func(k string) bool { return source.Placeholder(labels[k]) })
			if !own && !labelled && !open(o.Namespace()) || selectsNamespace(m, t, w, o.Namespace()) != Maybe || t.Sel.Matches(w, o, false) == No {
				continue
			}
			g := m.Groups[o]
			if own || labelled {
				g = m.Groups[w]
			}
			if !g.Unknown.Given() {
				g.Unknown = Reason{Cause: ByNamespace}
			}
		}
	}
}

// open reports whether a condition of a selector holds a placeholder.
func (s *selector) open() bool {
	return slices.ContainsFunc(s.Reqs, func(r Requirement) bool { return slices.ContainsFunc(r.Values, source.Placeholder) })
}
