package placement

import (
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// checkRoomy shows for every member that others, and its own pods but one,
// cannot close all of its nodes, or those that the hint names.
func (v *verifier) checkRoomy(c *assertion) error {
	return v.checkGrounded(slices.DeleteFunc(slices.Clone(c.members), func(m member) bool { return m.pods == 0 }))
}

// reachable are the nodes on which pods of a group may ever be.
func (v *verifier) reachable(g *Group) []int {
	if len(v.running) == 0 {
		return v.sites(g)
	}
	list, known := v.reached[g]
	if !known {
		list = v.lasting(g, v.sites(g))
		v.reached[g] = list
	}
	return list
}

// part is nodes of which one has to stay open while so many own pods are there.
type part struct {
	// id is equal for equal nodes, or "".
	id    string
	nodes []int
	own   int
}

// shares are the nodes of a member: under one spread of its own pods those of
// each domain, as one at the minimum is never refused for skew.
func (v *verifier) shares(m member) []part {
	nodes, id := v.only(m), v.sited(m.g).name
	spreads := slices.DeleteFunc(slices.Clone(m.g.Terms), func(t *Term) bool { return !t.Hard || t.Use != Spread })
	if len(spreads) > 0 && len(v.refusing(m)) == 0 {
		return []part{{nodes: v.keyed(m), own: m.pods - 1}}
	}
	if len(spreads) == 0 {
		if m.open != nil || m.node >= 0 || len(v.running) > 0 {
			id = ""
		}
		if m.open != nil {
			nodes = m.open
		}
		return []part{{id, v.lasting(m.g, nodes), m.pods - 1}}
	}
	t := spreads[0]
	if len(spreads) == 1 && m.node >= 0 && pinnedSpread(m.g, t) && v.within(m.g) && t.MinDomains() <= 1 {
		return []part{{nodes: v.lasting(m.g, nodes), own: m.pods - 1}} // it counts on its own node alone
	}
	domains := v.domains(m.g, t)
	if len(spreads) > 1 || m.node >= 0 || !v.within(m.g) || len(domains) < t.MinDomains() || len(domains) == 0 {
		return []part{{}} // nothing is shown for that
	}
	share := (m.pods + len(domains) - 1) / len(domains)
	var all []part
	for _, value := range sortedKeys(domains) {
		p := part{own: share - 1, id: id + "|" + t.Key + "=" + value}
		if len(v.running) > 0 {
			p.id = ""
		}
		for _, n := range nodes {
			node := v.m.Topology.Nodes[n]
			if here, ok := node.Labels[t.Key]; ok && here == value && carries(node.Labels, hardKeys(m.g)) {
				p.nodes = append(p.nodes, n)
			}
		}
		p.nodes = v.lasting(m.g, p.nodes)
		all = append(all, p)
	}
	return all
}

// lasting are the nodes that running pods do not close for good.
func (v *verifier) lasting(g *Group, nodes []int) []int {
	if len(v.running) == 0 && len(hardKeys(g)) == 0 {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return v.blocked(g, n) })
}

// cramped bounds how many of the nodes others can leave too little space on, and
// names them: on each they take at least what is free there less what a pod
// asks, and one unit more. Pods that close every node that they are on by a
// rule are charged for that already.
func (v *verifier) cramped(m member, nodes []int, own int, blockers []blocker) (int, []blocker, []bool) {
	if !v.contend {
		return 0, nil, nil
	}
	l := v.books()
	mine, width := l.asks(m.g), len(l.names)
	closed := 0
	all := make([]bool, len(v.on))
	crampers := map[*workload.Workload]blocker{}
	for r, ask := range mine {
		var need []int64
		var tight []int
		for _, n := range nodes {
			if ask > 0 && l.short(n, r) {
				need, tight = append(need, l.free[n*width+r]-ask+1), append(tight, n)
				all[n] = true
			}
		}
		if len(tight) == 0 {
			continue
		}
		demand := int64(0)
		for _, b := range v.askers(m, tight, nodes, own, r, blockers) {
			demand += l.asks(b.g)[r] * int64(b.pods)
			crampers[b.g.Workload] = b
		}
		slices.Sort(need)
		for _, t := range need {
			if demand < t {
				break
			}
			demand -= t
			closed++
		}
	}
	var list []blocker
	for _, w := range v.m.Workloads {
		if b, ok := crampers[w]; ok {
			list = append(list, b)
		}
	}
	return closed, list, all
}

// askers are those who may be on some of the tight nodes, ask for the resource,
// and do not close all of the nodes that they are on by a rule.
func (v *verifier) askers(m member, tight, nodes []int, own, r int, blockers []blocker) []blocker {
	v.m.run.Spend(len(v.m.Workloads)/perStep + len(tight))
	l, in := v.books(), v.marked(tight)
	var all []blocker
	for _, w := range v.m.Workloads {
		g := v.m.groups[w]
		if !Modelled(g) || g.Running || l.asks(g)[r] == 0 || !v.reaches(g, in) {
			continue
		}
		b := blocker{g: g, pods: v.count(g)}
		if g == m.g && m.node < 0 {
			b.pods = own
		}
		rules := slices.ContainsFunc(blockers, func(o blocker) bool {
			return o.g == g && slices.ContainsFunc(o.sure, func(k string) bool {
				return !slices.ContainsFunc(nodes, func(n int) bool { return !carries(v.m.Topology.Nodes[n].Labels, []string{k}) })
			})
		})
		if b.pods > 0 && !rules {
			all = append(all, b)
		}
	}
	return all
}

// blocked reports whether running pods keep a group off a node for good: the
// filters refuse it before anything else is placed, and not for want of company
// or of pods elsewhere.
func (v *verifier) blocked(g *Group, n int) bool {
	switch v.refuses(g, n) {
	case Takes:
		return false
	case RefusedBySpread: // a node without one of the keys is never even counted
		return !carries(v.m.Topology.Nodes[n].Labels, hardKeys(g))
	case RefusedByAffinity:
		return v.repelled(g, v.m.Topology.Nodes[n])
	}
	return true
}
