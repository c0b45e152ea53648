package template

import (
	"fmt"
	"reflect"
	"text/template/parse"
)

// callee is a function or method.
type callee struct {
	name string
	fn   reflect.Value
	self []reflect.Value // the receiver of a method
}

var (
	valueType = reflect.TypeFor[reflect.Value]()
	errorType = reflect.TypeFor[error]()
)

// function calls a function by name.
func (x *run) function(n *parse.IdentifierNode, g given) reflect.Value {
	f := x.set.own[n.Ident]
	if f == nil {
		f = x.set.shared[n.Ident]
	}
	builtin := f == nil
	if builtin {
		f = builtins[n.Ident]
	}
	if f == nil {
		x.fail("%q is not a defined function", n.Ident)
	}
	c := callee{name: n.Ident, fn: reflect.ValueOf(f)}
	if builtin && (n.Ident == "and" || n.Ident == "or") {
		return x.shortcut(c, g)
	}
	return x.call(c, g)
}

// shortcut evaluates the arguments of and or or until one of them determines the result.
func (x *run) shortcut(c callee, g given) reflect.Value {
	x.checkCount(c, g)
	var v reflect.Value
	for _, n := range g.nodes {
		v = unwrapped(x.argument(n, g.dot, valueType))
		if isTrue(unpacked(v)) == (c.name == "or") {
			return v
		}
	}
	if g.piped != nil {
		v = unwrapped(x.fit(*g.piped, valueType))
	}
	return v
}

// call evaluates arguments and calls a function.
func (x *run) call(c callee, g given) reflect.Value {
	x.checkCount(c, g)
	t := c.fn.Type()
	if n := t.NumOut(); n != 1 && (n != 2 || t.Out(1) != errorType) {
		x.fail("can't call method/function %q with %d results", c.name, n)
	}
	args := append(make([]reflect.Value, 0, len(c.self)+g.count()), c.self...)
	for _, n := range g.nodes {
		args = append(args, x.argument(n, g.dot, parameter(t, len(args))))
	}
	if g.piped != nil {
		args = append(args, x.fit(*g.piped, parameter(t, len(args))))
	}
	if compares[c.name] {
		n := 1 // and what comparing texts takes
		for _, arg := range args {
			if v, _ := indirect(unwrapped(arg)); v.Kind() == reflect.String {
				n += v.Len() / bytesPerStep
			}
		}
		x.steps(n)
	}
	v, err := protected(c.fn, args)
	if err != nil {
		x.at = g.node
		x.stop(&callError{c.name, err})
	}
	return unwrapped(v)
}

func (x *run) checkCount(c callee, g given) {
	want, got := c.fn.Type().NumIn()-len(c.self), g.count()
	switch {
	case c.fn.Type().IsVariadic():
		if got < want-1 {
			x.fail("wrong number of args for %s: want at least %d got %d", c.name, want-1, got)
		}
	case got != want:
		x.fail("wrong number of args for %s: want %d got %d", c.name, want, got)
	}
}

// parameter returns the type of the i-th parameter.
func parameter(t reflect.Type, i int) reflect.Type {
	if last := t.NumIn() - 1; t.IsVariadic() && i >= last {
		return t.In(last).Elem()
	}
	return t.In(i)
}

// protected calls a function and converts its panics to errors.
func protected(fn reflect.Value, args []reflect.Value) (v reflect.Value, err error) {
	defer func() {
		r := recover()
		if caught, ok := r.(error); ok {
			err = caught
		} else if r != nil {
			err = fmt.Errorf("%v", r)
		}
	}()
	out := fn.Call(args)
	if len(out) == 2 && !out[1].IsNil() {
		return out[0], out[1].Interface().(error)
	}
	return out[0], nil
}

// unwrapped returns the value in the result of a function that returns a reflect.Value.
func unwrapped(v reflect.Value) reflect.Value {
	if v.IsValid() && v.Type() == valueType {
		return v.Interface().(reflect.Value)
	}
	return v
}

// argument evaluates an argument for a parameter.
func (x *run) argument(n parse.Node, dot reflect.Value, t reflect.Type) reflect.Value {
	switch n := n.(type) {
	case *parse.NilNode:
		x.step(n)
		if !canBeNil(t) {
			x.fail("cannot assign nil to %s", t)
		}
		return reflect.Zero(t)
	case *parse.BoolNode, *parse.NumberNode, *parse.StringNode:
		x.step(n)
		return x.constant(n, t)
	}
	return x.fit(x.operand(n, given{dot: dot, node: n}), t)
}

// constant converts a constant to the type of a parameter.
func (x *run) constant(n parse.Node, t reflect.Type) reflect.Value {
	switch {
	case t == valueType:
		return reflect.ValueOf(x.simple(n, reflect.Value{}))
	case t.Kind() == reflect.Interface && t.NumMethod() == 0:
		return x.simple(n, reflect.Value{})
	}
	v := reflect.New(t).Elem()
	number, _ := n.(*parse.NumberNode)
	if number == nil {
		number = &parse.NumberNode{}
	}
	switch k := class(t.Kind()); {
	case k == truths && n.Type() == parse.NodeBool:
		v.SetBool(n.(*parse.BoolNode).True)
	case k == texts && n.Type() == parse.NodeString:
		v.SetString(n.(*parse.StringNode).Text)
	case k == ints && number.IsInt:
		v.SetInt(number.Int64)
	case k == uints && number.IsUint:
		v.SetUint(number.Uint64)
	case k == floats && number.IsFloat:
		v.SetFloat(number.Float64)
	case k == complexes && number.IsComplex:
		v.SetComplex(number.Complex128)
	default:
		x.fail("expected %s; found %s", t, n)
	}
	return v
}

// fit converts a value to a type, at most by following a pointer or taking an address once.
func (x *run) fit(v reflect.Value, t reflect.Type) reflect.Value {
	if !v.IsValid() {
		if !canBeNil(t) {
			x.fail("invalid value; expected %s", t)
		}
		return reflect.Zero(t)
	}
	if t == valueType && v.Type() != t {
		return reflect.ValueOf(v)
	}
	if v.Kind() == reflect.Interface && !v.IsNil() && !v.Type().AssignableTo(t) {
		v = v.Elem()
	}
	switch from := v.Type(); {
	case from.AssignableTo(t):
		return v
	case from.Kind() == reflect.Pointer && from.Elem().AssignableTo(t):
		if v.IsNil() {
			x.fail("dereference of nil pointer of type %s", t)
		}
		return v.Elem()
	case v.CanAddr() && reflect.PointerTo(from).AssignableTo(t):
		return v.Addr()
	}
	x.fail("wrong type for value; expected %s; got %s", t, v.Type())
	return v
}

func canBeNil(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Interface, reflect.Map, reflect.Pointer, reflect.Slice:
		return true
	}
	return t == valueType
}
