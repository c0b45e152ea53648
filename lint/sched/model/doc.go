// Package model prepares the input of one cluster for questions: workloads with their
// parsed terms, selectors, requests and host ports, nodes, and pools that may
// grow.
//
// Contract: NewModel takes the workloads and the topology of one cluster. The model
// answers what follows from a single document or a pair of documents: which pods a term
// selects, and whether that is certain (Selected, Others, Peer, Self); which nodes pass
// the node-level filters (Eligible) and why the others do not (Excluded); and which
// workloads take part in decisions (Modelled, Unknown, Permanent). It does not
// combine the rules of several workloads. Packages bound, search and check do that
// independently of each other.
//
// Other models are derived from a model. Variant and Beside have other workloads or nodes, Split
// separates pods that selectors can distinguish from their siblings, and Permanent leaves
// out pods that finish. All of them share a Run, which counts steps (see
// package meter). run.go defines how many steps a question may take. With a SharedBudget,
// questions about single workloads can use the steps that others leave unused. A question
// that is given up is unknown, and Run.GivenUp lists it. A panic affects only the question
// in which it occurs (Run.Guard).
//
// Other packages can cache data with a model or a run (Keep, KeepForNodes, KeepInRun). The
// key is the type of the data. A model belongs to one run and is not safe for
// concurrent use.
//
// Invariants: every filter cites the upstream file that it mirrors or an id of
// SEMANTICS.md. Anything that a node does not declare never counts against a pod, and an answer
// that depends on something the input does not specify is unknown. Answers do not depend on the
// order of the input.
//
// Resources: if a node's list of allocatable resources is complete (package topology
// decides this), the node has none of a native resource that is not listed. Otherwise it is
// not judged on that resource. It has none of an extended resource that it does not list but
// another node or pool does. If no node or pool lists it, pods that request it are decided as
// if it were unlimited, and their own outcome is unknown unless it is never (search.Unlisted).
package model
