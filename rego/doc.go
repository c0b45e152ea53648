// Package rego loads the rules, checks them against the schema of the facts, evaluates them and
// reads their reports. No other package uses OPA.
//
// Contract: a rule is one file with the package schedlint.rules["<id>"]. Its METADATA has title,
// description, schemas, custom.category and custom.since. Built-in rules take their messages from
// the catalogue in package message: the members of their report set are results of
// result.reason(rego.metadata.chain(), row, reason), or of result.worded. The latter takes an
// object with a reason and optionally a level, a path below the row, and values that replace the
// row in the message. Custom rules use result.reason, or result.finding with an object that has a
// message and optionally details, help, a path and a level. A message is one self-contained line.
// A rule that reports anything else fails (judgement.go). Built-in and custom rules are loaded in
// the same way. A custom rule with the id of a built-in rule needs custom.replaces. Load returns
// one error with all problems in all folders. For each of them, it gives file:line, what was
// found, what was expected and what to do. Evaluate returns the findings for one set of facts, in
// the same order for the same input.
//
// Parameters: custom.params is a schema (schema.go). It types input.params when the rule is
// compiled, and the values in the configuration must match it (params.go). A template never runs.
// An instance is a rule with its own id, parameters, step budget and failures that shares the
// compiled body of a template (custom.go). Rules from packs and templates count as built-in. Pack
// rules are off unless the configuration names the pack.
//
// Rules see the facts as input and may import the libraries in lib, such as data.schedlint.result.
// Custom rules may also import other packages from their own folders. Nothing else exists under
// data. An allow-list of built-in functions excludes network, clock, environment, random numbers
// and output, so a rule depends only on the facts. Modules have a size limit, and symbolic links
// are refused.
//
// A rule that fails, for example because of a division by zero or a limit, loses only its own
// findings. The tally of the run records the failure, which makes the run incomplete. The cost of
// a custom rule is counted in steps (meter.go) and is therefore the same on every machine. Each
// event of OPA's tracer is a step, and a call of a built-in function costs steps in proportion to
// the sizes of its arguments and its result (growth.go). OPA cannot replace a built-in function,
// so the package renames the calls after compilation in order to count them (growth.go). Before
// that, it turns literals with variables into values (hoist.go), because OPA would otherwise
// expand them at their first use, in a single step. The limits are constants in meter.go,
// evaluate.go and judgement.go: 5,000,000 steps for a rule in a run, 1 MiB for a string, 1,000,000
// members for a value, 100,000 findings, 4 KiB for a message. Limits on CPU time, heap growth and
// stack size cover costs that cannot be counted (evaluate.go). A rule that does not stop even then
// is abandoned, and no further custom rule is evaluated. Built-in rules run first and have their
// own deadline. Their steps are not counted, which would double their time.
//
// An analysis of the compiled code (trace.go) determines which facts a custom rule reads. For
// every term, it finds the places of the schema whose values the term can have. A rule that
// replaces the input counts as reading everything. The same analysis finds errors that OPA's type
// checker misses: constants that are not in the enumeration that they are compared with, ordering
// of outcomes, and unknown literal keys in object.get. A module whose analysis takes too many
// steps does not load, because wrong constants in it would go unnoticed. For built-in rules, a
// text search finds the facts that they read, and a test compares both methods.
//
// The tests of this package check built-in rules completely. At run time, a built-in rule is
// parsed and compiled only if one of the lists that it reads is not empty. The checks that the
// tests have made are skipped, and its annotation is read only on request. Custom rules are always
// checked completely.
//
// Invariants: findings do not depend on map order, the clock or the number of cores. A finding
// refers to a fact from a list that its rule reads.
//
// Non-goals: limiting the compilation of custom rules in any way other than CPU time; rules that
// read the findings of other rules; bundles, remote rules, partial evaluation.
package rego
