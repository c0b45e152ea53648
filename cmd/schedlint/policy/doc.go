// Package policy is what a team does with rules of its own: load them as a configuration says,
// write, check and test them, and take in those of others.
//
// Contract: Load gives the engine of a run with the rules of a Source and of the configuration. New
// writes a rule to start from, Check finds what a rule lacks, Tests runs unit tests, fixtures and
// mutants, Docs prints a catalogue, WriteBundle an OPA bundle, and Vendor copies the rules of others.
//
// Rules and fixtures belong to a repository and are hostile: what is shown of them has no hidden
// bytes, files are bounded, and errors name the place. No file is overwritten but by an update of
// fixtures, the bundle that was named, and Vendor, which asks package vendored.
//
// Non-goals: evaluating rules and their bounds (package rego), fetching rules.
package policy
