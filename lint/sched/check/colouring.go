package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// choices gives every pod a node so that none is with one that it has to be
// apart from, whoever comes first. That is less than the filters ask, so where
// there is no such choice no run places all pods.
type choices struct {
	s *states
	v *demand
	// sites are the nodes of each member, at the node that each pod has.
	sites [][]int
	at    [][]int
	steps int
}

// checkUncolourable looks for a choice, the pods with the fewest nodes first.
func checkUncolourable(v *demand, c *certificate.Assertion, steps int) error {
	s := &states{v: v.nodeSets, members: c.Members}
	for range v.m.Topology.Nodes {
		s.on = append(s.on, make([]int, len(c.Members)))
	}
	s.classify()
	t := &choices{s: s, v: v, at: make([][]int, len(c.Members)), steps: steps}
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
	v, m := t.v, t.s.members[i]
	for j, nodes := range t.at {
		o := t.s.members[j]
		for _, at := range nodes {
			if at == n && (portsClash(v.m, m.G, o.G) || v.contend && v.lacksRoom(m.G, o.G, n)) {
				return true
			}
			if v.outOf(m.G, n, o.G, at) && v.outOf(o.G, at, m.G, n) {
				return true // whoever comes first
			}
		}
	}
	return false
}
