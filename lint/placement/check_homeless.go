package placement

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/workload"
)

// checkHomeless checks that not even one pod of a group finds a node, with nothing about
// but the pods that run and one each of some others, which may come first.
func (v *verifier) checkHomeless(g *Group, with []*workload.Workload) error {
	c := &assertion{members: []member{{g: g, pods: 1, node: -1}}, never: true}
	for _, w := range with {
		if o := v.m.groups[w]; o != g && Modelled(o) && !o.Running {
			c.members = append(c.members, member{g: o, pods: 1, node: -1})
		}
	}
	s := v.statesOf(c)
	s.ended = func() {
		if s.left[0] == 0 {
			s.complete = true
		}
	}
	s.visit()
	switch {
	case s.complete:
		return fmt.Errorf("a pod of %v can be placed", g.Workload)
	case s.steps <= 0:
		return errTooLong
	}
	return nil
}
