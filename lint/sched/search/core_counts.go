package search

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// alone reports whether the workload in question needs company, its pods may not come
// first, and no participating workload can be its company (T20). Then none of its pods is
// placed, and no instance is needed to see it.
func (q question) alone(relax *relaxation) bool {
	g := q.m.Groups[q.of]
	if g.Kind.PerNode() || g.Spec.NodeName != "" || g.Running || q.m.Split() != q.m || relax.keys != nil {
		return false
	}
	first, near := true, 0
	company := map[*workload.Workload]bool{}
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
					company[o] = true
				}
			}
		}
	}
	if near == 0 || first || relax.gone(g) {
		return false
	}
	for o := range company {
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
	ports := len(g.HostPorts) > 0 && !relax.without(g, atomPorts)
	if ports || g.Kind.PerNode() || g.Spec.NodeName != "" || !model.Modelled(g) || len(q.m.Apart) > 0 {
		return model.Maybe, false
	}
	if slices.ContainsFunc(g.Terms, func(t *model.Term) bool { return t.Hard && !relax.dropped(t) }) {
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
	if r.without(g, atomRequests) {
		requests = nil
	}
	selector, taints := r.without(g, atomSelector), r.without(g, atomTaints)
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
		if !r.without(g, atomSlots) {
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
