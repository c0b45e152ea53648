// Package rego loads rules, checks them against the facts schema, evaluates them and reads their
// reports. No other package uses OPA.
//
// Contract: a rule is one file with the package schedlint.rules["<id>"]. Its METADATA has title,
// description, schemas, custom.category and custom.since. Each rule defines a set named report. In
// built-in rules, each member of report is the result of result.reason(rego.metadata.chain(), row,
// reason) or of result.worded. The messages of built-in rules are in package message. The argument
// of result.worded is an object with a reason and, optionally, a level, a path below the row, and
// values that the message uses instead of the row. In custom rules, each member of report is the
// result of result.reason or of result.finding. The argument of result.finding is an object with a
// message and, optionally, details, help, a path and a level. A message is one self-contained line.
// A rule that reports anything else fails (judgement.go). A custom rule can replace the built-in
// rule with the same id, and must declare this with custom.replaces. Load checks all folders and
// returns all problems as one error. Each problem has its file:line and says what was found, what
// was expected and what to do.
//
// Parameters: custom.params is a schema (schema.go). The compiler uses it to check the type of
// input.params, and configured values must match it (params.go). A template never runs on its own.
// An instance is a rule that is based on a template or on another rule with parameters. It shares
// the compiled body, but has its own id, parameters, step budget and failures (custom.go). Rules
// from packs and templates count as built-in. A pack's rules are off unless the configuration names
// the pack.
//
// Rules see the facts as input and may import the libraries in lib, such as data.schedlint.result.
// Custom rules may also import other packages from their own folders. Nothing else exists under
// data. Rules may call only the built-in functions on an allow-list. The list excludes network
// access, the clock, the environment, random numbers and output, so the result of a rule depends
// only on the facts. Modules have a size limit, and symbolic links are rejected.
//
// A foreign library is a policy for another tool. Its METADATA has schema.any in place of
// schema.facts, so it is not checked against the facts, and rules give it an input of its own. It may
// be written in the first version of Rego. In it, data.inventory has the objects of the input, as
// templates of Gatekeeper expect (convert.go).
//
// A rule can fail, for example because it divides by zero or exceeds a limit. A failed rule loses
// its own findings but does not affect other rules. The run's tally records the failure and marks
// the run as incomplete. The cost of a custom rule is counted in steps (meter.go) and is therefore
// the same on every machine. Each event of OPA's tracer is a step. Calling a built-in function also
// costs steps, in proportion to the sizes of its arguments and result (growth.go). OPA does not
// allow replacing a built-in function. To count the calls, the package therefore renames them after
// compilation. Before that, it turns literals with variables into values (hoist.go). Otherwise, OPA
// would expand each literal at its first use, in a single step. The limits are constants in
// meter.go, evaluate.go and judgement.go: 5,000,000 steps for a rule in a run, 1 MiB for a string,
// 1,000,000 members for a value, 100,000 findings, 4 KiB for a message. Limits on CPU time, heap
// growth and stack size cover costs that cannot be counted (evaluate.go). A rule that does not stop
// at these limits is abandoned, and no further custom rules are evaluated. Built-in rules run first
// and have their own deadline. Their steps are not counted, because counting would double their run
// time.
//
// An analysis of the compiled code (trace.go) determines which facts a custom rule reads. For every
// term, it finds the positions in the schema that the term's value can come from. If a rule
// replaces input, it reads what it hands over. If a rule replaces a function or another rule, the
// analysis assumes that the rule reads everything. The analysis also finds
// errors that OPA's type checker misses. These errors are comparing an enumeration with a constant
// that is not one of its values, ordering outcomes, and passing an unknown literal key to
// object.get. If the analysis of a module takes too many steps, the module does not load, because
// such errors would go unnoticed. For built-in rules, a text search finds the facts that they read.
// A test checks that both methods agree.
//
// The tests of this package check built-in rules completely, so a run skips those checks. A run
// compiles a built-in rule only if at least one of the lists that the rule reads is not empty. It
// reads the rule's annotation only on request. Custom rules are always checked completely.
//
// Invariants: findings do not depend on map order, the clock or the number of cores. Every finding
// refers to a fact in a list that its rule reads.
//
// Non-goals: limiting compilation of custom rules other than by CPU time; rules that read other
// rules' findings; loading bundles or remote rules; partial evaluation.
package rego
