// Package classes says which nodes are alike to workloads, so that a question is answered
// once for all nodes of a class, however many there are and however their sizes differ.
//
// Contract: Of puts the declared nodes of a model in classes. A node differs from another
// only by what the workloads in question look at: the outcome of node-level filters, the
// domains of the keys that their hard rules name, and what their pods can use of its
// resources (Demand). A domain of one node is not told from another such domain. Pods
// that are in place or bound tell a node by its name, through the filters.
//
// Classes are made of units: nodes that all rules asked about so far see alike and that
// have the same sizes in grains. There are few of them, and they are found once, so a
// question costs as much as there are units, not nodes.
//
// Invariants: exchanging two nodes of a class changes no answer about these workloads,
// with no more pods of them on a node than the question says.
package classes
