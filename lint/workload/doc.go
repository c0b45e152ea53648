// Package workload reads the objects that create pods: their pod templates, replica counts and
// labels, and the fields that the API server refuses.
//
// It also reads what changes pods later: update strategies, disruption budgets, autoscalers, and
// the eviction strategies of virtual machines. These are facts about manifests. Other packages
// judge whether the nodes have enough capacity for a change.
//
// Contract: Load takes the objects of one cluster and returns one Set. Each kind is one row of the
// table in kinds.go. Only the subtrees that decide placement are decoded, into the real API types.
// A value of the wrong type is reported and affects no other field. A field whose value contains a
// placeholder for a later tool is unknown.
//
// Finite reports whether the pods of a workload terminate by themselves. Queued reports whether
// Kueue holds them back.
//
// A Reader that reads only one set (Once) discards the trees after decoding them. It keeps only the
// fields that every run reads later (asked in decode.go). Other fields can still be read, but then
// the document is parsed again.
//
// Invariants: every term, constraint and request keeps the YAML node that it was read from, so that
// a finding can point at it. Validation mirrors pkg/apis/core/validation/validation.go of
// Kubernetes v1.36 and cites the rules R-V1 to R-V33 and R-V35 to R-V39 of lint/sched/SEMANTICS.md.
// Each problem has a stage: either the API server rejects the object, or it accepts the object and
// rejects every pod that the object creates. Workload.Gated lists the fields that are rejected only
// if a feature gate that is off by default has been turned on. Set.Refusals lists the rejected
// budgets and autoscalers. A name that a later tool replaces is unknown. An object that may be a
// patch is not reported for missing fields.
//
// Objects of other kinds are counted if they have a pod template or placement fields. Placement
// fields that follow the core API schema are validated (Set.Fragments). All others follow an
// unknown schema and are not judged.
//
// A missing declaration proves nothing: Set.Operates reports whether a namespace may contain pods
// not created by any workload in the set, and Set.Maker returns the custom resource that may create
// pods with a given label.
//
// Non-goals: nodes, capacity, and the effects of workloads on each other.
package workload
