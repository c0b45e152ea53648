// Package workload reads the objects that create pods: what the pods look
// like, how many there are, which labels they carry, and which fields the API
// server will refuse.
//
// It also reads what changes them later: how an update replaces pods, which
// budgets stand against evictions, which autoscalers move the number of pods,
// and what becomes of a machine whose pod is evicted. These are facts about
// manifests; whether there is room for a change is judged elsewhere.
//
// Contract: Load takes the objects of one cluster and gives one Set. A kind is
// one row of the table in kinds.go. Only the subtrees that decide placement
// are decoded, into the real API types; a value that does not fit its field
// spoils that field alone and is reported, and a value that still holds a
// variable of a later tool makes the field unknown.
//
// Finite tells the workloads whose pods end by themselves, Queued those that Kueue
// holds back.
//
// A Reader that reads one set lets go of the trees that it has decoded (Once), and keeps
// of them what every run asks for afterwards (the table in load.go); asking for more is
// correct, but reads the document again.
//
// Invariants: every term, constraint and request keeps the node it came from,
// so a finding can point at it. Validation mirrors
// pkg/apis/core/validation/validation.go of Kubernetes v1.36 and cites the
// rules R-V1 to R-V33 and R-V35 to R-V39 of lint/sched/SEMANTICS.md. A problem names the stage
// at which it hits: the object is refused, or the object is accepted and every
// pod that it creates is refused. A field that is refused only with a feature
// gate which is off by default is kept apart (Workload.Gated), and so are budgets
// and autoscalers that are refused (Set.Refusals). A name that a later tool
// replaces is unknown, and an object that may be a patch is not refused for what
// it leaves out.
//
// An object of another kind is counted if it has a pod template or placement
// fields. Fields that are the core API's as they stand are validated (Set.Fragments);
// others belong to the schema of the object, and nothing is said about them.
//
// What is not declared is no proof: Set.Operates tells where pods may exist that
// no workload of the set stands for, and Set.Maker which custom resource may
// stand for pods with a label.
//
// Non-goals: nodes, capacity, and what workloads do to one another.
package workload
