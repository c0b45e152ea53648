// Package rego runs the rules: it loads them, checks them against the schema of
// the facts, evaluates them and reads what they report. It is the only package
// that knows OPA.
//
// Contract: a rule is one file of the package schedlint.rules["<id>"] whose
// METADATA gives title, description, schemas, custom.category and custom.since,
// and whose set report holds what result.diagnostic(rego.metadata.chain(), fact,
// message) returns. Built-in rules and rules of the user's own come through the
// same door and obey the same contract; one with the id of a built-in replaces
// it. Load fails with file:line, what was found, what was expected and what to
// do; everything wrong with all folders comes in one error. Evaluate gives what
// the rules say about one set of facts, in one order for one input.
//
// Rules see the facts as input and may import data.schedlint.result and
// data.schedlint.text, and users' rules also further packages of their own
// folders; nothing else exists under data. The built-in functions are an
// allow-list: no network, clock, environment, random numbers or output, so a
// rule depends on the facts alone. Evaluation has a deadline, modules have a
// size limit, symbolic links are refused. An error of a built-in function, such
// as a division by zero, is an error of the run and not a finding that is
// silently missing.
//
// Built-in rules are checked in full by the tests of this package. At run time
// only those are parsed and compiled whose lists hold a fact, without the
// checks that the tests have made, and their annotations are read only when
// somebody asks for them. Users' rules are always checked in full.
//
// Invariants: no map order, clock or core count reaches the judgements; a
// judgement names a fact of a list that its rule reads.
//
// Non-goals: a bound on the memory that a user's rule takes; rules that read
// what other rules report; bundles, remote rules, partial evaluation.
package rego
