package rego

import (
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// call evaluates the call of a function; the term behind its arguments gets the result.
func (t *trace) call(op ast.Ref, terms []*ast.Term, env scope) {
	name := op.String()
	rules := t.rules[name]
	arity := len(terms)
	if b, ok := functionsByName()[name]; ok {
		arity = b.Decl.Arity()
	} else if len(rules) > 0 {
		arity = len(rules[0].Head.Args)
	}
	arity = min(arity, len(terms))
	args := make([]abstract, arity)
	line := t.line
	for i := range args {
		args[i] = t.value(terms[i], env)
	}
	t.line = line
	var result abstract
	if len(rules) > 0 {
		result = t.function(rules, args)
	} else {
		result = t.builtin(name, args, terms)
	}
	for _, out := range terms[arity:] {
		t.match(out, result, env)
	}
}

// function gives arguments to all definitions of a function.
func (t *trace) function(rules []*ast.Rule, args []abstract) (result abstract) {
	for _, r := range rules {
		s := t.state(r)
		for i, arg := range args {
			if i < len(s.params) {
				t.grow(&s.params[i], arg)
			}
		}
		t.merge(&result, s.result)
	}
	return result
}

// builtin is what a built-in function gives. One that is not listed reads its arguments
// in full, so its result may be anything.
func (t *trace) builtin(name string, args []abstract, terms []*ast.Term) abstract {
	switch kind := effects()[name]; {
	case kind == looks:
		return anything
	case kind == keeps && len(args) > 0:
		var found abstract
		for _, arg := range args {
			t.merge(&found, arg)
		}
		return found
	case kind == joins && len(args) > 0:
		return t.joined(args, terms)
	case kind == orders:
		t.ordered(args)
		if name == "sort" {
			return t.joined(args, terms)
		}
		return anything
	case kind == equals && len(args) == 2:
		t.compare(args[0], args[1])
		return anything
	case kind == finds && len(args) > 1:
		t.compare(args[len(args)-2], t.members(args[len(args)-1]))
		if len(args) == 3 {
			t.compare(args[0], t.keys(args[2]))
		}
		return anything
	case kind == gets && len(args) == 3:
		return t.get(args)
	}
	for _, arg := range args {
		t.sink(arg)
	}
	return anything
}

// effect says what a built-in function does with its arguments.
type effect int

const (
	sinks  effect = iota // reads all of them
	looks                // looks at their types or lengths
	keeps                // gives an object with fields of them
	joins                // gives an array with members of them
	equals               // compares two values
	orders               // compares values by their order
	finds                // looks for a value in another one
	gets                 // takes a field
)

func effects() map[string]effect {
	return map[string]effect{
		"count": looks, "is_array": looks, "is_boolean": looks, "is_null": looks, "is_number": looks,
		"is_object": looks, "is_set": looks, "is_string": looks, "type_name": looks,
		"array.concat": joins, "array.reverse": joins, "array.slice": joins, "object.union": keeps,
		"equal": equals, "neq": equals,
		"lt": orders, "lte": orders, "gt": orders, "gte": orders, "max": orders, "min": orders, "sort": orders,
		"internal.member_2": finds, "internal.member_3": finds,
		"object.get": gets,
	}
}

// joinedAt is where arrays are joined; the term is the first argument.
type joinedAt struct{ *ast.Term }

// joined is an array with members of arguments, in any order.
func (t *trace) joined(args []abstract, terms []*ast.Term) abstract {
	c := t.cell(joinedAt{terms[0]})
	for _, arg := range args {
		t.grow(&c.rest, t.members(arg))
	}
	return oneOf(c)
}

// ordered evaluates what compares values, or the members of one, by their order.
func (t *trace) ordered(args []abstract) {
	for _, arg := range args {
		t.sink(arg)
	}
	switch {
	case t.checks == nil:
	case len(args) == 2:
		t.checks.order(t.line, args[0], args[1])
		t.checks.order(t.line, args[1], args[0])
	default:
		t.checks.outcome(t.line, t.members(args[0]))
	}
}

// get is what object.get gives.
func (t *trace) get(args []abstract) abstract {
	found, way, ok := args[0], t.way(args[1]), true
	if way == nil {
		t.sink(args[0])
		t.sink(args[1])
		return anything
	}
	for _, key := range way {
		if t.checks != nil && ok {
			ok = t.checks.field(t.line, found, key)
		}
		found = t.at(found, key)
	}
	var result abstract
	t.merge(&result, found)
	t.merge(&result, args[2])
	return result
}

// way is the constant key, or the constant keys one below the other, that object.get
// follows; nil if it is not known.
func (t *trace) way(v abstract) []string {
	if key, ok := constantKey(v); ok {
		return []string{key}
	}
	if v.unknown || len(v.of) != 1 {
		return nil
	}
	c, ok := v.of[0].(*cell)
	if !ok || len(c.fields) == 0 || len(c.rest.of) > 0 || c.rest.unknown || len(c.keys.of) > 0 {
		return nil
	}
	keys := []string{}
	for i := range len(c.fields) {
		f := c.fields[strconv.Itoa(i)]
		if f == nil {
			return nil
		}
		key, ok := constantKey(*f)
		if !ok {
			return nil
		}
		keys = append(keys, key)
	}
	return keys
}

// library reports whether a place is in a module that is part of the program.
func library(at *ast.Location) bool { return at != nil && strings.HasPrefix(at.File, "lib/") }
