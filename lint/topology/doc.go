// Package topology reads the nodes that a cluster is declared to have.
//
// Contract: Load takes objects and gives one Topology: v1 Nodes (alone, in
// Lists, as kubectl prints them) and NodeTopology documents with pools. One
// kind of document is one row of the table in load.go. What is wrong with a
// topology is an error and never a finding: the manifests are judged against
// it, so it has to be right.
//
// Invariants: node names are unique and sorted. A pool counts at its count; the
// nodes that it may still gain up to its max stand apart in Growth, one entry
// for each of its zones. Allocatable is what a node offers, from allocatable
// or else capacity; nil means that the node is not judged on resources. A list
// is whole if an API server has set metadata.uid, or if it has cpu, memory,
// ephemeral-storage and pods, which every kubelet reports; a native resource
// missing from it is then 0. A pool's list is never whole. An extended resource
// that no node and no pool lists, one with count 0 included, is not known to be
// missing unless Extended.Complete is set. Nothing is invented but the labels that a kubelet sets: hostname, os and arch for
// pools, and the zone that a pool names.
//
// Non-goals: pods; cloud providers' own formats.
package topology
