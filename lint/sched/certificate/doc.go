// Package certificate defines the types that packages search and check share: results (Decision,
// Lost, Rolled), the runs that demonstrate them, and the proofs of never and always verdicts. It
// contains plain data and no reasoning.
//
// A never or always verdict comes with a Proof, in terms of workloads, nodes and labels that can be
// looked up in the model. A sometimes verdict comes with two runs: one that places all pods and one
// that gets stuck. THEORY.md has a lemma for each kind of proof.
//
// Checker confirms certificates. Package sched attaches the implementation to a model, so that
// package search can use it without importing it.
package certificate
