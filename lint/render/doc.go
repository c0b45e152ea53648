// Package render defines a render: one root, such as a Helm chart or a kustomization that no other
// refers to, built like its tool builds it, with the place in the sources of everything in the
// result.
//
// Contract: a Root goes to a worker, which is a process of this program that may be killed, and
// comes back as an Output. Equal sources give equal Outputs.
//
// Invariants: nothing outside the root of confinement is read, and nothing is connected to or
// executed. A place is never a guess: a Mark counts only if the value in the sources is the value
// in the result. The cost of a root is counted in objects, bytes and entries, and limited; the CPU
// time and the memory of a worker are limited for each root as well. The wall clock only matters
// for a worker that waits. No root pays for others: the limit of all roots together is far above
// any real input, and a run that reaches it is incomplete.
//
// Non-goals: deciding which roots there are; reading GitOps pointers.
package render
