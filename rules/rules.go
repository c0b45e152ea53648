// Package rules holds the built-in rules, one folder each.
//
// Contract: FS has <id>/rule.rego for every core rule, <pack>/<id>/rule.rego for every pack rule,
// templates/<id>/rule.rego for every template, and nothing else. A new rule needs only its file and
// no registration. Package rego defines what a rule file must contain, and its tests check every
// folder here. The catalogue in README.md is generated from the rules' METADATA.
package rules

import "embed"

// FS holds the rule files of the built-in rules, packs and templates.
//
//go:embed */rule.rego */*/rule.rego
var FS embed.FS
