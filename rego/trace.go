package rego

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/sorting"
)

// Limits on how many values the analysis visits in a module and in a run. A 3 KiB module takes
// about 2,000 visits.
const (
	maxTrace  = 300_000
	maxTraces = 6_000_000
)

// tracer analyzes compiled modules. For every term, it finds the positions in the facts schema that
// the term's value can come from. It starts at input and follows references, unification, arguments
// and results until it finds nothing new. The result shows which facts a rule reads and which
// constants it compares with which fields.
//
// The tracer works on compiler output, which is simpler than Rego source. In compiler output,
// nested references and calls are separate expressions, and variables are always bound before they
// are used.
type tracer struct {
	root  *node                  // input's node
	rules map[string][]*ast.Rule // rules by the constant prefix of their references
	names []string               // sorted keys of rules
	inner map[string]bool        // references to packages and to other prefixes of rules
	left  int                    // steps left for all modules
	// foreign lists the files of libraries whose input is not the facts.
	foreign map[string]bool
}

// trace is the analysis of a single module.
type trace struct {
	*tracer
	states  map[*ast.Rule]*state
	order   []*state // in the order in which the analysis reached them
	cells   map[any]*cell
	sunk    map[*cell]bool // cells that readAll has already visited in this pass
	reads   reads
	changed bool
	over    bool   // whether the analysis ended early
	why     string // why the analysis ended early
	steps   int
	checks  *checks // nil until the analysis is complete
	line    *ast.Location
	of      *state // the rule that is being evaluated
	// replaced is set while an expression is evaluated that replaces input.
	replaced bool
}

// state holds the values found so far for one definition of a rule or function.
type state struct {
	rule   *ast.Rule
	params []abstract
	result abstract
	// sees is set if the facts can be the rule's input, because not every expression that leads to
	// the rule replaces input.
	sees bool
}

// scope maps variables in a body to their possible values.
type scope map[ast.Var]abstract

func newTracer(c *ast.Compiler, root *node) *tracer {
	all := &tracer{root: root, rules: map[string][]*ast.Rule{}, inner: map[string]bool{}, left: maxTraces}
	for _, file := range sorting.Keys(c.Modules) {
		for _, r := range c.Modules[file].Rules {
			prefix := r.Ref().ConstantPrefix()
			all.rules[prefix.String()] = append(all.rules[prefix.String()], r)
			for i := 1; i < len(prefix); i++ {
				all.inner[prefix[:i].String()] = true
			}
		}
	}
	all.names = sorting.Keys(all.rules)
	return all
}

// analyse returns the fields of the facts that each custom rule reads. The error lists all wrong
// values in the rules, such as a constant that an enumeration does not contain.
func analyse(c *ast.Compiler, own []*module, foreign map[string]bool) (map[*module]reads, error) {
	all, found := newTracer(c, factsNode()), map[*module]reads{}
	all.foreign = foreign
	var faults []fault
	for _, m := range own {
		read, wrong := all.module(c.Modules[m.file])
		found[m], faults = read, append(faults, wrong...)
	}
	return found, join(faultErrors(faults))
}

// module analyzes a single module. It returns the faults in the module and the fields that the
// module's report reads. A library has no report, so only its faults matter.
func (all *tracer) module(m *ast.Module) (reads, []fault) {
	t := &trace{tracer: all, states: map[*ast.Rule]*state{}, cells: map[any]*cell{}, sunk: map[*cell]bool{}}
	t.reads = reads{paths: map[string]bool{}}
	reported := reports(m)
	t.settle(reported, reported)
	found := reads{t.reads.all || t.over, maps.Clone(t.reads.paths)} // a copy, because t.reads may still change
	t.settle(m.Rules, reported)
	if !t.over {
		t.checks = &checks{}
		t.pass()
	}
	if t.over { // an incomplete analysis would find faults that do not exist
		return found, []fault{{m.Package.Location, t.why}}
	}
	return found, t.checks.found
}

// settle evaluates the given rules, and all rules they refer to, until the results no longer
// change.
func (t *trace) settle(roots, reported []*ast.Rule) {
	for _, r := range roots {
		t.state(r)
	}
	for t.changed = true; t.changed && !t.over; {
		t.changed = false
		t.pass()
		for _, r := range reported {
			t.readAll(t.state(r).result)
		}
	}
}

func (t *trace) pass() {
	clear(t.sunk)
	for i := 0; i < len(t.order) && !t.over; i++ { // the loop may append to order
		t.rule(t.order[i])
	}
}

func (t *trace) step(n int) {
	if t.steps += n; t.steps > maxTrace {
		t.end("checking its values against the facts takes more than %d steps; a wrong one would never be reported, so split the file, or write functions that call fewer others", maxTrace)
	}
	if t.left -= n; t.left < 0 {
		t.end("checking the values of all rules against the facts takes more than %d steps, and this file comes after them; load fewer rules", maxTraces)
	}
}

// end ends the analysis early. If end is called more than once, the first reason counts.
func (t *trace) end(format string, args ...any) {
	if !t.over {
		t.over, t.why = true, fmt.Sprintf(format, args...)
	}
}

// giveUpAt ends the analysis at a construct that the compiler should never produce.
func (t *trace) giveUpAt(at *ast.Location) {
	if at = cmp.Or(at, t.line); at == nil {
		at = &ast.Location{}
	}
	t.end("its values cannot be checked against the facts because of %q in line %d; write that in another way", cut(string(at.Text)), at.Row)
}

// state returns a rule's state. If the rule is new, state adds it to the analysis.
func (t *trace) state(r *ast.Rule) *state {
	s, ok := t.states[r]
	if !ok {
		s = &state{rule: r, params: make([]abstract, len(r.Head.Args))}
		t.states[r], t.order, t.changed = s, append(t.order, s), true
	}
	if !s.sees && !t.replaced && (t.of == nil || t.of.sees) {
		s.sees, t.changed = true, true
	}
	return s
}

// rule evaluates a rule definition and its else branches.
func (t *trace) rule(s *state) {
	t.of = s
	defer func() { t.of = nil }()
	for r := s.rule; r != nil; r = r.Else {
		t.step(1)
		env := scope{}
		for i, arg := range s.rule.Head.Args {
			t.line = arg.Location
			t.match(arg, s.params[i], env)
		}
		t.body(r.Body, env)
		t.grow(&s.result, t.head(r, env))
	}
}

// head returns a rule's result: a value, a set or nested objects. The result consists of nested
// objects if the rule's reference has variable keys.
func (t *trace) head(r *ast.Rule, env scope) abstract {
	var v abstract
	switch {
	case r.Head.RuleKind() == ast.MultiValue:
		c := t.cell(r)
		t.addMember(c, t.value(r.Head.Key, env))
		v = oneOf(c)
	case r.Head.Value != nil:
		v = t.value(r.Head.Value, env)
	}
	ref := r.Ref()
	for i := len(ref) - 1; i >= len(ref.ConstantPrefix()); i-- {
		c := t.cell(ref[i])
		t.addField(c, ref[i], v, env)
		v = oneOf(c)
	}
	return v
}

// body evaluates the expressions in a body in order. Variables that they bind are added to env.
func (t *trace) body(body ast.Body, env scope) {
	for _, e := range body {
		t.step(1)
		if t.over {
			return
		}
		outer := t.replaced
		for _, w := range e.With {
			target, ok := w.Target.Value.(ast.Ref)
			if !ok || !target.HasPrefix(ast.InputRootRef) && !target.HasPrefix(inventoryRef()) {
				t.reads.all = true // another rule or function can do anything with its arguments
			}
			t.readAll(t.value(w.Value, env))
			t.replaced = t.replaced || target.Equal(ast.InputRootRef)
		}
		inner := env
		if e.Negated {
			inner = maps.Clone(env)
		}
		t.line = e.Location
		t.expr(e, inner)
		t.replaced = outer
	}
}

func (t *trace) expr(e *ast.Expr, env scope) {
	switch terms := e.Terms.(type) {
	case *ast.Term:
		t.value(terms, env)
	case *ast.Every:
		domain := t.value(terms.Domain, env)
		inner := maps.Clone(env)
		if terms.Key != nil {
			t.match(terms.Key, t.keys(domain), inner)
		}
		t.match(terms.Value, t.members(domain), inner)
		t.body(terms.Body, inner)
	case []*ast.Term:
		op, ok := terms[0].Value.(ast.Ref)
		switch {
		case !ok:
			t.giveUpAt(e.Location)
		case op.Equal(ast.Equality.Ref()) && len(terms) == 3:
			t.unify(terms[1], terms[2], env)
		default:
			t.call(op, terms[1:], env)
		}
	}
}

// value returns the possible values of a term. All variables in the term must be bound.
func (t *trace) value(term *ast.Term, env scope) abstract {
	t.step(1)
	if t.over {
		return anything
	}
	switch v := term.Value.(type) {
	case ast.Var:
		known, ok := env[v]
		if ok {
			return known
		}
		if v.Equal(ast.InputRootDocument.Value) {
			if t.of != nil && t.foreign[t.of.rule.Location.File] {
				t.reads.all = t.reads.all || t.of.sees
				return anything
			}
			return oneOf(t.root)
		}
		t.giveUpAt(term.Location)
		return anything
	case ast.Ref: // evaluating a reference binds its unbound variables
		if v[0].Equal(ast.DefaultRootDocument) {
			return t.data(v, env)
		}
		return t.follow(t.value(v[0], env), v[1:], env)
	case *ast.Array, ast.Object, ast.Set:
		c := t.cell(term)
		switch v := term.Value.(type) {
		case *ast.Array:
			for i := range v.Len() {
				t.grow(c.field(strconv.Itoa(i)), t.value(v.Elem(i), env))
			}
		case ast.Set:
			for _, member := range v.Slice() {
				t.addMember(c, t.value(member, env))
			}
		case ast.Object:
			for _, key := range v.Keys() {
				t.addField(c, key, t.value(v.Get(key), env), env)
			}
		}
		return oneOf(c)
	case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
		return t.comprehension(v, env)
	case ast.Call:
		t.giveUpAt(term.Location)
		return anything
	}
	return oneOf(term)
}

func (t *trace) comprehension(v ast.Value, env scope) abstract {
	c, env := t.cell(v), maps.Clone(env)
	switch v := v.(type) {
	case *ast.ArrayComprehension:
		t.body(v.Body, env)
		t.grow(&c.rest, t.value(v.Term, env))
	case *ast.SetComprehension:
		t.body(v.Body, env)
		t.addMember(c, t.value(v.Term, env))
	case *ast.ObjectComprehension:
		t.body(v.Body, env)
		t.addField(c, v.Key, t.value(v.Value, env), env)
	}
	return oneOf(c)
}

// visit records that a rule reads a node but not the fields below it. If the node is a scalar or
// has no known schema, visit records that the rule reads the node completely.
func (t *trace) visit(n *node) {
	if n.scalar() || n.kind == "" {
		t.whole(n)
	} else if _, known := t.reads.paths[n.path]; !known {
		t.reads.paths[n.path] = false
	}
}

// whole records that a rule reads a node and everything below the node.
func (t *trace) whole(n *node) {
	if n.path == "" {
		t.reads.all = true
	}
	t.reads.paths[n.path] = true
}

// readAll records that everything in a value is read. The analysis then stops following the value.
func (t *trace) readAll(v abstract) {
	for _, member := range v.of {
		t.step(1)
		switch m := member.(type) {
		case *node:
			t.whole(m)
		case *cell:
			if t.sunk[m] {
				continue
			}
			t.sunk[m] = true
			t.readAll(m.keys)
			t.readAll(m.rest)
			for _, key := range sorting.Keys(m.fields) {
				t.readAll(*m.fields[key])
			}
		}
	}
}

// call evaluates a function call. If there is a term after the arguments, it receives the result.
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
	for _, r := range rules { // each definition of a function gets the arguments
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

// builtin returns the result of a built-in function. If the function is not listed in effects, it
// counts as reading its arguments completely, and its result can be anything.
func (t *trace) builtin(name string, args []abstract, terms []*ast.Term) abstract {
	switch kind := effects[name]; {
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
	for _, arg := range args {
		t.readAll(arg)
	}
	return anything
}

// effect describes what a built-in function does with its arguments.
type effect int

const (
	sinks  effect = iota // reads its arguments completely
	looks                // reads only the types or lengths of its arguments
	keeps                // returns an object with some fields of its arguments
	joins                // returns an array with the members of its arguments
	equals               // compares two values
	orders               // orders values
	finds                // searches for one value in another
	gets                 // reads an object's field
)

var effects = map[string]effect{
	"count": looks, "is_array": looks, "is_boolean": looks, "is_null": looks, "is_number": looks,
	"is_object": looks, "is_set": looks, "is_string": looks, "type_name": looks,
	"array.concat": joins, "array.reverse": joins, "array.slice": joins, "object.union": keeps,
	"equal": equals, "neq": equals,
	"lt": orders, "lte": orders, "gt": orders, "gte": orders, "max": orders, "min": orders, "sort": orders,
	"internal.member_2": finds, "internal.member_3": finds,
	"object.get": gets,
}

// joinedAt identifies a call that joins arrays. The term is the call's first argument.
type joinedAt struct{ *ast.Term }

// joined returns an array with the members of all arguments. Their order does not matter.
func (t *trace) joined(args []abstract, terms []*ast.Term) abstract {
	c := t.cell(joinedAt{terms[0]})
	for _, arg := range args {
		t.grow(&c.rest, t.members(arg))
	}
	return oneOf(c)
}

// way returns the constant keys passed to object.get, which takes either a single key or a path. It
// returns nil if any key is not constant.
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
