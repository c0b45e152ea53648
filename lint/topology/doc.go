// Package topology reads the declared nodes of a cluster.
//
// Contract: Load takes objects and returns one Topology. It reads v1 Nodes, alone or in a List as
// kubectl prints them, and the pools of NodeTopology documents. Each kind of document is one row of
// the table in load.go. A mistake in a topology is an error and never a finding: manifests are
// judged against the topology, so it must be correct.
//
// Invariants: node names are unique and sorted. Topology.Nodes contains the declared number of
// nodes for each pool. Topology.Growth contains the nodes that a pool may add up to its max, with
// one entry per zone. Allocatable is the node's allocatable field, or capacity if allocatable is
// not set. A node with a nil Allocatable is not judged on resources. A Node's resource list is
// whole if the API server has set metadata.uid, or if it has cpu, memory, ephemeral-storage and
// pods, which every kubelet reports. A native resource missing from a whole list is treated as 0. A
// pool's list is never whole. If no node or pool lists an extended resource, it is unknown whether
// the nodes have it, unless Extended.Complete is set. A pool with count 0 also lists its resources.
// Pool nodes get only the labels that a kubelet or the node lifecycle controller sets (hostname, os
// and arch, with the deprecated forms of the last two) and the zone that the pool names.
//
// Non-goals: pods; the formats of cloud providers.
package topology
