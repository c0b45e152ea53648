package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// testedFacts checks the literals that tests of rules use as facts: those that replace input, or a
// list of it, and those from which a library makes rows, such as facts.workload({"pods_min": 3}). A
// field may be missing, but each field of a literal must exist, and its value must fit. Modules
// need not be compiled.
func testedFacts(modules ...*ast.Module) []error {
	var c checks
	for _, m := range modules {
		ast.NewGenericVisitor(func(x any) bool {
			switch x := x.(type) {
			case *ast.With:
				c.replaced(x)
			case *ast.Expr:
				if terms, ok := x.Terms.([]*ast.Term); ok && len(terms) > 1 {
					c.made(m, terms[0], terms[1])
				}
			case *ast.Term:
				if call, ok := x.Value.(ast.Call); ok && len(call) > 1 {
					c.made(m, call[0], call[1])
				}
			}
			return false
		}).Walk(m)
	}
	return faultErrors(c.found)
}

// replaced checks a replacement of input, or of something in it.
func (c *checks) replaced(w *ast.With) {
	target, ok := w.Target.Value.(ast.Ref)
	if !ok || len(target) == 0 || !target[0].Equal(ast.InputRootDocument) {
		return
	}
	n := factsNode()
	for i, key := range target[1:] {
		name, ok := keyOf(key)
		if !ok || i == 0 && name == "params" {
			return
		}
		below := n.child(name)
		if below == nil {
			c.add(w.Location, "%s", n.valid(name))
			return
		}
		n = below
	}
	c.fits(n, w.Value)
}

// made checks the argument of a function of the facts library.
func (c *checks) made(m *ast.Module, op, arg *ast.Term) {
	ref, ok := op.Value.(ast.Ref)
	if !ok {
		return
	}
	if ref = imported(m, ref); len(ref) != 4 || !ref.HasPrefix(ast.Ref{ast.DefaultRootDocument, ast.StringTerm("schedlint"), ast.StringTerm("facts")}) {
		return
	}
	name, ok := keyOf(ref[3])
	for _, list := range []string{name, name + "s", name + "es", strings.TrimSuffix(name, "y") + "ies"} {
		if n := factsNode().fields[list]; n != nil {
			if ok && n.items != nil {
				c.fits(n.items, arg)
			}
			return
		}
	}
}

// imported expands the name of an import at the start of a reference.
func imported(m *ast.Module, ref ast.Ref) ast.Ref {
	for _, i := range m.Imports {
		path, ok := i.Path.Value.(ast.Ref)
		if ok && ref[0].Value.Compare(i.Name()) == 0 {
			return append(path[:len(path):len(path)], ref[1:]...)
		}
	}
	return ref
}

// fits requires a literal to be a value of a place. Other terms are accepted.
func (c *checks) fits(n *node, t *ast.Term) {
	kind := ast.ValueName(t.Value) // in the terms of JSON Schema
	if n.kind == "" || !slices.Contains([]string{"string", "number", "boolean", "null", "array", "object", "set"}, kind) {
		return
	}
	if kind != n.kind && (kind != "number" || n.kind != "integer") {
		c.add(t.Location, "%s is %s, not %s", n.name(), article(n.kind), article(kind))
		return
	}
	switch v := t.Value.(type) {
	case ast.Object:
		for _, key := range v.Keys() {
			name, ok := key.Value.(ast.String)
			if !ok || n == factsNode() && name == "params" { // the parameters of the rule
				continue
			}
			if below := n.child(string(name)); below != nil {
				c.fits(below, v.Get(key))
			} else {
				c.add(key.Location, "%s", n.valid(string(name)))
			}
		}
	case *ast.Array:
		v.Foreach(func(member *ast.Term) { c.fits(n.items, member) })
	case ast.String:
		if len(n.enum) > 0 {
			c.equal(t.Location, oneOf(n), oneOf(t))
		}
	case ast.Number:
		if _, ok := integer(t); !ok && n.kind == "integer" {
			c.add(t.Location, "%s is an integer, not %s", n.name(), cut(v.String()))
		}
	}
}
