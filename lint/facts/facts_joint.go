package facts

import "github.com/schedlint/schedlint/lint/diag"

// Crowd is a group of workloads that each fit alone and that their rules, resources
// left aside, do not let be placed together.
type Crowd struct {
	ID int `json:"id"`
	// W is the workload at which the finding stands.
	W int `json:"w"`
	// Workloads are all workloads of the group, each as a w.
	Workloads []int `json:"workloads"`
	// Outcome is never.
	Outcome diag.Outcome `json:"outcome"`
	// Pods is the number of pods of all of them.
	Pods int `json:"pods"`
	// Most is how many of these pods fit.
	Most int `json:"most"`
	// Pending is how many do not.
	Pending int `json:"pending"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Core are the rules that cannot be met together.
	Core []CoreRule `json:"core"`
	// Growth are the pools that were counted at their max, if any was.
	Growth []GrownPool `json:"growth"`
}

// CoreRule is a hard rule of a workload that conflicts with others. Use and Key are as
// for Rule, or Use is replicas, the number of pods. With the use selector, taints or
// replicas, Excluded are the reasons why the pods cannot use all nodes.
type CoreRule struct {
	W int `json:"w"`
	// Use is that of a Rule, or replicas: the number of pods.
	Use string `json:"use" enum:"anti-affinity affinity spread host-port requests slots selector taints replicas"`
	// Key is the topology key or port of the rule, or "".
	Key string `json:"key"`
	// Excluded are the reasons why the pods cannot use all nodes, for the use selector, taints
	// or replicas.
	Excluded []Exclusion `json:"excluded"`
}

// Order is a workload whose pods fit nowhere once others are placed in the wrong way.
type Order struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Pods is the number of pods of the workload.
	Pods int `json:"pods"`
	// Pending is how many of them are left over.
	Pending int `json:"pending"`
	// Placed says which pods are on which nodes by then.
	Placed []Placed `json:"placed"`
	// Refused says what refuses the next pod on the nodes, the filter of most nodes first.
	Refused []FilterNodes `json:"refused"`
}

// Placed is where pods of a workload are.
type Placed struct {
	W int `json:"w"`
	// Revision is old or new during a rollout, else "".
	Revision string `json:"revision" enum:"old new "`
	// Pods is the number of pods.
	Pods int `json:"pods"`
	// Nodes is the number of nodes with these pods.
	Nodes int `json:"nodes"`
	// On has a few of these nodes, with the pods on each.
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
	// Filter is the name of the plugin, as in NodeResourcesFit.
	Filter string `json:"filter"`
	// Nodes is the number of nodes that it refuses.
	Nodes int `json:"nodes"`
}
