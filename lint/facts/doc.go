// Package facts turns what was found out into the closed vocabulary that rules
// judge.
//
// Contract: a fact is one row of one list; its fields are plain values, so a
// rule never needs more than to compare fields of one fact. Every fact has an
// id; behind the id, out of the rules' sight, stand its place in the files, the
// related places and the repairs, so that no rule can point at a wrong line.
// The JSON Schema of the vocabulary is generated from the structs, and rules
// are type-checked against it.
//
// Invariants: a verdict is "infeasible", "feasible" or "unknown"; unknown means
// that the input does not say, and no built-in rule reports it. Facts are
// listed for healthy workloads too, as a team's own rules may judge those. Of
// what becomes of workloads in a change, an ending is always, may-not, never or
// unknown.
// Where a text says why, it holds numbers and names of the input only.
//
// Placement fields of objects that are not judged (workload.Set.Fragments) give
// refusals of the stage fragment, topology keys that no node has and node labels,
// and nothing about pods: an operator decides which there are.
//
// An Explainer keeps what facts were made of and says, once somebody asks, what
// stands behind one of them node by node: each fact is built under an account,
// which puts the scene of its question on all declared nodes.
//
// Non-goals: levels, wording of findings, which facts are bad.
package facts
