package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
	corev1 "k8s.io/api/core/v1"
)

// Room settles most losses of most workloads by arithmetic over kinds of nodes. Tests
// compare it with all placements and repairs (package disruption).

// Room holds how many pods of one workload fit on each kind of node.
type Room struct {
	*Kinds
	p    *bound.Problem
	pods int
	caps []int // of one empty node, by kind; 0 where pods may not be
	asks []closableNodes
	// crowd caches the last description of other pods.
	crowd *contenders
}

// closableNodes is a resource that the pods request, and how much.
type closableNodes struct {
	*offered
	ask int64
}

// Room returns the room for pods of one of the workloads of the kinds.
func (k *Kinds) Room(w *workload.Workload, pods int) *Room {
	k.m.Run().Spend(len(k.nodes))
	g := k.m.Groups[w]
	r := &Room{Kinds: k, p: bound.ProblemOf(k.m, g), pods: pods, caps: make([]int, len(k.nodes))}
	c, e, keys := bound.Capacities(k.m, g), k.m.Eligible(w), model.HardKeys(g)
	for i, nodes := range k.nodes {
		n := int(nodes[0])
		if e.Nodes[n].All() && model.Carries(k.m.Topology.Nodes[n].Labels, keys) {
			if r.caps[i] = min(c.At(n), pods); len(g.HostPorts) > 0 {
				r.caps[i] = min(r.caps[i], 1)
			}
		}
	}
	return r
}

// Hit reports whether some pod may be on lost nodes.
func (r *Room) Hit(b *DomainLoss) bool {
	for c := range b.taken {
		if r.caps[c] > 0 {
			return true
		}
	}
	return false
}

// Within reports whether all nodes that take a pod are in a domain of a key.
func (r *Room) Within(key string) bool {
	for c, nodes := range r.nodes {
		if _, has := r.m.Topology.Nodes[nodes[0]].Labels[key]; r.caps[c] > 0 && !has && key != corev1.LabelHostname {
			return false
		}
	}
	return true
}

// Several reports whether several pods may be on lost nodes.
func (r *Room) Several(b *DomainLoss) bool {
	for c, taken := range b.taken {
		if taken*r.per(int(c)) > 1 {
			return true
		}
	}
	return len(b.taken) > 1
}

// Left reports whether a node remains that takes a pod when empty.
func (r *Room) Left(b *DomainLoss) bool { return r.open(b, nil, 0) > 0 }

// Single decides about a workload that interacts with no other, if its rules are simple:
// anti-affinity on nested keys, or one spread over its own pods.
func (r *Room) Single(b *DomainLoss, l certificate.Loss) (v diag.Outcome, pending int, ok bool) {
	switch {
	case !bound.QuickApplies(r.p.G) || len(r.p.G.HardAffinity()) > 0 || !plain(r.m, r.p.G):
		return "", 0, false
	case len(r.p.Spreads) == 0:
		return r.keptApart(b, l)
	case len(r.p.Spreads) == 1:
		return r.spread(b, l)
	}
	return "", 0, false
}

// Orderless reports whether all maximal placements of the workload alone have as many
// pods, however much room each node has, and whatever was there before (T1, T3).
func (r *Room) Orderless() bool {
	_, _, ok := r.Single(NoLoss, certificate.Loss{Meaning: certificate.Gone})
	return ok
}

// plain reports whether it is known which of the group's own pods its hard terms select.
func plain(m *model.Model, g *model.Group) bool {
	return !slices.ContainsFunc(g.Terms, func(t *model.Term) bool {
		return t.Hard && m.Peer(t, g.Workload, g.Workload) == model.Maybe
	})
}

// keptApart decides where the placements are the independent sets of a laminar matroid
// (T1), so that only their size counts. A repair ends with a maximal placement on the
// remaining nodes, all of which have one size: room. An unreachable pod closes its
// domain, so each takes from that size the one pod that could be in the domain outside
// the lost nodes. Some placement has as many unreachable pods in such domains as there
// are pods or domains, as any few pods can be extended to a maximal placement.
func (r *Room) keptApart(b *DomainLoss, l certificate.Loss) (v diag.Outcome, pending int, ok bool) {
	// The only key of anti-affinity whose domains hold several nodes, if there is one. A node alone
	// in its domain takes one pod, which per covers.
	var shared []int32
	for _, key := range r.p.Keys {
		if !r.coarse(key) {
			continue
		}
		if shared != nil {
			return "", 0, false
		}
		shared = r.domain(key)
	}
	left := r.room(shared, func(c int32) int { return len(r.nodes[c]) - b.taken[c] })
	switch {
	case left < r.pods:
		return diag.Never, r.pods - left, true
	case !l.CreatedAgain(r.p.G):
		return diag.Sometimes, min(r.pods, r.room(shared, func(c int32) int { return b.taken[c] })), true
	}
	if l.Meaning == certificate.Unreachable && shared != nil {
		if left -= min(r.pods, r.unreachable(b, shared)); left < r.pods {
			return diag.Sometimes, r.pods - left, true
		}
	}
	return diag.Always, 0, true
}

// unreachable counts the domains that have room both on lost nodes and on others.
func (r *Room) unreachable(b *DomainLoss, shared []int32) int {
	r.m.Run().Spend(1 + len(shared)/model.PerStep)
	lost, beside := map[int32]bool{}, map[int32]bool{}
	for c, d := range shared {
		if d < 0 || r.caps[c] == 0 {
			continue
		}
		taken := b.taken[int32(c)]
		lost[d], beside[d] = lost[d] || taken > 0, beside[d] || taken < len(r.nodes[c])
	}
	both := 0
	for d := range lost {
		if lost[d] && beside[d] {
			both++
		}
	}
	return both
}

// per returns how many pods a node of a kind holds, at most one if it is in a domain of
// an anti-affinity key.
func (r *Room) per(c int) int {
	for _, key := range r.p.Keys {
		if r.domain(key)[c] != -1 {
			return min(r.caps[c], 1)
		}
	}
	return r.caps[c]
}

// room returns how many pods fit on so many nodes of each kind.
func (r *Room) room(shared []int32, nodes func(c int32) int) int {
	r.m.Run().Spend(1 + len(r.nodes)/model.PerStep)
	sum := 0
	seen := map[int32]bool{}
	for c := range r.nodes {
		n := nodes(int32(c))
		most := r.per(c)
		switch {
		case n == 0 || most == 0:
		case shared != nil && shared[c] >= 0:
			if !seen[shared[c]] {
				seen[shared[c]] = true
				sum++
			}
		default:
			sum += n * most
		}
	}
	return sum
}
