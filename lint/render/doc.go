// Package render describes renders and runs them in worker processes. A render builds one root,
// such as a Helm chart or a top-level kustomization, as its own tool would. It also records where
// everything in the result comes from.
//
// Contract: a Root is sent to a worker, which returns an Output. A worker runs this program in a
// separate process, which may be killed. Equal sources give equal Outputs.
//
// Invariants: nothing outside the confinement directory is read, nothing is executed, and there are
// no network connections. A position is never a guess: a Mark counts only if the value in the
// sources equals the value in the result. Each root has limits on its objects, bytes and entries,
// and on the CPU time and memory of its worker. The wall clock matters only if a worker hangs. One
// root cannot use up the limits of another. There is also a limit on all roots together. It is far
// above any real input, and a run that reaches it is incomplete.
//
// Non-goals: deciding which roots there are; reading GitOps pointers.
package render
