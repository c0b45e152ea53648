// Package build makes the facts of one context: it asks the packages of lint/sched
// what becomes of each workload, and writes down the rows that rules judge, with what
// stands behind each, which rules do not see: its place, related places and repairs
// that were tried.
//
// Contract: Facts builds the rows of one context within the steps of its model; what
// is given up is noted there. A Subject stands behind each row. Decision makes the
// document of the place command from the same parts. An Explainer keeps what the rows
// were made of and tells node by node what stands behind one of them.
//
// What no rule reads is not made: Input.Asked says which lists some rule reads, Input.Wants
// which rows of a list some rule may report, and Input.Whole which lists, or fields of their
// rows, rules beside the built-in ones read. Those are whole (whole.go) and described in full (describe*.go, capacity.go). What is too
// much to find out is given up and marked in the row: known, workloads_known,
// matches_known.
//
// Invariants: rows and subjects come in the order of the input, whatever the order of
// evaluation; a repair that changes a number or a rule is given only if it was tried
// on the declared nodes, with rollouts and drains.
//
// Non-goals: levels, which rows are bad (the rules say), suppressions.
package build
