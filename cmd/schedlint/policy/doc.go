// Package policy implements the commands for a team's own rules. It loads, scaffolds, checks and
// tests these rules, and vendors rules from other teams.
//
// Contract: Load returns the engine for a run, with the rules from a Source and from the
// configuration. New writes the scaffold of a rule, Check reports missing tests and tests that cannot
// fail, Tests runs unit tests, fixtures and mutants, Docs returns a catalogue, WriteBundle writes an
// OPA bundle, Vendor copies rules from other teams, and Import makes rules of the constraint templates
// and constraints of Gatekeeper.
//
// Rules and fixtures come from a repository and are not trusted. The package therefore escapes
// invisible characters in output and limits file sizes. Errors give the position of the problem.
// The commands overwrite only four kinds of files: bad fixtures to be updated, copies of libraries
// and the schema for editors, the bundle that the user names, and vendored files, which package
// vendored checks first.
//
// Non-goals: evaluating rules and limiting their cost (package rego), downloading rules.
package policy
