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

// print writes a value as fmt does, what pointers lead to in their place; functions and channels are
// not printed.
func (x *run) print(v reflect.Value) {
	given := v
	if v.Kind() == reflect.Pointer {
		v, _ = indirect(v)
	}
	var printed any = noValue
	switch {
	case !v.IsValid():
	case words(v.Type()):
		printed = v.Interface()
	case v.CanAddr() && words(reflect.PointerTo(v.Type())):
		printed = v.Addr().Interface()
	case v.Kind() == reflect.Chan || v.Kind() == reflect.Func:
		x.fail("can't print %s of type %s", x.at, given.Type())
	default:
		printed = v.Interface()
	}
	_, err := fmt.Fprint(x.out, printed)
	x.must(err)
}

var stringerType = reflect.TypeFor[fmt.Stringer]()

// words is whether values of a type say how they are printed.
func words(t reflect.Type) bool { return t.Implements(errorType) || t.Implements(stringerType) }
