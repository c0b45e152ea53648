// Package sizing asks the engine which sizes of pools are enough for workloads.
//
// Contract: Of takes the nodes and the workloads of one context and returns the cheapest sizes of the
// pools for which everything that is asked holds: all pods fit, rollouts complete, drains end, and
// the loss of a domain leaves no pod Pending. Each size is decided by the engine and its checker on
// a topology with exactly these nodes, as place decides. Package size searches; this package says
// what a failure covers and how many nodes are needed at least.
//
// Parts: workloads that use different pools and do not select each other are decided apart, each with
// its pools, so that the sizes of few pools are searched at once. DaemonSets belong to each part with
// a pool that they use, because each of their pods affects one node. The sizes of all parts together
// are decided once more at the end. If some pods are not modeled or are in place already, there is
// one part.
//
// Zones: nodes of a pool are spread evenly over its zones, and what is asked must hold whichever zones
// have the remainder. Only the declared number of nodes has the declared zones. If no rule of a part
// reads what differs between zones, one layout is decided for all.
//
// Lost domains are gone: their nodes are deleted. A StatefulSet on an unreachable node waits whatever
// the number of nodes is.
//
// Invariants: a size holds only if the answer to every question is always or none. An unknown answer
// leaves the size undecided. Steps are counted over all sizes of a context.
package sizing
