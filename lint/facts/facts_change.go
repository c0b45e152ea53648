package facts

import "github.com/schedlint/schedlint/lint/diag"

// Amount is a number of pods as a field gives it.
type Amount struct {
	// Field is maxSurge, maxUnavailable, minAvailable or partition; "" for none.
	Field string `json:"field" enum:"maxSurge maxUnavailable minAvailable partition "`
	// Value is the field as written, as in "25%", or its default unless Written.
	Value string `json:"value"`
	// Written tells whether the field is in the manifest; value is a default without it.
	Written bool `json:"written"`
	// Of is the number of pods that a percentage is of.
	Of int `json:"of"`
	// RoundedUp tells whether a percentage is rounded up; else it is rounded down.
	RoundedUp bool `json:"rounded_up"`
	// Pods is the number of pods that the value comes to.
	Pods int `json:"pods"`
}

// Arithmetic is how the numbers of a rollout come about.
type Arithmetic struct {
	// Strategy is recreate, blue-green or traffic-routing, which have no numbers; "" for
	// one with one or both of the amounts.
	Strategy string `json:"strategy" enum:"recreate blue-green traffic-routing "`
	// Surge is how many pods may be created before old ones are removed.
	Surge Amount `json:"surge"`
	// Unavailable is how many pods may be missing meanwhile.
	Unavailable Amount `json:"unavailable"`
	// Correction is how the controller changes them: both-zero (maxUnavailable counts as
	// 1), all-pods (there are no more) or at-least-one; "" if it does not.
	Correction string `json:"correction" enum:"both-zero all-pods at-least-one "`
	// Pods is the number of pods that the amounts are about.
	Pods int `json:"pods"`
	// Preview is previewReplicaCount of a blue-green Rollout; 0 if it is not set.
	Preview int `json:"preview"`
}

// Limit is how many pods of a workload fit by its own hard rules.
type Limit struct {
	// By is what limits them: anti-affinity, spread, host-port or room; none if nothing
	// is known to.
	By string `json:"by" enum:"anti-affinity spread host-port room none"`
	// Fit is the largest number of pods that fit.
	Fit int `json:"fit"`
	// Rules are the rules that bind.
	Rules []Rule `json:"rules"`
	// Domains is the number of values of their topology key among eligible nodes.
	Domains int `json:"domains"`
	// Eligible is the number of nodes that pass the node-level rules of the pods.
	Eligible int `json:"eligible"`
	// Resource is the resource that binds, or "".
	Resource string `json:"resource"`
}

// PoolSize is a number of nodes of a pool that may grow.
type PoolSize struct {
	// Pool is the name of the pool.
	Pool string `json:"pool"`
	// Nodes is its number of nodes.
	Nodes int `json:"nodes"`
}

// Rollout is what becomes of an update of all pods of a workload that fit as
// they are: whether it completes.
type Rollout struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "the rollout completes".
	Outcome diag.Outcome `json:"outcome"`
	// Cause says why the outcome is unknown, for example label-value; "" otherwise.
	Cause string `json:"cause"`
	// Way is how the controller replaces the pods: rolling, recreate, in-place, surge-per-node
	// (DaemonSets) or both-whole (blue-green); none if nothing replaces them.
	Way string `json:"way" enum:"rolling recreate in-place surge-per-node both-whole none"`
	// Surge is how many pods may run beyond replicas.
	Surge int `json:"surge"`
	// Unavailable is how many pods may be missing meanwhile.
	Unavailable int `json:"unavailable"`
	// Arithmetic is how surge and unavailable come about.
	Arithmetic Arithmetic `json:"arithmetic"`
	// Replicas is the number of pods that the row is about.
	Replicas int `json:"replicas"`
	// At is maximum or minimum if replicas is that end of the range of an autoscaler, or "".
	At string `json:"at" enum:"maximum minimum "`
	// Scaler is the kind of that autoscaler, or "".
	Scaler string `json:"scaler"`
	// Rules are the rules that leave no room for new pods.
	Rules []Rule `json:"rules"`
	// Others are the other workloads whose rules have a part in it.
	Others []int `json:"others"`
	// Limit is how many pods fit.
	Limit Limit `json:"limit"`
	// Stuck tells whether a state is known in which the rollout is stuck.
	Stuck bool `json:"stuck"`
	// Running is where the old and the new pods are in that state.
	Running []Placed `json:"running"`
	// Refused is what keeps the next new pod off the nodes in that state.
	Refused []FilterNodes `json:"refused"`
}

// Skew is whether the new pods are spread evenly once a rollout that completes has
// ended: old pods count while they run, and nothing moves afterwards.
type Skew struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is always or sometimes.
	Outcome diag.Outcome `json:"outcome"`
	// Key is the topology key of the first hard constraint.
	Key string `json:"key"`
	// MaxSkew is maxSkew of that constraint.
	MaxSkew int `json:"max_skew"`
	// Replicas is the number of pods that the row is about.
	Replicas int `json:"replicas"`
	// At is maximum or minimum if replicas is that end of the range of an autoscaler, or "".
	At string `json:"at" enum:"maximum minimum "`
	// Scaler is the kind of that autoscaler, or "".
	Scaler string `json:"scaler"`
}

// Loss is what becomes of a workload after the loss of nodes.
type Loss struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "all pods run again".
	Outcome diag.Outcome `json:"outcome"`
	// Cause says why the outcome is unknown, for example label-value; "" otherwise.
	Cause string `json:"cause"`
	// Key is the topology key whose domain is lost; kubernetes.io/hostname for single nodes.
	Key string `json:"key"`
	// Value is the node or the domain that is lost: the worst one.
	Value string `json:"value"`
	// Like is the number of other domains of which the same is true.
	Like int `json:"like"`
	// Required tells whether the configuration or --survive requires the workload to survive
	// the loss; else only a rule asks about it.
	Required bool `json:"required"`
	// Meaning is gone (the Node objects are deleted) or unreachable (they stay, with the
	// taint node.kubernetes.io/unreachable), or both.
	Meaning string `json:"meaning" enum:"gone unreachable both"`
	// Pods is the number of pods that are certain.
	Pods int `json:"pods"`
	// PendingMin is how many pods stay Pending in every run.
	PendingMin int `json:"pending_min"`
	// PendingMax is how many pods stay Pending in the worst known run.
	PendingMax int `json:"pending_max"`
	// Recreated is false if the pods are not created again as long as the Node objects exist.
	Recreated bool `json:"recreated"`
	// WhereItRuns is set if the outcome is never because losing any domain with pods of the
	// workload leaves some Pending; a domain without pods may be lost without harm.
	WhereItRuns bool `json:"where_it_runs"`
}

// Budget is a PodDisruptionBudget, and what is wrong with it.
type Budget struct {
	ID int `json:"id"`
	// W is the first workload whose pods it selects, -1 for none.
	W int `json:"w"`
	// Object is the budget, as in "PodDisruptionBudget shop/web".
	Object string `json:"object"`
	// Namespace is that of the budget, "" where the manifest leaves it open.
	Namespace string `json:"namespace"`
	// Problem names what is wrong. no-eviction: it never allows a drain to evict its pods.
	// no-eviction-while-small: it allows that only with more than up_to pods. several: another
	// budget selects one of its pods. idle: it selects no pod. none and unknown: nothing is known
	// to be wrong, or it cannot be evaluated.
	Problem string `json:"problem" enum:"none no-eviction no-eviction-while-small several idle unknown"`
	// Selector is its label selector as kubectl writes it.
	Selector string `json:"selector"`
	// Pods is the number of pods that it selects for certain.
	Pods int `json:"pods"`
	// Amount is what it demands, with the zero Field if it demands nothing.
	Amount Amount `json:"amount"`
	// AllowedMin is the number of pods that it allows to be evicted at once while all are healthy
	// and autoscalers keep the minimum of pods; 0 if that is unknown.
	AllowedMin int `json:"allowed_min"`
	// AllowedMax is the same at the maximum of pods, 2147483647 if that is unknown.
	AllowedMax int `json:"allowed_max"`
	// UpTo is the largest number of pods of the autoscaled workloads at which it allows no
	// disruptions; 0 unless problem is no-eviction-while-small.
	UpTo int `json:"up_to"`
	// Unscaled is the first workload whose controller has no replicas, without which the budget
	// allows no disruptions; "" for none.
	Unscaled string `json:"unscaled"`
	// Selects are the workloads whose pods it selects: the first 20.
	Selects []int `json:"selects"`
	// Others are the other budgets of a pod that several select: the first 20.
	Others []string `json:"others"`
}

// Drain is a workload whose pod has no other node when its node is drained.
type Drain struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "the pods find another node".
	Outcome diag.Outcome `json:"outcome"`
	// Cause says why the outcome is unknown, for example label-value; "" otherwise.
	Cause string `json:"cause"`
	// Pods is the number of pods that are certain.
	Pods int `json:"pods"`
	// BlockedBy is budget if budgets refuse the eviction, eviction-strategy if the strategy
	// of a machine that cannot migrate does, or else "".
	BlockedBy string `json:"blocked_by" enum:"budget eviction-strategy "`
	// Node is the node that is drained: the worst one.
	Node string `json:"node"`
	// Pool is the pool of node, or "". Nodes that like counts may be in other pools.
	Pool string `json:"pool"`
	// Like is the number of other nodes of which the same is true.
	Like int `json:"like"`
	// WhereItRuns is set if the outcome is never because draining any node with pods of the
	// workload leaves some Pending; a node without pods may be drained without harm.
	WhereItRuns bool `json:"where_it_runs"`
	// PendingMin is how many pods stay Pending until the node is back, in every run.
	PendingMin int `json:"pending_min"`
	// PendingMax is how many pods stay Pending until the node is back, in the worst known run.
	PendingMax int `json:"pending_max"`
	// Blocks is true if a budget of the workload refuses the next drain because of these pods.
	Blocks bool `json:"blocks"`
	// Amount is what that budget demands.
	Amount Amount `json:"amount"`
}

// Migration is whether machines can move to another node while they run.
type Migration struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is always if any machine can, sometimes if it depends, never if none.
	Outcome diag.Outcome `json:"outcome"`
	// Cause says why the outcome is unknown, for example label-value; "" otherwise.
	Cause string `json:"cause"`
	// Machines is the number of machines.
	Machines int `json:"machines"`
	// Rules are the rules that leave no node for the second pod of a machine.
	Rules []Rule `json:"rules"`
	// Limit is how many pods fit.
	Limit Limit `json:"limit"`
	// Evicts is set if an eviction is refused until the machine has migrated.
	Evicts bool `json:"evicts"`
}

// OuterLabel is a label of a machine that does not reach its pods although a
// selector asks for it.
type OuterLabel struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Label is the label of the machine, as in app=db.
	Label string `json:"label"`
	// AskedBy is the rule whose selector asks for it.
	AskedBy Rule `json:"asked_by"`
	// Inside is the field where the label has to be.
	Inside string `json:"inside"`
}

// Autoscaler is whether all pods fit that an autoscaler may ask for.
type Autoscaler struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "all pods fit at the maximum".
	Outcome diag.Outcome `json:"outcome"`
	// Cause is why the outcome is unknown, or what leaves no room if no rule of the
	// workload does, as in contention; or "".
	Cause string `json:"cause"`
	// Object is the autoscaler.
	Object string `json:"object"`
	// Min is the smallest number of pods that it keeps.
	Min int `json:"min"`
	// Max is the largest number of pods that it asks for.
	Max int `json:"max"`
	// Default tells whether max is a default, as the manifest does not set it.
	Default bool `json:"default"`
	// Fit is the largest number of pods that fit.
	Fit int `json:"fit"`
	// Pending is the number of pods that do not fit at the maximum.
	Pending int `json:"pending"`
	// Limit is what limits them.
	Limit Limit `json:"limit"`
	// Growth are the pools that were counted at their largest size.
	Growth []GrownPool `json:"growth"`
	// Begins is the size of a pool at which the maximum begins to fit: none, or one.
	Begins []PoolSize `json:"begins"`
}
