// Package contexts divides the objects of one cluster into those that are
// deployed together, as far as the paths of their files tell.
//
// A tree of manifests often holds several environments. Paths form a tree; two
// siblings, directories or files, that declare one object differently are
// alternatives: only one of them is deployed at a time. A set of alternatives is
// the siblings of one directory that such pairs connect, and each sibling is a
// branch of it. Sets may nest: overlays/prod is a branch of a set in overlays,
// which may itself be a branch of a set with base.
//
// Outputs of one chart are alternatives too, whatever they declare: somebody rendered the
// chart with other values for each, as golden files of a chart are. The caller says of
// which charts a file is an output.
//
// What is deployed together is settled in two steps. Alternatives are never deployed
// together: nothing in one of them meets anything in another. Of what is left in a context,
// the objects of one directory are deployed together, or of one that the command line names
// with all below it; whether several directories share a cluster is unknown. Package lint
// judges each of these units by itself, beside what may be there, and all of them together:
// what only the latter finds depends on several units, and is said in that case only.
//
// Contract: Split gives one context for each branch that holds no further set, so
// there are never more contexts than branches. A context holds the branch and
// those around it, everything outside of all alternatives, and from every other
// set what all its branches declare equally. What is declared only elsewhere is
// not absent but unknown; Elsewhere lists it. Without alternatives there is one
// context with everything.
//
// Within one file the last declaration of an object counts, so one file is never
// in conflict with itself.
//
// Invariants: answers do not depend on the order of the objects' files, except
// for which of several equal objects stands for all. Cost is linear in the paths
// and, for each context, in the number of objects.
//
// Non-goals: reading files; knowing what an object does; kustomizations and pointers, which
// say more precisely what is deployed.
package contexts
