package template

import (
	"fmt"
	"reflect"
	"text/template/parse"
)

// Methods maps the type of a receiver and a name to a method that templates can call: a function
// that takes the receiver first, such as time.Time.Year.
type Methods map[reflect.Type]map[string]any

// of finds a method of a value, which is not a pointer or interface unless that is nil. As in Go,
// an addressable value also has the methods of its pointer.
func (m Methods) of(v reflect.Value, name string) (fn, receiver reflect.Value) {
	if v.CanAddr() {
		if f := m[reflect.PointerTo(v.Type())][name]; f != nil {
			return reflect.ValueOf(f), v.Addr()
		}
	}
	if f := m[v.Type()][name]; f != nil {
		return reflect.ValueOf(f), v
	}
	return said(v, name)
}

// said finds the methods Error and String, with which fmt prints values; any type may have them.
func said(v reflect.Value, name string) (fn, receiver reflect.Value) {
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

// fields follows a chain of names. The last one can be a method with arguments.
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

// field returns a field, an entry of a map, or the result of a method. For an invalid value it
// returns that value.
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

// indirect follows pointers and interfaces to a value, or to the one that is nil.
func indirect(v reflect.Value) (_ reflect.Value, isNil bool) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		if v.IsNil() {
			return v, true
		}
		v = v.Elem()
	}
	return v, false
}

// unpacked returns the value in an interface, which is invalid if the interface is nil.
func unpacked(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}
