package template

import (
	"errors"
	"fmt"
	"reflect"
)

// compares are the functions that look at whole texts.
var compares = map[string]bool{"eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true}

// bytesPerStep is how many bytes are compared in a step.
const bytesPerStep = 32

// lengths are the steps that comparing texts takes.
func lengths(args []reflect.Value) int {
	n := 1
	for _, arg := range args {
		if v, _ := indirect(unwrapped(arg)); v.Kind() == reflect.String {
			n += v.Len() / bytesPerStep
		}
	}
	return n
}

var (
	errIncompatible = errors.New("incompatible types for comparison")
	errUnordered    = errors.New("invalid type for comparison")
)

// equalToAny is whether the first argument is equal to one of the others.
func equalToAny(a reflect.Value, others ...reflect.Value) (bool, error) {
	if len(others) == 0 {
		return false, errors.New("missing argument for comparison")
	}
	a = unpacked(a)
	for _, b := range others {
		if same, err := equal(a, unpacked(b)); same || err != nil {
			return same, err
		}
	}
	return false, nil
}

func equal(a, b reflect.Value) (bool, error) {
	switch x, y := class(a.Kind()), class(b.Kind()); {
	case x == ints && y == uints:
		return a.Int() >= 0 && uint64(a.Int()) == b.Uint(), nil
	case x == uints && y == ints:
		return b.Int() >= 0 && uint64(b.Int()) == a.Uint(), nil
	case x != y:
		if a.IsValid() && b.IsValid() {
			return false, errIncompatible
		}
		return false, nil
	case x == others:
		return equalOthers(a, b)
	case x == floats:
		return a.Float() == b.Float(), nil
	case x == complexes:
		return a.Complex() == b.Complex(), nil
	case x == ints:
		return a.Int() == b.Int(), nil
	case x == uints:
		return a.Uint() == b.Uint(), nil
	case x == truths:
		return a.Bool() == b.Bool(), nil
	}
	return a.String() == b.String(), nil
}

// equalOthers compares with nil, and what Go compares.
func equalOthers(a, b reflect.Value) (bool, error) {
	if a.Kind() != b.Kind() && a.IsValid() && b.IsValid() {
		return false, fmt.Errorf("non-comparable types %s and %s", a.Type(), b.Type())
	}
	if isNil(a) || isNil(b) {
		return isNil(a) == isNil(b), nil
	}
	if !b.Type().Comparable() {
		return false, fmt.Errorf("non-comparable type %s", b.Type())
	}
	return a.Interface() == b.Interface(), nil
}

func isNil(v reflect.Value) bool {
	return !v.IsValid() || canBeNil(v.Type()) && v.Type() != valueType && v.IsNil()
}

func less(a, b reflect.Value) (bool, error) {
	a, b = unpacked(a), unpacked(b)
	x, y := class(a.Kind()), class(b.Kind())
	switch {
	case x == others || y == others:
		return false, errUnordered
	case x == ints && y == uints:
		return a.Int() < 0 || uint64(a.Int()) < b.Uint(), nil
	case x == uints && y == ints:
		return b.Int() >= 0 && a.Uint() < uint64(b.Int()), nil
	case x != y:
		return false, errIncompatible
	case x == floats:
		return a.Float() < b.Float(), nil
	case x == ints:
		return a.Int() < b.Int(), nil
	case x == uints:
		return a.Uint() < b.Uint(), nil
	case x == texts:
		return a.String() < b.String(), nil
	}
	return false, errUnordered
}

func lessOrEqual(a, b reflect.Value) (bool, error) {
	if lt, err := less(a, b); lt || err != nil {
		return lt, err
	}
	return equalToAny(a, b)
}
