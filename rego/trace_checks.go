package rego

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// checks collects the faults found in a rule.
type checks struct{ found []fault }

// fault is a wrong value at some position in a rule.
type fault struct {
	at   *ast.Location
	what string
}

func (c *checks) add(at *ast.Location, format string, args ...any) {
	if at != nil && !strings.HasPrefix(at.File, "lib/") { // skip the built-in libraries
		c.found = append(c.found, fault{at, fmt.Sprintf(format, args...)})
	}
}

// faultErrors converts faults to errors, sorted by position and without duplicates.
func faultErrors(faults []fault) []error {
	sorting.Stable(faults, func(a, b fault) int {
		return cmp.Or(cmp.Compare(a.at.File, b.at.File), cmp.Compare(a.at.Row, b.at.Row), cmp.Compare(a.what, b.what))
	})
	var all []error
	last := ""
	for _, f := range faults {
		if text := place(f.at) + f.what; text != last {
			all, last = append(all, errors.New(text)), text
		}
	}
	return all
}

// enumerated returns the enumerations in the facts that v can come from, and all strings that v can
// be. It returns false if not all of these strings are known.
func enumerated(v abstract) (nodes []*node, values []string, ok bool) {
	for _, member := range v.of {
		switch m := member.(type) {
		case *node:
			if len(m.enum) == 0 {
				return nil, nil, false
			}
			nodes, values = append(nodes, m), append(values, m.enum...)
		case *ast.Term:
			if text, isString := m.Value.(ast.String); isString {
				values = append(values, string(text))
			}
		}
	}
	return nodes, values, len(nodes) > 0 && !v.unknown
}

// placeNames lists the names of up to three nodes, for use in a message.
func placeNames(nodes []*node) string {
	const most = 3
	all := lists.Of(nodes, (*node).name)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > most {
		all = append(all[:most], fmt.Sprintf("%d more", len(all)-most))
	}
	return strings.Join(all, ", ")
}

// equal checks comparisons with an enumeration. It adds a fault for each constant that does not
// belong to the enumeration, and a fault if there are too many constants to check.
func (c *checks) equal(at *ast.Location, v, with abstract) {
	i := slices.IndexFunc(v.of, func(member any) bool {
		n, ok := member.(*node)
		return ok && len(n.enum) > 0
	})
	if i >= 0 && (v.cut || with.cut) {
		c.add(at, "%s is compared with more than %d values, which are too many to check; it is one of %s",
			v.of[i].(*node).name(), maxMembers, strings.Join(v.of[i].(*node).enum, ", "))
	}
	nodes, values, ok := enumerated(v)
	if !ok {
		return
	}
	for _, member := range with.of {
		term, isTerm := member.(*ast.Term)
		if !isTerm {
			continue
		}
		text, isString := term.Value.(ast.String)
		if !isString || slices.Contains(values, string(text)) {
			continue
		}
		c.add(cmp.Or(term.Location, at), "%s is never %q%s; it is one of %s",
			placeNames(nodes), string(text), near(string(text), nodes[0].enum), strings.Join(nodes[0].enum, ", "))
	}
}

// order checks a comparison with <, <=, > or >=. Neither value may be an enumeration, and an
// integer must not be compared with a string.
func (c *checks) order(at *ast.Location, v, with abstract) {
	if c.outcome(at, v) {
		return
	}
	var numbers []*node // places in the facts
	for _, member := range v.of {
		if n, ok := member.(*node); ok && n.kind == "integer" {
			numbers = append(numbers, n)
		}
	}
	if v.unknown || len(numbers) == 0 || len(numbers) < len(v.of) {
		return
	}
	for _, member := range with.of {
		if term, ok := member.(*ast.Term); ok {
			if text, isString := term.Value.(ast.String); isString {
				c.add(at, "%s is an integer and %q is a string, and Rego takes every number for less than every string; compare with a number",
					placeNames(numbers), string(text))
			}
		}
	}
}

// outcome reports whether v is an enumeration. If v is one, outcome adds a fault, because
// enumerations have no order.
func (c *checks) outcome(at *ast.Location, v abstract) bool {
	nodes, _, ok := enumerated(v)
	if ok {
		c.add(at, "%s has no order: it is one of %s, which Rego would compare as text; compare with == or in",
			placeNames(nodes), strings.Join(nodes[0].enum, ", "))
	}
	return ok
}

// field reports whether v can have a field with the given key. It records a fault if v cannot have
// the field.
func (c *checks) field(at *ast.Location, v abstract, key string) bool {
	if v.unknown {
		return true
	}
	var closed *node
	for _, member := range v.of {
		n, ok := member.(*node)
		if !ok || !n.closed() || n.fields[key] != nil {
			return true
		}
		closed = n
	}
	if closed == nil {
		return true
	}
	c.add(at, "object.get: %s", closed.valid(key))
	return false
}

func (t *trace) follow(v abstract, keys []*ast.Term, env scope) abstract {
	for _, key := range keys {
		v = t.index(v, key, env)
	}
	return v
}

// index returns the possible values under a key.
func (t *trace) index(v abstract, key *ast.Term, env scope) abstract {
	if name, ok := keyOf(key); ok {
		return t.at(v, name)
	}
	if variable, ok := key.Value.(ast.Var); ok && !isBound(variable, env) {
		env[variable] = t.keys(v)
		return t.members(v)
	}
	if free(key, env) { // a pattern that members of a set are matched against
		t.match(key, t.keys(v), env)
		return t.members(v)
	}
	have := t.value(key, env)
	t.compare(have, t.keys(v))
	if name, ok := constantKey(have); ok {
		return t.at(v, name)
	}
	return t.members(v)
}

func isBound(v ast.Var, env scope) bool {
	_, ok := env[v]
	return ok || v.Equal(ast.InputRootDocument.Value)
}

// data returns the result of a reference to rules.
func (t *trace) data(r ast.Ref, env scope) abstract {
	var found abstract
	known := false
	constant := r.ConstantPrefix()
	for i := 2; i <= len(constant); i++ {
		for _, rule := range t.rules[r[:i].String()] {
			if known = true; len(rule.Head.Args) == 0 {
				t.merge(&found, t.follow(t.state(rule).result, r[i:], env))
			}
		}
	}
	if t.extended(constant) {
		t.merge(&found, anything)
		known = true
	}
	if objects := t.root.fields["objects"]; !known && objects != nil && r.HasPrefix(inventoryRef()) {
		t.whole(objects)
		found, known = anything, true
	}
	if !known { // an unknown rule could read anything
		t.reads.all = true
		found = anything
	}
	for _, key := range r[1:] { // variables that are still unbound after following the reference
		if v, ok := key.Value.(ast.Var); ok && !isBound(v, env) {
			env[v] = anything
		}
	}
	return found
}

// extended marks all rules below a reference as read, and reports whether there are any.
func (t *trace) extended(r ast.Ref) bool {
	prefix, found := r.String(), false
	if !t.inner[prefix] {
		return false
	}
	for _, name := range t.names {
		t.step(1)
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok || rest == "" || rest[0] != '.' && rest[0] != '[' {
			continue
		}
		for _, rule := range t.rules[name] {
			if len(rule.Head.Args) == 0 {
				t.readAll(t.state(rule).result)
				found = true
			}
		}
	}
	return found
}

// unify evaluates an expression that makes two terms equal. It binds unbound variables in one term
// to the matching parts of the other. It compares all other parts.
func (t *trace) unify(a, b *ast.Term, env scope) {
	x, isArray := a.Value.(*ast.Array)
	y, both := b.Value.(*ast.Array)
	switch {
	case isArray && both && x.Len() == y.Len():
		for i := range x.Len() {
			t.unify(x.Elem(i), y.Elem(i), env)
		}
	case free(a, env):
		t.match(a, t.value(b, env), env)
	case free(b, env), pattern(b):
		t.match(b, t.value(a, env), env)
	default:
		t.match(a, t.value(b, env), env)
	}
}

// free reports whether a term is an unbound variable, or an array or object that contains one.
func free(term *ast.Term, env scope) bool {
	if v, ok := term.Value.(ast.Var); ok {
		return !isBound(v, env)
	}
	return pattern(term) && slices.ContainsFunc(members(term), func(member *ast.Term) bool { return free(member, env) })
}

func pattern(term *ast.Term) bool {
	switch term.Value.(type) {
	case *ast.Array, ast.Object:
		return true
	}
	return false
}

// match unifies a term with a value and binds the term's unbound variables.
func (t *trace) match(term *ast.Term, v abstract, env scope) {
	t.step(1)
	switch p := term.Value.(type) {
	case ast.Var:
		if !isBound(p, env) {
			env[p] = v
			return
		}
	case *ast.Array:
		for i := range p.Len() {
			t.match(p.Elem(i), t.at(v, strconv.Itoa(i)), env)
		}
		return
	case ast.Object:
		for _, member := range v.of { // an object with other keys does not match, so the pattern reads the object completely
			if n, ok := member.(*node); ok {
				t.whole(n)
			}
		}
		for _, key := range p.Keys() {
			t.match(p.Get(key), t.index(v, key, env), env)
		}
		return
	}
	t.compare(t.value(term, env), v)
}

// compare marks both values as completely read.
func (t *trace) compare(a, b abstract) {
	t.readAll(a)
	t.readAll(b)
	if t.checks != nil {
		t.checks.equal(t.line, a, b)
		t.checks.equal(t.line, b, a)
	}
}

// node is a list, row, field or map value in the facts schema. Rows have the same path as their
// list. Values in a map with arbitrary keys have the same path as the map.
type node struct {
	path   string
	kind   string // JSON Schema type, or "" for any
	enum   []string
	fields map[string]*node
	items  *node // of an array
	rest   *node // values under keys not in fields, or nil for a closed object
}

// factsNode returns the root node of the facts. The node never changes.
var factsNode = sync.OnceValue(func() *node { return newNode("", facts.Schema()) })

// newNode converts a schema to a node. It panics if the schema is invalid, because schemas are part
// of the program.
func newNode(path string, schema []byte) *node {
	var s struct {
		Type       any                        `json:"type"`
		Enum       []any                      `json:"enum"`
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
		Rest       json.RawMessage            `json:"additionalProperties"`
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		panic("rego: the schema of the facts: " + err.Error())
	}
	n := &node{path: path, fields: map[string]*node{}}
	n.kind, _ = s.Type.(string)
	for _, value := range s.Enum {
		if text, ok := value.(string); ok {
			n.enum = append(n.enum, text)
		}
	}
	for key, schema := range s.Properties {
		n.fields[key] = newNode(beneath(path, key), schema)
	}
	if n.kind == "array" {
		n.items = innerNode(path, s.Items)
	}
	if n.kind == "object" && string(s.Rest) != "false" {
		n.rest = innerNode(path, s.Rest)
	}
	return n
}

// innerNode returns the node for members of an array or map. If there is no schema for them, they
// can be anything.
func innerNode(path string, schema json.RawMessage) *node {
	if len(schema) == 0 || string(schema) == "true" {
		return &node{path: path}
	}
	return newNode(path, schema)
}

func beneath(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// child returns the node under a key, or nil if n cannot have this key.
func (n *node) child(key string) *node {
	switch {
	case n.kind == "":
		return n
	case n.kind == "array":
		return n.items
	case n.fields[key] != nil:
		return n.fields[key]
	}
	return n.rest
}

// closed reports whether n is an object with a fixed set of keys.
func (n *node) closed() bool { return n.kind == "object" && n.rest == nil }

// scalar reports whether n is a value without members or fields.
func (n *node) scalar() bool { return n.kind != "" && n.kind != "array" && n.kind != "object" }

// keys returns the sorted field names.
func (n *node) keys() []string { return sorting.Keys(n.fields) }

// within returns the nodes directly below n.
func (n *node) within() []*node {
	var all []*node
	switch {
	case n.kind == "":
		return []*node{n}
	case n.items != nil:
		all = append(all, n.items)
	case n.rest != nil:
		all = append(all, n.rest)
	}
	all = append(all, lists.Of(n.keys(), func(key string) *node { return n.fields[key] })...)
	return all
}

// name returns n's name for use in messages.
func (n *node) name() string {
	if n.path == "" {
		return "input"
	}
	return "input." + n.path
}

// valid returns an error message for a key that n does not have. The message suggests the closest
// key and lists all valid keys.
func (n *node) valid(key string) string {
	return fmt.Sprintf("%q does not exist in %s%s; there are %s", key, n.name(), near(key, n.keys()), strings.Join(n.keys(), ", "))
}
