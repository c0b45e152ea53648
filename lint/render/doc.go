// Package render says what a render is: one root, such as a kustomization that no other
// refers to or a Helm chart, built as its tool builds it, with the place in the sources of everything
// that is in the result.
//
// Contract: a Root goes to a worker, a process of our own that may be killed, and comes
// back as an Output. The Output of equal sources is equal.
//
// Invariants: nothing outside of the root of confinement is read, and nothing is
// connected to or executed. A place is never a guess: a Mark counts only where the value
// in the sources is the value in the result. What a root costs is counted in objects,
// bytes and entries, and bounded; a worker's CPU time and memory are bounded as well, for each
// root by itself. The wall clock decides nothing but for a worker that waits. A root does
// not pay for others: what all may take together is far more than what is meant to be
// rendered takes, and a run that meets it is incomplete.
//
// Non-goals: deciding which roots there are; reading GitOps pointers.
package render
