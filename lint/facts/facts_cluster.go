package facts

// Version is the version of the facts. The first number changes when a field is removed or changes
// its meaning. The second number changes when a field is added.
const Version = "1.0"

// Cluster describes the objects that are deployed together and the nodes that they run on.
type Cluster struct {
	// Name is the name of the cluster in the configuration, or "".
	Name string `json:"name"`
	// Context is the name of the directory branch or the render that the facts are about. It is ""
	// if the input has no alternative branches or renders.
	Context string `json:"context"`
	// Kubernetes is the version that the configuration says the cluster runs, such as 1.35 or 1.35.2,
	// or "".
	Kubernetes string `json:"kubernetes"`
	// Declared is true if nodes are declared.
	Declared bool `json:"declared"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Workloads is the number of workloads.
	Workloads int `json:"workloads"`
}

// Pool is a node pool. Either a NodeTopology declares it, or its nodes share the label that their
// platform uses to name pools.
type Pool struct {
	ID int `json:"id"`
	// Name is the name of the pool.
	Name string `json:"name"`
	// Label is the key of the label that names the pool, for example eks.amazonaws.com/nodegroup.
	// It is "" for a NodeTopology pool.
	Label string `json:"label"`
	// File is the path of the file that declares the pool.
	File string `json:"file"`
	// Count is the number of declared nodes in the pool.
	Count int `json:"count"`
	// Max is the number of nodes that the pool can grow to.
	Max int `json:"max"`
	// Zones are the zones of the pool's nodes, including nodes that the pool can add.
	Zones []string `json:"zones"`
	// Labels are the labels that all nodes of the pool have in common, except the hostname.
	Labels map[string]string `json:"labels"`
	// Taints are the taints of the pool's nodes, without duplicates.
	Taints []Taint `json:"taints"`
	// Allocatable are the resources that each node of the pool offers to pods. The list is empty if
	// the nodes differ or declare none.
	Allocatable []ResourceAmount `json:"allocatable"`
	// Workloads lists the workloads whose pods can use a node of the pool, as indices in the list
	// of workloads. It leaves out workloads with unknown placement.
	Workloads []int `json:"workloads"`
	// WorkloadsKnown is false if the step budget ran out before the workloads were found. The list
	// of workloads is then empty.
	WorkloadsKnown bool `json:"workloads_known"`
	// Namespaces are the namespaces of the workloads that can use the pool.
	Namespaces []string `json:"namespaces"`
	// DaemonSets has one row for each resource that nodes of the pool declare. It is about the node
	// of the pool where DaemonSets request the largest part of the resource, which may be a node
	// that the pool can add. The list is empty if workloads_known is false.
	DaemonSets []DaemonSetShare `json:"daemonsets"`
}

// DaemonSetShare is the part of a node's resource that the pods of DaemonSets request.
type DaemonSetShare struct {
	ID int `json:"id"`
	// Resource is the name of the resource, for example cpu.
	Resource string `json:"resource"`
	// Node is the name of the node, or "" for a node that the pool can add.
	Node string `json:"node"`
	// Allocatable is the amount that the node offers, as an integer. The unit is millicores for
	// cpu, and bytes or whole units for other resources.
	Allocatable int `json:"allocatable"`
	// RequestedMin is the amount that DaemonSets are certain to request, in the same unit. It
	// leaves out DaemonSets with unknown placement, and requests that have a variable.
	RequestedMin int `json:"requested_min"`
}

// Taint is a taint of a node or of a pool's nodes.
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
	// Pool is the name of the node's pool, or "".
	Pool string `json:"pool"`
	// Zone is the value of the label topology.kubernetes.io/zone, or "".
	Zone string `json:"zone"`
	// Region is the value of the label topology.kubernetes.io/region, or "".
	Region string `json:"region"`
	// Labels are the labels of the node.
	Labels map[string]string `json:"labels"`
	// Taints are the taints of the node.
	Taints []Taint `json:"taints"`
	// Allocatable are the resources that the node offers to pods. The list is empty if the node
	// declares none.
	Allocatable []ResourceAmount `json:"allocatable"`
	// Cordoned is true if the node is unschedulable.
	Cordoned bool `json:"cordoned"`
	// Workloads lists the workloads whose pods can use the node, as indices in the list of
	// workloads. It leaves out workloads with unknown placement.
	Workloads []int `json:"workloads"`
	// WorkloadsKnown is false if the step budget ran out before the workloads were found. The list
	// of workloads is then empty.
	WorkloadsKnown bool `json:"workloads_known"`
}

// Capacity is the supply of and demand for one resource in the cluster, a pool or a zone. A
// DaemonSet counts once for each node that it can use. Pods that run to completion do not count.
type Capacity struct {
	ID int `json:"id"`
	// Scope is cluster, pool or zone.
	Scope string `json:"scope" enum:"cluster pool zone"`
	// Name is the name of the pool or zone, or "" for the cluster.
	Name string `json:"name"`
	// Resource is the name of the resource, for example cpu. It is pods for the pod slots of nodes.
	Resource string `json:"resource"`
	// Allocatable is the amount that the declared nodes offer, as an integer. The unit is
	// millicores for cpu, and bytes or whole units for other resources.
	Allocatable int `json:"allocatable"`
	// Known is false if any node does not declare the resource. Then allocatable is the amount that
	// the other nodes offer, percent_min is 0 and percent_max is 9007199254740991.
	Known bool `json:"known"`
	// RequestedMin is the lower bound on the requests. It counts only pods that can run nowhere
	// else. It assumes that each workload has its smallest number of replicas.
	RequestedMin int `json:"requested_min"`
	// RequestedMax is the upper bound on the requests. It counts all pods that can run here. It
	// assumes that each workload has its largest number of replicas. It is 9007199254740991 if
	// there is no bound.
	RequestedMax int `json:"requested_max"`
	// PercentMin is requested_min as a percentage of allocatable, rounded down. It is
	// 9007199254740991 if pods request the resource and nothing is allocatable.
	PercentMin int `json:"percent_min"`
	// PercentMax is requested_max as a percentage of allocatable, rounded up. It is
	// 9007199254740991 if there is no bound, or if pods may request the resource and nothing is
	// allocatable.
	PercentMax int `json:"percent_max"`
	// AllocatableMax is the largest amount that the nodes can offer when all pools are at their
	// maximum size. It equals allocatable if no pool can grow. If a pool can grow in several zones,
	// each zone's row includes the full growth.
	AllocatableMax int `json:"allocatable_max"`
	// PercentGrownMin is the lower bound on the requests when all pools are at their maximum size,
	// as a percentage of the amount offered at that size, rounded down. DaemonSet pods on the added
	// nodes count too.
	PercentGrownMin int `json:"percent_grown_min"`
	// PercentGrownMax is the upper bound on the requests when all pools are at their maximum size,
	// as a percentage of the amount offered at that size, rounded up. It is 9007199254740991 if
	// there is no bound.
	PercentGrownMax int `json:"percent_grown_max"`
	// Losses has one row for the loss of each node and of each zone. Nodes whose loss has the same
	// result share a row.
	Losses []CapacityLoss `json:"losses"`
}

// CapacityLoss is the supply of and demand for a resource after the loss of a node or zone. Pods on
// the lost nodes, except DaemonSet pods, move to the remaining nodes.
type CapacityLoss struct {
	// Key is kubernetes.io/hostname for the loss of a node and topology.kubernetes.io/zone for the
	// loss of a zone.
	Key string `json:"key"`
	// Value is the name of the lost node or zone.
	Value string `json:"value"`
	// Like is the number of other nodes with the same result.
	Like int `json:"like"`
	// Left is the amount that the remaining nodes offer, in the same unit as allocatable.
	Left int `json:"left"`
	// PercentMin is the lower bound on the requests, as a percentage of left, rounded down.
	PercentMin int `json:"percent_min"`
	// PercentMax is the upper bound on the requests, as a percentage of left, rounded up. It is
	// 9007199254740991 if there is no bound.
	PercentMax int `json:"percent_max"`
	// LeftMax is the largest amount that the remaining nodes can offer when all pools are at their
	// maximum size.
	LeftMax int `json:"left_max"`
	// PercentGrownMin is the lower bound on the requests when all pools are at their maximum size,
	// as a percentage of the amount that remains at that size, rounded down.
	PercentGrownMin int `json:"percent_grown_min"`
	// PercentGrownMax is the upper bound on the requests when all pools are at their maximum size,
	// as a percentage of the amount that remains at that size, rounded up. It is 9007199254740991
	// if there is no bound.
	PercentGrownMax int `json:"percent_grown_max"`
}

// Object is one document of the input. Its kind may be one that schedlint does not judge.
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
	// File is the path of the file, relative to the root of the repository.
	File string `json:"file"`
	// Labels are metadata.labels.
	Labels map[string]string `json:"labels"`
	// Annotations are metadata.annotations.
	Annotations map[string]string `json:"annotations"`
	// Manifest is the complete document.
	Manifest any `json:"manifest"`
}

// Quota is one limit of a ResourceQuota, with how much of it the pods of the namespace request. Quotas
// with a variable in their spec are left out.
type Quota struct {
	ID int `json:"id"`
	// Namespace is metadata.namespace, or "".
	Namespace string `json:"namespace"`
	// Name is metadata.name.
	Name string `json:"name"`
	// Resource is the name of the amount in spec.hard, for example requests.cpu.
	Resource string `json:"resource"`
	// Hard is the amount, as an integer. The unit is millicores for cpu, and bytes or whole units for
	// other resources.
	Hard int `json:"hard"`
	// Scoped is true if the quota has scopes, so that it counts some of the pods only.
	Scoped bool `json:"scoped"`
	// RequestedMin is the least that the pods request, in the same unit, with every workload at its
	// minimum number of replicas. Pods that run to completion do not count, nor do pods that are each
	// larger than the quota.
	RequestedMin int `json:"requested_min"`
	// RequestedMax is the most that the pods request, with every workload at its maximum number of
	// replicas. It is 9007199254740991 if there is no bound, for example if a DaemonSet counts towards the
	// quota, or if the quota limits objects other than pods.
	RequestedMax int `json:"requested_max"`
	// PercentMin is requested_min as a percentage of hard, rounded down.
	PercentMin int `json:"percent_min"`
	// PercentMax is requested_max as a percentage of hard, rounded up. It is 9007199254740991 if there
	// is no bound.
	PercentMax int `json:"percent_max"`
}

// LimitRange is an item of a LimitRange, with the values that the API server adds. LimitRanges with a
// variable in their spec are left out.
type LimitRange struct {
	ID int `json:"id"`
	// Namespace is metadata.namespace, or "".
	Namespace string `json:"namespace"`
	// Name is metadata.name.
	Name string `json:"name"`
	// Type is Container, Pod or PersistentVolumeClaim.
	Type string `json:"type"`
	// Min lists the smallest amounts that are allowed.
	Min []ResourceAmount `json:"min"`
	// Max lists the largest amounts that are allowed.
	Max []ResourceAmount `json:"max"`
	// Default lists the limits of containers without a limit.
	Default []ResourceAmount `json:"default"`
	// DefaultRequest lists the requests of containers without a request.
	DefaultRequest []ResourceAmount `json:"default_request"`
}

// RuntimeClass is a RuntimeClass that the input declares.
type RuntimeClass struct {
	ID int `json:"id"`
	// Name is metadata.name.
	Name string `json:"name"`
	// Handler is the handler, as written.
	Handler string `json:"handler"`
	// Overhead lists what each pod of the class needs in addition to its containers.
	Overhead []ResourceAmount `json:"overhead"`
}
