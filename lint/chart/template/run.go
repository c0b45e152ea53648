package template

import (
	"io"
	"reflect"
	"text/template/parse"
)

// Machine executes templates. Functions may start further runs on it.
type Machine struct {
	Watch   Watch
	Methods Methods
	// MaxDepth is how deeply blocks, parentheses and templates may be nested, in all runs
	// together.
	MaxDepth int

	depth int
}

// Watch is told what runs do. An error that it returns stops the run at the current node.
type Watch interface {
	// Step is called before n steps are taken.
	Step(n int) error
	// Text is called before a text is written.
	Text(*Template, *parse.TextNode) error
	// Value is called before the value of an action is written.
	Value(*Template, *parse.ActionNode, reflect.Value, Scope) error
	// Enter is called before a template action executes a template, Leave after it ended
	// without an error.
	Enter() error
	Leave()
}

// Scope is what an action sees.
type Scope struct {
	Dot       reflect.Value
	variables []variable
}

// Steps are what looking a variable up takes at most.
func (s Scope) Steps() int { return len(s.variables)/variablesPerStep + 1 }

// Variable is the value of a variable, whose name starts with a dollar sign; invalid if
// there is none.
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

// run is the execution of one template.
type run struct {
	*Machine
	set       *Set
	template  *Template
	out       io.Writer
	variables []variable
	at        parse.Node // for errors
}

// Execute writes what a template of a set prints. The error is an *Error.
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

// step counts, and sets the node that errors are about.
func (x *run) step(n parse.Node) {
	x.at = n
	x.steps(1)
}

func (x *run) steps(n int) {
	x.must(x.Watch.Step(n))
}

// must stops the execution if there is an error.
func (x *run) must(err error) {
	if err != nil {
		x.stop(err)
	}
}

// deeper counts a level of recursion. It must be followed by x.depth--, unless the run ends.
func (x *run) deeper() {
	if x.depth++; x.depth > x.MaxDepth {
		x.fail("blocks, parentheses and templates are limited to a depth of %d", x.MaxDepth)
	}
}

// flow is how the execution goes on after a node.
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
		if len(n.Pipe.Decl) > 0 { // it sets a variable
			break
		}
		x.at = n
		x.must(x.Watch.Value(x.template, n, v, Scope{dot, x.variables}))
		x.print(v)
	case *parse.TemplateNode:
		x.invoke(dot, n)
	case *parse.IfNode:
		return x.branch(dot, &n.BranchNode)
	case *parse.WithNode:
		return x.branch(dot, &n.BranchNode)
	case *parse.RangeNode:
		return x.loop(dot, n)
	case *parse.BreakNode:
		return broken
	case *parse.ContinueNode:
		return continued
	}
	return onward
}

// invoke executes another template, which sees no variables of this one.
func (x *run) invoke(dot reflect.Value, n *parse.TemplateNode) {
	t := x.set.Lookup(n.Name)
	if t == nil {
		x.fail("template %q not defined", n.Name)
	}
	x.must(x.Watch.Enter())
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

// branch executes one of the lists of if or with.
func (x *run) branch(dot reflect.Value, b *parse.BranchNode) flow {
	x.deeper()
	mark := len(x.variables)
	v := x.pipeline(dot, b.Pipe)
	list := b.ElseList
	if isTrue(unpacked(v)) {
		list = b.List
		if b.NodeType == parse.NodeWith {
			dot = v
		}
	}
	f := x.list(dot, list)
	x.variables = x.variables[:mark]
	x.depth--
	return f
}
