// Package model prepares the input of one cluster for questions: workloads with their
// parsed terms, selectors, requests and host ports, nodes, and pools that may
// grow.
//
// Contract: NewModel takes the workloads and the topology of one cluster. The model
// answers what follows from a single document or a pair of documents: which pods a term
// selects, and whether that is certain (Selected, Others, Peer, Self); which nodes pass
// the node-level filters (Eligible) and why the others do not (Excluded); and which
// workloads take part in decisions (Modelled, Unknown, Permanent). It does not
// combine the rules of several workloads: packages bound, search and check do so
// independently.
//
// Models are derived from others: Variant and Beside have other workloads or nodes, Split
// separates pods that selectors can distinguish from their siblings, and Permanent leaves
// out pods that finish. All of them share a Run, which counts steps: see
// package meter. run.go defines how many steps a question may take, and SharedBudget
// how questions about single workloads share the steps that others leave unused. A question
// that is given up is unknown, and Run.GivenUp lists it. A panic in a question costs only
// that question (Run.Guard).
//
// Other packages cache data with a model or a run under a type of their own: Keep,
// KeepForNodes, KeepInRun. A model belongs to one run and is not safe for
// concurrent use.
//
// Invariants: every filter cites the upstream file that it mirrors or an id of
// SEMANTICS.md. What a node leaves undeclared never counts against a pod, and what the
// input leaves open makes the answer unknown. Answers do not depend on the order of the
// input.
//
// Resources: if a node's list of allocatable resources is complete (package topology
// says when), the node has none of a native resource that is not listed; otherwise it is
// not judged on that resource. It has none of an extended resource that it does not list but
// another node or pool does. If none lists it, pods that request it are decided as if it
// were unlimited, and only the verdict never counts (Unlisted).
package model
