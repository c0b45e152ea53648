package facts

import "github.com/schedlint/schedlint/lint/diag"

// Sharing is the verdict on whether the pods of a permanent workload run on several nodes. If they
// do, the loss of one node does not take all of them down.
type Sharing struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome says whether the pods run on several nodes. It is "sometimes" if the scheduler may
	// put all of them on one node, "never" if they can use only one node, and "none" if there are
	// fewer than two pods.
	Outcome diag.Outcome `json:"outcome"`
	// Pods is the number of pods of the workload.
	Pods int `json:"pods"`
	// Usable is the number of nodes that the pods can use.
	Usable int `json:"usable"`
	// Zones is the number of zones that contain usable nodes.
	Zones int `json:"zones"`
	// OnOneNode is the largest number of pods that can run on one node.
	OnOneNode int `json:"on_one_node"`
	// Node is the name of a node that can run on_one_node pods.
	Node string `json:"node"`
	// InOneZone is the largest number of pods that can run in one zone, or 0 if there are no zones.
	InOneZone int `json:"in_one_zone"`
	// Soft is the list of preferred rules that request spreading.
	Soft []Rule `json:"soft"`
	// Typical is the share of simulated runs in which one node has all of the pods.
	Typical Typical `json:"typical"`
}

// Attachment is the verdict on whether the pods that use a ReadWriteOnce claim can all run. The
// volume is attached to one node at a time, and the scheduler does not look at this. A pod on
// another node is bound to it but does not start. For a ReadWriteOncePod claim, it is the verdict on
// the pods of one workload: the scheduler leaves all but one of them Pending.
type Attachment struct {
	ID int `json:"id"`
	// W is the first workload whose pods use the claim.
	W int `json:"w"`
	// Outcome is "never" if the pods cannot all run on one node, "sometimes" if they may run on
	// several nodes, "unknown" if too little is known about the claim or about the pods, and "none" if
	// there are no pods. Pods that run to completion and KubeVirt machines are left out.
	Outcome diag.Outcome `json:"outcome"`
	// Cause is apart if rules or a lack of room keep pods on different nodes, per-node if a DaemonSet
	// has pods on several nodes, pods if there are several pods, rollout if a rollout adds a second
	// pod, and deadlock if it also never completes. It is once if only one pod can use the claim at a
	// time (ReadWriteOncePod). Otherwise it is "".
	Cause string `json:"cause" enum:"apart per-node pods rollout deadlock once "`
	// Claims are the names of the claims. The same workloads use each of them, with the same outcome.
	Claims []string `json:"claims"`
	// Class is the name of the StorageClass of the first claim, or "".
	Class string `json:"class"`
	// Pods is the number of pods of w, which is the minimum if it has an autoscaler.
	Pods int `json:"pods"`
	// Others are the other workloads whose pods use the claims, as indices in the list of workloads.
	Others []int `json:"others"`
}

// Typical says in how many simulated runs of kube-scheduler something happens. The runs place all
// workloads on the declared nodes, with the scores of the default profile.
type Typical struct {
	// Runs is the number of runs, or 0 if there are none.
	Runs int `json:"runs"`
	// Shown is the number of runs in which it happens.
	Shown int `json:"shown"`
	// Preempts is the number of runs that leave it open, because a Pending pod can preempt others.
	Preempts int `json:"preempts"`
	// Without is the number of workloads that the runs leave out, because too little is known about
	// them.
	Without int `json:"without"`
}

// Rule is a placement rule of a workload.
type Rule struct {
	W int `json:"w"`
	// Use is anti-affinity, affinity, spread, host-port, requests, slots, selector or taints, or claim
	// for a claim that one pod can use at a time.
	Use string `json:"use" enum:"anti-affinity affinity spread host-port requests slots selector taints volumes claim"`
	// Hard is true if the rule filters nodes.
	Hard bool `json:"hard"`
	// Key is the topology key, the port or the claim of the rule, or "".
	Key string `json:"key"`
}

// Exclusion is one reason why nodes cannot run the pods of a workload.
type Exclusion struct {
	// Reason is cordoned, tainted, lacks-label, other-value (a label has another value), unset-label
	// (no NodePool of Karpenter sets the label), fails-expression (in a node affinity),
	// matches-no-term or empty-term (in nodeSelectorTerms), too-small, other-volume (the volume of a
	// claim cannot be used there), or undeclared (nodeName names an undeclared node).
	Reason string `json:"reason" enum:"cordoned tainted lacks-label other-value unset-label fails-expression matches-no-term empty-term too-small other-volume undeclared"`
	// Key is the key of the taint, the label or the expression, or "".
	Key string `json:"key"`
	// Value is the value of the taint, the required value of the label or the undeclared nodeName.
	// If the reason is about none of these, value is "".
	Value string `json:"value"`
	// Has is the actual value of the label, or "".
	Has string `json:"has"`
	// Effect is the effect of the taint, or "".
	Effect string `json:"effect" enum:" NoSchedule PreferNoSchedule NoExecute"`
	// Operator is the operator of the expression, or "".
	Operator string `json:"operator"`
	// Values are the values of the expression.
	Values []string `json:"values"`
	// Resource is the name of the resource that is too small, or "".
	Resource string `json:"resource"`
	// Claim is the name of the claim whose volume cannot be used on the nodes, or "".
	Claim string `json:"claim"`
	// Volume names the PersistentVolume of the claim, or the StorageClass whose allowedTopologies
	// apply, such as "PersistentVolume pv-a". If the reason is not other-volume, volume is "".
	Volume string `json:"volume"`
	// Nodes is the number of excluded nodes.
	Nodes int `json:"nodes"`
	// Names are the names of a few excluded nodes.
	Names []string `json:"names"`
	// NodePools is true if Karpenter would add the nodes. nodes and names then say how many pools and
	// which.
	NodePools bool `json:"node_pools"`
}

// GrownPool is a node pool that was counted at its maximum size.
type GrownPool struct {
	// Pool is the name of the pool.
	Pool string `json:"pool"`
	// Max is the number of nodes counted for the pool.
	Max int `json:"max"`
}

// Eligibility is the number of nodes that pass every node-level filter except resources. If volumes
// lists claims, it says how many pods find nodes on which their volumes can be used.
type Eligibility struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome says whether any node is eligible for the pods, or whether all pods can be placed if
	// volumes lists claims.
	Outcome diag.Outcome `json:"outcome"`
	// Volumes are the claims that keep pods off all nodes on which they could run otherwise. If there
	// are none, the list is empty.
	Volumes []Exclusion `json:"volumes"`
	// Usable lists the values of the key of the first claim on the nodes that the pods can use, if its
	// class may make the volume for another value before the pods are scheduled. Else it is empty.
	Usable []string `json:"usable"`
	// Most is the largest number of pods that can be placed in spite of their volumes.
	Most int `json:"most"`
	// Pods is the number of pods. It is 0 for a DaemonSet, which has one pod for each eligible
	// node.
	Pods int `json:"pods"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Eligible is the number of declared nodes that pass every node-level filter except resources.
	Eligible int `json:"eligible"`
	// Bound says whether nodeName chooses the node. It is "declared" if nodeName names a declared
	// node, "undeclared" if it names any other node, and "" if nodeName is not set and the
	// scheduler chooses the node.
	Bound string `json:"bound" enum:"undeclared declared "`
	// Excluded is the list of reasons why nodes cannot run the pods, starting with the one that
	// excludes the most nodes.
	Excluded []Exclusion `json:"excluded"`
	// MoreExcluded is the number of reasons that are not in the list excluded.
	MoreExcluded int `json:"more_excluded"`
}

// Request is one pod's request for a resource, compared with what each empty node offers.
type Request struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome says whether one pod fits on an empty node.
	Outcome diag.Outcome `json:"outcome"`
	// Resource is the name of the resource. If the row is about several resources, resource is ""
	// and the field together lists them.
	Resource string `json:"resource"`
	// Request is the quantity that one pod requests, in Kubernetes notation.
	Request string `json:"request"`
	// Largest is the largest quantity that an eligible node offers.
	Largest string `json:"largest"`
	// LargestNode is the name of the node that offers the largest quantity, or "" if no eligible
	// node offers the resource.
	LargestNode string `json:"largest_node"`
	// Reserved is the quantity that the pool of LargestNode reserves. Largest is without it.
	Reserved string `json:"reserved"`
	// AtMost is true if LargestNode has the largest quantity before it reserves some of it.
	AtMost bool `json:"at_most"`
	// Eligible is the number of nodes that pass every node-level filter except resources.
	Eligible int `json:"eligible"`
	// Fitting is the number of eligible nodes that are large enough.
	Fitting int `json:"fitting"`
	// PerNode is true for a DaemonSet. One of its pods stays Pending for every node that is too
	// small.
	PerNode bool `json:"per_node"`
	// Unlisted is true for an extended resource that no node lists. The outcome is then "unknown".
	Unlisted bool `json:"unlisted"`
	// Suggestion is the listed resource that was probably meant instead of an unlisted one, or "".
	Suggestion string `json:"suggestion"`
	// Together lists requests that each fit on some node. No node has room for all of them
	// together. The list is empty if one request alone is too large.
	Together []ResourceRequest `json:"together"`
}

// ResourceRequest is one pod's request for a resource.
type ResourceRequest struct {
	// Resource is the name of the resource.
	Resource string `json:"resource"`
	// Request is the quantity that one pod requests, in Kubernetes notation.
	Request string `json:"request"`
}

// AntiAffinity is a hard anti-affinity rule that keeps the pods of one workload apart.
type AntiAffinity struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome says whether all pods fit.
	Outcome diag.Outcome `json:"outcome"`
	// Pods is the number of pods.
	Pods int `json:"pods"`
	// Keys are the topology keys. There are several if the limit results from a combination of
	// terms.
	Keys []string `json:"keys"`
	// Domains is the number of distinct values of the keys on eligible nodes.
	Domains int `json:"domains"`
	// Most is the number of pods that fit.
	Most int `json:"most"`
	// Pending is the number of pods that do not fit.
	Pending int `json:"pending"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Eligible is the number of nodes that pass the node-level rules of the pods.
	Eligible int `json:"eligible"`
	// Excluded is the list of reasons why nodes cannot run the pods, starting with the one that
	// excludes the most nodes.
	Excluded []Exclusion `json:"excluded"`
	// MoreExcluded is the number of reasons that are not in the list excluded.
	MoreExcluded int `json:"more_excluded"`
	// Growth is the list of pools that were counted at their maximum size.
	Growth []GrownPool `json:"growth"`
	// Together lists the other required rules of the workload that contribute to the limit, one for
	// each topology key. The listed rules are all anti-affinity or all affinity.
	Together []Rule `json:"together"`
}

// Spread is a hard topology spread constraint.
type Spread struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome says whether all pods fit.
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the condition that limits the number of pods: missing-key (no eligible node has all
	// keys), min-domains or skew. It is "" if there is no such condition.
	Cause string `json:"cause" enum:"missing-key min-domains skew "`
	// Pods is the number of pods.
	Pods int `json:"pods"`
	// Key is the topologyKey of the constraint.
	Key string `json:"key"`
	// Keys are the topology keys of the pods' hard spread constraints. The pods need a node that
	// has all of these keys. The list has at most 20 keys.
	Keys []string `json:"keys"`
	// KeyCount is the number of topology keys in the pods' hard spread constraints. It can be
	// larger than the length of keys.
	KeyCount int `json:"key_count"`
	// MaxSkew is the maxSkew of the constraint.
	MaxSkew int `json:"max_skew"`
	// MinDomains is the minDomains of the constraint, by default 1.
	MinDomains int `json:"min_domains"`
	// Domains is the number of eligible domains.
	Domains int `json:"domains"`
	// Smallest is the number of pods that the smallest domain can hold.
	Smallest int `json:"smallest"`
	// SmallestDomain is the name of the smallest domain, or "" if it alone does not limit the others.
	SmallestDomain string `json:"smallest_domain"`
	// Most is the number of pods that fit.
	Most int `json:"most"`
	// Pending is the number of pods that do not fit.
	Pending int `json:"pending"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Eligible is the number of nodes that pass the node-level rules of the pods.
	Eligible int `json:"eligible"`
	// Excluded is the list of reasons why nodes cannot run the pods, starting with the one that
	// excludes the most nodes.
	Excluded []Exclusion `json:"excluded"`
	// MoreExcluded is the number of reasons that are not in the list excluded.
	MoreExcluded int `json:"more_excluded"`
	// Growth is the list of pools that were counted at their maximum size.
	Growth []GrownPool `json:"growth"`
	// Suggestion is the key that was probably meant, or "".
	Suggestion string `json:"suggestion"`
}

// HostPort is a host port that the pods use. Only one pod on each node can use it.
type HostPort struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome says whether all pods fit.
	Outcome diag.Outcome `json:"outcome"`
	// Pods is the number of pods.
	Pods int `json:"pods"`
	// Port is the number of the port.
	Port int `json:"port"`
	// Protocol is TCP, UDP or SCTP.
	Protocol string `json:"protocol" enum:"TCP UDP SCTP"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Eligible is the number of nodes that pass the node-level rules of the pods.
	Eligible int `json:"eligible"`
	// Pending is the number of pods that do not fit.
	Pending int `json:"pending"`
	// Excluded is the list of reasons why nodes cannot run the pods, starting with the one that
	// excludes the most nodes.
	Excluded []Exclusion `json:"excluded"`
	// MoreExcluded is the number of reasons that are not in the list excluded.
	MoreExcluded int `json:"more_excluded"`
	// Growth is the list of pools that were counted at their maximum size.
	Growth []GrownPool `json:"growth"`
}

// Room is the number of pods that the resources of a set of nodes can accommodate. The pods belong
// to one workload, or to all workloads that can use only these nodes.
type Room struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Others is the number of workloads besides w that the row is about.
	Others int `json:"others"`
	// Outcome says whether all pods fit.
	Outcome diag.Outcome `json:"outcome"`
	// Cause is the comparison that leads to the outcome. For "pods", all pods request the same, and
	// their number is compared with the number that fits. For "size", the number of pods that
	// request at least the quantity in request is compared with the number of such pods that fit.
	// For "total", the sum of all requests is compared with the amount that all nodes offer.
	Cause string `json:"cause" enum:"pods size total"`
	// Pods is the number of pods of all workloads that the row is about.
	Pods int `json:"pods"`
	// Most is the number of pods that fit. For the cause "size", it counts only pods that request
	// at least the quantity in request.
	Most int `json:"most"`
	// Pending is the smallest number of pods that do not fit.
	Pending int `json:"pending"`
	// Resource is the name of the limiting resource. It is pods if the nodes have too few pod
	// slots.
	Resource string `json:"resource"`
	// Request is the quantity that one pod requests. It is "" for pod slots and for the cause
	// total.
	Request string `json:"request"`
	// Requested is the quantity that all pods request. It is "" unless the cause is total.
	Requested string `json:"requested"`
	// Offered is the quantity that all nodes offer. It is "" unless the cause is total.
	Offered string `json:"offered"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Eligible is the number of nodes that pass the node-level rules of the pods.
	Eligible int `json:"eligible"`
	// Growth is the list of pools that were counted at their maximum size.
	Growth []GrownPool `json:"growth"`
}

// Circle is a workload that cannot start because of a circle of required affinity. In a circle,
// each workload waits for pods of the next one. The workload is part of the circle or waits for it.
type Circle struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Members are the workloads of the circle in order, as indices in the list of workloads. The
	// first one is repeated at the end.
	Members []int `json:"members"`
	// Member is false if the workload waits for the circle without being part of it.
	Member bool `json:"member"`
}

// Crowd is a workload or a group of workloads whose pods cannot all be scheduled. The rules in Core
// are the reason.
type Crowd struct {
	ID int `json:"id"`
	// W is the workload that the finding is about.
	W int `json:"w"`
	// Workloads are all workloads of the group, as indices in the list of workloads.
	Workloads []int `json:"workloads"`
	// Outcome is "never" in every row.
	Outcome diag.Outcome `json:"outcome"`
	// Pods is the number of pods of the group.
	Pods int `json:"pods"`
	// Most is the number of pods of the group that fit.
	Most int `json:"most"`
	// Pending is the number of pods of the group that do not fit.
	Pending int `json:"pending"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Core is the list of rules that cannot be met together.
	Core []CoreRule `json:"core"`
	// Growth is the list of pools that were counted at their maximum size.
	Growth []GrownPool `json:"growth"`
}

// CoreRule is a hard rule of a workload that conflicts with other rules.
type CoreRule struct {
	W int `json:"w"`
	// Use is anti-affinity, affinity, spread, host-port, requests, slots, selector or taints, claim for
	// a claim that one pod can use at a time, or replicas for the number of pods.
	Use string `json:"use" enum:"anti-affinity affinity spread host-port requests slots selector taints replicas volumes claim"`
	// Key is the topology key, the port, the claim or the requests of a pod, or "".
	Key string `json:"key"`
	// Excluded is the list of reasons why the pods cannot use all nodes. The list is empty unless
	// use is selector, taints or replicas.
	Excluded []Exclusion `json:"excluded"`
}

// Order is a workload with pods that fit on no node if other pods are placed first in an
// unfavorable way.
type Order struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Pods is the number of pods of the workload.
	Pods int `json:"pods"`
	// Pending is the number of pods of the workload that fit on no node.
	Pending int `json:"pending"`
	// Placed lists the pods that are already placed, with their nodes.
	Placed []Placed `json:"placed"`
	// Refused lists the filters that reject nodes for the next pod, starting with the one that
	// rejects the most nodes.
	Refused []FilterNodes `json:"refused"`
	// Typical is the share of simulated runs that leave out pods of the workload.
	Typical Typical `json:"typical"`
}

// Placed is a group of pods of one workload, and the nodes that they run on.
type Placed struct {
	W int `json:"w"`
	// Revision is old or new during a rollout, and "" otherwise.
	Revision string `json:"revision" enum:"old new "`
	// Pods is the number of pods.
	Pods int `json:"pods"`
	// Nodes is the number of nodes that run the pods.
	Nodes int `json:"nodes"`
	// On lists a few of the nodes, with the number of pods on each.
	On []NodePods `json:"on"`
}

// NodePods is the number of pods on a node.
type NodePods struct {
	// Node is the name of the node.
	Node string `json:"node"`
	// Pods is the number of pods on the node.
	Pods int `json:"pods"`
}

// FilterNodes is the number of nodes that a kube-scheduler filter plugin rejects.
type FilterNodes struct {
	// Filter is the name of the plugin, for example NodeResourcesFit.
	Filter string `json:"filter"`
	// Nodes is the number of nodes that the plugin rejects.
	Nodes int `json:"nodes"`
}
