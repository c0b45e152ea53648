// Package change judges a work tree, and what a change of it brings.
//
// Contract: Judge runs rules on a tree. Judged.Since leaves in a report only what is new since a
// revision, and adds what the change says to silence findings. Request.From takes configuration,
// baseline, rules and suppressions from a revision, so that a change cannot silence its own
// findings; what the work tree says beyond that only adds renders.
//
// Invariants: a revision is judged by the same files, flags and addresses as the work tree, as far as
// it has them. What lies outside of the repository belongs to no revision and counts for all. What is
// wrong with git or with a revision is an error; what is wrong with the files of the old revision
// makes everything new, as a change may fix them.
//
// Non-goals: reading git (package revision), comparing reports (package lint).
package change
