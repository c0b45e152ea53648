// Package facts defines the closed vocabulary of facts that rules judge.
//
// Contract: a fact is one row of one list. Its fields are numbers, names, enumerations and nested
// rows; sentences are in package message. Every row has an id, which gives a finding its location;
// nested rows have ids of their own. Some lists describe the input (workloads, pools, nodes,
// capacity, objects), and each of the others answers one question. A row about a workload has the
// index of that workload in the list of workloads, its w, so joining the two costs nothing. The
// lists are flat because a rule visits only the rows of its own question. The JSON Schema of the
// vocabulary is generated from the structs and their comments and is embedded; rules are
// type-checked against it.
//
// Invariants: an outcome is always, sometimes, never, unknown or none. With unknown the input does
// not determine the answer: no built-in rule reports it, and the cause of the row says why. A
// number that is not exact is a pair of bounds, x_min and x_max: the number of nodes that pods can
// use is such a pair, as pools grow and placement may be unknown. A list that a user's own rule
// reads is whole: it has a row for each workload that its question applies to. Some lists have rows
// for faults only: documents, refusals, unknown_fields, outer_labels, suppressions, and circles,
// crowds and orders, which are about several workloads.
//
// Placement fields of objects that are not judged (workload.Set.Fragments) produce refusals of the
// stage fragment, topology keys that no node has and node labels, but no facts about pods, because
// an operator decides which pods there are.
//
// Non-goals: building rows (package derive), levels, wording, which rows are bad.
package facts
