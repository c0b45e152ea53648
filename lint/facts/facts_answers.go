package facts

import "github.com/schedlint/schedlint/lint/diag"

// Machine is the part of a workload's row that only KubeVirt machines have.
type Machine struct {
	// Is is true if the pods of the workload are KubeVirt machines.
	Is bool `json:"is"`
	// EvictionStrategy is the evictionStrategy as written; "" if it is not set, and the cluster
	// then decides.
	EvictionStrategy string `json:"eviction_strategy"`
}

// Answers has the answers to the questions about one workload, as the command place prints them:
// always, sometimes, never or unknown, and none where a question does not apply.
type Answers struct {
	// Fits is the answer to whether all pods are placed, whatever the order of scheduling.
	Fits diag.Outcome `json:"fits"`
	// Rolls is the answer to whether a rollout completes.
	Rolls diag.Outcome `json:"rolls"`
	// Drains is the answer to whether every node can be drained and its pods find another node.
	Drains diag.Outcome `json:"drains"`
	// Migrates is the answer to whether machines can migrate while they run.
	Migrates diag.Outcome `json:"migrates"`
	// Autoscales is the answer to whether the pods fit at the maximum of the autoscaler.
	Autoscales diag.Outcome `json:"autoscales"`
	// Survives has one row for each topology key whose loss the configuration, --survive or a rule
	// asks about.
	Survives []Survives `json:"survives"`
}

// Survives is the answer to whether all pods of a workload run again after the loss of any one
// domain of a topology key. For the pods that keep running meanwhile, see on_one_node_max and
// in_one_zone_max of the workload.
type Survives struct {
	// Key is the topology key; kubernetes.io/hostname for the loss of one node.
	Key string `json:"key"`
	// Gone is the outcome if the Node objects are deleted.
	Gone diag.Outcome `json:"gone"`
	// Unreachable is the outcome while the Node objects remain, with the taint
	// node.kubernetes.io/unreachable.
	Unreachable diag.Outcome `json:"unreachable"`
}
