package facts

import "github.com/schedlint/schedlint/lint/diag"

// Machine is what the fields of KubeVirt say about a machine.
type Machine struct {
	// Is tells whether the workload is machines at all.
	Is bool `json:"is"`
	// EvictionStrategy is evictionStrategy as written, or "": the cluster then decides.
	EvictionStrategy string `json:"eviction_strategy"`
}

// Answers are the answers to the questions about one workload, as place prints them:
// always, sometimes, never, unknown, and none where a question does not apply.
type Answers struct {
	// Fits is whether all pods are placed, whatever the order of scheduling.
	Fits diag.Outcome `json:"fits"`
	// Rolls is whether a rollout completes.
	Rolls diag.Outcome `json:"rolls"`
	// Drains is whether every node can be drained and the pods find another one.
	Drains diag.Outcome `json:"drains"`
	// Migrates is whether machines can migrate while they run.
	Migrates diag.Outcome `json:"migrates"`
	// Autoscales is whether the pods fit at the maximum of the autoscaler.
	Autoscales diag.Outcome `json:"autoscales"`
	// Survives are the losses that were asked about, one row for each topology key.
	Survives []Survives `json:"survives"`
}

// Survives is what becomes of a workload after the loss of any one domain of a topology
// key: whether all pods run again afterwards. Whether some keep running meanwhile is a
// question for on_one_node_max and in_one_zone_max.
type Survives struct {
	// Key is the topology key, kubernetes.io/hostname for single nodes.
	Key string `json:"key"`
	// Gone is the outcome if the Node objects are deleted.
	Gone diag.Outcome `json:"gone"`
	// Unreachable is the outcome while the Node objects remain, with the taint
	// node.kubernetes.io/unreachable.
	Unreachable diag.Outcome `json:"unreachable"`
}
