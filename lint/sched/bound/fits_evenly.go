package bound

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
)

// fillsEvenly gives every domain of one spread its even share, and a node no more pods
// than anti-affinity and the other spreads allow whatever is on other nodes (T22).
func fillsEvenly(m *model.Model, p *Problem, pods int) bool {
	if len(p.Spreads) > mostSpreads {
		return false
	}
	all := kinds(m, p, pods, "")
	for i, t := range p.Spreads {
		limits, ok := nodeLimits(m, p, i)
		if ok && sharesFit(m, p, t, capped(all, limits), pods) {
			return true
		}
	}
	return false
}

// mostSpreads bounds the spreads that are tried one by one against all others.
const mostSpreads = 8

// nodeLimit is the number of pods that each domain of a key may always hold; if must is set a
// node has to carry the key.
type nodeLimit struct {
	domain []int32
	most   int
	must   bool
}

// nodeLimits returns the limits of anti-affinity and of all spreads except one; ok is false if
// one of those spreads does not count exactly the workload's own pods.
func nodeLimits(m *model.Model, p *Problem, except int) (all []nodeLimit, ok bool) {
	for _, key := range p.Keys {
		domain, _ := m.Numbered(key, m.Topology.Nodes)
		all = append(all, nodeLimit{domain, 1, false})
	}
	for i, t := range p.Spreads {
		if i == except {
			continue
		}
		if rule := m.SpreadRule(m.Views[0], p.G, t); !rule.Counts || rule.Foreign > 0 {
			return nil, false
		}
		domain, _ := m.Numbered(t.Key, m.Topology.Nodes)
		all = append(all, nodeLimit{domain, int(t.Constraint.MaxSkew), true})
	}
	return all, true
}

// capped limits the room of each kind of node. Nodes that share a domain
// with others get none, because the order would decide which of them has the pods.
func capped(all []kind, limits []nodeLimit) []kind {
	left := slices.Clone(all)
	for _, l := range limits {
		shared := map[int32]int{}
		for _, k := range all {
			if d := l.domain[k.nodes[0]]; k.shared(l.domain) {
				shared[d] += len(k.nodes)
			}
		}
		for i := range left {
			k := &left[i]
			switch d := l.domain[k.nodes[0]]; {
			case d < 0 && l.must, d >= 0 && k.shared(l.domain) && shared[d] > 1:
				k.most = 0
			case d >= 0:
				k.most = min(k.most, l.most)
			}
		}
	}
	return left
}

// sharesFit reports whether every domain of a spread has room for its even share on nodes of
// the given kinds.
func sharesFit(m *model.Model, p *Problem, t *model.Term, all []kind, pods int) bool {
	rule := m.SpreadRule(m.Views[0], p.G, t)
	domains := len(rule.Eligible)
	if !rule.Counts || rule.Foreign > 0 || domains == 0 || domains < t.MinDomains() {
		return false
	}
	domain, _ := m.Numbered(t.Key, m.Topology.Nodes)
	share, more := pods/domains, pods%domains
	room := map[int32]int{}
	full, fuller := 0, 0 // the domains with room for an even share, and for one more pod
	count := func(room, domains int) {
		if room >= share {
			full += domains
		}
		if room > share {
			fuller += domains
		}
	}
	for _, k := range all {
		switch d := domain[k.nodes[0]]; {
		case d < 0:
		case k.shared(domain):
			room[d] = min(model.Unbounded, room[d]+len(k.nodes)*k.most)
		default:
			count(k.most, len(k.nodes))
		}
	}
	for _, r := range room {
		count(r, 1)
	}
	return (share == 0 || full >= domains) && fuller >= more
}
