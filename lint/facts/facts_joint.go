package facts

import "github.com/schedlint/schedlint/lint/diag"

// Crowd is a group of workloads that each fit alone, but not together because of their rules.
// Resource requests are ignored.
type Crowd struct {
	ID int `json:"id"`
	// W is the workload that the finding is about.
	W int `json:"w"`
	// Workloads are all workloads of the group, as indices in the list of workloads.
	Workloads []int `json:"workloads"`
	// Outcome is never.
	Outcome diag.Outcome `json:"outcome"`
	// Pods is the number of pods of the group.
	Pods int `json:"pods"`
	// Most is the number of these pods that fit.
	Most int `json:"most"`
	// Pending is the number of these pods that do not fit.
	Pending int `json:"pending"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Core are the rules that cannot be met together.
	Core []CoreRule `json:"core"`
	// Growth are the pools that were counted at their largest size.
	Growth []GrownPool `json:"growth"`
}

// CoreRule is a hard rule of a workload that conflicts with other rules.
type CoreRule struct {
	W int `json:"w"`
	// Use is the use of a Rule, or replicas for the number of pods.
	Use string `json:"use" enum:"anti-affinity affinity spread host-port requests slots selector taints replicas"`
	// Key is the topology key or port of the rule, or "".
	Key string `json:"key"`
	// Excluded are the reasons why the pods cannot use all nodes; empty unless use is selector,
	// taints or replicas.
	Excluded []Exclusion `json:"excluded"`
}

// Order is a workload some of whose pods fit on no node if other pods are placed first in an
// unfavorable way.
type Order struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Pods is the number of pods of the workload.
	Pods int `json:"pods"`
	// Pending is the number of these pods that fit on no node.
	Pending int `json:"pending"`
	// Placed has the pods that are placed by then, with their nodes.
	Placed []Placed `json:"placed"`
	// Refused has the filters that refuse the next pod, the one that refuses most nodes first.
	Refused []FilterNodes `json:"refused"`
}

// Placed is a number of pods of a workload, with their nodes.
type Placed struct {
	W int `json:"w"`
	// Revision is old or new during a rollout; otherwise "".
	Revision string `json:"revision" enum:"old new "`
	// Pods is the number of pods.
	Pods int `json:"pods"`
	// Nodes is the number of nodes with these pods.
	Nodes int `json:"nodes"`
	// On has a few of these nodes, with the number of pods on each.
	On []NodePods `json:"on"`
}

// NodePods is a number of pods on a node.
type NodePods struct {
	// Node is the name of the node.
	Node string `json:"node"`
	// Pods is the number of pods on it.
	Pods int `json:"pods"`
}

// FilterNodes is the number of nodes that a filter plugin of kube-scheduler refuses.
type FilterNodes struct {
	// Filter is the name of the plugin, for example NodeResourcesFit.
	Filter string `json:"filter"`
	// Nodes is the number of nodes that it refuses.
	Nodes int `json:"nodes"`
}
