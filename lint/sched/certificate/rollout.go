package certificate

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Rollout is the question whether new pods can replace old ones, which are
// the pods of two workloads of one model. All other pods are in place and stay.
type Rollout struct {
	Old, Fresh *workload.Workload
	// Surge is the number of pods that may exist beyond the old ones, and
	// Unavailable the number of these that may be missing (R-W5, R-W6).
	Surge, Unavailable int
	// Whole is set if no old pod goes before all new ones are in place (R-W31),
	// Empty if no new one comes before all old ones are gone (R-W8).
	Whole, Empty bool
}

// Rolled is the outcome of a rollout over all placements that it may start
// from, all choices of the scheduler and all choices of the old pod to remove:
// Always if it completes, Never if it never does, Sometimes if it may get
// stuck, and Unknown if that is not known or there is no placement of
// all pods to start from.
type Rolled struct {
	Verdict diag.Outcome
	// Skewed is set if the new pods may end up more uneven than
	// their hard spread constraints allow.
	Skewed bool
	// Stuck lists moves, starting without pods, after which nothing can move, and
	// Reasons counts the nodes that then refuse a new pod, by reason.
	Stuck   []Move
	Reasons map[Reason]int
}

// Move is the placement of a pod, or the removal of one if Gone is set.
type Move struct {
	Workload *workload.Workload
	Node     *topology.Node
	Gone     bool
}

// Reason names the plugin of kube-scheduler that is the first to refuse a pod on a node, in the order of its default profile.
type Reason string

// The reasons; Takes means that the node takes the pod.
const (
	Takes              Reason = ""
	RefusedByName      Reason = "NodeName"
	RefusedByTaint     Reason = "TaintToleration"
	RefusedBySelector  Reason = "NodeAffinity"
	RefusedByCordon    Reason = "NodeUnschedulable"
	RefusedByPort      Reason = "NodePorts"
	RefusedByResources Reason = "NodeResourcesFit"
	RefusedBySpread    Reason = "PodTopologySpread"
	RefusedByAffinity  Reason = "InterPodAffinity"
)

// Placed is one pod on one node.
type Placed struct {
	Workload *workload.Workload
	Node     *topology.Node
}
