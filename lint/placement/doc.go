// Package placement says what the scheduler can do with workloads on nodes.
//
// Contract: NewModel takes the workloads and the topology of one cluster.
// Selection questions (which pods a term selects) are answered without nodes;
// Eligible applies the node-level filters; Capacity bounds how many pods of one
// workload can be placed, by the closed forms R-M1 to R-M5 of the semantics
// reference; Decide decides about all workloads together, over every order and
// every choice, and Explain gives the core of what never fits. State applies the
// filters one pod and one node at a time and nothing cleverer.
//
// How Decide goes: the arena makes numbers of the model, components are units
// that have to do with one another, and each is settled by the cheapest means
// that does: closed forms (closed.go), a search over states that are alike but
// for the names of like nodes (search.go), proofs and runs for what is too large
// to search (large.go), else bounds. The budget counts filters, not time. Every
// run that an answer rests on is replayed by a checker that shares nothing with
// all this but the parsed model (verify.go); one that does not hold is a panic.
//
// Invariants: every filter cites the upstream file that it mirrors or the rule
// id. A bound is never too low, so "infeasible" is never said of something that
// can work: pools count at their max in any of their zones, what a node does
// not declare is not held against a pod, and what the input leaves open makes
// the answer unknown. Answers do not depend on the order of the input.
//
// Open: a verdict of never or always is certified by its runs and by tests
// against enumeration and the real scheduler's filters, not yet by a
// certificate of its own; the rules of lint still take their facts from
// Capacity. Nothing here formats findings.
package placement
