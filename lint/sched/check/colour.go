package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// choices gives every pod a node so that none is with one that it has to be
// apart from, whoever comes first. That is less than the filters ask, so where
// there is no such choice no run places all pods.
type choices struct {
	s *states
	// sites are the nodes of each member, at the node that each pod has.
	sites [][]int
	at    [][]int
	steps int
}

// checkUncolourable looks for a choice, the pods with the fewest nodes first.
func (v *verifier) checkUncolourable(c *certificate.Assertion) error {
	s := &states{v: v, members: c.Members}
	for range v.m.Topology.Nodes {
		s.on = append(s.on, make([]int, len(c.Members)))
	}
	s.classify()
	t := &choices{s: s, at: make([][]int, len(c.Members)), steps: v.steps}
	for _, m := range c.Members {
		t.sites = append(t.sites, slices.DeleteFunc(slices.Clone(v.sites(m.G)), func(n int) bool { return v.slots(m, n) == 0 }))
	}
	found := t.choose()
	switch {
	case t.steps <= 0:
		return certificate.ErrTooLong
	case found:
		return fmt.Errorf("%v can be kept apart", certificate.Called(c.Members))
	}
	return nil
}

func (t *choices) choose() bool {
	best, options := -1, []int(nil)
	for i, m := range t.s.members {
		if len(t.at[i]) == m.Pods {
			continue
		}
		open := t.open(i)
		if best < 0 || len(open)-(m.Pods-len(t.at[i])) < len(options)-(t.s.members[best].Pods-len(t.at[best])) {
			best, options = i, open
		}
		if t.steps <= 0 {
			return false
		}
	}
	if best < 0 {
		return true
	}
	var tried []string
	for _, n := range options {
		column := t.s.column(n)
		if slices.Contains(tried, column) {
			continue
		}
		tried = append(tried, column)
		t.at[best] = append(t.at[best], n)
		t.s.change(best, n, 1)
		if t.choose() {
			return true
		}
		t.s.change(best, n, -1)
		t.at[best] = t.at[best][:len(t.at[best])-1]
	}
	return false
}

// open are the nodes that a further pod of a member may get.
func (t *choices) open(i int) []int {
	var list []int
	for _, n := range t.sites[i] {
		if t.steps--; t.steps <= 0 {
			return list
		}
		if !t.conflicts(i, n) {
			list = append(list, n)
		}
	}
	return list
}

func (t *choices) conflicts(i, n int) bool {
	v, m := t.s.v, t.s.members[i]
	for j, nodes := range t.at {
		o := t.s.members[j]
		for _, at := range nodes {
			if at == n && (v.portsClash(m.G, o.G) || v.contend && v.crowds(m.G, o.G, n)) {
				return true
			}
			if v.outOf(m.G, n, o.G, at) && v.outOf(o.G, at, m.G, n) {
				return true // whoever comes first
			}
		}
	}
	return false
}

// outOf tells whether a pod of o on one node keeps a pod of g that comes in off
// another.
func (v *verifier) outOf(g *model.Group, n int, o *model.Group, at int) bool {
	here, there := v.m.Topology.Nodes[n], v.m.Topology.Nodes[at]
	if g.Spec.NodeName != "" {
		return false
	}
	return slices.ContainsFunc(v.against[g.Workload], func(a against) bool { return a.w == o.Workload && model.SameDomain(here, there, a.key) }) ||
		slices.ContainsFunc(g.Terms, func(t *model.Term) bool {
			return t.Hard && t.Use == model.AntiAffinity && model.SameDomain(here, there, t.Key) && v.m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true, At: there})
		})
}

func (v *verifier) portsClash(g, o *model.Group) bool {
	v.m.Run().Spend(1 + (len(g.HostPorts)+len(o.HostPorts))/model.PerStep)
	if len(g.HostPorts) == 0 || len(o.HostPorts) == 0 {
		return false
	}
	if len(g.HostPorts)*len(o.HostPorts) <= model.PerStep {
		return slices.ContainsFunc(g.HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(o.HostPorts, p.Conflicts) })
	}
	byNumber := map[int32][]model.HostPort{}
	for _, p := range o.HostPorts {
		byNumber[p.Port] = append(byNumber[p.Port], p)
	}
	return slices.ContainsFunc(g.HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(byNumber[p.Port], p.Conflicts) })
}

// crowds reports whether a node has no room for a pod of each of two groups.
func (v *verifier) crowds(g, o *model.Group, n int) bool {
	l := v.books()
	mine, other := l.asks(g), l.asks(o)
	for r := range mine {
		if mine[r] > 0 && other[r] > 0 && mine[r]+other[r] > l.free[n*len(mine)+r] {
			return true
		}
	}
	return false
}
