// Package derive builds the facts about one context. It asks the packages of lint/sched about each
// workload, and turns the answers into rows for rules to judge. Each row has a subject that rules
// do not see. The subject holds the row's location, related locations and tested repairs.
//
// Contract: Facts builds the rows of one context within the step budget of its model. It records
// unanswered questions in the model. Every row has a Subject. Decision builds the document for the
// place command in the same way. An Explainer explains a row node by node.
//
// Facts that no rule reads are not built. Input.Asked reports which lists any rule reads.
// Input.Wants reports which rows of a list any rule may report. Input.Whole reports which lists or
// fields the rules outside the core read. The lists that these rules read are complete (whole.go).
// They describe the input in detail (describe*.go, capacity.go). A question that takes too many
// steps stays unanswered. Its row then has the value false in the field known, workloads_known or
// matches_known.
//
// Invariants: rows and subjects are in input order, regardless of the order of evaluation. A repair
// that changes a number or a rule is suggested only after a test on the declared nodes. The test
// includes rollouts and drains.
//
// Non-goals: levels, deciding which rows are bad (rules do that), suppressions.
package derive
