// Package classes groups nodes that are equivalent for a given set of workloads. A question then
// needs only one answer per class, no matter how many nodes there are or how much their sizes
// differ.
//
// Contract: Of divides a model's declared nodes into classes. It distinguishes nodes only by
// properties that matter to the rules and requests of the given workloads: the node-level filter
// results, the domains of the keys in hard rules, and how much of each resource the pods can use
// (Demand). It ignores domains that consist of a single node. Running and bound pods distinguish
// their node by name, through the filters.
//
// Classes are composed of units. The nodes of a unit have equal sizes after rounding down (see
// Demand), and the rules of earlier questions do not distinguish these nodes. There are few units,
// and they are computed only once, so the cost of a question depends on the number of units rather
// than on the number of nodes.
//
// Invariants: swapping two nodes in a class changes no answer about the workloads, as long as no
// node holds more of their pods than the limit passed to Of.
package classes
