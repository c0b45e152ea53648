// Package rego runs the rules: it loads them, checks them against the schema of
// the facts, evaluates them and reads what they report. It is the only package
// that knows OPA.
//
// Contract: a rule is one file of the package schedlint.rules["<id>"] whose
// METADATA gives title, description, schemas, custom.category and custom.since,
// and whose set report contains what result.reason(rego.metadata.chain(), row, reason)
// returns, worded by the catalogue of package message, or what
// result.finding(rego.metadata.chain(), row, finding) returns. A finding is an object
// with a message, which is one line and complete by itself, and perhaps details, help,
// a path below the row and a level (judgement.go); anything else fails the rule.
// Built-in rules and rules of the user's own come through the same door and obey the
// same contract. One with the id of a built-in rule needs custom.replaces. Load fails
// with file:line, what was found, what was expected and what to do; everything wrong
// with all folders comes in one error. Evaluate gives what the rules say about one set
// of facts, in one order for one input.
//
// Parameters: custom.params is a schema (schema.go) that types input.params when the
// rule is compiled and that the values of the configuration have to fit (params.go). A
// template never runs; an instance is a rule that shares its compiled body and has an id,
// parameters, steps and failures of its own (instance.go). Rules of packs and templates
// count as built in; those of packs that are not named are off.
//
// Rules see the facts as input and may import data.schedlint.result and
// data.schedlint.text, and users' rules also further packages of their own
// folders; nothing else exists under data. The built-in functions are an
// allow-list: no network, clock, environment, random numbers or output, so a
// rule depends on the facts alone. Modules have a size limit, symbolic links are
// refused.
//
// A rule that fails, by a division by zero as well as by a limit, loses itself only:
// what it reports does not count, and the tally of the run has a failure, which makes
// the run incomplete. What a rule of the user's own costs is counted (meter.go) and
// so the same on every machine: the events of OPA's tracer are its steps, and calls
// of built-in functions cost steps by the size of what they read and make (bounds.go).
// For that, calls are renamed after compilation (guard.go), as OPA has no way to replace
// a function, and literals with variables are made values first (hoist.go), as OPA
// would write them out in full, in one step, long after they were written down. The
// limits are constants of meter.go and evaluate.go: 5,000,000 steps for a rule in a
// run, 1 MiB for a string, 1,000,000 members for a value, 100,000 findings, 4 KiB for
// a message. For what cannot be counted there are a limit of CPU time, a bound on the
// growth of the heap and one on stacks (isolate.go). A rule that does not stop even then is
// abandoned, and no other rule of the user's own is evaluated after it.
// Built-in rules come first and have a deadline of their own; they are not counted,
// which would double their time.
//
// What a user's rule reads comes from an analysis of the compiled rule (trace.go), which
// finds for every term the places of the schema that it can stand for. A rule that replaces
// the input reads everything. The same analysis checks what OPA's type checker does not:
// constants compared with enumerations, order among outcomes, literal keys of object.get.
// A module for which that takes too many steps does not load, as a wrong value in it would
// never be reported. What a built-in rule reads is found in its
// text, and a test holds both against each other.
//
// Built-in rules are checked in full by the tests of this package. At run time
// only those are parsed and compiled whose lists hold a fact, without the
// checks that the tests have made, and their annotations are read only when
// somebody asks for them. Users' rules are always checked in full.
//
// Invariants: no map order, clock or core count reaches the judgements; a
// judgement names a fact of a list that its rule reads.
//
// Non-goals: a bound on what the compilation of a user's rule takes, but for its
// time; rules that read what other rules report; bundles, remote rules, partial evaluation.
package rego
