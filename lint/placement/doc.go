// Package placement says what the scheduler can do with workloads on nodes.
//
// Contract: NewModel takes the workloads and the topology of one cluster.
// Selection questions (which pods a term selects) are answered without nodes;
// Eligible applies the node-level filters; Capacity bounds how many pods of one
// workload can be placed, by the closed forms R-M1 to R-M5 of the semantics
// reference.
//
// Invariants: every filter cites the upstream file that it mirrors or the rule
// id. A bound is never too low, so "infeasible" is never said of something that
// can work: pools count at their max in any of their zones, what a node does
// not declare is not held against a pod, and what the input leaves open makes
// the answer unknown. Answers do not depend on the order of the input.
//
// The joint decision over several workloads slots in beside Capacity: it reads
// the same Model, terms and eligible sets. Nothing here formats findings.
package placement
