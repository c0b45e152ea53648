// Package facts defines the closed vocabulary of facts that rules judge.
//
// Contract: a fact is one row of one list. Its fields are numbers, names, enumerations and nested
// rows. The sentences that describe a fact are in package message. Every row has an id, which gives
// a finding its location. Nested rows have their own ids. Some lists describe the input (workloads,
// pools, nodes, capacity, objects). Every other list answers one question. A row about a workload
// refers to it by w, its index in the list of workloads. A rule can thus find the workload without
// a search. Each question has its own flat list, so that a rule visits only the rows it needs. The
// JSON Schema of the vocabulary is generated from the structs and their comments, and is embedded.
// Rules are type-checked against it.
//
// Invariants: an outcome is "always", "sometimes", "never", "unknown" or "none". An unknown outcome
// means that the input does not determine the answer. No built-in rule reports it, and the cause
// field of the row gives the reason. A number that is not exact is a pair of bounds, x_min and
// x_max. For example, the number of usable nodes is a pair because pools can grow and placement may
// be unknown. A list that a user's own rule reads is complete. It then has a row for each workload
// that its question applies to. Some lists have rows only for faults and are never complete:
// documents, refusals, unknown_fields, affinity, outer_labels, suppressions, circles, crowds and
// orders.
//
// Schedlint does not judge some objects with placement fields (workload.Set.Fragments). Their
// fields produce rows about node labels, about topology keys that no node has, and about refusals
// (with the stage "fragment"). They produce no rows about pods, because an operator decides which
// pods exist.
//
// Non-goals: building rows (package derive), levels, wording, and deciding which rows are bad.
package facts
