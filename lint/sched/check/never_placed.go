package check

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// checkNeverPlaced checks that not even one pod of a group finds a node if only the
// running pods and one pod each of some other groups, which may come first, are there.
func checkNeverPlaced(m *model.Model, g *model.Group, with []*workload.Workload) error {
	c := &certificate.Assertion{Members: []certificate.Member{{G: g, Pods: 1, Node: -1}}, Never: true}
	for _, w := range with {
		if o := m.Groups[w]; o != g && model.Modelled(o) && !o.Running {
			c.Members = append(c.Members, certificate.Member{G: o, Pods: 1, Node: -1})
		}
	}
	s := statesOf(newNodeSets(nil, m, true), c, certificate.CheckSteps)
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
		return certificate.ErrTooLong
	}
	return nil
}
