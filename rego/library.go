package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/lazy"
)

// Library is a policy for another tool, made into a library that rules call with an input of its
// own.
type Library struct {
	// Package is the name of its package, without data.
	Package string
	// Text is its source with the METADATA that makes it a foreign library.
	Text string

	parsed *ast.Module
}

var packageLine = lazy.Regexp(`(?m)^[ \t]*package[ \t]`)

const anyInputNote = "# METADATA\n# schemas:\n#   - input: schema.any\n"

// NewLibrary parses the source of a policy. It changes nothing but adds METADATA to it.
func NewLibrary(file, text string) (*Library, error) {
	if at := packageLine().FindStringIndex(text); at != nil {
		text = text[:at[0]] + anyInputNote + text[at[0]:]
	}
	m, errs := newModule(file, text)
	if len(errs) > 0 {
		return nil, join(errs)
	}
	return &Library{strings.TrimPrefix(m.parsed.Package.Path.String(), "data."), text, m.parsed}, nil
}

// Same reports whether two libraries differ in nothing but layout.
func (l *Library) Same(o *Library) bool { return l.parsed.Equal(o.parsed) }

// Defines reports whether a library has a rule of the given name.
func (l *Library) Defines(name string) bool {
	return slices.ContainsFunc(l.parsed.Rules, func(r *ast.Rule) bool { return nameOf(r) == name })
}

// Reads reports whether a library refers to a field of the input, such as review.userInfo.
func (l *Library) Reads(field string) bool {
	ref, found := ast.MustParseRef("input."+field), false
	ast.WalkRefs(l.parsed, func(r ast.Ref) bool {
		found = found || r.HasPrefix(ref)
		return found
	})
	return found
}
