// Package model is what schedlint has read about one cluster, made ready for questions:
// workloads with their parsed terms, selectors, requests and host ports, nodes, and
// pools that may grow.
//
// Contract: NewModel takes the workloads and the topology of one cluster. What is
// answered here is read off single documents or pairs of them: which pods a term
// selects, and whether that is certain (Selected, Others, Peer, Self); which nodes pass
// the node-level filters (Eligible) and why the others do not (Excluded); which
// workloads take part in a decision at all (Modelled, Unknown, Permanent). Nothing here
// combines the rules of several workloads: packages bound, search and check do, each by
// itself.
//
// Models are made of others: Variant and Beside have other workloads or nodes, Split
// tells apart the pods that selectors can tell from their siblings, Permanent leaves out
// pods that end by themselves. All of them share a Run, which counts steps: see
// package meter. run.go says how many a question may take, shared_budget.go how
// questions about each workload share what others leave. What is given up is unknown,
// and Run.GivenUp names it. A fault of the program in a question costs that question
// (fault.go).
//
// What other packages keep about a model or a run is kept with it, by a type of their
// own: Keep, KeepForNodes, KeepInRun. A model belongs to one run and is not safe for
// concurrent use.
//
// Invariants: every filter cites the upstream file that it mirrors or an id of
// SEMANTICS.md. What a node does not declare is not held against a pod, and what the
// input leaves open makes the answer unknown. Answers do not depend on the order of the
// input.
//
// Resources: a node whose list of allocatable resources is complete (package topology
// says when) has none of a native resource that the list lacks; otherwise the node is
// not judged on it. It has none of an extended resource that another node or pool
// lists. If none lists it, pods that request it are decided about as if it were
// unlimited, and then only never stands (Unlisted).
package model
