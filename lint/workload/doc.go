// Package workload reads the objects that create pods: the pod template, the number of pods, their
// labels, and the fields that the API server refuses.
//
// It also reads what changes pods later: how an update replaces them, which budgets restrict
// evictions, which autoscalers change their number, and what happens to a machine when its pod is
// evicted. These are facts about manifests; other packages judge whether there is room for a
// change.
//
// Contract: Load takes the objects of one cluster and returns one Set. A kind is one row of the
// table in kinds.go. Only the subtrees that decide placement are decoded, into the real API types.
// A value that does not fit its field spoils only that field and is reported; a value that contains
// a variable of a later tool makes the field unknown.
//
// Finite reports whether the pods of a workload end by themselves, Queued whether Kueue holds them
// back.
//
// A Reader that reads only one set discards the trees that it has decoded (Once), except the parts
// that every run reads afterwards (asked in decode.go). Reading more is correct, but parses the
// document again.
//
// Invariants: every term, constraint and request keeps the node it came from, so a finding can
// point at it. Validation mirrors pkg/apis/core/validation/validation.go of Kubernetes v1.36 and
// cites the rules R-V1 to R-V33 and R-V35 to R-V39 of lint/sched/SEMANTICS.md. A problem has the
// stage at which it occurs: the object is refused, or the object is accepted and every pod that it
// creates is refused. A field that is refused only with a feature gate that is off by default is
// kept apart (Workload.Gated), and so are refused budgets and autoscalers (Set.Refusals). A name
// that a later tool replaces is unknown, and an object that may be a patch is not refused for
// fields that it omits.
//
// An object of another kind is counted if it has a pod template or placement fields. Fields in the
// form of the core API are validated (Set.Fragments); others belong to the schema of the object and
// are not judged.
//
// The absence of a declaration proves nothing: Set.Operates reports where pods may exist that no
// workload of the set creates, and Set.Maker returns the custom resource that may create pods with
// a label.
//
// Non-goals: nodes, capacity, and the effects of workloads on each other.
package workload
