package rego

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sorting"
)

// abstract describes the possible values of a term. Each value is a *node (a position in the facts
// schema), a *cell (a value built by the rule) or an *ast.Term (a constant).
type abstract struct {
	of []any
	// unknown is set if the term can also have values that are not listed. If a field becomes part
	// of an unknown value, the field counts as read.
	unknown bool
	// cut is set if a term had more than maxMembers possible values. Some values are then not
	// listed.
	cut bool
}

var anything = abstract{unknown: true}

func oneOf(member any) abstract { return abstract{of: []any{member}} }

// cell is an array, object or set built by a rule. Each expression that builds a value has one
// cell.
type cell struct {
	fields map[string]*abstract // values under constant keys
	keys   abstract             // all keys of an object or members of a set
	rest   abstract             // values under all other keys
}

// field returns the value under a constant key. If the cell has no such key, field adds an empty
// value.
func (c *cell) field(key string) *abstract {
	return lazy.Cached(c.fields, key, func() *abstract { return &abstract{} })
}

// maxMembers is the maximum number of possible values to keep for a term. A list of image names can
// have thousands of constants. An enumeration is only ever compared with a few constants.
const maxMembers = 500

// merge adds the possible values in "from" to "into", and reports whether "into" has changed. Only
// the owner of "into" may call merge, because copies of "into" share its slice of members.
func (t *trace) merge(into *abstract, from abstract) bool {
	fresh := from.unknown && !into.unknown || from.cut && !into.cut
	into.unknown, into.cut = into.unknown || from.unknown, into.cut || from.cut
	for _, member := range from.of {
		if into.cut {
			t.step(1)
			t.drop(member)
			continue
		}
		t.step(1 + len(into.of)/8)
		switch {
		case t.over || slices.Contains(into.of, member):
			continue
		case len(into.of) == maxMembers:
			t.drop(member)
			into.unknown, into.cut = true, true
		default:
			into.of = append(into.of, member)
		}
		fresh = true
	}
	return fresh
}

// drop handles a value in excess of maxMembers. It ignores a constant. For any other value, it
// records that the rule reads all facts, because the analysis can no longer follow the value.
func (t *trace) drop(member any) {
	if _, constant := member.(*ast.Term); !constant {
		t.reads.all = true
	}
}

// grow adds possible values to "into", and records whether "into" has changed. The analysis repeats
// until nothing changes.
func (t *trace) grow(into *abstract, from abstract) {
	if t.merge(into, from) {
		t.changed = true
	}
}

// cell returns the cell for a term in the source.
func (t *trace) cell(place any) *cell {
	return lazy.Cached(t.cells, place, func() *cell { return &cell{fields: map[string]*abstract{}} })
}

// keyOf returns a constant key in the string form used by the maps in cells and nodes.
func keyOf(t *ast.Term) (string, bool) {
	switch v := t.Value.(type) {
	case ast.String:
		return string(v), true
	case ast.Number:
		return string(v), true
	}
	return "", false
}

// constantKey returns the value of v if v can only be one constant.
func constantKey(v abstract) (string, bool) {
	if v.unknown || len(v.of) != 1 {
		return "", false
	}
	term, ok := v.of[0].(*ast.Term)
	if !ok {
		return "", false
	}
	return keyOf(term)
}

// at returns the possible values under a constant key.
func (t *trace) at(v abstract, key string) abstract {
	found := abstract{unknown: v.unknown, cut: v.cut}
	for _, member := range v.of {
		switch m := member.(type) {
		case *node:
			if child := m.child(key); child != nil {
				t.visit(child)
				t.merge(&found, oneOf(child))
			}
		case *cell:
			if f, ok := m.fields[key]; ok {
				t.merge(&found, *f)
			}
			t.merge(&found, m.rest)
		}
	}
	return found
}

// members returns the possible values under any key. If the object has a fixed set of fields, all
// of these fields count as read.
func (t *trace) members(v abstract) abstract {
	found := abstract{unknown: v.unknown, cut: v.cut}
	for _, member := range v.of {
		switch m := member.(type) {
		case *node:
			if m.closed() {
				t.whole(m)
			}
			for _, child := range m.within() {
				t.visit(child)
				t.merge(&found, oneOf(child))
			}
		case *cell:
			for _, key := range sorting.Keys(m.fields) {
				t.merge(&found, *m.fields[key])
			}
			t.merge(&found, m.rest)
		}
	}
	return found
}

// keys returns the possible keys of v.
func (t *trace) keys(v abstract) abstract {
	found := anything
	if !v.unknown {
		found = abstract{}
	}
	found.cut = v.cut
	for _, member := range v.of {
		if c, ok := member.(*cell); ok && (len(c.keys.of) > 0 || c.keys.unknown) {
			t.merge(&found, c.keys)
		} else {
			t.merge(&found, anything)
		}
	}
	return found
}

// addMember adds a member to a set.
func (t *trace) addMember(c *cell, v abstract) {
	t.grow(&c.keys, v)
	t.grow(&c.rest, v)
}

// addField adds a value to an object. The key may be a variable.
func (t *trace) addField(c *cell, key *ast.Term, v abstract, env scope) {
	k := t.value(key, env)
	t.grow(&c.keys, k)
	if name, ok := constantKey(k); ok {
		t.grow(c.field(name), v)
		return
	}
	t.grow(&c.rest, v)
}

// testedFacts checks literals that rule tests use as facts. A literal may replace input or one of
// its lists. It may also be the argument of a function that builds a row, such as
// facts.workload({"pods_min": 3}). A literal may omit fields, but each of its fields must exist and
// have a valid value. The modules need not be compiled.
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

// replaced checks a "with" modifier that replaces input or part of it.
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

// made checks the argument of a facts library function.
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

// imported expands an import alias at the start of a reference.
func imported(m *ast.Module, ref ast.Ref) ast.Ref {
	for _, i := range m.Imports {
		path, ok := i.Path.Value.(ast.Ref)
		if ok && ref[0].Value.Compare(i.Name()) == 0 {
			return append(path[:len(path):len(path)], ref[1:]...)
		}
	}
	return ref
}

// fits checks that a literal in a test is a valid value for a node of the facts schema. It skips
// terms that are not literals.
func (c *checks) fits(n *node, t *ast.Term) {
	kind := ast.ValueName(t.Value) // named as in JSON Schema
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
			if !ok || n == factsNode() && name == "params" { // the rule's parameters
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
