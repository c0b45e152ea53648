package facts

import "github.com/schedlint/schedlint/lint/diag"

// Sharing is whether the pods of a permanent workload can all run on one node, so
// that losing it takes all of them down.
type Sharing struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "the pods run on several nodes": sometimes, if the scheduler may
	// put all of them on one; never, if there is only one that they can use; none for
	// fewer than two pods.
	Outcome diag.Outcome `json:"outcome"`
	// Pods is the number of pods of the workload.
	Pods int `json:"pods"`
	// Usable is the number of nodes that the pods can use.
	Usable int `json:"usable"`
	// Zones is the number of zones that these nodes are in.
	Zones int `json:"zones"`
	// OnOneNode is the largest number of pods that can run on one node.
	OnOneNode int `json:"on_one_node"`
	// Node is such a node.
	Node string `json:"node"`
	// InOneZone is the largest number of pods that can run in one zone; 0 without zones.
	InOneZone int `json:"in_one_zone"`
	// Soft are the preferred rules that ask for spreading.
	Soft []Rule `json:"soft"`
}

// Rule is a placement rule of a workload: Use is anti-affinity, affinity, spread,
// host-port, requests, slots, selector or taints. Key is its topology key or port, or "".
type Rule struct {
	W int `json:"w"`
	// Use is anti-affinity, affinity, spread, host-port, requests, slots, selector or taints.
	Use string `json:"use" enum:"anti-affinity affinity spread host-port requests slots selector taints"`
	// Hard tells whether the rule filters nodes.
	Hard bool `json:"hard"`
	// Key is the topology key or port of the rule, or "".
	Key string `json:"key"`
}

// Exclusion is one reason why nodes take no pod of a workload.
type Exclusion struct {
	// Reason is cordoned, tainted, lacks-label, other-value (of a label), fails-expression (of
	// node affinity), matches-no-term or empty-term (of nodeSelectorTerms), too-small or
	// undeclared (nodeName).
	Reason string `json:"reason" enum:"cordoned tainted lacks-label other-value fails-expression matches-no-term empty-term too-small undeclared"`
	// Key is the key of the taint, the label or the expression, or "".
	Key string `json:"key"`
	// Value is the value of the taint, the value that a label should have, or the undeclared
	// nodeName; or "".
	Value string `json:"value"`
	// Has is the value that the label has instead, or "".
	Has string `json:"has"`
	// Effect is the effect of the taint, or "".
	Effect string `json:"effect"`
	// Operator is the operator of the expression, or "".
	Operator string `json:"operator"`
	// Values are the values of the expression.
	Values []string `json:"values"`
	// Resource is the resource that is too small, or "".
	Resource string `json:"resource"`
	// Nodes is the number of nodes that are excluded.
	Nodes int `json:"nodes"`
	// Names are a few of these nodes.
	Names []string `json:"names"`
}

// GrownPool is a node pool that was counted with Max nodes, which it can grow to.
type GrownPool struct {
	// Pool is the name of the pool.
	Pool string `json:"pool"`
	// Max is the number of nodes that it was counted with.
	Max int `json:"max"`
}

// Eligibility counts the nodes that pass every node-level filter but resources.
type Eligibility struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "some node takes the pods".
	Outcome diag.Outcome `json:"outcome"`
	// Pods is 0 for a DaemonSet, which has one pod for each eligible node.
	Pods int `json:"pods"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Eligible is the number of nodes that pass.
	Eligible int `json:"eligible"`
	// Bound is empty if the scheduler chooses the node; undeclared if nodeName names
	// one that is not declared, and declared if it names one that is.
	Bound string `json:"bound" enum:"undeclared declared "`
	// Excluded are the reasons why nodes do not count, most nodes first.
	Excluded []Exclusion `json:"excluded"`
	// MoreExcluded is the number of reasons that are not listed.
	MoreExcluded int `json:"more_excluded"`
}

// Request is one pod's request of one resource against single empty nodes:
// Eligible nodes pass every other filter, and Fitting of them are large enough.
type Request struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "one pod fits an empty node".
	Outcome diag.Outcome `json:"outcome"`
	// Resource is "" if the row is about several resources, which Together has.
	Resource string `json:"resource"`
	// Request is the quantity that one pod requests, as Kubernetes writes it.
	Request string `json:"request"`
	// Largest is the largest quantity that an eligible node offers.
	Largest string `json:"largest"`
	// LargestNode is the node that offers it; "" if none offers any.
	LargestNode string `json:"largest_node"`
	// Eligible is the number of nodes that pass every other filter.
	Eligible int `json:"eligible"`
	// Fitting is how many of these are large enough.
	Fitting int `json:"fitting"`
	// PerNode is set for a DaemonSet: every node that is too small leaves one
	// pod Pending.
	PerNode bool `json:"per_node"`
	// Unlisted tells that no node lists the resource, an extended one: the outcome is then
	// unknown.
	Unlisted bool `json:"unlisted"`
	// Suggestion is the listed resource that was probably meant where the verdict
	// is unknown, as no node lists the one requested; or "".
	Suggestion string `json:"suggestion"`
	// Together are requests of which each fits some node, but not all of them the same
	// one; empty if one request is too large by itself.
	Together []ResourceRequest `json:"together"`
}

// ResourceRequest is one pod's request of a resource: a quantity as Kubernetes writes it.
type ResourceRequest struct {
	// Resource is the name of the resource.
	Resource string `json:"resource"`
	// Request is the quantity that one pod requests.
	Request string `json:"request"`
}

// AntiAffinity is a hard rule that keeps pods of one workload apart.
type AntiAffinity struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "all pods fit".
	Outcome diag.Outcome `json:"outcome"`
	// Pods is the number of pods.
	Pods int `json:"pods"`
	// Keys are the topology keys: several where terms act together.
	Keys []string `json:"keys"`
	// Domains is the number of distinct values of the keys among eligible nodes.
	Domains int `json:"domains"`
	// Most is the number of pods that fit.
	Most int `json:"most"`
	// Pending is the number of pods that do not.
	Pending int `json:"pending"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Eligible is the number of nodes that pass the node-level rules of the pods.
	Eligible int `json:"eligible"`
	// Excluded are the reasons why nodes do not count, most nodes first.
	Excluded []Exclusion `json:"excluded"`
	// MoreExcluded is the number of reasons that are not listed.
	MoreExcluded int `json:"more_excluded"`
	// Growth are the pools that were counted at their max, if any was.
	Growth []GrownPool `json:"growth"`
	// Together are other required rules of the workload that the limit follows from as
	// well: all anti-affinity or all affinity, one for each topology key.
	Together []Rule `json:"together"`
}

// Spread is a hard topology spread constraint. Cause says what binds:
// missing-key (no eligible node has all keys), min-domains or skew.
type Spread struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "all pods fit".
	Outcome diag.Outcome `json:"outcome"`
	// Cause is what binds: missing-key, min-domains or skew.
	Cause string `json:"cause" enum:"missing-key min-domains skew "`
	// Pods is the number of pods.
	Pods int `json:"pods"`
	// Key is the topologyKey of the constraint.
	Key string `json:"key"`
	// Keys are the topology keys of all hard constraints of the pods, a few of them. A node
	// needs all.
	Keys []string `json:"keys"`
	// KeyCount is the number of these keys.
	KeyCount int `json:"key_count"`
	// MaxSkew is that of the constraint.
	MaxSkew int `json:"max_skew"`
	// MinDomains is minDomains of the constraint; 1 if it is not set.
	MinDomains int `json:"min_domains"`
	// Domains is the number of eligible domains.
	Domains int `json:"domains"`
	// Smallest is how many pods the smallest domain can hold.
	Smallest int `json:"smallest"`
	// SmallestDomain is the name of that domain.
	SmallestDomain string `json:"smallest_domain"`
	// Most is the number of pods that fit.
	Most int `json:"most"`
	// Pending is the number of pods that do not.
	Pending int `json:"pending"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Eligible is the number of nodes that pass the node-level rules of the pods.
	Eligible int `json:"eligible"`
	// Excluded are the reasons why nodes do not count, most nodes first.
	Excluded []Exclusion `json:"excluded"`
	// MoreExcluded is the number of reasons that are not listed.
	MoreExcluded int `json:"more_excluded"`
	// Growth are the pools that were counted at their largest size.
	Growth []GrownPool `json:"growth"`
	// Suggestion is the key that was probably meant, or "".
	Suggestion string `json:"suggestion"`
}

// HostPort is a host port, of which every node has one.
type HostPort struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Outcome is of "all pods fit".
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
	// Excluded are the reasons why nodes do not count, most nodes first.
	Excluded []Exclusion `json:"excluded"`
	// MoreExcluded is the number of reasons that are not listed.
	MoreExcluded int `json:"more_excluded"`
	// Growth are the pools that were counted at their largest size.
	Growth []GrownPool `json:"growth"`
}

// Room is how many pods the nodes' resources hold: of one workload, or of all
// that may use no other nodes.
type Room struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Others is the number of workloads beside that one.
	Others int `json:"others"`
	// Outcome is of "all pods fit".
	Outcome diag.Outcome `json:"outcome"`
	// Cause says what is compared: pods (equal pods with what fits), size (pods that
	// request Request or more with what fits of that size) or total (Requested by all
	// pods with Offered by all nodes).
	Cause string `json:"cause" enum:"pods size total"`
	// Pods is the number of pods of these workloads.
	Pods int `json:"pods"`
	// Most is how many of these pods fit; for the cause size, how many that request Request.
	Most int `json:"most"`
	// Pending is how many of these pods do not fit at least.
	Pending int `json:"pending"`
	// Resource is the one that binds; pods stands for the slots of a node.
	Resource string `json:"resource"`
	// Request is what one pod requests of the resource; "" for a slot and for the cause total.
	Request string `json:"request"`
	// Requested is what all pods request; "" unless the cause is total.
	Requested string `json:"requested"`
	// Offered is what all nodes offer; "" unless the cause is total.
	Offered string `json:"offered"`
	// Nodes is the number of declared nodes.
	Nodes int `json:"nodes"`
	// Eligible is the number of nodes that pass the node-level rules of the pods.
	Eligible int `json:"eligible"`
	// Growth are the pools that were counted at their max, if any was.
	Growth []GrownPool `json:"growth"`
}

// Circle is a workload whose required affinity waits for one that waits for it.
type Circle struct {
	ID int `json:"id"`
	W  int `json:"w"`
	// Members are the workloads of the circle in order, with the first one again at the end,
	// each as a w.
	Members []int `json:"members"`
	// Member is false for a workload outside of the circle that waits for it.
	Member bool `json:"member"`
}
