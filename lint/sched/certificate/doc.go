// Package certificate defines the types that packages search and check share: results (Decision,
// Lost, Rolled), the runs that demonstrate them, and the proofs of never and always verdicts. It
// contains only data and no reasoning.
//
// A never or always verdict comes with a Proof, which refers to workloads, nodes and labels in the
// model. A sometimes verdict comes with two runs: one that places all pods and one that gets stuck.
// THEORY.md has a lemma for each kind of proof.
//
// A Checker confirms certificates. Package sched attaches its implementation to a model, so that
// package search can use the Checker without importing it.
package certificate
