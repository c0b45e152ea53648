package template

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	text "text/template"
	"text/template/parse"
)

// callee is a function or method to call.
type callee struct {
	name string
	fn   reflect.Value
	self []reflect.Value // receiver of a method
	// predefined is set for a function of text/template.
	predefined bool
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
	c := callee{name: n.Ident, fn: reflect.ValueOf(f), predefined: builtin}
	if builtin && (n.Ident == "and" || n.Ident == "or") {
		// "and" and "or" stop at the first argument that determines the result.
		x.checkCount(c, g)
		var v reflect.Value
		for i, n := range g.nodes {
			v = unwrapped(x.argument(n, g.dot, valueType))
			if x.Decides && i+1 < g.count() { // the last one is only returned
				x.must(x.Watch.Decide(c.name, unpacked(v)))
			}
			if isTrue(unpacked(v)) == (c.name == "or") {
				return v
			}
		}
		if g.piped != nil {
			v = unwrapped(x.fit(*g.piped, valueType))
		}
		return v
	}
	return x.call(c, g)
}

// call evaluates the arguments and calls the function.
func (x *run) call(c callee, g given) reflect.Value {
	x.checkCount(c, g)
	t := c.fn.Type()
	args := append(make([]reflect.Value, 0, len(c.self)+g.count()), c.self...)
	for _, n := range g.nodes {
		args = append(args, x.argument(n, g.dot, parameter(t, len(args))))
	}
	if g.piped != nil {
		args = append(args, x.fit(*g.piped, parameter(t, len(args))))
	}
	if x.Decides && (c.predefined || len(c.self) > 0) {
		for _, arg := range args {
			x.must(x.Watch.Decide(c.name, unpacked(unwrapped(arg))))
		}
	}
	if compares[c.name] {
		n := 1 // the cost of comparing strings is added
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

// protected calls a function and turns a panic into an error.
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

// unwrapped returns the value inside a reflect.Value that a function has returned.
func unwrapped(v reflect.Value) reflect.Value {
	if v.IsValid() && v.Type() == valueType {
		return v.Interface().(reflect.Value)
	}
	return v
}

// argument evaluates an argument for a parameter of type t.
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
		switch {
		case t == valueType:
			return reflect.ValueOf(x.simple(n, reflect.Value{}))
		case t.Kind() == reflect.Interface && t.NumMethod() == 0:
			return x.simple(n, reflect.Value{})
		}
		v := reflect.New(t).Elem()
		number, _ := n.(*parse.NumberNode)
		number = cmp.Or(number, &parse.NumberNode{})
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
	return x.fit(x.operand(n, given{dot: dot, node: n}), t)
}

// fit converts a value to a type. It may follow one pointer or take the value's address.
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

// builtins holds the predefined functions of text/template.
var builtins = map[string]any{
	"and":      func(first reflect.Value, more ...reflect.Value) reflect.Value { return first }, // see shortcut
	"or":       func(first reflect.Value, more ...reflect.Value) reflect.Value { return first },
	"not":      func(v reflect.Value) bool { return !isTrue(unpacked(v)) },
	"len":      length,
	"index":    index,
	"slice":    slice,
	"call":     call,
	"print":    fmt.Sprint,
	"printf":   fmt.Sprintf,
	"println":  fmt.Sprintln,
	"html":     text.HTMLEscaper,
	"js":       text.JSEscaper,
	"urlquery": text.URLQueryEscaper,
	"eq":       equalToAny,
	"ne":       func(a, b reflect.Value) (bool, error) { same, err := equalToAny(a, b); return !same, err },
	"lt":       less,
	"le":       lessOrEqual,
	"gt":       func(a, b reflect.Value) (bool, error) { le, err := lessOrEqual(a, b); return !le && err == nil, err },
	"ge":       func(a, b reflect.Value) (bool, error) { lt, err := less(a, b); return !lt && err == nil, err },
}

func length(v reflect.Value) (int, error) {
	v, isNil := indirect(v)
	switch v.Kind() {
	case reflect.String, reflect.Array, reflect.Chan, reflect.Map, reflect.Slice:
		return v.Len(), nil
	}
	if isNil || !v.IsValid() {
		return 0, errors.New("len of nil pointer")
	}
	return 0, fmt.Errorf("len of type %s", v.Type())
}

// index returns v[a][b][c].
func index(v reflect.Value, by ...reflect.Value) (reflect.Value, error) {
	if v = unpacked(v); !v.IsValid() {
		return v, errors.New("index of untyped nil")
	}
	for _, i := range by {
		var isNil bool
		if v, isNil = indirect(v); isNil {
			return v, errors.New("index of nil pointer")
		}
		var err error
		if v, err = indexOne(v, unpacked(i)); err != nil {
			return v, err
		}
	}
	return v, nil
}

func indexOne(v, by reflect.Value) (reflect.Value, error) {
	switch v.Kind() {
	case reflect.Array, reflect.Slice, reflect.String:
		i, err := position(by, v.Len()-1)
		if err != nil {
			return v, err
		}
		return v.Index(i), nil
	case reflect.Map:
		key, err := suited(by, v.Type().Key())
		if err != nil {
			return v, err
		}
		if found := v.MapIndex(key); found.IsValid() {
			return found, nil
		}
		return reflect.Zero(v.Type().Elem()), nil
	}
	return v, fmt.Errorf("can't index item of type %s", v.Type())
}

// position converts an index to an int. It returns an error for a negative index and for one
// greater than the argument "most".
func position(by reflect.Value, most int) (int, error) {
	at := int64(-1)
	switch class(by.Kind()) {
	case ints:
		at = by.Int()
	case uints:
		at = int64(by.Uint())
	default:
		if !by.IsValid() {
			return 0, errors.New("cannot index slice/array with nil")
		}
		return 0, fmt.Errorf("cannot index slice/array with type %s", by.Type())
	}
	if at < 0 || at > int64(most) {
		return 0, fmt.Errorf("index out of range: %d", at)
	}
	return int(at), nil
}

// suited converts a value to a type, for instance between integer types.
func suited(v reflect.Value, t reflect.Type) (reflect.Value, error) {
	if !v.IsValid() {
		if !canBeNil(t) {
			return v, fmt.Errorf("value is nil; should be of type %s", t)
		}
		return reflect.Zero(t), nil
	}
	if v.Type().AssignableTo(t) {
		return v, nil
	}
	if isInteger(v.Kind()) && isInteger(t.Kind()) && v.CanConvert(t) {
		return v.Convert(t), nil
	}
	return v, fmt.Errorf("value has type %s; should be %s", v.Type(), t)
}

func isInteger(k reflect.Kind) bool { return class(k) == ints || class(k) == uints }

// slice returns v[a:b:c]. The indices must not be wrapped in interfaces, as in text/template.
func slice(v reflect.Value, by ...reflect.Value) (reflect.Value, error) {
	if v = unpacked(v); !v.IsValid() {
		return v, errors.New("slice of untyped nil")
	}
	v, isNil := indirect(v)
	most := 0
	switch k := v.Kind(); {
	case isNil:
		return v, errors.New("slice of nil pointer")
	case len(by) > 3:
		return v, fmt.Errorf("too many slice indexes: %d", len(by))
	case k == reflect.String && len(by) == 3:
		return v, errors.New("cannot 3-index slice a string")
	case k == reflect.String:
		most = v.Len()
	case k == reflect.Array || k == reflect.Slice:
		most = v.Cap()
	default:
		return v, fmt.Errorf("can't slice item of type %s", v.Type())
	}
	at := [3]int{0, v.Len(), most}
	for i, one := range by {
		var err error
		if at[i], err = position(one, most); err != nil {
			return v, err
		}
	}
	if at[0] > at[1] || len(by) == 3 && at[1] > at[2] {
		return v, fmt.Errorf("invalid slice index: %v", at[:max(2, len(by))])
	}
	if len(by) == 3 {
		return v.Slice3(at[0], at[1], at[2]), nil
	}
	return v.Slice(at[0], at[1]), nil
}

// call calls a function value.
func call(fn reflect.Value, args ...reflect.Value) (reflect.Value, error) {
	fn = unpacked(fn)
	switch {
	case !fn.IsValid():
		return fn, errors.New("call of nil")
	case fn.Kind() != reflect.Func:
		return fn, fmt.Errorf("non-function of type %s", fn.Type())
	case fn.IsNil():
		return fn, errors.New("call of nil function")
	}
	t := fn.Type()
	if n := t.NumOut(); n != 1 && (n != 2 || t.Out(1) != errorType) {
		return fn, fmt.Errorf("function called with %d results; should be 1 or 2", n)
	}
	fixed := t.NumIn()
	if t.IsVariadic() {
		fixed--
	}
	if len(args) < fixed || len(args) > fixed && !t.IsVariadic() {
		return fn, fmt.Errorf("wrong number of args: got %d want %d", len(args), fixed)
	}
	in := make([]reflect.Value, len(args))
	for i, arg := range args {
		var err error
		if in[i], err = suited(unpacked(arg), parameter(t, i)); err != nil {
			return fn, fmt.Errorf("arg %d: %w", i, err)
		}
	}
	v, err := protected(fn, in)
	return unwrapped(v), err
}
