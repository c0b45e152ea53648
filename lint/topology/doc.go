// Package topology reads the declared nodes of a cluster.
//
// Contract: Load takes objects and returns one Topology: v1 Nodes (alone, in Lists, as kubectl
// prints them) and NodeTopology documents with pools. One kind of document is one row of the table
// in load.go. A defect of a topology is an error and never a finding: the manifests are judged
// against it, so it has to be right.
//
// Invariants: node names are unique and sorted. A pool has its declared count of nodes; the nodes
// that it may still add up to its max are kept apart in Growth, with one entry for each of its
// zones. Allocatable is the capacity that a node offers, from allocatable or else capacity; nil
// means that the node is not judged on resources. A list is whole if an API server has set
// metadata.uid, or if it has cpu, memory, ephemeral-storage and pods, which every kubelet reports;
// a native resource missing from it is then 0. A pool's list is never whole. If no node and no pool
// lists an extended resource, it is unknown whether the nodes have it, unless Extended.Complete is
// set; pools with count 0 also count as listing. The only labels that are added are those that a
// kubelet sets: hostname, os and arch for pools, and the zone that a pool names.
//
// Non-goals: pods; the formats of cloud providers.
package topology
