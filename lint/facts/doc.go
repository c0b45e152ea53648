// Package facts is the closed vocabulary that rules judge.
//
// Contract: a fact is one row of one list. Its fields are numbers, names, enumerations
// and rows of such; they carry no sentences, which are in package message. Every row has
// an id, by which a finding gets its place. A row about a workload has the index of that
// workload in the list of workloads, its w, so joining the two costs nothing; the lists
// are flat, as rules visit only the rows of their own question. The JSON Schema of the
// vocabulary is generated from the structs, and rules are type-checked against it.
//
// Invariants: an outcome is always, sometimes, never, unknown or none; unknown means that
// the input does not say, no built-in rule reports it, and the cause of a row says why.
// A number that is not exact is a pair of bounds, x_min and x_max. Rows about what is
// in order are listed only if a team's own rules may judge them.
//
// Placement fields of objects that are not judged (workload.Set.Fragments) give
// refusals of the stage fragment, topology keys that no node has and node labels,
// and nothing about pods: an operator decides which there are.
//
// Non-goals: making rows (package build), levels, words, which rows are bad.
package facts
