// Package contexts divides the objects of one cluster into groups that are deployed together, as
// far as the paths of their files show.
//
// A tree of manifests often holds several environments. If two siblings (directories or files with
// the same parent) declare an object differently, they are alternatives: only one of them is
// deployed at a time. All siblings that such pairs connect, directly or transitively, form a set
// of alternatives, and each sibling is a branch of the set. Sets may nest: overlays/prod is a
// branch of a set in overlays, which may itself be a branch of a set with base.
//
// Outputs of one chart are alternatives too, no matter what they declare. Each output is a render
// of the chart with different values, like the golden files of a chart. The caller specifies which
// chart outputs a file belongs to.
//
// Two rules determine which objects are deployed together. Alternatives are never deployed
// together, so an object in one of them never meets an object in another. Within a context, the
// objects of one directory are deployed together, or the objects of a directory on the command
// line and everything below it. Whether several directories share a cluster is unknown. Package
// lint therefore judges each of these units on its own, next to objects that may also be deployed,
// and then all units together. Findings that appear only for all units together depend on several
// units, and their messages say so.
//
// Contract: Split returns one context for each branch that contains no other set, so there are
// never more contexts than branches. A context holds the objects of the branch, of the branches
// around it and outside all alternatives. From every other set it holds the objects that
// all branches of the set declare equally. An object that is declared only elsewhere is unknown,
// not absent, and Elsewhere lists it. Without alternatives there is one context with all objects.
//
// If a file declares an object twice, the last declaration counts, so a file never conflicts with
// itself.
//
// Invariants: answers do not depend on the order of the objects' files, except for the choice
// between equal objects. The cost is linear in the number of paths and, for each context, in the
// number of objects.
//
// Non-goals: reading files; knowing the effect of an object; handling kustomizations and pointers,
// which specify more precisely what is deployed.
package contexts
