package facts

import "github.com/schedlint/schedlint/lint/diag"

// Rollout is what becomes of an update of all pods of a workload that fit as
// they are: whether it completes.
type Rollout struct {
	ID       int          `json:"id"`
	Workload string       `json:"workload"`
	W        int          `json:"w"`
	Outcome  diag.Outcome `json:"outcome"`
	// Way is rolling, recreate, in-place, surge-per-node or both-whole. Surge and
	// Unavailable are the resolved numbers of pods, and Arithmetic how they come
	// about, as in "maxSurge 25% of 3 rounds up to 1".
	Way         string `json:"way"`
	Surge       int    `json:"surge"`
	Unavailable int    `json:"unavailable"`
	Arithmetic  string `json:"arithmetic"`
	// Replicas is the number of pods that this is about; At says which number
	// that is where an autoscaler moves it, as in "at its maximum of 6 replicas".
	Replicas int    `json:"replicas"`
	At       string `json:"at"`
	// Reasons are the rules that leave no room, as in "required anti-affinity on
	// kubernetes.io/hostname"; Room says for how many pods there is room, as in
	// "3 pods on 3 values of kubernetes.io/hostname", or is "".
	Reasons []string `json:"reasons"`
	Room    string   `json:"room"`
	// Others are workloads whose rules have a part in it.
	Others []string `json:"others"`
	// State tells of a state in which it is stuck, as in "2 old pods on n1, n2 and
	// a new one on n3", and Refused what then keeps new pods off; "" if it always
	// or never completes.
	State   string `json:"state"`
	Refused string `json:"refused"`
}

// Skew is whether the new pods are spread evenly once a rollout that completes has
// ended: old pods count while they run, and nothing moves afterwards.
type Skew struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is always or sometimes.
	Outcome diag.Outcome `json:"outcome"`
	// Key and MaxSkew are those of the first hard constraint.
	Key     string `json:"key"`
	MaxSkew int    `json:"max_skew"`
	// Replicas is the number of pods that this is about. At is maximum or minimum where
	// an autoscaler, of the kind Scaler, moves it, and this is that end of its range.
	Replicas int    `json:"replicas"`
	At       string `json:"at"`
	Scaler   string `json:"scaler"`
}

// Loss is what becomes of a workload after the loss of nodes.
type Loss struct {
	ID       int          `json:"id"`
	Workload string       `json:"workload"`
	W        int          `json:"w"`
	Outcome  diag.Outcome `json:"outcome"`
	// Key is the topology key whose domain is lost, kubernetes.io/hostname for
	// single nodes; Value is the domain, Like the number of others of which the
	// same is true.
	Key   string `json:"key"`
	Value string `json:"value"`
	Like  int    `json:"like"`
	// Meaning is gone (the Node objects are deleted) or unreachable (they stay, with the
	// taint node.kubernetes.io/unreachable), or both.
	Meaning string `json:"meaning"`
	Pods    int    `json:"pods"`
	// Pending is how many of its pods stay Pending: at least if the ending is
	// never, else at most as far as is known. Unless Recreated they are not even
	// created again as long as the nodes are there.
	Pending   int  `json:"pending"`
	Recreated bool `json:"recreated"`
}

// Budget is something wrong with a PodDisruptionBudget. Problem is no-eviction
// (it lets no pod go), several (more than one selects a pod) or idle (it selects
// no pod).
type Budget struct {
	ID       int    `json:"id"`
	Budget   string `json:"budget"`
	Problem  string `json:"problem"`
	Selector string `json:"selector"`
	Pods     int    `json:"pods"`
	Limit    string `json:"limit"` // as in "minAvailable 2 of 2 pods"
	// Selects are workloads whose pods it selects, and Others the other budgets of a
	// pod with several: the first 20 of each.
	Selects []string `json:"selects"`
	Others  []string `json:"others"`
}

// Drain is a workload whose pod has no other node when its node is drained.
type Drain struct {
	ID       int          `json:"id"`
	Workload string       `json:"workload"`
	W        int          `json:"w"`
	Outcome  diag.Outcome `json:"outcome"`
	Pods     int          `json:"pods"`
	// Node is the node that is drained and Like the number of others of which the
	// same is true. Pending pods stay so until it is back.
	Node    string `json:"node"`
	Like    int    `json:"like"`
	Pending int    `json:"pending"`
	// Limit is what its budget says, if the next drain is refused then; else "".
	Limit string `json:"limit"`
}

// Migration is whether machines can move to another node while they run.
type Migration struct {
	ID       int    `json:"id"`
	Workload string `json:"workload"`
	W        int    `json:"w"`
	// Outcome is always if any machine can, may-not if it depends, never if none.
	Outcome  diag.Outcome `json:"outcome"`
	Machines int          `json:"machines"`
	// Reasons are the rules that leave no node for the second pod, and Room for
	// how many pods there is room, or "".
	Reasons []string `json:"reasons"`
	Room    string   `json:"room"`
	// Evicts is set if an eviction is refused until the machine has migrated.
	Evicts bool `json:"evicts"`
}

// OuterLabel is a label of a machine that does not reach its pods although a
// selector asks for it.
type OuterLabel struct {
	ID       int    `json:"id"`
	Workload string `json:"workload"`
	W        int    `json:"w"`
	// Label is as in app=db. Asked is what asks for it, as in "required
	// anti-affinity of VirtualMachine vms/db"; Inside is where it has to stand.
	Label  string `json:"label"`
	Asked  string `json:"asked"`
	Inside string `json:"inside"`
}

// Autoscaler is whether all pods fit that an autoscaler may ask for.
type Autoscaler struct {
	ID       int          `json:"id"`
	Workload string       `json:"workload"`
	W        int          `json:"w"`
	Outcome  diag.Outcome `json:"outcome"`
	Scaler   string       `json:"scaler"`
	// Max is its maximum, and Default tells that nothing is written.
	Min     int  `json:"min"`
	Max     int  `json:"max"`
	Default bool `json:"default"`
	// Most is how many pods fit at most and Pending the rest; Reason is the rule
	// that limits them and Growth tells at which size pools were counted.
	Most    int    `json:"most"`
	Pending int    `json:"pending"`
	Reason  string `json:"reason"`
	Growth  string `json:"growth"`
	// Begins tells at which size of a pool the maximum begins to fit, or is "".
	Begins string `json:"begins"`
}
