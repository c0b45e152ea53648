// Package contexts divides the objects of one cluster into groups that are deployed together, based
// on the paths of the files.
//
// A tree of manifests often holds several environments. If two siblings (directories or files with
// the same parent) declare an object differently, they are alternatives: only one of them is
// deployed at a time. Siblings that are connected by such pairs, directly or transitively, form a
// set of alternatives. Each of them is a branch of the set. Sets may nest. For example,
// overlays/prod is a branch of a set in overlays, and overlays may be an alternative to base.
//
// Outputs of the same chart are also alternatives, whatever they declare. Each output is a render
// of the chart with different values, such as one of the chart's golden files. The caller specifies
// which chart outputs a file belongs to.
//
// Two rules determine which objects are deployed together. Alternatives are never deployed
// together, so objects in different alternatives never affect each other. Within a context, the
// objects of one directory are deployed together. If the directory is named on the command line,
// the objects in its subdirectories are deployed with them. Whether several directories share a
// cluster is unknown. Package lint therefore treats each of these directories as a unit. It first
// judges each unit separately, along with objects that may also be deployed, and then all units
// together. Findings that appear only in the second step depend on several units. Their messages
// mention this.
//
// Contract: Split returns one context for each branch that contains no other set, so there are
// never more contexts than branches. A context holds the objects in the branch, in the branches
// around it and outside all alternatives. From every other set, it holds the objects that all
// branches of the set declare equally. An object that is declared only outside the context is
// unknown, not absent, and Elsewhere lists it. Without alternatives, there is a single context with
// all objects.
//
// If a file declares an object twice, the last declaration counts, so a file never conflicts with
// itself.
//
// Invariants: the order of the files affects nothing except which of several equal objects is
// chosen. The running time is linear in the number of paths and, for each context, in the number of
// objects.
//
// Non-goals: reading files, knowing what an object does, and handling kustomizations and pointers,
// which specify more precisely what is deployed.
package contexts
