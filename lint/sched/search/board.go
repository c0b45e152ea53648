package search

import (
	"math"

	"github.com/schedlint/schedlint/lint/sched/model"
)

// Board applies the filters of the scheduler to pods that are placed and removed one by one. It is
// for packages that follow single runs. Decide does not use it.
//
// A Board belongs to a split model (model.Model.Split). At first only the running pods are placed.
type Board struct{ a *state }

// Unit is a set of pods that are equal in everything that affects placement: a workload's pods, or
// the single pod that a DaemonSet runs on one node.
type Unit struct {
	Group *model.Group
	Pods  int
	// Nodes lists the nodes that pass the node-level filters and have space for at least one pod
	// when empty. Units with equal node rules and requests share the list.
	Nodes []int32
	// Unsure is set if a hard rule of the pods depends on facts that only the cluster knows.
	Unsure bool
}

// NewBoard compiles a split model. Unlike the states of a decision, which know how much all pods
// can use, a Board has the amounts that nodes offer. More pods than are declared can be placed.
func NewBoard(m *model.Model) *Board {
	a := newState(m, true, nil)
	m.Run().Spend(len(a.free) / model.PerStep)
	for r, name := range a.resources {
		for n, amount := range m.Offers(name, a.nodes) {
			a.left(n)[r] = amount
		}
	}
	for _, s := range a.running {
		free := a.left(s.node)
		for r, ask := range a.units[s.unit].ask {
			if free[r] != math.MaxInt64 {
				free[r] -= ask
			}
		}
	}
	return &Board{a}
}

// Units returns the pods of all workloads that take part in decisions, in model order.
func (b *Board) Units() []Unit {
	all := make([]Unit, len(b.a.units))
	for i, u := range b.a.units {
		all[i] = Unit{u.g, u.pods, u.nodes.list, len(u.unsure) > 0 || u.vague || u.open || len(u.maybe) > 0}
	}
	return all
}

// Takes reports whether a node accepts one more pod of a unit. A pod that waits for another pod of
// its StatefulSet is accepted nowhere (R-W11).
func (b *Board) Takes(unit, node int) bool { return b.a.takes(unit, node) }

// Move adds pods of a unit to a node without applying filters. It removes them if by is negative.
func (b *Board) Move(unit, node, by int) { b.a.change(unit, node, int32(by)) }
