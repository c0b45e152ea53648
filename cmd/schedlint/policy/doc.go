// Package policy implements what a team does with rules of its own: it loads them as the
// configuration says, scaffolds, checks and tests them, and vendors the rules of others.
//
// Contract: Load returns the engine of a run, with the rules of a Source and of the configuration.
// New writes a rule to start from, Check reports what a rule lacks, Tests runs unit tests, fixtures
// and mutants, Docs returns a catalogue, WriteBundle writes an OPA bundle, and Vendor copies the
// rules of others.
//
// Rules and fixtures belong to a repository and are hostile: output from them has no hidden bytes,
// file sizes are limited, and errors name the place. The only files that are overwritten are
// fixtures that are updated, the bundle that the user names, and files of Vendor, which package
// vendored checks.
//
// Non-goals: evaluating rules and limiting their cost (package rego), fetching rules.
package policy
