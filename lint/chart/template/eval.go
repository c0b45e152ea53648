package template

import (
	"reflect"
	"strings"
	"text/template/parse"
)

// given holds the arguments of a function or method: the nodes after its name, and the piped value.
type given struct {
	dot   reflect.Value
	node  parse.Node // the whole command, for errors
	nodes []parse.Node
	piped *reflect.Value
}

func (g given) count() int {
	if g.piped != nil {
		return len(g.nodes) + 1
	}
	return len(g.nodes)
}

// pipeline evaluates commands one after the other, and sets variables to the result.
func (x *run) pipeline(dot reflect.Value, p *parse.PipeNode) reflect.Value {
	if p == nil {
		return reflect.Value{}
	}
	x.step(p)
	x.deeper()
	var v reflect.Value
	var piped *reflect.Value
	for _, c := range p.Cmds {
		v = x.operand(c.Args[0], given{dot, c, c.Args[1:], piped})
		if v.Kind() == reflect.Interface && v.NumMethod() == 0 {
			v = v.Elem()
		}
		piped = &v
	}
	for _, d := range p.Decl {
		if p.IsAssign {
			x.variables[x.find(d.Ident[0])].value = v
		} else {
			x.variables = append(x.variables, variable{d.Ident[0], v})
		}
	}
	x.depth--
	return v
}

// find returns the index of the innermost variable with a name. The search counts as steps.
func (x *run) find(name string) int {
	for i := len(x.variables) - 1; i >= 0; i-- {
		if x.variables[i].name == name {
			x.steps((len(x.variables) - i) / variablesPerStep)
			return i
		}
	}
	x.fail("undefined variable: %s", name)
	return -1
}

// variablesPerStep is the number of variables that one step skips.
const variablesPerStep = 16

// operand evaluates the first node of a command, or an argument, which has no arguments of its own.
func (x *run) operand(n parse.Node, g given) reflect.Value {
	if pipe, ok := n.(*parse.PipeNode); ok { // arguments of it are an error of the enclosing command
		x.alone(n, g)
		return x.pipeline(g.dot, pipe)
	}
	x.step(n)
	switch n := n.(type) {
	case *parse.FieldNode:
		return x.fields(g.dot, n, n.Ident, g)
	case *parse.VariableNode:
		return x.fields(x.variables[x.find(n.Ident[0])].value, n, n.Ident[1:], g)
	case *parse.ChainNode:
		x.deeper()
		base := x.operand(n.Node, given{dot: g.dot, node: n.Node})
		x.depth--
		return x.fields(base, n, n.Field, g)
	case *parse.IdentifierNode:
		return x.function(n, g)
	}
	x.alone(n, g)
	return x.simple(n, g.dot)
}

// alone fails if a value that is not a function has arguments.
func (x *run) alone(n parse.Node, g given) {
	if g.count() > 0 {
		x.fail("can't give argument to non-function %s", n)
	}
}

// simple evaluates a node that takes no arguments.
func (x *run) simple(n parse.Node, dot reflect.Value) reflect.Value {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.BoolNode:
		return reflect.ValueOf(n.True)
	case *parse.StringNode:
		return reflect.ValueOf(n.Text)
	case *parse.NumberNode:
		switch { // nothing determines the type
		case n.IsComplex:
			return reflect.ValueOf(n.Complex128)
		case n.IsFloat && looksFloat(n.Text):
			return reflect.ValueOf(n.Float64)
		case n.IsInt && int64(int(n.Int64)) == n.Int64:
			return reflect.ValueOf(int(n.Int64))
		}
		x.fail("%s overflows int", n.Text)
	case *parse.NilNode:
		x.fail("nil is not a command")
	}
	x.fail("can't evaluate command %q", n)
	return reflect.Value{}
}

// looksFloat reports whether a number has a point or an exponent. Letters in hexadecimal numbers
// and in character constants do not count.
func looksFloat(text string) bool {
	hex := len(text) > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')
	switch {
	case text[0] == '\'':
		return false
	case hex && !strings.ContainsAny(text, "pP"):
		return false
	}
	return strings.ContainsAny(text, ".eEpP")
}
