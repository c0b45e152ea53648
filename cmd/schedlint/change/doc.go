// Package change judges a work tree and the effects of a change on it.
//
// Contract: Judge runs the rules on a tree. Judged.Since reduces a report to the findings that are
// new compared with a revision, and lists the parts of the change that silence findings. If the
// nodes differ, it also judges the tree with those of the revision. Request.From takes the
// configuration, node files, baseline, rules and suppressions from a revision, so that a change
// cannot silence its own findings. Renders that the work tree adds count, too. A new one may take
// over a file or a root of others, so the work tree is then judged once more with the roots of the
// revision, and without what objects that the change adds do to objects elsewhere (taken.go).
// Findings that are gone only by that are silenced, or count as before. It is the identity of the
// list that matters and not that of an object: a change can declare a healthy copy of any object.
//
// Invariants: a revision is judged with the same flags and repository addresses as the work tree.
// It is also judged with the same files, as far as they exist in the revision. Files outside the
// repository do not belong to a revision and are the same for all of them. A problem with git or
// with a revision is an error. If files in the old revision have a problem, every finding counts as
// new, because the change may be the one that fixes the problem.
//
// Non-goals: reading git (package revision), comparing reports (package lint).
package change
