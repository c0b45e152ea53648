package template

import (
	"fmt"
	"reflect"
	"strings"
	"text/template/parse"
)

// given holds the arguments of a function or method: the nodes after its name and the piped value.
type given struct {
	dot   reflect.Value
	node  parse.Node // whole command, for errors
	nodes []parse.Node
	piped *reflect.Value
}

func (g given) count() int {
	if g.piped != nil {
		return len(g.nodes) + 1
	}
	return len(g.nodes)
}

// pipeline evaluates the commands of a pipeline in order and assigns the result to its variables.
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

// find returns the index of the innermost variable with the given name. The search costs steps.
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

// variablesPerStep is the number of variables searched in one step.
const variablesPerStep = 16

// operand evaluates the first node of a command, or an argument.
func (x *run) operand(n parse.Node, g given) reflect.Value {
	if pipe, ok := n.(*parse.PipeNode); ok { // arguments after a pipeline are an error in the enclosing command
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

// alone stops the run if a value has arguments but is not a function.
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
		switch { // no parameter determines the type
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

// looksFloat reports whether a number has a decimal point or an exponent. Letters in hexadecimal
// numbers and in character constants do not count as exponents.
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

// Methods maps a receiver type and a name to a method for templates. The method is a function whose
// first argument is the receiver, such as time.Time.Year.
type Methods map[reflect.Type]map[string]any

// of returns a method of a value. A value that is a pointer or an interface must be nil. As in Go,
// an addressable value also has the methods of its pointer type.
func (m Methods) of(v reflect.Value, name string) (fn, receiver reflect.Value) {
	if v.CanAddr() {
		if f := m[reflect.PointerTo(v.Type())][name]; f != nil {
			return reflect.ValueOf(f), v.Addr()
		}
	}
	if f := m[v.Type()][name]; f != nil {
		return reflect.ValueOf(f), v
	}
	// fmt prints a value with these methods, which need no entry in Methods.
	t := stringerType
	fn = reflect.ValueOf(fmt.Stringer.String)
	switch name {
	case "Error":
		t, fn = errorType, reflect.ValueOf(error.Error)
	case "String":
	default:
		return reflect.Value{}, v
	}
	switch {
	case v.CanAddr() && reflect.PointerTo(v.Type()).Implements(t):
		return fn, v.Addr()
	case v.Type().Implements(t):
		return fn, v
	}
	return reflect.Value{}, v
}

// fields follows a chain of names. The last name may be a method with arguments.
func (x *run) fields(v reflect.Value, n parse.Node, names []string, g given) reflect.Value {
	if len(names) == 0 {
		x.alone(n, g)
		return v
	}
	x.steps(len(names))
	last := len(names) - 1
	for _, name := range names[:last] {
		v = x.field(v, name, given{dot: g.dot, node: n})
	}
	g.node = n
	return x.field(v, names[last], g)
}

// field returns a field, a map entry or the result of a method. An invalid value is returned
// unchanged.
func (x *run) field(v reflect.Value, name string, g given) reflect.Value {
	if !v.IsValid() {
		return v
	}
	target, isNil := indirect(v)
	if isNil && target.Kind() == reflect.Interface {
		x.fail("nil pointer evaluating %s.%s", v.Type(), name)
	}
	if fn, receiver := x.Methods.of(target, name); fn.IsValid() {
		return x.call(callee{name: name, fn: fn, self: []reflect.Value{receiver}}, g)
	}
	switch target.Kind() {
	case reflect.Struct:
		f, ok := target.Type().FieldByName(name)
		if !ok {
			break
		}
		found, err := target.FieldByIndexErr(f.Index)
		switch {
		case !f.IsExported():
			x.fail("%s is an unexported field of struct type %s", name, target.Type())
		case err != nil:
			x.stop(err)
		case g.count() > 0:
			x.fail("%s has arguments but cannot be invoked as function", name)
		}
		return found
	case reflect.Map:
		key, of := reflect.ValueOf(name), target.Type()
		if !key.Type().AssignableTo(of.Key()) {
			break
		}
		if g.count() > 0 {
			x.fail("%s is not a method but has arguments", name)
		}
		if found := target.MapIndex(key); found.IsValid() {
			return found
		}
		return reflect.Zero(of.Elem())
	case reflect.Pointer:
		if of := target.Type().Elem(); isNil && of.Kind() == reflect.Struct {
			if _, has := of.FieldByName(name); has {
				x.fail("nil pointer evaluating %s.%s", v.Type(), name)
			}
		}
	}
	x.fail("can't evaluate field %s in type %s", name, v.Type())
	return reflect.Value{}
}

// indirect follows pointers and interfaces until it reaches a value or nil.
func indirect(v reflect.Value) (_ reflect.Value, isNil bool) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return v, true
		}
		v = v.Elem()
	}
	return v, false
}

// unpacked returns the value inside an interface, or the invalid Value for a nil interface.
func unpacked(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}
