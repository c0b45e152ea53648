package template

import (
	"errors"
	"fmt"
	"reflect"
	text "text/template"
)

// builtins holds the functions of text/template.
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

// position converts an index, which may be at most most.
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

// suited converts a value to a type. It converts between integer types.
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

// slice returns v[a:b:c]. As in text/template, an index must not be in an interface.
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

// call calls a function that is a value.
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
