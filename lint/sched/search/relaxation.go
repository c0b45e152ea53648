package search

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// relaxation leaves parts of the input out, to see what a verdict rests on. The nil
// relaxation leaves out nothing.
type relaxation struct {
	terms map[*model.Term]bool
	parts map[*workload.Workload]map[Part]bool
	count map[*workload.Workload]int
	// extra is the number of pods in addition to the one that a DaemonSet has on a node.
	extra map[*workload.Workload]int
	// only, if not nil, is the set of workloads that take part.
	only map[*workload.Workload]bool
	// nodes are additional nodes.
	nodes []*topology.Node
	// keys are topology keys that replace those of terms.
	keys map[*model.Term]string
}

func (r *relaxation) clone() *relaxation {
	more := *r
	more.terms, more.parts, more.count = maps.Clone(r.terms), maps.Clone(r.parts), maps.Clone(r.count)
	return &more
}

// key returns the topology key of a term.
func (r *relaxation) key(t *model.Term) string {
	if r == nil || r.keys == nil {
		return t.Key
	}
	for _, of := range []*model.Term{t, t.Origin} {
		if key, ok := r.keys[of]; ok {
			return key
		}
	}
	return t.Key
}

func (r *relaxation) dropped(t *model.Term) bool {
	return r != nil && (r.terms[t] || t.Origin != nil && r.terms[t.Origin])
}

func (r *relaxation) without(g *model.Group, part Part) bool {
	return r != nil && r.parts[g.Origin()][part]
}

// gone reports whether a group has no pods left.
func (r *relaxation) gone(g *model.Group) bool {
	if r == nil {
		return false
	}
	n, ok := r.count[g.Origin()]
	return ok && n == 0
}

// treats reports whether the relaxation leaves out parts of a group.
func (r *relaxation) treats(g *model.Group) bool { return r != nil && len(r.parts[g.Origin()]) > 0 }

// pods returns the number of pods of a group under the relaxation.
func (r *relaxation) pods(g *model.Group) int {
	if r == nil {
		return g.Count.N
	}
	n, ok := r.count[g.Origin()]
	switch {
	case !ok:
		return g.Count.N
	case g.Whole == nil:
		return n
	case g.Position < n:
		return 1
	}
	return 0
}

// beside returns the number of pods in addition to the one that a DaemonSet has on a
// node.
func (r *relaxation) beside(g *model.Group) int {
	if r == nil {
		return 0
	}
	return r.extra[g.Origin()]
}

// alone reports whether the workload in question needs peers, its pods may not come
// first, and no participating workload can be its peer (T20). Then none of its pods is
// placed, and no instance is needed to see it.
func (q question) alone(relax *relaxation) bool {
	g := q.m.Groups[q.of]
	if g.Kind.PerNode() || g.Spec.NodeName != "" || g.Running || q.m.Split() != q.m || relax.keys != nil {
		return false
	}
	first, near := true, 0
	peers := map[*workload.Workload]bool{}
	for _, t := range g.Terms {
		if !t.Hard || relax.dropped(t) {
			continue
		}
		if len(q.m.LeansOn(t, g)) > 0 || q.m.MaybeDoubtful(t, q.of) {
			return false
		}
		if t.Use != model.Affinity {
			continue
		}
		near++
		first = first && q.m.Selects(t, q.of, q.of, model.Asks{Self: true, Incoming: true})
		for _, list := range q.m.Index.Candidates(t, q.of) {
			q.m.Run().Spend(1 + len(list)*t.Sel.Cost())
			for _, o := range list {
				if q.m.Peer(t, q.of, o) != model.No || q.m.Selects(t, q.of, o, model.Asks{Incoming: true}) {
					peers[o] = true
				}
			}
		}
	}
	if near == 0 || first || relax.gone(g) {
		return false
	}
	for o := range peers {
		if o != q.of && q.m.Present(q.m.Groups[o]) {
			return false
		}
	}
	return true
}

// answerByCounts answers for pods without rules about other pods that have the nodes to
// themselves: each node takes as many as fit it, in any order, so no instance is needed.
func (q question) answerByCounts(relax *relaxation) (answer model.Answer, ok bool) {
	g := q.m.Groups[q.of]
	if q.of == nil || !q.contend || len(relax.only) != 1 || !relax.only[q.of] || len(q.m.Running) > 0 || len(relax.nodes) > 0 || q.m.Split() != q.m {
		return model.Maybe, false
	}
	ports := len(g.HostPorts) > 0 && !relax.without(g, PartPorts)
	if ports || g.Kind.PerNode() || g.Spec.NodeName != "" || !model.Modelled(g) || len(q.m.Apart) > 0 ||
		slices.ContainsFunc(g.Terms, func(t *model.Term) bool { return t.Hard && !relax.dropped(t) }) {
		return model.Maybe, false
	}
	if relax.roomFor(q.m, g) < relax.pods(g) {
		return model.No, true
	}
	return model.Yes, true
}

// roomFor returns how many pods of a group the nodes take when empty, counting no further
// once all of them fit.
func (r *relaxation) roomFor(m *model.Model, g *model.Group) int {
	requests, slots := g.Requests, &model.Request{Name: corev1.ResourcePods, Amount: 1}
	if r.without(g, PartRequests) {
		requests = nil
	}
	selector, taints := r.without(g, PartSelector), r.without(g, PartTaints)
	pods, room := r.pods(g), 0
	for n, p := range m.Eligible(g.Workload).Nodes {
		if room >= pods {
			break
		}
		m.Run().Spend(1 + len(requests)/model.PerStep)
		if !p.Name || !p.Selector && !selector || !(p.Taints && p.Schedulable) && !taints {
			continue
		}
		node := m.Topology.Nodes[n]
		fit := pods
		if !r.without(g, PartSlots) {
			fit = min(fit, fitting(node, slots, fit))
		}
		for i := range requests {
			fit = min(fit, fitting(node, &requests[i], fit))
		}
		room += fit
	}
	return room
}

// fitting returns how many pods a node takes by one of their requests, at most the given
// number.
func fitting(n *topology.Node, r *model.Request, most int) int {
	has, judged := model.Offered(n, r)
	if !judged || r.Amount == 0 {
		return most
	}
	return int(min(int64(most), max(0, has/r.Amount)))
}
