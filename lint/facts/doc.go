// Package facts is the closed vocabulary that rules judge.
//
// Contract: a fact is one row of one list. Its fields are numbers, names, enumerations
// and rows of such; they carry no sentences, which are in package message. Every row has
// an id, by which a finding gets its place; rows within rows have ids of their own. Some
// lists describe what there is (workloads, pools, nodes, capacity, objects), the others
// have the answers to one question each. A row about a workload has the index of that
// workload in the list of workloads, its w, so joining the two costs nothing; the lists
// are flat, as rules visit only the rows of their own question. The JSON Schema of the
// vocabulary is generated from the structs and their comments and embedded, and rules are
// type-checked against it.
//
// Invariants: an outcome is always, sometimes, never, unknown or none; unknown means that
// the input does not say, no built-in rule reports it, and the cause of a row says why.
// A number that is not exact is a pair of bounds, x_min and x_max: how many nodes pods can
// use is one, as pools grow and placement may be unknown. A list that a team's own rules
// read is whole: it has a row for each workload that its question is about. Lists of
// faults have none but those: documents, refusals, unknown_fields, outer_labels,
// suppressions, and the rows about several workloads, which are circles, crowds and orders.
//
// Placement fields of objects that are not judged (workload.Set.Fragments) give
// refusals of the stage fragment, topology keys that no node has and node labels,
// and nothing about pods: an operator decides which there are.
//
// Non-goals: making rows (package build), levels, words, which rows are bad.
package facts
