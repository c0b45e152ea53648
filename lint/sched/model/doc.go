// Package model represents the input for one cluster in a form that can be queried: workloads with
// their parsed terms, selectors, requests and host ports, together with the nodes and the pools
// that can grow.
//
// Contract: NewModel takes one cluster's workloads and topology. The model answers questions that
// one document or a pair of documents can settle: which pods a term selects, and whether that is
// certain (Selected, Others, Peer, Self); which nodes pass the node-level filters (Eligible) and
// why the other nodes do not (Excluded); and which workloads take part in decisions (Modelled,
// Unknown, Permanent). It does not combine the rules of several workloads. Packages bound, search
// and check each combine rules independently.
//
// Other models can be derived from a model. Variant and Beside replace the workloads or nodes,
// Split makes separate workloads of pods that selectors can tell apart, and Permanent omits pods
// that finish. They all share a Run, which counts steps (see package meter). run.go defines how
// many steps a question can take. With a SharedBudget, questions about single workloads can use
// steps that other questions leave unused. A question that runs out of steps has an unknown answer
// and is listed in Run.GivenUp. A panic affects only the question in which it occurs (Run.Guard).
//
// Other packages can cache data with a model or a run (Keep, KeepForNodes, KeepInRun), keyed by
// the type of the data. A model belongs to one run and is not safe for concurrent use.
//
// Invariants: every filter cites the upstream file that it mirrors or a SEMANTICS.md id. Whatever
// a node does not declare never counts against a pod. An answer that depends on something missing
// from the input is unknown. Answers do not depend on the input order.
//
// Volumes: bound volumes and allowed topologies are filters of a workload's nodes, for each ordinal
// of a StatefulSet its own (Split). Where pods depend on each other's volumes, or a volume is made
// before its pod is scheduled, the workload takes no part in decisions.
//
// Resources: if a node's list of allocatable resources is complete (package topology decides this),
// the node lacks every native resource that is not on the list. If the list is incomplete, the node
// is not judged on missing resources. If a node does not list an extended resource but another node
// or pool does, the node lacks that resource. If no node or pool lists it, decisions treat it as
// unlimited, and the outcome for the pods that request it is either unknown or never
// (search.Unlisted).
package model
