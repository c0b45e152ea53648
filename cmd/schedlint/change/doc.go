// Package change judges a work tree and what a change to it introduces.
//
// Contract: Judge runs rules on a tree. Judged.Since reduces a report to what is new since a
// revision, and adds everything in the change that silences findings. Request.From takes
// configuration, baseline, rules and suppressions from a revision, so that a change cannot silence
// its own findings; of what the work tree adds to them, only additional renders count.
//
// Invariants: a revision is judged by the same files, flags and repository addresses as the work
// tree, as far as it has them. Files outside the repository belong to no revision and count for all
// of them. A problem with git or with a revision is an error. A problem with the files of the old
// revision makes every finding new, because a change may fix them.
//
// Non-goals: reading git (package revision), comparing reports (package lint).
package change
