// Package model turns the input for one cluster into a form that questions can be asked about:
// workloads with their parsed terms, selectors, requests and host ports, plus nodes and pools
// that can grow.
//
// Contract: NewModel takes one cluster's workloads and topology. The model answers what follows
// from a single document or a pair of documents: which pods a term selects, and whether that is
// certain (Selected, Others, Peer, Self); which nodes pass the node-level filters (Eligible) and
// why the others do not (Excluded); and which workloads take part in decisions (Modelled,
// Unknown, Permanent). It does not combine the rules of several workloads. Packages bound, search
// and check do that independently of each other.
//
// Other models can be derived from a model. Variant and Beside replace the workloads or nodes,
// Split separates pods that selectors can distinguish from their siblings, and Permanent omits
// pods that finish. They all share a Run, which counts steps (see package meter). run.go defines
// how many steps a question can take. With a SharedBudget, questions about single workloads can
// use steps that other questions leave unused. A question that runs out of steps has an unknown
// answer and is listed in Run.GivenUp. A panic affects only the question in which it occurs
// (Run.Guard).
//
// Other packages can cache data with a model or a run (Keep, KeepForNodes, KeepInRun), keyed by
// the type of the data. A model belongs to one run and is not safe for concurrent use.
//
// Invariants: every filter cites the upstream file that it mirrors or a SEMANTICS.md id. Whatever
// a node does not declare never counts against a pod. An answer that depends on something missing
// from the input is unknown. Answers do not depend on the input order.
//
// Resources: if a node's list of allocatable resources is complete (package topology decides
// this), the node has none of any native resource that the list omits. If the list is incomplete,
// the node is not judged on such resources. A node has none of an extended resource that it does
// not list but another node or pool does. If no node or pool lists it, pods that request it are
// decided as if it were unlimited, and their own outcome is unknown unless it is never
// (search.Unlisted).
package model
