// Package rego runs the rules: it loads them, checks them against the schema of the facts,
// evaluates them and reads what they report. It is the only package that knows OPA.
//
// Contract: a rule is one file of the package schedlint.rules["<id>"]. Its METADATA has title,
// description, schemas, custom.category and custom.since. The catalogue of package message words
// what built-in rules report: their set report contains the results of
// result.reason(rego.metadata.chain(), row, reason), or of result.worded with an object that has a
// reason and optionally values to word in place of the row, a path below the row and a level. Custom
// rules use result.reason, or result.finding with an object that has a message, which is one
// self-contained line, and optionally details, help, a path and a level. Anything else fails the
// rule (judgement.go). Built-in and custom rules are loaded in the same way. A custom rule with the id
// of a built-in rule needs custom.replaces. Load fails with file:line, what was found, what was
// expected and what to do; one error holds everything wrong in all folders. Evaluate returns what the
// rules report about one set of facts, in the same order for the same input.
//
// Parameters: custom.params is a schema (schema.go). It types input.params when the rule is
// compiled, and the values of the configuration have to fit it (params.go). A template never runs;
// an instance is a rule that shares its compiled body and has an id, parameters, steps and failures
// of its own (instance.go). Rules of packs and templates count as built in; rules of packs that the
// configuration does not name are off.
//
// Rules see the facts as input and may import the libraries in lib, such as data.schedlint.result,
// and custom rules also other packages of their own folders; nothing else exists under data. The
// built-in functions are an allow-list: no network, clock, environment, random numbers or output,
// so a rule depends on the facts alone. Modules have a size limit, symbolic links are refused.
//
// A rule that fails, be it by a division by zero or by a limit, loses only its own findings: they
// do not count, and the tally of the run records a failure, which makes the run incomplete. The
// cost of a custom rule is counted (meter.go) and therefore the same on every machine: the events
// of OPA's tracer are its steps, and calls of built-in functions cost steps by the size of what
// they read and make (bounds.go). To count calls, the package renames them after compilation
// (guard.go), as OPA has no way to replace a function. It also turns literals with variables into
// values first (hoist.go), as OPA would otherwise expand them only at their first use, in one step.
// The limits are constants of meter.go and evaluate.go: 5,000,000 steps for a rule in a run, 1 MiB
// for a string, 1,000,000 members for a value, 100,000 findings, 4 KiB for a message. What cannot
// be counted is limited by CPU time, by the growth of the heap and by the size of stacks
// (isolate.go). A rule that does not stop even then is abandoned, and no other custom rule is
// evaluated after it. Built-in rules come first and have a deadline of their own; they are not
// counted, which would double their time.
//
// An analysis of the compiled rule (trace.go) determines what a custom rule reads: it finds for
// every term the places of the schema that it can stand for. A rule that replaces the input reads
// everything. The same analysis checks what OPA's type checker does not: constants compared with
// enumerations, order among outcomes, literal keys of object.get. A module whose analysis takes too
// many steps does not load, as wrong values in it would never be reported. What a built-in rule
// reads is found in its text, and a test compares both methods.
//
// The tests of this package check built-in rules completely. At run time, a built-in rule is parsed
// and compiled only if one of its lists holds a fact, without the checks that the tests have made,
// and its annotation is read only on request. Custom rules are always checked completely.
//
// Invariants: no map order, clock or core count reaches the judgements; a judgement names a fact of
// a list that its rule reads.
//
// Non-goals: a bound on the compilation of a custom rule other than its time; rules that read what
// other rules report; bundles, remote rules, partial evaluation.
package rego
