// Package derive makes the facts of one context. It asks the packages of lint/sched about each
// workload and writes down the rows that rules judge. Each row has a subject that rules do not see:
// its place, related places, and repairs that were tried.
//
// Contract: Facts builds the rows of one context within the steps of its model, and notes there
// what is given up. Every row has a Subject. Decision makes the document of the place command from
// the same parts. An Explainer keeps what the rows were made of and explains a row node by node.
//
// Facts that no rule reads are not built: Input.Asked reports which lists some rule reads,
// Input.Wants which rows of a list some rule may report, and Input.Whole which lists, or fields of
// their rows, rules outside the core read. Those lists are complete (whole.go) and described in detail
// (describe*.go, capacity.go). Questions that take too many steps are given up and marked in the
// row: known, workloads_known, matches_known.
//
// Invariants: rows and subjects come in the order of the input, whatever the order of evaluation; a
// repair that changes a number or a rule is given only if it was tried on the declared nodes, with
// rollouts and drains.
//
// Non-goals: levels, which rows are bad (rules decide that), suppressions.
package derive
