package facts

import "github.com/schedlint/schedlint/lint/diag"

// Amount is a number of pods as a field states it: absolute, or as a percentage.
type Amount struct {
	// Field is maxSurge, maxUnavailable, minAvailable or partition; "" if there is no amount.
	Field string `json:"field" enum:"maxSurge maxUnavailable minAvailable partition "`
	// Value is the field as written, for example "25%", or its default; see written.
	Value string `json:"value"`
	// Written is true if the manifest sets the field; otherwise value is its default.
	Written bool `json:"written"`
	// Of is the number of pods that a percentage refers to.
	Of int `json:"of"`
	// RoundedUp is true if a percentage is rounded up, false if it is rounded down.
	RoundedUp bool `json:"rounded_up"`
	// Pods is the resulting number of pods.
	Pods int `json:"pods"`
}

// Arithmetic is the derivation of the surge and unavailable numbers of a rollout.
type Arithmetic struct {
	// Strategy is recreate, blue-green or traffic-routing, which have no such numbers; "" for a
	// strategy with one or both amounts.
	Strategy string `json:"strategy" enum:"recreate blue-green traffic-routing "`
	// Surge is the number of pods that may be created before old ones are removed.
	Surge Amount `json:"surge"`
	// Unavailable is the number of pods that may be missing during the rollout.
	Unavailable Amount `json:"unavailable"`
	// Correction is the change that the controller makes to the amounts: both-zero or at-least-one
	// (maxUnavailable is 0 and counts as 1), all-pods (it exceeds the number of pods); "" for no
	// change.
	Correction string `json:"correction" enum:"both-zero all-pods at-least-one "`
	// Pods is the number of pods that the amounts apply to.
	Pods int `json:"pods"`
	// Preview is previewReplicaCount of a blue-green Rollout; 0 if it is not set.
	Preview int `json:"preview"`
}

// Limit is the bound that the hard rules of a workload put on the number of its pods.
type Limit struct {
	// By is the limiting rule: anti-affinity, spread, host-port or room; none if no limit is known,
	// and the other fields are then empty.
	By string `json:"by" enum:"anti-affinity spread host-port room none"`
	// Fit is the largest number of pods that fit.
	Fit int `json:"fit"`
	// Rules are the rules that bind.
	Rules []Rule `json:"rules"`
	// Domains is the number of values of the topology key of rules among eligible nodes.
	Domains int `json:"domains"`
	// Eligible is the number of nodes that pass the node-level rules of the pods.
	Eligible int `json:"eligible"`
	// Resource is the resource that binds, or "".
	Resource string `json:"resource"`
}

// PoolSize is a number of nodes of a pool that can grow.
type PoolSize struct {
	// Pool is the name of the pool.
	Pool string `json:"pool"`
	// Nodes is the number of nodes of the pool.
	Nodes int `json:"nodes"`
}

// Rollout is the answer to whether an update of all pods of a workload completes, if they fit
// before it.
type Rollout struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is the answer to "the rollout completes".
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the reason for the outcome unknown, for example label-value, or for none: unplaced,
	// if the pods do not fit before the rollout; otherwise "".
	Cause string `json:"cause"`
	// Way is the way in which the controller replaces pods: rolling, recreate, in-place,
	// surge-per-node (DaemonSets) or both-whole (blue-green); none if it does not replace them.
	Way string `json:"way" enum:"rolling recreate in-place surge-per-node both-whole none"`
	// Surge is the number of pods that may run beyond replicas.
	Surge int `json:"surge"`
	// Unavailable is the number of pods that may be missing during the rollout.
	Unavailable int `json:"unavailable"`
	// Arithmetic is the derivation of surge and unavailable.
	Arithmetic Arithmetic `json:"arithmetic"`
	// Replicas is the number of pods that the row assumes.
	Replicas int `json:"replicas"`
	// At is maximum or minimum if replicas is that end of the range of an autoscaler; otherwise "".
	At string `json:"at" enum:"maximum minimum "`
	// Scaler is the kind of that autoscaler, or "".
	Scaler string `json:"scaler"`
	// Rules are the rules that leave no room for new pods.
	Rules []Rule `json:"rules"`
	// Others are the other workloads whose rules contribute, as indices in the list of workloads.
	Others []int `json:"others"`
	// Limit is the bound on the number of pods that fit.
	Limit Limit `json:"limit"`
	// Stuck is true if the row has a state in which the rollout is stuck: running and refused
	// describe it.
	Stuck bool `json:"stuck"`
	// Running has the places of the old and the new pods in that state.
	Running []Placed `json:"running"`
	// Refused has the filters that keep the next new pod off the nodes in that state.
	Refused []FilterNodes `json:"refused"`
}

// Skew is the answer to whether the new pods are spread evenly after a rollout that completes. Old
// pods count while they run, and pods are not moved afterwards.
type Skew struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is always if the spread is even after every run, and sometimes if it may be uneven;
	// unknown or none as for rollouts.
	Outcome diag.Outcome `json:"outcome"`
	// Key is the topology key of the first hard constraint.
	Key string `json:"key"`
	// MaxSkew is the maxSkew of that constraint.
	MaxSkew int `json:"max_skew"`
	// Replicas is the number of pods that the row assumes.
	Replicas int `json:"replicas"`
	// At is maximum or minimum if replicas is that end of the range of an autoscaler; otherwise "".
	At string `json:"at" enum:"maximum minimum "`
	// Scaler is the kind of that autoscaler, or "".
	Scaler string `json:"scaler"`
}

// Loss is the answer to whether a workload recovers from the loss of a topology domain.
type Loss struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is the answer to "all pods run again".
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the reason for the outcome unknown, for example label-value, or for none: unplaced,
	// if the pods do not fit before the loss; otherwise "".
	Cause string `json:"cause"`
	// Key is the topology key whose domain is lost; kubernetes.io/hostname for single nodes.
	Key string `json:"key"`
	// Value is the name of the node or domain whose loss is the worst.
	Value string `json:"value"`
	// Like is the number of other domains whose loss has the same result.
	Like int `json:"like"`
	// Required is true if the configuration or --survive requires the workload to survive the loss;
	// otherwise only a rule asks about it.
	Required bool `json:"required"`
	// Meaning is gone (the Node objects are deleted), unreachable (they stay, with the taint
	// node.kubernetes.io/unreachable) or both.
	Meaning string `json:"meaning" enum:"gone unreachable both"`
	// Pods is the number of pods that the workload has for certain.
	Pods int `json:"pods"`
	// PendingMin is the number of pods that stay Pending in every run.
	PendingMin int `json:"pending_min"`
	// PendingMax is the number of pods that stay Pending in the worst known run.
	PendingMax int `json:"pending_max"`
	// Recreated is false if the pods are not created again while the Node objects exist.
	Recreated bool `json:"recreated"`
	// WhereItRuns is true if the outcome is never because the loss of any domain that runs pods of
	// the workload leaves some Pending. The loss of a domain without such pods is harmless.
	WhereItRuns bool `json:"where_it_runs"`
}

// Budget is a PodDisruptionBudget, and its defect if it has one.
type Budget struct {
	ID int `json:"id"`
	// W is the first workload whose pods it selects; -1 if it selects no pods.
	W int `json:"w"`
	// Object is the kind, namespace and name of the budget, for example "PodDisruptionBudget
	// shop/web".
	Object string `json:"object"`
	// Namespace is the namespace of the budget; "" if the manifest leaves it open.
	Namespace string `json:"namespace"`
	// Problem is the defect. no-eviction: the budget never allows a drain to evict its pods.
	// no-eviction-while-small: it does so only with more than up_to pods. several: another budget
	// selects one of its pods. idle: it selects no pod. none: no defect is known. unknown: it
	// cannot be evaluated.
	Problem string `json:"problem" enum:"none no-eviction no-eviction-while-small several idle unknown"`
	// Selector is the label selector in the notation of kubectl.
	Selector string `json:"selector"`
	// Pods is the number of pods that it certainly selects.
	Pods int `json:"pods"`
	// Amount is the demand of the budget; its field is "" if the budget demands nothing.
	Amount Amount `json:"amount"`
	// AllowedMin is the number of pods that may be evicted at once while all are healthy and
	// autoscalers keep the minimum of pods; 0 if that is unknown.
	AllowedMin int `json:"allowed_min"`
	// AllowedMax is the same number at the maximum of pods; 2147483647 if that is unknown.
	AllowedMax int `json:"allowed_max"`
	// UpTo is the largest number of pods of the autoscaled workloads at which no disruption is
	// allowed; 0 unless problem is no-eviction-while-small.
	UpTo int `json:"up_to"`
	// Unscaled is the first workload whose controller has no replicas, so the budget allows no
	// disruptions; "" if every controller has replicas.
	Unscaled string `json:"unscaled"`
	// Selects are the workloads whose pods it selects, as indices in the list of workloads: the
	// first 20.
	Selects []int `json:"selects"`
	// Others are the other budgets that select one of its pods: the first 20.
	Others []string `json:"others"`
}

// Drain is the answer to whether the pods of a workload find another node when theirs is drained.
type Drain struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is the answer to "the pods find another node".
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the reason for the outcome unknown, for example label-value; otherwise "".
	Cause string `json:"cause"`
	// Pods is the number of pods that the workload has for certain.
	Pods int `json:"pods"`
	// BlockedBy is budget if budgets refuse the eviction, eviction-strategy if the evictionStrategy
	// of a machine that cannot migrate does; otherwise "".
	BlockedBy string `json:"blocked_by" enum:"budget eviction-strategy "`
	// Node is the name of the node whose drain is the worst; "" if there is no bad one.
	Node string `json:"node"`
	// Pool is the pool of node, or "". The nodes that like counts may be in other pools.
	Pool string `json:"pool"`
	// Like is the number of other nodes whose drain has the same result.
	Like int `json:"like"`
	// WhereItRuns is true if the outcome is never because the drain of any node that runs pods of
	// the workload leaves some Pending. The drain of a node without such pods is harmless.
	WhereItRuns bool `json:"where_it_runs"`
	// PendingMin is the number of pods that stay Pending until the node is back, in every run.
	PendingMin int `json:"pending_min"`
	// PendingMax is the number of pods that stay Pending until the node is back, in the worst known
	// run.
	PendingMax int `json:"pending_max"`
	// Blocks is true if these Pending pods make a budget of the workload refuse the next drain.
	Blocks bool `json:"blocks"`
	// Amount is the demand of that budget.
	Amount Amount `json:"amount"`
}

// Migration is the answer to whether machines can move to another node while they run.
type Migration struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is always if any machine can migrate, sometimes if that depends on placement, never
	// if no machine can.
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the reason for the outcome unknown, for example label-value, or for none: unplaced,
	// if the pods do not fit before the migration; otherwise "".
	Cause string `json:"cause"`
	// Machines is the number of machines.
	Machines int `json:"machines"`
	// Rules are the rules that leave no node for the second pod of a machine.
	Rules []Rule `json:"rules"`
	// Limit is the bound on the number of pods that fit.
	Limit Limit `json:"limit"`
	// Evicts is true if an eviction is refused until the machine has migrated.
	Evicts bool `json:"evicts"`
}

// OuterLabel is a label of a machine that a selector asks for, but that does not reach the pods of
// the machine.
type OuterLabel struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Label is the label of the machine, for example app=db.
	Label string `json:"label"`
	// AskedBy is the rule whose selector asks for the label.
	AskedBy Rule `json:"asked_by"`
	// Inside is the path of the field where the label has an effect.
	Inside string `json:"inside"`
}

// Autoscaler is the answer to whether all pods fit at the maximum of an autoscaler.
type Autoscaler struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is the answer to "all pods fit at the maximum".
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the reason for the outcome unknown, or the reason why no more pods fit if it is not
	// a rule of the workload, for example contention; otherwise "".
	Cause string `json:"cause"`
	// Object is the kind, namespace and name of the autoscaler.
	Object string `json:"object"`
	// Min is the smallest number of pods that it keeps.
	Min int `json:"min"`
	// Max is the largest number of pods that it asks for.
	Max int `json:"max"`
	// Default is true if the manifest does not set max, which is then the default.
	Default bool `json:"default"`
	// Fit is the largest number of pods that fit if the outcome is never; otherwise 0.
	Fit int `json:"fit"`
	// Pending is the number of pods that do not fit at the maximum; 0 unless the outcome is never.
	Pending int `json:"pending"`
	// Limit is the limit that binds at the maximum.
	Limit Limit `json:"limit"`
	// Growth are the pools that were counted at their largest size.
	Growth []GrownPool `json:"growth"`
	// Begins is the size of a pool from which the maximum fits: no row, or one.
	Begins []PoolSize `json:"begins"`
}
