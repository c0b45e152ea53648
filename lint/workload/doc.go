// Package workload reads the objects that create pods. It finds their pod templates, replica counts
// and labels, and the fields that the API server rejects.
//
// It also reads settings that affect pods later: update strategies, disruption budgets,
// autoscalers, and the eviction strategies of virtual machines. All of these are facts about
// manifests. Other packages judge whether the nodes have enough capacity for a change.
//
// Contract: Load takes the objects of one cluster and returns one Set. The table in kinds.go lists
// the kinds. Only the parts that determine placement are decoded, into the real API types. A value
// of the wrong type is reported and affects no other field. A field is unknown if its value
// contains a placeholder that a later tool replaces.
//
// Finite reports whether the pods of a workload terminate on their own. Queued reports whether
// Kueue holds them back.
//
// A Reader that reads only one set (see Once) discards YAML trees after decoding them. It keeps
// only the fields that every run needs later (see the variable asked). If any other field is
// needed, the document is parsed again.
//
// Invariants: the YAML node of every term, constraint and request can be found, so that findings
// can point at it. Validation mirrors pkg/apis/core/validation/validation.go of Kubernetes v1.36
// and cites the rules R-V1 to R-V33 and R-V35 to R-V39 of lint/sched/SEMANTICS.md. Each problem has
// a stage: either the API server rejects the object, or it accepts the object and rejects every pod
// that the object creates. Workload.Gated lists the fields that the API server drops in the version
// of the cluster (Reader.Kubernetes, R-V43), and those that it drops or rejects, depending on a
// feature gate. Set.Refusals lists the rejected budgets and autoscalers. A name that a later tool
// replaces is unknown. Missing fields are not reported if the object may be a patch.
//
// Objects of other kinds are listed if they have a pod template or placement fields. Placement
// fields that follow the core API schema are validated (Set.Fragments). Other placement fields
// follow an unknown schema and are not checked.
//
// Bind resolves the volume claims of pods once it is known what the node files declare: the volumes
// that they are bound to, which restrict the nodes of the pods (Workload.Reaches), and where the
// volumes of a StorageClass can be used once they exist (Workload.Pin, from package storage).
//
// A pod may exist even if no manifest declares it. Set.Operates reports whether a namespace may
// contain pods that no workload in the set creates. Set.Maker returns a custom resource whose
// operator may create pods with a given label.
//
// Non-goals: nodes, capacity, and the effects of workloads on each other.
package workload
