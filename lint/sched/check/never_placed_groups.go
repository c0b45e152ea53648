package check

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// neverPlacedGroups is the set of groups whose pods are never placed, because their company
// never is (T20).
type neverPlacedGroups map[*model.Group]bool

// neverPlaced reports whether pods of a group are never placed: its required affinity needs
// company, none of its pods may come first, and only pods of such groups can be company.
func (ns *nodeSets) neverPlaced(g *model.Group) bool {
	return (*model.Keep(ns.m, func() *neverPlacedGroups {
		all := ns.followers()
		return &all
	}))[g]
}

// followers starts with the groups that cannot come first and repeatedly removes those
// for which a group outside the set can be company.
func (ns *nodeSets) followers() neverPlacedGroups {
	all := neverPlacedGroups{}
	var left []*model.Group
	for _, w := range ns.m.Workloads {
		if g := ns.m.Groups[w]; ns.m.Present(g) && ns.cannotLead(g) {
			all[g] = true
			left = append(left, g)
		}
	}
	for changed := true; changed; {
		before := len(left)
		left = slices.DeleteFunc(left, func(g *model.Group) bool {
			hard := g.HardAffinity()
			ns.m.Run().Spend(1 + len(ns.selects[hard[0]]))
			if slices.ContainsFunc(ns.selects[hard[0]], func(o *workload.Workload) bool {
				return !all[ns.m.Groups[o]] && !slices.ContainsFunc(hard[1:], func(t *model.Term) bool { return !slices.Contains(ns.selects[t], o) })
			}) {
				delete(all, g)
				return true
			}
			return false
		})
		changed = len(left) < before
	}
	return all
}

// cannotLead reports whether the pods of a group need others, none of them may come
// first, and no doubt remains about which others.
func (ns *nodeSets) cannotLead(g *model.Group) bool {
	hard := g.HardAffinity()
	if len(hard) == 0 || g.Running || g.Spec.NodeName != "" || len(ns.m.Doubts([]*workload.Workload{g.Workload})) > 0 {
		return false
	}
	return slices.ContainsFunc(hard, func(t *model.Term) bool {
		return !ns.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true})
	})
}

// coming returns how many pods of a group there may be.
func (ns *nodeSets) coming(g *model.Group) int {
	if ns.neverPlaced(g) {
		return 0
	}
	return ns.count(g)
}
