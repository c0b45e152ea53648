package template

import (
	"cmp"
	"io"
	"iter"
	"reflect"
	"sort"
	"strconv"
	"text/template/parse"
)

// Machine executes templates. Functions called by a template may start further runs.
type Machine struct {
	Watch Watch
	// Decides is set if Watch.Decide is to be called.
	Decides bool
	Methods Methods
	// MaxDepth is the maximum nesting depth of blocks, parentheses and templates, including nested
	// runs.
	MaxDepth int

	depth int
}

// A Watch follows the execution of templates. If a method returns an error, the run stops at the
// current node.
type Watch interface {
	// Step is called before n steps are taken.
	Step(n int) error
	// Text is called before a text node is written.
	Text(*Template, *parse.TextNode) error
	// Value is called before an action's value is written.
	Value(*Template, *parse.ActionNode, reflect.Value, Scope) error
	// Decide is called before a value decides which node is executed next, or is an argument of a
	// predefined function or method. The argument "what" names the node or the function.
	Decide(what string, v reflect.Value) error
	// Branch is called before a branch of an if action is executed. The scope is the one in which
	// the condition was evaluated, and omitted is the other branch, or nil. Join is called after the
	// branch, unless there was an error.
	Branch(_ *Template, _ *parse.IfNode, omitted *parse.ListNode, _ Scope) error
	Join()
	// Enter is called before a template action executes another template. Leave is called
	// afterwards, unless there was an error.
	Enter(*Template, *parse.TemplateNode) error
	Leave()
}

// Scope holds the dot and the variables that an action sees.
type Scope struct {
	Dot       reflect.Value
	variables []variable
}

// Steps returns the maximum cost of a variable lookup.
func (s Scope) Steps() int { return len(s.variables)/variablesPerStep + 1 }

// Variable returns the value of a variable, or the invalid Value if there is no such variable. The
// name begins with a dollar sign.
func (s Scope) Variable(name string) reflect.Value {
	for i := len(s.variables) - 1; i >= 0; i-- {
		if s.variables[i].name == name {
			return s.variables[i].value
		}
	}
	return reflect.Value{}
}

type variable struct {
	name  string
	value reflect.Value
}

// run represents one execution of a template.
type run struct {
	*Machine
	set       *Set
	template  *Template
	out       io.Writer
	variables []variable
	at        parse.Node // current node, for errors
}

// Execute executes a template of a set. The error is an *Error.
func (m *Machine) Execute(w io.Writer, s *Set, t *Template, dot any) (err error) {
	depth := m.depth
	defer func() {
		m.depth = depth
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		default:
			panic(r)
		}
	}()
	value, ok := dot.(reflect.Value)
	if !ok {
		value = reflect.ValueOf(dot)
	}
	x := &run{Machine: m, set: s, template: t, out: w, variables: []variable{{"$", value}}}
	x.list(value, t.root)
	return nil
}

// step counts a step and makes n the current node.
func (x *run) step(n parse.Node) {
	x.at = n
	x.steps(1)
}

func (x *run) steps(n int) {
	x.must(x.Watch.Step(n))
}

// must stops the run if err is not nil.
func (x *run) must(err error) {
	if err != nil {
		x.stop(err)
	}
}

// deeper enters a recursion level. To leave the level, callers must decrement x.depth. After the
// run has stopped, this is not necessary.
func (x *run) deeper() {
	if x.depth++; x.depth > x.MaxDepth {
		x.fail("blocks, parentheses and templates are limited to a depth of %d", x.MaxDepth)
	}
}

// flow says how execution continues after a node.
type flow int

const (
	onward flow = iota
	broken
	continued
)

func (x *run) list(dot reflect.Value, l *parse.ListNode) flow {
	if l == nil {
		return onward
	}
	for _, n := range l.Nodes {
		x.step(n)
		if f := x.node(dot, n); f != onward {
			return f
		}
	}
	return onward
}

func (x *run) node(dot reflect.Value, n parse.Node) flow {
	switch n := n.(type) {
	case *parse.TextNode:
		x.must(x.Watch.Text(x.template, n))
		_, err := x.out.Write(n.Text)
		x.must(err)
	case *parse.ActionNode:
		v := x.pipeline(dot, n.Pipe)
		if len(n.Pipe.Decl) > 0 { // the action only sets a variable
			break
		}
		x.at = n
		x.must(x.Watch.Value(x.template, n, v, Scope{dot, x.variables}))
		x.print(v)
	case *parse.TemplateNode:
		x.invoke(dot, n)
	case *parse.IfNode:
		return x.branch(dot, &n.BranchNode, n)
	case *parse.WithNode:
		return x.branch(dot, &n.BranchNode, nil)
	case *parse.RangeNode:
		// Before the first iteration and in the else list, the variables hold the value of the whole pipeline.
		x.deeper()
		mark := len(x.variables)
		v, _ := indirect(x.pipeline(dot, n.Pipe))
		body := len(x.variables)
		ran := x.each(v, n.Pipe, func(key, item reflect.Value) bool {
			x.step(n)
			values := []reflect.Value{key, item}[2-min(2, len(n.Pipe.Decl)):] // the item, or the key and the item
			for i, v := range values {
				if n.Pipe.IsAssign {
					x.variables[x.find(n.Pipe.Decl[i].Ident[0])].value = v
				} else {
					x.variables[body-len(values)+i].value = v
				}
			}
			f := x.list(item, n.List)
			x.variables = x.variables[:body]
			return f != broken
		})
		f := onward
		if !ran {
			f = x.list(dot, n.ElseList)
			if f == broken { // a break in else ends this range, but a continue applies to the enclosing one
				f = onward
			}
		}
		x.variables = x.variables[:mark]
		x.depth--
		return f
	case *parse.BreakNode:
		return broken
	case *parse.ContinueNode:
		return continued
	}
	return onward
}

// invoke executes another template, which does not see the variables of the current template.
func (x *run) invoke(dot reflect.Value, n *parse.TemplateNode) {
	t := x.set.Lookup(n.Name)
	if t == nil {
		x.fail("template %q not defined", n.Name)
	}
	x.must(x.Watch.Enter(x.template, n))
	x.deeper()
	mark := len(x.variables)
	dot = x.pipeline(dot, n.Pipe)
	x.variables = x.variables[:mark]
	inner := *x
	inner.template, inner.variables = t, []variable{{"$", dot}}
	inner.list(dot, t.root)
	x.depth--
	x.Watch.Leave()
}

// branch executes an if or with action. For an if action, watched is its node.
func (x *run) branch(dot reflect.Value, b *parse.BranchNode, watched *parse.IfNode) flow {
	x.deeper()
	mark := len(x.variables)
	v := x.pipeline(dot, b.Pipe)
	if x.Decides {
		x.must(x.Watch.Decide("a condition", unpacked(v)))
	}
	list, omitted := b.ElseList, b.List
	if isTrue(unpacked(v)) {
		list, omitted = b.List, b.ElseList
		if b.NodeType == parse.NodeWith {
			dot = v
		}
	}
	if watched != nil {
		x.must(x.Watch.Branch(x.template, watched, omitted, Scope{dot, x.variables}))
	}
	f := x.list(dot, list)
	if watched != nil {
		x.Watch.Join()
	}
	x.variables = x.variables[:mark]
	x.depth--
	return f
}

// each calls yield for each element of a value until yield returns false. It reports whether the
// value has any elements.
func (x *run) each(v reflect.Value, p *parse.PipeNode, yield func(key, item reflect.Value) bool) (ran bool) {
	var all iter.Seq2[reflect.Value, reflect.Value]
	switch k := v.Kind(); {
	case k == reflect.Invalid:
		return false
	case k == reflect.Slice || k == reflect.Array:
		all = v.Seq2()
	case k == reflect.Map:
		x.steps(v.Len())
		all = sortedEntries(v)
	case class(k) == ints || class(k) == uints || k == reflect.Func && v.Type().CanSeq(): // has no keys
		if len(p.Decl) > 1 {
			x.fail("can't use %v to iterate over more than one variable", v)
		}
		all = func(yield func(key, item reflect.Value) bool) {
			v.Seq()(func(item reflect.Value) bool { return yield(reflect.Value{}, item) })
		}
	case k == reflect.Func && v.Type().CanSeq2():
		all = v.Seq2()
	default:
		x.fail("range can't iterate over %v", v)
	}
	for key, item := range all {
		if v.Kind() == reflect.Func && key.IsValid() && len(p.Decl) < 2 { // the first of the two values counts as the item
			item = key
		}
		if ran = true; !yield(key, item) {
			break
		}
	}
	return ran
}

// sortedEntries returns the entries of a map in key order. Iterations may change the map, so the
// entries are copied first.
func sortedEntries(m reflect.Value) iter.Seq2[reflect.Value, reflect.Value] {
	type entry struct{ key, value reflect.Value }
	all := make([]entry, 0, m.Len())
	for at := m.MapRange(); at.Next(); {
		all = append(all, entry{at.Key(), at.Value()})
	}
	sort.Slice(all, func(i, j int) bool { return compareKeys(all[i].key, all[j].key) < 0 })
	return func(yield func(key, value reflect.Value) bool) {
		for _, e := range all {
			if !yield(e.key, e.value) {
				return
			}
		}
	}
}

// compareKeys orders map keys, which are scalars in all maps that a chart can make. Keys of different
// kinds are ordered by kind.
func compareKeys(a, b reflect.Value) int {
	a, b = unpacked(a), unpacked(b)
	if a.Kind() != b.Kind() {
		return cmp.Compare(a.Kind(), b.Kind())
	}
	switch class(a.Kind()) {
	case texts:
		return cmp.Compare(a.String(), b.String())
	case ints:
		return cmp.Compare(a.Int(), b.Int())
	case uints:
		return cmp.Compare(a.Uint(), b.Uint())
	case floats:
		return cmp.Compare(a.Float(), b.Float())
	case truths:
		return cmp.Compare(strconv.FormatBool(a.Bool()), strconv.FormatBool(b.Bool()))
	}
	return 0
}
