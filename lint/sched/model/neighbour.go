package model

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/workload"
)

// neighbours holds the workloads that take no part in decisions but may have permanent pods.
// Those pods occupy an unknown share of the nodes.
type neighbours struct {
	all []*workload.Workload
	// nodes and growth hold, for each node and growing pool, the first workload that may use it.
	// The entry is nil if there is none.
	nodes, growth []*workload.Workload
	// apart maps a workload to a neighbour that required anti-affinity may keep away from it.
	apart map[*workload.Workload]*workload.Workload
	// near caches, for each set of node rules, a neighbour that may use the same nodes.
	near map[string]*workload.Workload
}

// NotModeled returns the workloads that take no part in decisions and may have permanent pods. If
// there are any, it is unknown whether all pods can be scheduled.
func (m *Model) NotModeled() []*workload.Workload { return m.beside().all }

// Neighbour returns a workload that takes no part in decisions but may block the pods of w. Either
// both can use the same node, or required anti-affinity keeps them apart. A positive answer about w
// holds only while that workload is absent. Neighbour returns nil if there is no such workload.
func (m *Model) Neighbour(w *workload.Workload) *workload.Workload {
	n := m.beside()
	g := m.Groups[w]
	if len(n.all) == 0 || g == nil || !Modelled(g) {
		return nil
	}
	if near := lazy.Cached(n.near, g.Signature, func() *workload.Workload { return n.sharing(m.Eligible(w)) }); near != nil {
		return near
	}
	return n.apart[w]
}

// ByNeighbour returns a reason that names the neighbour of w. The reason is empty if w has no
// neighbour. If w has one, a positive answer about w is unknown.
func (m *Model) ByNeighbour(w *workload.Workload) Reason {
	if o := m.Neighbour(w); o != nil {
		return Reason{Cause: ByNeighbour, Workload: o}
	}
	return Reason{}
}

func (m *Model) beside() *neighbours {
	return Keep(m, func() *neighbours {
		n := &neighbours{near: map[string]*workload.Workload{}, apart: map[*workload.Workload]*workload.Workload{}}
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
	rules := map[string]bool{} // node rules that are already recorded in nodes and growth
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
		for t := range m.Groups[o].Hard(AntiAffinity) {
			for w := range m.maySelect(t, o, m.Index) {
				n.apart[w] = cmp.Or(n.apart[w], o)
			}
		}
	}
	hidden := NewLabelIndex(n.all)
	for _, w := range m.Workloads {
		for _, t := range m.Groups[w].Terms {
			if t.Hard && t.Use == AntiAffinity && Modelled(m.Groups[w]) && n.apart[w] == nil {
				for o := range m.maySelect(t, w, hidden) {
					n.apart[w] = o
					break
				}
			}
		}
	}
}

// mark records o for each eligible node for which no workload is recorded yet.
func mark(nodes []*workload.Workload, passes []Passes, o *workload.Workload) {
	for i := range nodes {
		if nodes[i] == nil && passes[i].All() {
			nodes[i] = o
		}
	}
}

// maySelect yields the indexed workloads that a term of w may select.
func (m *Model) maySelect(t *Term, w *workload.Workload, index *labelIndex) iter.Seq[*workload.Workload] {
	return func(yield func(*workload.Workload) bool) {
		for _, list := range index.Candidates(t, w) {
			m.run.Spend(len(list) * t.Sel.Cost())
			for _, o := range list {
				if m.Peer(t, w, o) != No && !yield(o) {
					return
				}
			}
		}
	}
}

// sharing returns a workload that can use one of the eligible nodes, or nil.
func (n *neighbours) sharing(e *Eligibility) *workload.Workload {
	first := func(by []*workload.Workload, passes []Passes) *workload.Workload {
		for i, o := range by {
			if o != nil && passes[i].All() {
				return o
			}
		}
		return nil
	}
	return cmp.Or(first(n.nodes, e.Nodes), first(n.growth, e.Growth))
}

// widest returns a copy of a workload with only the node rules that its pods are certain to have.
// An unknown number of pods changes no rule. Scheduling gates and objects that change or reject
// pods can only add rules. Other schedulers and Kueue may place pods as if they tolerated every
// taint.
func (m *Model) widest(w *workload.Workload) *workload.Workload {
	c := *w
	open := func(field string) bool {
		return slices.ContainsFunc(w.Open, func(path string) bool { return strings.HasPrefix(path, field) })
	}
	why := m.Groups[w].Unknown.Cause
	anywhere := why == ByScheduler || why == ByQueue || open("nodeName") || why == ByNodeLabel && w.Spec.NodeName != ""
	if anywhere {
		c.Spec.NodeName = ""
	}
	if anywhere || why == ByNodeLabel || open("nodeSelector") {
		c.Spec.NodeSelector = nil
	}
	if anywhere || why == ByNodeLabel || open("affinity") {
		c.Spec.Affinity = nil
	}
	if why == ByNodeLabel {
		c.Reaches, c.OrdinalReaches = nil, nil
	}
	if anywhere || open("tolerations") {
		c.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
	return &c
}
