// Package classes groups nodes that are equivalent for some workloads. A question then needs one
// answer per class, however many nodes there are and however their sizes differ.
//
// Contract: Of divides the declared nodes of a model into classes. It distinguishes nodes only by
// properties that matter to the rules and requests of the given workloads: the results of the
// node-level filters, the domains of the keys of hard rules, and the amount of each resource that
// the pods can use (Demand). Domains that consist of a single node are not distinguished. Running
// and bound pods distinguish their node by its name, through the filters.
//
// Classes are composed of units: nodes that no rule of an earlier question distinguishes and that
// have the same sizes in grains. There are few units, and they are computed once, so the cost of a
// question grows with the number of units, not of nodes.
//
// Invariants: exchanging two nodes of a class changes no answer about these workloads, as long as
// no node has more of their pods than the number given to Of.
package classes
