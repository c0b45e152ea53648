// Package rules holds the built-in rules, one folder each.
//
// Contract: FS has <id>/rule.rego for every rule, <pack>/<id>/rule.rego for every rule
// of a pack, templates/<id>/rule.rego for every template, and nothing else; the pattern
// of the latter two joins the first one with their first file. A rule is registered by
// existing. What a rule file must look like is the contract of
// package rego, whose tests hold for every folder here; the catalogue in
// README.md is generated from the rules' METADATA.
package rules

import "embed"

// FS holds the built-in rules as <id>/rule.rego.
//
//go:embed */rule.rego */*/rule.rego
var FS embed.FS
