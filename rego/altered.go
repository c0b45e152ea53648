package rego

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
)

// Altered describes the custom rules and libraries that may find something else than in another
// engine, which is nil if it has none: those that are gone, have another text, are no longer
// locked, or replace a built-in rule. A new rule only adds findings.
func (e *Engine) Altered(before *Engine) []diag.Silence {
	had, has := map[string]*module{}, byPackage(e.modules)
	if before != nil {
		had = byPackage(before.modules)
	}
	var all []diag.Silence
	for name, was := range had {
		if has[name] == nil {
			all = append(all, diag.Silence{Message: was.name() + " is gone"})
		}
	}
	for name, is := range has {
		text := ""
		switch was := had[name]; {
		case was != nil && was.text != is.text:
			text = "has changed, and may find less"
		case was != nil && was.locked && !is.locked:
			text = "is not locked any more, so it may change without a word"
		case was == nil && is.replaces():
			text = "takes the place of the built-in one"
		default:
			continue
		}
		at := diag.Span{File: is.file, Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
		all = append(all, diag.Silence{Message: is.name() + " " + text, Location: at})
	}
	slices.SortFunc(all, func(a, b diag.Silence) int { return cmp.Compare(a.Message, b.Message) })
	return all
}

func byPackage(modules []*module) map[string]*module {
	all := map[string]*module{}
	for _, m := range modules {
		all[m.parsed.Package.Path.String()] = m
	}
	return all
}

// name returns the name of a module for messages.
func (m *module) name() string {
	if m.rule != nil {
		return "rule " + m.rule.id
	}
	return fmt.Sprintf("library %s", m.parsed.Package.Path)
}

// replaces reports whether a rule replaces a built-in one.
func (m *module) replaces() bool { return m.rule != nil && m.rule.notes().Replaces != "" }
