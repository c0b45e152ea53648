package facts

import "github.com/schedlint/schedlint/lint/diag"

// Amount is a number of pods that a field gives as an absolute number or as a percentage.
type Amount struct {
	// Field is maxSurge, maxUnavailable, minAvailable or partition, or "" if there is no amount.
	Field string `json:"field" enum:"maxSurge maxUnavailable minAvailable partition "`
	// Value is the field as written, for example "25%". If the manifest does not set the field,
	// value is its default.
	Value string `json:"value"`
	// Written is true if the manifest sets the field.
	Written bool `json:"written"`
	// Of is the number of pods that a percentage refers to.
	Of int `json:"of"`
	// RoundedUp is true if a percentage is rounded up, and false if it is rounded down.
	RoundedUp bool `json:"rounded_up"`
	// Pods is the resulting number of pods.
	Pods int `json:"pods"`
}

// Arithmetic shows how the numbers of surge and unavailable pods of a rollout are computed.
type Arithmetic struct {
	// Strategy is recreate, blue-green or traffic-routing. These strategies do not use surge and
	// unavailable. For other strategies it is "".
	Strategy string `json:"strategy" enum:"recreate blue-green traffic-routing "`
	// Surge is the number of pods that may be created before old ones are removed.
	Surge Amount `json:"surge"`
	// Unavailable is the number of pods that may be missing during the rollout.
	Unavailable Amount `json:"unavailable"`
	// Correction says how the controller changes maxUnavailable. For both-zero and at-least-one, it
	// is 0 but counts as 1. For all-pods, it exceeds the number of pods and is reduced to that
	// number. If the controller changes nothing, correction is "".
	Correction string `json:"correction" enum:"both-zero all-pods at-least-one "`
	// Pods is the number of pods that the amounts apply to.
	Pods int `json:"pods"`
	// Preview is the previewReplicaCount of a blue-green Rollout, or 0 if it is not set.
	Preview int `json:"preview"`
}

// Limit is the upper bound that a workload's hard rules impose on its number of pods.
type Limit struct {
	// By is the kind of rule that limits the pods: anti-affinity, spread, host-port or room, or claim
	// for a claim that one pod can use at a time. It is "none" if no limit is known, and the other
	// fields are then empty.
	By string `json:"by" enum:"anti-affinity spread host-port room claim none"`
	// Fit is the largest number of pods that fit.
	Fit int `json:"fit"`
	// Rules are the rules that cause the limit.
	Rules []Rule `json:"rules"`
	// Domains is the number of distinct values that the topology key of the limiting rules has on
	// eligible nodes.
	Domains int `json:"domains"`
	// Eligible is the number of nodes that pass the node-level rules of the pods.
	Eligible int `json:"eligible"`
	// Resource is the limiting resource, or "".
	Resource string `json:"resource"`
}

// Shortfall says how much of a resource a new pod requests and how much there is. The amounts are in
// Kubernetes notation.
type Shortfall struct {
	// Resource is the resource that a new pod lacks, or "". The other fields are then empty.
	Resource string `json:"resource"`
	// Request is the amount that a new pod requests.
	Request string `json:"request"`
	// Running is the number of pods that run and are counted here.
	Running int `json:"running"`
	// Nodes is the number of eligible nodes.
	Nodes int `json:"nodes"`
	// Left is the largest amount that is left on a node next to the pods that run, or "" if it
	// depends on where they run.
	Left string `json:"left"`
	// LeftOf is the amount that this node has.
	LeftOf string `json:"left_of"`
	// Node is the node of a DaemonSet on which left is left, or "".
	Node string `json:"node"`
	// Requested is the amount that the running pods request together. It is "" if left is known.
	Requested string `json:"requested"`
	// Offered is the amount that the eligible nodes have together. It is "" if left is known.
	Offered string `json:"offered"`
}

// PoolSize is one possible size of a pool that can grow.
type PoolSize struct {
	// Pool is the name of the pool.
	Pool string `json:"pool"`
	// Nodes is the number of nodes in the pool.
	Nodes int `json:"nodes"`
}

// Rollout is the verdict on whether an update that replaces all pods of a workload completes. It
// applies only if the pods fit before the update. Findings of your own rules appear at the strategy,
// or at the pod count if the manifest sets no strategy.
type Rollout struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome says whether the rollout completes.
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the reason for an unknown outcome, for example label-value. If the pods do not fit
	// before the rollout, the outcome is "none" and cause is unplaced. In all other cases, cause is
	// "".
	Cause string `json:"cause"`
	// Way is the way in which the controller replaces pods: rolling, recreate, in-place,
	// surge-per-node (DaemonSets) or both-whole (blue-green), or none if it does not replace them.
	Way string `json:"way" enum:"rolling recreate in-place surge-per-node both-whole none"`
	// Quota is the ResourceQuota that keeps the rollout from creating another pod, such as
	// "ResourceQuota shop/small", or "".
	Quota string `json:"quota"`
	// QuotaPods is the number of pods of the workload that this quota allows.
	QuotaPods int `json:"quota_pods"`
	// Surge is the number of pods that may run in addition to replicas.
	Surge int `json:"surge"`
	// Unavailable is the number of pods that may be missing during the rollout.
	Unavailable int `json:"unavailable"`
	// Arithmetic shows how surge and unavailable are computed.
	Arithmetic Arithmetic `json:"arithmetic"`
	// Replicas is the number of pods of the workload, not counting surge pods.
	Replicas int `json:"replicas"`
	// At is maximum or minimum if replicas is the maximum or minimum of an autoscaler, and between if it
	// is another number that an autoscaler may choose. Otherwise it is "".
	At string `json:"at" enum:"between maximum minimum "`
	// Scaler is the kind of the autoscaler, or "".
	Scaler string `json:"scaler"`
	// Rules are the rules that keep new pods off all nodes.
	Rules []Rule `json:"rules"`
	// Others are the other workloads whose rules contribute to the outcome, as indices in the list
	// of workloads.
	Others []int `json:"others"`
	// Limit is the upper bound on the number of pods that fit.
	Limit Limit `json:"limit"`
	// Shortfall has the figures if the outcome is "never" because a resource is used up.
	Shortfall Shortfall `json:"shortfall"`
	// Stuck is true if the fields running and refused describe a state in which the rollout is
	// stuck.
	Stuck bool `json:"stuck"`
	// Running lists the old and new pods in the stuck state, with their nodes.
	Running []Placed `json:"running"`
	// Hangs is the claim whose volume keeps new pods from starting in the stuck state, because it is
	// attached to the node of the old pods. Otherwise it is "".
	Hangs string `json:"hangs"`
	// Refused lists the filters that, in the stuck state, reject nodes for the next new pod.
	Refused []FilterNodes `json:"refused"`
	// Typical is the share of simulated runs in which the rollout gets stuck, if the outcome is
	// "sometimes".
	Typical Typical `json:"typical"`
}

// Skew is the verdict on whether the new pods are evenly spread when a rollout completes. The
// spread may be uneven because the scheduler counts old pods while they run, and nothing moves the
// new pods afterwards.
type Skew struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is "always" if every rollout ends with an even spread, and "sometimes" if the spread
	// may be uneven. It is "unknown" if it is unknown whether the rollout completes, and "none" if
	// the question does not apply.
	Outcome diag.Outcome `json:"outcome"`
	// Key is the topology key of the first hard spread constraint.
	Key string `json:"key"`
	// MaxSkew is the maxSkew of the first hard spread constraint.
	MaxSkew int `json:"max_skew"`
	// Replicas is the number of pods of the workload, not counting surge pods.
	Replicas int `json:"replicas"`
	// At is maximum or minimum if replicas is the maximum or minimum of an autoscaler, and between if it
	// is another number that an autoscaler may choose. Otherwise it is "".
	At string `json:"at" enum:"between maximum minimum "`
	// Scaler is the kind of the autoscaler, or "".
	Scaler string `json:"scaler"`
}

// Loss is the verdict on whether a workload recovers from the loss of a topology domain.
type Loss struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome says whether all pods run again.
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the reason for an unknown outcome, for example label-value. If the pods do not fit
	// before the loss, the outcome is "none" and cause is unplaced. In all other cases, cause is
	// "".
	Cause string `json:"cause"`
	// Key is the topology key of the lost domain. It is kubernetes.io/hostname for the loss of a
	// single node.
	Key string `json:"key"`
	// Value is the name of the node or domain whose loss has the worst result.
	Value string `json:"value"`
	// Like is the number of other domains with the same result.
	Like int `json:"like"`
	// Required is true if the configuration or --survive requires the workload to survive the loss.
	// It is false if the loss is checked only because a rule reads the answer.
	Required bool `json:"required"`
	// Meaning is gone (the Node objects are deleted), unreachable (the Node objects stay, with the
	// taint node.kubernetes.io/unreachable) or both.
	Meaning string `json:"meaning" enum:"gone unreachable both"`
	// Pods is the number of pods that the workload is certain to have.
	Pods int `json:"pods"`
	// PendingMin is the number of pods that are certain to stay Pending after the loss.
	PendingMin int `json:"pending_min"`
	// PendingMax is the largest number of pods that are known to stay Pending in some scheduling
	// order.
	PendingMax int `json:"pending_max"`
	// Recreated is false if the pods do not run again as long as the Node objects exist, because
	// nothing recreates them or their volume stays attached.
	Recreated bool `json:"recreated"`
	// WhereItRuns is true if the outcome is "never" and pods stay Pending after the loss of any
	// domain that runs pods of the workload. The loss of any other domain is harmless.
	WhereItRuns bool `json:"where_it_runs"`
	// Waits is node, zone or region if the Pending pods wait until that is back, because their volumes
	// can be used only there. Otherwise it is "".
	Waits string `json:"waits" enum:" node zone region"`
	// Typical is the share of simulated runs in which pods stay Pending when a domain that runs
	// pods of the workload is lost, if the outcome is "sometimes".
	Typical Typical `json:"typical"`
}

// Budget is a PodDisruptionBudget with its defect, if any.
type Budget struct {
	ID int `json:"id"`
	// W is the first workload whose pods the budget selects, or -1 if it selects no pods.
	W int `json:"w"`
	// Object is the kind, namespace and name of the budget, for example "PodDisruptionBudget
	// shop/web".
	Object string `json:"object"`
	// Namespace is the namespace of the budget, or "" if the manifest does not set it.
	Namespace string `json:"namespace"`
	// Problem is the defect of the budget: no-eviction (a drain can never evict its pods),
	// no-eviction-while-small (a drain can evict them only if there are more than up_to pods),
	// several (another budget selects one of its pods), idle (it selects no pods), none (no defect
	// is known) or unknown (the budget cannot be evaluated).
	Problem string `json:"problem" enum:"none no-eviction no-eviction-while-small several idle unknown"`
	// Selector is the label selector in kubectl notation.
	Selector string `json:"selector"`
	// Pods is the number of pods that the budget is certain to select.
	Pods int `json:"pods"`
	// Amount is the minAvailable or maxUnavailable of the budget. If the budget sets neither,
	// amount.field is "".
	Amount Amount `json:"amount"`
	// AllowedMin is the number of pods that may be evicted at once while all pods are healthy and
	// autoscalers run their minimum number of pods. It is 0 if this number is unknown.
	AllowedMin int `json:"allowed_min"`
	// AllowedMax is the number of pods that may be evicted at once while all pods are healthy and
	// autoscalers run their maximum number of pods. It is 2147483647 if this number is unknown.
	AllowedMax int `json:"allowed_max"`
	// UnhealthyPolicy is the unhealthyPodEvictionPolicy, by default IfHealthyBudget, or unknown if it
	// has a variable. With AlwaysAllow, running pods that are not ready can always be evicted.
	UnhealthyPolicy string `json:"unhealthy_policy" enum:"IfHealthyBudget AlwaysAllow unknown"`
	// UpTo is the largest pod count of the autoscaled workloads at which no disruption is allowed.
	// It is 0 unless problem is no-eviction-while-small.
	UpTo int `json:"up_to"`
	// Unscaled is the first selected workload whose controller has no replicas field. Such a
	// workload makes the budget allow no disruptions. If every controller has the field, unscaled
	// is "".
	Unscaled string `json:"unscaled"`
	// Selects is the list of the first 20 workloads whose pods the budget selects, as indices in
	// the list of workloads.
	Selects []int `json:"selects"`
	// Others are the first 20 other budgets that select a pod that this budget selects.
	Others []string `json:"others"`
}

// Drain is the verdict on whether the pods of a workload find another node when their node is
// drained. The list has one row for each workload, about the node whose drain has the worst result.
// The outcome is "none" if the question does not apply: for DaemonSets, for workloads that run to
// completion, for pods that do not fit, and if there is only one node.
type Drain struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome says whether the pods find another node.
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the reason for an unknown outcome, for example label-value. Otherwise it is "".
	Cause string `json:"cause"`
	// Pods is the number of pods that the workload is certain to have.
	Pods int `json:"pods"`
	// BlockedBy is budget if disruption budgets block the eviction. It is eviction-strategy if the
	// evictionStrategy of a KubeVirt machine blocks the eviction, because the machine cannot
	// migrate. It is toleration if evicted pods may return to the drained node, because they tolerate
	// the taint of the cordon. Otherwise it is "".
	BlockedBy string `json:"blocked_by" enum:"budget eviction-strategy toleration "`
	// Node is the name of the node whose drain has the worst result, or "" if every drain is
	// harmless.
	Node string `json:"node"`
	// Pool is the name of the pool that the node belongs to, or "". The other nodes with the same
	// result may be in other pools.
	Pool string `json:"pool"`
	// Like is the number of other nodes with the same result.
	Like int `json:"like"`
	// WhereItRuns is true if draining a node that runs pods of the workload always leaves pods
	// Pending, and draining any other node never does. The outcome is then "never".
	WhereItRuns bool `json:"where_it_runs"`
	// PendingMin is the number of pods that are certain to stay Pending until the node is back.
	PendingMin int `json:"pending_min"`
	// PendingMax is the largest number of pods that are known to stay Pending, in some scheduling
	// order, until the node is back.
	PendingMax int `json:"pending_max"`
	// Waits is node, zone or region if the Pending pods wait until that is back, because their volumes
	// can be used only there. Otherwise it is "".
	Waits string `json:"waits" enum:" node zone region"`
	// Blocks is true if the Pending pods make a budget of the workload block the next drain.
	Blocks bool `json:"blocks"`
	// Amount is the minAvailable or maxUnavailable of the blocking budget.
	Amount Amount `json:"amount"`
	// Typical is the share of simulated runs in which pods stay Pending when a node that runs pods
	// of the workload is drained, if the outcome is "sometimes".
	Typical Typical `json:"typical"`
}

// Migration is the verdict on whether KubeVirt machines can move to another node while they run.
type Migration struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is "always" if every machine can migrate, "sometimes" if that depends on placement,
	// and "never" if no machine can migrate.
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the reason for an unknown outcome, for example label-value. If the pods do not fit
	// before the migration, the outcome is "none" and cause is unplaced. In all other cases, cause
	// is "".
	Cause string `json:"cause"`
	// Machines is the number of machines.
	Machines int `json:"machines"`
	// Rules are the rules that leave no node for the target pod of a migration.
	Rules []Rule `json:"rules"`
	// Limit is the upper bound on the number of pods that fit.
	Limit Limit `json:"limit"`
	// Evicts is true if an eviction is refused until the machine has migrated.
	Evicts bool `json:"evicts"`
	// Device is the reason why no machine migrates, wherever there is room: it has a disk that
	// nodes cannot share, or a bridge on the pod network. It is "" if there is none.
	Device string `json:"device"`
}

// OuterLabel is a label of a KubeVirt machine that a selector asks for, although the machine's pods
// do not get it.
type OuterLabel struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Label is the label of the machine, for example app=db.
	Label string `json:"label"`
	// AskedBy is the rule that selects the label.
	AskedBy Rule `json:"asked_by"`
	// Inside is the path of the field that sets the labels of the pods. The label belongs there.
	Inside string `json:"inside"`
}

// Autoscaler is the verdict on whether all pods fit when an autoscaler runs its maximum number of
// pods.
type Autoscaler struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome says whether all pods fit at the maximum.
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the reason for an unknown outcome. If the outcome is "never" and the workload's own
	// rules are not the reason, cause is the reason, for example contention. In all other cases,
	// cause is "".
	Cause string `json:"cause"`
	// Object is the kind, namespace and name of the autoscaler.
	Object string `json:"object"`
	// Rivals lists further autoscalers of the workload. They and object are then inactive, outcome is
	// "none", and there are no numbers.
	Rivals []string `json:"rivals"`
	// Min is the smallest number of pods that the autoscaler keeps.
	Min int `json:"min"`
	// Max is the largest number of pods that the autoscaler requests.
	Max int `json:"max"`
	// Default is true if the manifest does not set the maximum and max is the default.
	Default bool `json:"default"`
	// Fit is the largest number of pods that fit. It is 0 unless the outcome is "never".
	Fit int `json:"fit"`
	// Pending is the number of pods that do not fit at the maximum. It is 0 unless the outcome is
	// "never".
	Pending int `json:"pending"`
	// Quota is the ResourceQuota that limits the number of pods, or "".
	Quota string `json:"quota"`
	// Limit is the rule that limits the number of pods at the maximum.
	Limit Limit `json:"limit"`
	// Growth is the list of pools that were counted at their maximum size.
	Growth []GrownPool `json:"growth"`
	// Begins gives the smallest size of a pool with which the maximum number of pods fits. It has
	// at most one row.
	Begins []PoolSize `json:"begins"`
}
