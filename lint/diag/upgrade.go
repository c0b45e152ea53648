package diag

import "strings"

// Upgrades is the output of the plan command. It has an answer for each context.
type Upgrades struct {
	SchemaVersion string `json:"schemaVersion"`
	// Failures describes the work that could not be done. The answers do not cover this work.
	Failures Failures `json:"failures"`
	// Unrendered is the number of inputs that could not be rendered.
	Unrendered int `json:"unrendered,omitempty"`
	// AtMin is set if autoscaled workloads count with their least number of pods.
	AtMin    bool      `json:"atMin"`
	Upgrades []Upgrade `json:"upgrades"`
}

// Upgrade says whether all nodes of a pool can be replaced.
type Upgrade struct {
	Cluster string `json:"cluster,omitempty"`
	Context string `json:"context"`
	Pool    string `json:"pool"`
	// Verdict is always if every upgrade ends with all nodes replaced and all pods running, never if
	// none does without breaking a budget, unknown, or none if the pool has no nodes.
	Verdict string `json:"verdict"`
	// Nodes is the number of nodes of the pool, and AtOnce the greatest number of nodes that are drained
	// at the same time, which is the sum of Surge and Unavailable.
	Nodes       int `json:"nodes"`
	AtOnce      int `json:"atOnce"`
	Surge       int `json:"surge"`
	Unavailable int `json:"unavailable"`
	// Zone and Cordon are as in the node file.
	Zone   string `json:"zone"`
	Cordon string `json:"cordon"`
	// Workloads is the number of workloads that may have pods on the pool, without DaemonSets.
	// States is the number of sets of usable nodes that were decided, each by zone.
	Workloads int `json:"workloads"`
	States    int `json:"states"`
	// Asked lists the names of these workloads.
	Asked []string `json:"-"`
	// Why says what stops the upgrade, or what is not known, in the order of importance.
	Why []UpgradeReason `json:"why"`
	// Waits lists workloads whose pods may be Pending until a new node is there. They stop no upgrade.
	Waits []string `json:"waits"`
	// Suffices lists changes that make the answer always, each by itself.
	Suffices []string `json:"suffices"`
	Notes    []string `json:"notes"`
}

// UpgradeReason says why an upgrade stops, or why that is not known.
type UpgradeReason struct {
	// Workload is the workload whose pods are concerned, such as Deployment shop/web, or "".
	Workload string `json:"workload,omitempty"`
	// Budget is the PodDisruptionBudget that stops the upgrade, or "".
	Budget string `json:"budget,omitempty"`
	// Node is a node whose drain stops, or "". It is one of several if others are like it.
	Node string `json:"node,omitempty"`
	// Text is the reason in words.
	Text string `json:"text"`
	// File and Line are the location of the workload or the budget.
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Location Span   `json:"-"`
}

// Unnamed returns the budget, or "" if the text names it.
func (r *UpgradeReason) Unnamed() string {
	if strings.Contains(r.Text, r.Budget) {
		return ""
	}
	return r.Budget
}
