package rego

import (
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

func (t *trace) follow(v abstract, keys []*ast.Term, env scope) abstract {
	for _, key := range keys {
		v = t.index(v, key, env)
	}
	return v
}

// index returns what is under one key.
func (t *trace) index(v abstract, key *ast.Term, env scope) abstract {
	if name, ok := keyOf(key); ok {
		return t.at(v, name)
	}
	if variable, ok := key.Value.(ast.Var); ok && !isBound(variable, env) {
		env[variable] = t.keys(v)
		return t.members(v)
	}
	if free(key, env) { // a pattern for members of a set
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

// data follows a reference to rules.
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
	if !known { // a rule that is not found here may read anything
		t.reads.all = true
		found = anything
	}
	for _, key := range r[1:] { // variables that no rule has bound
		if v, ok := key.Value.(ast.Var); ok && !isBound(v, env) {
			env[v] = anything
		}
	}
	return found
}

// extended counts all rules below a reference as read, and reports whether there are any.
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

// unify makes two terms equal: unbound variables become the other term, and everything else is
// compared.
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

// free reports whether a term is an unbound variable, or has such members.
func free(term *ast.Term, env scope) bool {
	if v, ok := term.Value.(ast.Var); ok {
		return !isBound(v, env)
	}
	if !pattern(term) {
		return false
	}
	for _, member := range members(term) {
		if free(member, env) {
			return true
		}
	}
	return false
}

func pattern(term *ast.Term) bool {
	switch term.Value.(type) {
	case *ast.Array, ast.Object:
		return true
	}
	return false
}

// match makes a term equal to a value.
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
		for _, member := range v.of { // a pattern holds for objects with no other keys
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

// compare marks both values as read completely.
func (t *trace) compare(a, b abstract) {
	t.readAll(a)
	t.readAll(b)
	if t.checks != nil {
		t.checks.equal(t.line, a, b)
		t.checks.equal(t.line, b, a)
	}
}
