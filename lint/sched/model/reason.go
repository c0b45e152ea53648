package model

import "github.com/schedlint/schedlint/lint/workload"

// Cause is the kind of reason for an outcome that is unknown, or that does not follow from
// the nodes and the rules of the pods. Package message has the texts; the causes of decisions
// about workloads together are part of the JSON output of the place command.
type Cause string

// The causes of an unknown outcome of a decision.
const (
	// Waits: the pods finish, and those that do not fit beside all others at once wait
	// for room.
	Waits Cause = "waits"
	// ByLabel: a rule asks for a label whose value only the cluster knows;
	// ByVariable: for one whose value holds a placeholder.
	ByLabel    Cause = "label-value"
	ByVariable Cause = "variable"
	// ByFinite: a rule depends on pods that finish.
	ByFinite Cause = "finite-pods"
	// ByUnknown: a rule depends on declared pods about which too little is known.
	ByUnknown Cause = "unknown-pods"
	// ByResource: the pods, or others that may take their room, request a resource
	// that no node lists.
	ByResource Cause = "unlisted-resource"
	// ByGrowth: some size of the cluster refutes the verdict.
	ByGrowth Cause = "pool-growth"
	// ByBudget: the budget is used up; BySize: no proof applies, and there are too
	// many pods or nodes to try everything, or to check the result.
	ByBudget Cause = "budget"
	BySize   Cause = "size"
	// ByCrowd: too many workloads may take the room to search what they do, and counting does not
	// show that there is always enough.
	ByCrowd Cause = "crowd"
	// ByNeighbour: the pods of Workload, which takes no part, may block these.
	ByNeighbour Cause = "not-modeled"
	// ByFault: a certificate does not hold, which is a fault of the program.
	ByFault Cause = "internal"
)

// The causes for which a workload takes no part in decisions.
const (
	// ByContext: no file that declares it is certain to be deployed together with
	// the others.
	ByContext   Cause = "other-context"
	ByRejection Cause = "rejected"
	// ByScheduler: the scheduler with the given name places its pods.
	ByScheduler Cause = "other-scheduler"
	ByGates     Cause = "scheduling-gates"
	ByQueue     Cause = "queue"
	// ByField: the value of the field with the given name is unknown.
	ByField Cause = "unknown-field"
	ByCount Cause = "pod-count"
	// ByAdmission: the object with the given name may change the pods when they are created,
	// or reject them.
	ByAdmission Cause = "admission"
	// ByNamespace: the namespace of the pods, or one that a rule applies to, is a placeholder.
	ByNamespace Cause = "namespace"
	// ByNodeLabel: nodes may have the label with the given name, with any value.
	ByNodeLabel Cause = "node-label"
)

// The causes of an unknown outcome of a change.
const (
	// ByPlacement: the placement of the pods is not judged.
	ByPlacement Cause = "placement"
	// ByStrategy: the numbers of the update strategy are unknown.
	ByStrategy Cause = "strategy"
	// ByEviction: it is unknown whether the disruption budget with the given name allows an
	// eviction, because it also counts the pods of Workload or for the reason in Detail.
	// ByOtherBudget: the budget with the given name may select the pods as well.
	ByEviction    Cause = "disruption-budget"
	ByOtherBudget Cause = "other-disruption-budget"
	// ByPriority: the pods may preempt those that block them.
	ByPriority Cause = "priority"
	// ByToleration: pods tolerate the taint of lost nodes, or name their node.
	ByToleration Cause = "toleration"
	// ByTermination: evicted pods count until they have terminated.
	ByTermination Cause = "termination"
	// ByPending: not all pods fit before the loss.
	ByPending Cause = "pending-pods"
	// ByMachines: too many machines have labels of their own.
	ByMachines Cause = "machines"
	// ByLargestSize: it is unknown whether the pods fit at any size of a pool.
	// ByPoolSize: they begin to fit at the given number of nodes.
	ByLargestSize Cause = "largest-size"
	ByPoolSize    Cause = "pool-size"
)

// The causes of other outcomes of a change.
const (
	// Unplaced: the pods do not all fit before the change, so the question does not arise.
	Unplaced Cause = "unplaced"
	// NotRecreated: nothing recreates pods while the Node object exists; Bare:
	// nothing ever recreates a bare pod.
	NotRecreated Cause = "not-recreated"
	// LateRetry: all pods run again, but the scheduler may retry them only minutes later.
	LateRetry Cause = "late-retry"
	Bare      Cause = "bare"
	// ByOrder: the outcome depends on the scheduling order; ByContention: on what
	// other workloads use.
	ByOrder      Cause = "order"
	ByContention Cause = "contention"
)

// Reason is a cause with the names that it mentions. The zero Reason is no reason.
type Reason struct {
	Cause Cause
	// Name is that of the resource (ByResource), the scheduler (ByScheduler), the field
	// (ByField), the object (ByAdmission), the label (ByNodeLabel), the budget (ByEviction,
	// ByOtherBudget) or the pool (ByPoolSize), and Count the number of the pool's
	// nodes.
	Name  string
	Count int
	// Workload is the one whose pods request the resource or count for the budget, if not the
	// one in question, or the one that takes no part (ByNeighbour).
	Workload *workload.Workload
	// Detail says what is wrong with the budget.
	Detail string
	// Strategy says which number of the update strategy is unknown (ByStrategy).
	Strategy workload.Unclear
}

// Given reports whether there is a reason.
func (r Reason) Given() bool { return r.Cause != "" }
