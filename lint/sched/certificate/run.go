package certificate

import (
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

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
