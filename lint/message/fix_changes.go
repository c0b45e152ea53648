package message

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Repairs of rollouts, drains, losses, migrations and autoscalers.
const (
	MismatchLabelKeys    = "add mismatchLabelKeys: [kubevirt.io/created-by] to the required anti-affinity so that a machine does not conflict with its own migration target"
	AddEligibleNode      = "add an eligible node"
	DeleteNodes          = "delete the Node objects once the nodes are confirmed down so that their pods are recreated"
	HonorUnreachable     = "set nodeTaintsPolicy: Honor so that unreachable nodes do not count as empty domains"
	SelectOrRemoveBudget = "select labels that the pods have, or remove the PodDisruptionBudget"
	OneBudgetEach        = "change the selectors so that each pod matches only one PodDisruptionBudget"
	AddNodesOrPool       = "add nodes or an autoscaled node pool"
)

// MatchLabelKeys applies an anti-affinity within one revision only.
func MatchLabelKeys(key string) string {
	return fmt.Sprintf("add matchLabelKeys: [%s] to the required anti-affinity so that it applies within one revision only", key)
}

// RemoveFirst removes an old pod before its replacement is created.
func RemoveFirst(way workload.Way) string {
	if way == workload.PerNode {
		return "set maxSurge: 0 and maxUnavailable: 1 so the old pod is removed before its replacement is created"
	}
	return "set maxUnavailable: 1 and maxSurge: 0 so an old pod is removed before its replacement is created"
}

// CountRevisions makes a constraint count the old pods.
func CountRevisions(key string) string {
	return fmt.Sprintf("remove matchLabelKeys: [%s] from the constraint so that old pods count (the new pods can then end up unevenly spread)", key)
}

// IgnoreRevisions makes a constraint count new pods only; tight means that the rollout can then get
// stuck.
func IgnoreRevisions(key string, tight bool) string {
	text := fmt.Sprintf("add matchLabelKeys: [%s] to the constraint so that old pods do not count", key)
	if tight {
		text += " (on these nodes the rollout can then get stuck because old pods still use the capacity)"
	}
	return text
}

// AfterLoss is the repair for pods that stay Pending after a loss; ruled means that a hard rule of
// the workload contributes.
func AfterLoss(ruled bool) string {
	if ruled {
		return "add nodes, run fewer pods, or make the rule preferred"
	}
	return "add nodes or run fewer pods"
}

// ForDrain is the repair for pods that stay Pending after a drain, given the rules of the workload
// about its own pods.
func ForDrain(rules []facts.Rule) string {
	switch {
	case slices.ContainsFunc(rules, func(r facts.Rule) bool { return r.Use == string(model.Affinity) }): // no other node helps
		return "make the affinity preferred"
	case len(rules) > 0:
		return AddEligibleNode + " or make the rule preferred"
	}
	return AddEligibleNode
}

// AllowDisruptions makes a budget allow a disruption; grow means that another replica does so, too.
func AllowDisruptions(b *disruption.Budget, grow bool) string {
	switch {
	case b.Unscaled != nil:
		return "do not select pods of " + b.Unscaled.String() + ", or set minAvailable to a number of pods"
	case slices.ContainsFunc(b.Workloads, func(w *workload.Workload) bool { return w.Kind.PerNode() }):
		return "set minAvailable to a smaller number of pods"
	case slices.ContainsFunc(b.Workloads, func(w *workload.Workload) bool { return !b.SelectsAllOf(w) }):
		return "select all pods of the workload and set maxUnavailable: 1"
	case grow:
		return "set maxUnavailable: 1 instead or add a replica"
	}
	return "set maxUnavailable: 1 instead"
}

// LowerMaximum lowers the maximum of an autoscaler.
func LowerMaximum(n int) string { return fmt.Sprintf("lower the maximum to %d", n) }

// AddLabelTo puts a label in the field that reaches the pods.
func AddLabelTo(field string) string { return "add the label to " + field }
