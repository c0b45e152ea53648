// Package contexts divides the objects of one cluster into groups that are deployed together, as
// far as the paths of their files show.
//
// A tree of manifests often holds several environments. Paths form a tree; two siblings,
// directories or files, that declare one object differently are alternatives: only one of them is
// deployed at a time. A set of alternatives consists of the siblings of one directory that such
// pairs connect, and each sibling is a branch of it. Sets may nest: overlays/prod is a branch of a
// set in overlays, which may itself be a branch of a set with base.
//
// Outputs of one chart are alternatives too, whatever they declare: each is a render of the chart
// with different values, like the golden files of a chart. The caller says which chart outputs a
// file belongs to.
//
// Two steps decide what is deployed together. Alternatives are never deployed together: nothing in
// one of them meets anything in another. Within a context, the objects of one directory are
// deployed together, or those of a directory on the command line and everything below it; whether
// several directories share a cluster is unknown. Package lint judges each of these units by
// itself, next to what may be there, and all of them together. Findings of only the latter depend
// on several units, and say so.
//
// Contract: Split returns one context for each branch that holds no further set, so there are never
// more contexts than branches. A context holds the branch and those around it, everything outside
// of all alternatives, and from every other set what all its branches declare equally. What is
// declared only elsewhere is not absent but unknown; Elsewhere lists it. Without alternatives there
// is one context with everything.
//
// Within one file the last declaration of an object counts, so a file never conflicts with itself.
//
// Invariants: answers do not depend on the order of the objects' files, except for the choice
// between equal objects. Cost is linear in the paths and, for each context, in the number of
// objects.
//
// Non-goals: reading files; knowing what an object does; kustomizations and pointers, which say
// more precisely what is deployed.
package contexts
