// Package topology reads the declared nodes of a cluster.
//
// Contract: Load takes objects and returns one Topology. It reads v1 Nodes, either alone or in a
// List as printed by kubectl, the pools of NodeTopology documents, and the configurations from which
// tools make clusters. The table in load.go lists the kinds of documents. A mistake in a topology is
// an error and never a finding, because manifests cannot be checked against a wrong topology.
//
// Invariants: node names are unique and sorted. Topology.Nodes contains the declared number of
// nodes for each pool. Topology.Growth describes the nodes that each pool may add until it reaches
// its max. It has one entry per zone. Allocatable comes from the node's allocatable field or, if
// that is not set, from capacity. If Allocatable is nil, the resources of the node are unknown and
// are not checked. A Node's resource list is whole if the Node has metadata.uid, which only the API
// server sets. It is also whole if it includes cpu, memory, ephemeral-storage and pods, which every
// kubelet reports. A native resource that is missing from a whole list is treated as 0. The list of
// a pool is whole in the same cases if the pool is live or complete, and otherwise never. If no node
// or pool lists an extended resource, it is unknown whether the nodes have it, unless
// Extended.Complete is set. The lists of pools with count 0 count as well.
//
// Pool nodes get the hostname label that a kubelet sets, and the zone label for the zone that the
// pool declares. If the pool is neither live nor complete, they also get the labels that a kubelet or
// the node lifecycle controller sets (os, arch, and the deprecated forms of both). A label that nodes
// may have with a value that is not declared is Uncertain, and no answer depends on it.
//
// Non-goals: pods, and what a cloud provider adds to a cluster later.
package topology
