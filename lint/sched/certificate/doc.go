// Package certificate defines the types that search and check share: results
// (Decision, Lost, Rolled), the runs that demonstrate them, and the proofs of never and always.
// It contains plain data and no reasoning.
//
// A verdict of never or always comes with a Proof, in terms of workloads, nodes and
// labels that can be looked up in the model. A verdict of sometimes comes with two
// runs: one that places all pods and one that gets stuck. THEORY.md has a lemma for each
// kind of proof.
//
// Checker confirms certificates. A model carries the implementation that package sched sets,
// so that search can use it without importing it.
package certificate
