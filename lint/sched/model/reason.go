package model

import "github.com/schedlint/schedlint/lint/workload"

// Cause is why an outcome is unknown, or why it is what it is for another reason than
// the nodes and the rules of the pods. Package message has the words; those of decisions
// about workloads together are part of the JSON of the place command.
type Cause string

// The causes of an unknown outcome of a decision.
const (
	// Waits: the pods end by themselves, and those that do not fit beside all
	// others at once wait for room.
	Waits Cause = "waits"
	// ByLabel: a rule asks for a label whose value only the cluster knows, and
	// ByVariable for one whose value holds a variable of a later tool.
	ByLabel    Cause = "label-value"
	ByVariable Cause = "variable"
	// ByFinite: a rule counts on pods that end by themselves.
	ByFinite Cause = "finite-pods"
	// ByUnknown: a rule counts on declared pods of which too little is known.
	ByUnknown Cause = "unknown-pods"
	// ByResource: the pods, or others that may take their room, request a resource
	// that no node lists.
	ByResource Cause = "unlisted-resource"
	// ByGrowth: some size of the cluster refutes the verdict.
	ByGrowth Cause = "pool-growth"
	// ByBudget: the budget was over; BySize: no proof applies, and there are too
	// many pods or nodes to try everything, or to check that.
	ByBudget Cause = "budget"
	BySize   Cause = "size"
	// ByCrowd: too many workloads may take the room to try what they do, and counts do not
	// show that there is always enough.
	ByCrowd Cause = "crowd"
	// ByNeighbour: the pods of Workload, which takes no part, may be in the way.
	ByNeighbour Cause = "not-modeled"
	// ByFault: a certificate did not hold, which is a fault of the program.
	ByFault Cause = "internal"
)

// The causes for which a workload takes no part in decisions.
const (
	// ByContext: only files declare it that are not deployed together with the
	// others for certain.
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
	// or refuse them.
	ByAdmission Cause = "admission"
	// ByNamespace: the namespace of the pods, or one that a rule is about, is a placeholder.
	ByNamespace Cause = "namespace"
	// ByNodeLabel: nodes may have the label with the given name, whatever its value.
	ByNodeLabel Cause = "node-label"
)

// The causes of an unknown outcome of a change.
const (
	// ByPlacement: it is not judged where the pods go.
	ByPlacement Cause = "placement"
	// ByStrategy: the numbers of the update strategy are unknown.
	ByStrategy Cause = "strategy"
	// ByEviction: it is unknown whether the disruption budget with the given name allows an
	// eviction, as it also counts the pods of Workload or for the reason in Detail.
	// ByOtherBudget: the budget with the given name may select the pods as well.
	ByEviction    Cause = "disruption-budget"
	ByOtherBudget Cause = "other-disruption-budget"
	// ByPriority: the pods may preempt those that are in their way.
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
	// ByPoolSize: they begin to fit at one, with so many nodes.
	ByLargestSize Cause = "largest-size"
	ByPoolSize    Cause = "pool-size"
)

// The causes of other outcomes of a change.
const (
	// Unplaced: the pods do not all fit before it, so there is no question.
	Unplaced Cause = "unplaced"
	// NotRecreated: nothing recreates pods while the Node object exists, and Bare:
	// nothing recreates a bare pod at all.
	NotRecreated Cause = "not-recreated"
	// LateRetry: pods run again, but the scheduler may retry them minutes later only.
	LateRetry Cause = "late-retry"
	Bare      Cause = "bare"
	// ByOrder: the outcome depends on the scheduling order, ByContention: on what
	// other workloads use.
	ByOrder      Cause = "order"
	ByContention Cause = "contention"
)

// Reason is a cause and what it names. The zero Reason is none.
type Reason struct {
	Cause Cause
	// Name is that of the resource (ByResource), the scheduler (ByScheduler), the field
	// (ByField), the object (ByAdmission),
	// the label (ByNodeLabel), the budget (ByEviction, ByOtherBudget) or the pool
	// (ByPoolSize), and Count the number of its nodes.
	Name  string
	Count int
	// Workload is whose pods request the resource, if they are not those in question, or
	// the one that takes no part (ByNeighbour).
	Workload *workload.Workload
	// Detail says what is wrong with the budget.
	Detail string
	// Strategy is what is unknown of the update strategy (ByStrategy).
	Strategy workload.Unclear
}

// Given reports whether there is a reason.
func (r Reason) Given() bool { return r.Cause != "" }
