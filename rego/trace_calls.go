package rego

import (
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
)

// call evaluates the call of a function. The term after its arguments gets the result.
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
	if len(rules) == 0 {
		result = t.builtin(name, args, terms)
	}
	for _, r := range rules { // all definitions of a function get the arguments
		s := t.state(r)
		for i, arg := range args[:min(len(args), len(s.params))] {
			t.grow(&s.params[i], arg)
		}
		t.merge(&result, s.result)
	}
	for _, out := range terms[arity:] {
		t.match(out, result, env)
	}
}

// builtin returns the result of a built-in function. One that is not listed reads its arguments
// completely, so its result may be anything.
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
		t.readAll(arg)
	}
	return anything
}

// effect is the use that a built-in function makes of its arguments.
type effect int

const (
	sinks  effect = iota // reads them completely
	looks                // reads their types or lengths
	keeps                // returns an object with fields of them
	joins                // returns an array with members of them
	equals               // compares two values
	orders               // compares values by their order
	finds                // looks for a value in another one
	gets                 // reads a field
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

// joinedAt identifies a call that joins arrays, by its first argument.
type joinedAt struct{ *ast.Term }

// joined returns an array with members of arguments, in any order.
func (t *trace) joined(args []abstract, terms []*ast.Term) abstract {
	c := t.cell(joinedAt{terms[0]})
	for _, arg := range args {
		t.grow(&c.rest, t.members(arg))
	}
	return oneOf(c)
}

// ordered evaluates a function that compares values, or the members of one value, by their order.
func (t *trace) ordered(args []abstract) {
	for _, arg := range args {
		t.readAll(arg)
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

// get returns the result of object.get.
func (t *trace) get(args []abstract) abstract {
	found, way, ok := args[0], t.way(args[1]), true
	if way == nil {
		t.readAll(args[0])
		t.readAll(args[1])
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

// way returns the constant key of object.get, or the constant keys of a path, or nil if they are
// unknown.
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
