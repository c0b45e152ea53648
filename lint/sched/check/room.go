package check

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// checkRoomy shows for every member that others, and its own pods but one,
// cannot close all of its nodes, or those that the hint names.
func (v *verifier) checkHeadroom(c *certificate.Assertion) error {
	return v.checkGrounded(slices.DeleteFunc(slices.Clone(c.Members), func(m certificate.Member) bool { return m.Pods == 0 }))
}

// reachable are the nodes on which pods of a group may ever be.
func (v *verifier) reachable(g *model.Group) []int {
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
func (v *verifier) shares(m certificate.Member) []part {
	nodes, id := v.only(m), v.sited(m.G).name
	spreads := slices.DeleteFunc(slices.Clone(m.G.Terms), func(t *model.Term) bool { return !t.Hard || t.Use != model.Spread })
	if len(spreads) > 0 && len(v.refusing(m)) == 0 {
		return []part{{nodes: v.keyed(m), own: m.Pods - 1}}
	}
	if len(spreads) == 0 {
		if m.Open != nil || m.Node >= 0 || len(v.running) > 0 {
			id = ""
		}
		if m.Open != nil {
			nodes = m.Open
		}
		return []part{{id, v.lasting(m.G, nodes), m.Pods - 1}}
	}
	t := spreads[0]
	if len(spreads) == 1 && m.Node >= 0 && pinnedSpread(m.G, t) && v.within(m.G) && t.MinDomains() <= 1 {
		return []part{{nodes: v.lasting(m.G, nodes), own: m.Pods - 1}} // it counts on its own node alone
	}
	domains := v.domains(m.G, t)
	if len(spreads) > 1 || m.Node >= 0 || !v.within(m.G) || len(domains) < t.MinDomains() || len(domains) == 0 {
		return []part{{}} // nothing is shown for that
	}
	share := (m.Pods + len(domains) - 1) / len(domains)
	var all []part
	for _, value := range model.SortedKeys(domains) {
		p := part{own: share - 1, id: id + "|" + t.Key + "=" + value}
		if len(v.running) > 0 {
			p.id = ""
		}
		for _, n := range nodes {
			node := v.m.Topology.Nodes[n]
			if here, ok := node.Labels[t.Key]; ok && here == value && model.Carries(node.Labels, model.HardKeys(m.G)) {
				p.nodes = append(p.nodes, n)
			}
		}
		p.nodes = v.lasting(m.G, p.nodes)
		all = append(all, p)
	}
	return all
}

// lasting are the nodes that running pods do not close for good.
func (v *verifier) lasting(g *model.Group, nodes []int) []int {
	if len(v.running) == 0 && len(model.HardKeys(g)) == 0 {
		return nodes
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return v.blocked(g, n) })
}

// cramped bounds how many of the nodes others can leave too little space on, and
// names them: on each they take at least what is free there less what a pod
// asks, and one unit more. Pods that close every node that they are on by a
// rule are charged for that already.
func (v *verifier) overfilled(m certificate.Member, nodes []int, own int, blockers []blocker) (int, []blocker, []bool) {
	if !v.contend {
		return 0, nil, nil
	}
	l := v.books()
	mine, width := l.asks(m.G), len(l.names)
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
func (v *verifier) askers(m certificate.Member, tight, nodes []int, own, r int, blockers []blocker) []blocker {
	v.m.Run().Spend(len(v.m.Workloads)/model.PerStep + len(tight))
	l, in := v.books(), v.marked(tight)
	var all []blocker
	for _, w := range v.m.Workloads {
		g := v.m.Groups[w]
		if !model.Modelled(g) || g.Running || l.asks(g)[r] == 0 || !v.reaches(g, in) {
			continue
		}
		b := blocker{g: g, pods: v.count(g)}
		if g == m.G && m.Node < 0 {
			b.pods = own
		}
		rules := slices.ContainsFunc(blockers, func(o blocker) bool {
			return o.g == g && slices.ContainsFunc(o.sure, func(k string) bool {
				return !slices.ContainsFunc(nodes, func(n int) bool { return !model.Carries(v.m.Topology.Nodes[n].Labels, []string{k}) })
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
func (v *verifier) blocked(g *model.Group, n int) bool {
	switch v.refuses(g, n) {
	case certificate.Takes:
		return false
	case certificate.RefusedBySpread: // a node without one of the keys is never even counted
		return !model.Carries(v.m.Topology.Nodes[n].Labels, model.HardKeys(g))
	case certificate.RefusedByAffinity:
		return v.repelled(g, v.m.Topology.Nodes[n])
	}
	return true
}
