// Package policy implements the commands for a team's own rules: it loads, scaffolds, checks and
// tests them, and vendors rules of others.
//
// Contract: Load returns the engine for a run, with the rules of a Source and of the
// configuration. New writes the scaffold of a rule, Check reports missing tests, Tests runs unit
// tests, fixtures and mutants, Docs returns a catalogue, WriteBundle writes an OPA bundle, and
// Vendor copies rules of others.
//
// Rules and fixtures come from a repository and are not trusted: invisible characters are escaped
// in output, file sizes are limited, and errors give the position. The only files that are
// overwritten are fixtures that are updated, the bundle that the user names, and files of Vendor,
// which package vendored checks first.
//
// Non-goals: evaluating rules and limiting their cost (package rego), downloading rules.
package policy
