package facts

// Version is that of the facts: the first number changes when a field changes its
// meaning or goes, the second when one is added.
const Version = "1.0"

// Cluster is what the facts are about: the objects that are deployed together and the
// nodes that they run on.
type Cluster struct {
	// Name is the cluster of the configuration, or "".
	Name string `json:"name"`
	// Context is the branch of a tree with alternatives, or the render; "" for the only one.
	Context string `json:"context"`
	// Declared tells whether nodes are declared.
	Declared bool `json:"declared"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Workloads is the number of workloads.
	Workloads int `json:"workloads"`
}

// Pool is a node pool: one that a NodeTopology declares, or the nodes that share the
// label by which their platform names their pool.
type Pool struct {
	ID int `json:"id"`
	// Name is the name of the pool.
	Name string `json:"name"`
	// Label is the label that names the pool, as in eks.amazonaws.com/nodegroup; "" for a
	// pool of a NodeTopology.
	Label string `json:"label"`
	// File is the path of the file that declares the pool.
	File string `json:"file"`
	// Count is the number of its declared nodes.
	Count int `json:"count"`
	// Max is the number of nodes that it can grow to.
	Max int `json:"max"`
	// Zones are the zones of its nodes, or of those by which it can grow.
	Zones []string `json:"zones"`
	// Labels are those that all its nodes have in common, hostname left out.
	Labels map[string]string `json:"labels"`
	// Taints are those of its nodes, each once.
	Taints []Taint `json:"taints"`
	// Allocatable is what one of its nodes offers; empty if nodes differ or do not say.
	Allocatable []ResourceAmount `json:"allocatable"`
	// Workloads are those whose pods can use a node of the pool, as indices in the list of
	// workloads; those whose placement is unknown are left out.
	Workloads []int `json:"workloads"`
	// WorkloadsKnown is false where the budget of steps did not suffice to find workloads.
	WorkloadsKnown bool `json:"workloads_known"`
	// Namespaces are the namespaces of these workloads.
	Namespaces []string `json:"namespaces"`
}

// Taint is a taint of nodes.
type Taint struct {
	ID int `json:"id"`
	// Key is the key of the taint.
	Key string `json:"key"`
	// Value is the value of the taint.
	Value string `json:"value"`
	// Effect is NoSchedule, PreferNoSchedule or NoExecute.
	Effect string `json:"effect" enum:"NoSchedule PreferNoSchedule NoExecute"`
}

// Node is a declared node.
type Node struct {
	ID int `json:"id"`
	// Name is the name of the node.
	Name string `json:"name"`
	// Pool is the name of its pool, or "".
	Pool string `json:"pool"`
	// Zone is topology.kubernetes.io/zone of the node, or "".
	Zone string `json:"zone"`
	// Region is topology.kubernetes.io/region of the node, or "".
	Region string `json:"region"`
	// Labels are the labels of the node.
	Labels map[string]string `json:"labels"`
	// Taints are the taints of the node.
	Taints []Taint `json:"taints"`
	// Allocatable is what the node offers to pods; empty if it does not say.
	Allocatable []ResourceAmount `json:"allocatable"`
	// Cordoned tells whether the node is unschedulable.
	Cordoned bool `json:"cordoned"`
	// Workloads are those whose pods can use the node, as indices in the list of workloads;
	// those whose placement is unknown are left out.
	Workloads []int `json:"workloads"`
	// WorkloadsKnown is false where the budget of steps did not suffice to find workloads.
	WorkloadsKnown bool `json:"workloads_known"`
}

// Capacity is what is offered and requested of one resource, in the whole cluster, in a
// pool or in a zone. DaemonSets count once for each node that they can use; pods that
// run to completion do not count.
type Capacity struct {
	ID int `json:"id"`
	// Scope is cluster, pool or zone.
	Scope string `json:"scope" enum:"cluster pool zone"`
	// Name is the pool or the zone, "" for the cluster.
	Name string `json:"name"`
	// Resource is the resource, as in cpu; pods for the slots of nodes.
	Resource string `json:"resource"`
	// Allocatable is what the declared nodes offer, as an integer: thousandths of a
	// processor for cpu, else bytes or whole units.
	Allocatable int `json:"allocatable"`
	// Known is false if a node does not say what it has of the resource: allocatable is then
	// what the others have, and percentages say nothing.
	Known bool `json:"known"`
	// RequestedMin is what pods request at least: those that can run nowhere else, at the
	// smallest number of replicas.
	RequestedMin int `json:"requested_min"`
	// RequestedMax is what pods request at most: those that can run there, at the largest
	// number of replicas; 9007199254740991 if nothing bounds it.
	RequestedMax int `json:"requested_max"`
	// PercentMin is requested_min in percent of allocatable, rounded down.
	PercentMin int `json:"percent_min"`
	// PercentMax is requested_max in percent of allocatable, rounded up.
	PercentMax int `json:"percent_max"`
	// AllocatableMax is what nodes offer at most once all pools have their largest size;
	// allocatable where no pool can grow. The zones of a pool share its growth, so the rows of
	// these zones count it once each.
	AllocatableMax int `json:"allocatable_max"`
	// PercentGrownMin is what pods then request at least, in percent of what nodes offer, rounded
	// down. DaemonSets count on the added nodes, too.
	PercentGrownMin int `json:"percent_grown_min"`
	// PercentGrownMax is what pods then request at most, in percent of what nodes offer, rounded
	// up; 9007199254740991 if nothing bounds it.
	PercentGrownMax int `json:"percent_grown_max"`
	// Losses are what is left after the loss of a node or of a zone; one row stands for all
	// nodes of which the same is true.
	Losses []CapacityLoss `json:"losses"`
}

// CapacityLoss is what is left of a resource after a loss. Pods of the lost nodes run on
// those that are left, but for those of DaemonSets.
type CapacityLoss struct {
	// Key is kubernetes.io/hostname for the loss of a node, topology.kubernetes.io/zone for
	// that of a zone.
	Key string `json:"key"`
	// Value is the node or the zone that is lost.
	Value string `json:"value"`
	// Like is the number of further nodes of which the same is true.
	Like int `json:"like"`
	// Left is what the other nodes offer.
	Left int `json:"left"`
	// PercentMin is what pods request at least, in percent of left, rounded down.
	PercentMin int `json:"percent_min"`
	// PercentMax is what pods request at most, in percent of left, rounded up;
	// 9007199254740991 if nothing bounds it.
	PercentMax int `json:"percent_max"`
	// LeftMax is what the other nodes offer at most once all pools have their largest size.
	LeftMax int `json:"left_max"`
	// PercentGrownMin is what pods then request at least, in percent of what is left, rounded
	// down.
	PercentGrownMin int `json:"percent_grown_min"`
	// PercentGrownMax is what pods then request at most, in percent of what is left, rounded up;
	// 9007199254740991 if nothing bounds it.
	PercentGrownMax int `json:"percent_grown_max"`
}

// Object is one document of the input, also of a kind that is not judged.
type Object struct {
	ID int `json:"id"`
	// APIVersion is the apiVersion as written.
	APIVersion string `json:"api_version"`
	// Kind is the kind as written.
	Kind string `json:"kind"`
	// Namespace is metadata.namespace, or "".
	Namespace string `json:"namespace"`
	// Name is metadata.name, or "".
	Name string `json:"name"`
	// File is the path of the file from the root of the repository.
	File string `json:"file"`
	// Labels are metadata.labels.
	Labels map[string]string `json:"labels"`
	// Annotations are metadata.annotations.
	Annotations map[string]string `json:"annotations"`
	// Manifest is the whole document.
	Manifest any `json:"manifest"`
}
