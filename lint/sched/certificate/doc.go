// Package certificate is the vocabulary that search and check share: what is decided
// (Decision, Lost, Rolled), the runs that show it, and the proofs of never and always.
// It is plain data; nothing here reasons.
//
// A verdict of never or always comes with a Proof, in terms of workloads, nodes and
// labels that can be looked up in the model. An sometimes verdict comes with two
// runs: one that places all pods and one that gets stuck. THEORY.md has a lemma for each
// kind of proof.
//
// Checker is who confirms certificates. A model carries the one that package sched sets,
// so that search can ask it without knowing it.
package certificate
