package template

import (
	"fmt"
	"reflect"
)

// classes are kinds that behave alike.
type classes int

const (
	others classes = iota
	truths
	texts
	ints
	uints
	floats
	complexes
)

func class(k reflect.Kind) classes {
	switch {
	case k == reflect.Bool:
		return truths
	case k == reflect.String:
		return texts
	case k >= reflect.Int && k <= reflect.Int64:
		return ints
	case k >= reflect.Uint && k <= reflect.Uintptr:
		return uints
	case k == reflect.Float32 || k == reflect.Float64:
		return floats
	case k == reflect.Complex64 || k == reflect.Complex128:
		return complexes
	}
	return others
}

// isTrue is whether a value is not empty. Structs are never empty, nothing is.
func isTrue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Struct:
		return true
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() > 0
	case reflect.Float32, reflect.Float64:
		return v.Float() != 0 // IsZero takes -0 for true
	case reflect.Complex64, reflect.Complex128:
		return v.Complex() != 0
	}
	return !v.IsZero()
}

// noValue is what nothing prints.
const noValue = "<no value>"

// print writes a value as fmt does, what pointers lead to in their place.
func (x *run) print(v reflect.Value) {
	printed, ok := printable(v)
	if !ok {
		x.fail("can't print %s of type %s", x.at, v.Type())
	}
	if _, err := fmt.Fprint(x.out, printed); err != nil {
		x.stop(err)
	}
}

var stringerType = reflect.TypeFor[fmt.Stringer]()

// printable is what fmt prints for a value; functions and channels are not printed.
func printable(v reflect.Value) (any, bool) {
	if v.Kind() == reflect.Pointer {
		v, _ = indirect(v)
	}
	if !v.IsValid() {
		return noValue, true
	}
	t := v.Type()
	switch {
	case words(t):
	case v.CanAddr() && words(reflect.PointerTo(t)):
		v = v.Addr()
	case t.Kind() == reflect.Chan || t.Kind() == reflect.Func:
		return nil, false
	}
	return v.Interface(), true
}

// words is whether values of a type say how they are printed.
func words(t reflect.Type) bool { return t.Implements(errorType) || t.Implements(stringerType) }
