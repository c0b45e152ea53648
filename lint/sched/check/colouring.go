package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// choices looks for a node for every pod so that no two pods are together that must be
// apart whichever comes first. The filters require more than that, so if there is no such
// choice, no run places all pods.
type choices struct {
	s *states
	v *demand
	// sites lists the nodes of each member, at the node of each of its pods so far.
	sites [][]int
	at    [][]int
	steps int
}

// checkUncolourable looks for a choice, starting with the pods with the least slack in
// nodes.
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

// open returns the nodes that a further pod of a member may get.
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
				return true // whichever comes first
			}
		}
	}
	return false
}
