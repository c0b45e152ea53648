package chart

import (
	"fmt"
	"reflect"

	"github.com/schedlint/schedlint/lint/limits"
)

// bytesPerStep is the number of bytes of text that count as one step.
const bytesPerStep = 32

// budget counts steps.
type budget struct{ limits.Counter }

// limit is the error about an exceeded limit. Functions of templates panic with it, and their
// execution turns it into an error.
type limit string

func (l limit) Error() string { return string(l) }

// limitAt returns a problem that Helm may not have.
func limitAt(file, format string, args ...any) *Problem {
	return &Problem{File: file, Line: 1, Detail: fmt.Sprintf(format, args...), Refused: true}
}

// take counts steps. It returns a limit as the error.
func (b *budget) take(n int) error {
	if n < 0 || !b.Add(n) {
		b.Spent = b.Most
		return limit(fmt.Sprintf("rendering is limited to %d steps", b.Most))
	}
	return nil
}

// charge counts steps, and panics with a limit if none are left.
func (b *budget) charge(n int) {
	if err := b.take(n); err != nil {
		panic(err)
	}
}

// text charges for a text of n bytes.
func (b *budget) text(n int) {
	fits(n)
	b.charge(n/bytesPerStep + 1)
}

// fits panics if a text of n bytes exceeds the limit.
func fits(n int) {
	if n > limits.ChartText {
		panic(limit(fmt.Sprintf("a text of %d bytes exceeds the limit of %d", n, limits.ChartText)))
	}
}

// items charges for a list of n items of about 16 bytes each.
func (b *budget) items(n int) { b.charge(n/2 + 1) }

// errCyclic is the error for a value that Helm would print until its stack overflows.
const errCyclic = limit("a value is nested without a limit, as it contains itself")

// printed charges for everything in a value that a function prints, and refuses a value that
// contains itself.
func (b *budget) printed(v reflect.Value) {
	if !b.finite(v) {
		panic(errCyclic)
	}
}

// marshalled charges for everything in a value that encoding/json prints. For a value that contains
// itself, encoding/json returns an error after it has printed a thousand levels.
func (b *budget) marshalled(v reflect.Value) {
	before := b.Spent
	if !b.finite(v) {
		b.charge(times(b.Spent-before, 1+1000/manyLevels))
	}
}

// finite charges for everything in a value and reports whether the value does not contain itself.
func (b *budget) finite(v reflect.Value) bool {
	before := b.Spent
	ok := b.deep(v, 0)
	if b.Spent-before > limits.ChartPrinted {
		panic(limit(fmt.Sprintf("printing a value takes more than %d steps", limits.ChartPrinted)))
	}
	return ok
}

// deep charges for everything in a value. Like printing, it counts a part that occurs twice twice.
// It returns false once it finds that the value contains itself.
func (b *budget) deep(v reflect.Value, depth int) bool {
	if depth > limits.ChartNesting {
		panic(limit(fmt.Sprintf("a value is nested more than %d deep", limits.ChartNesting)))
	}
	b.charge(1 + depth/16) // printing indents it
	switch v.Kind() {
	case reflect.String:
		b.charge(v.Len() / bytesPerStep)
	case reflect.Interface, reflect.Pointer:
		if v.Type() == reflect.TypeFor[*partialFiles]() {
			panic(limit("a template reads all files of the chart, and some are links out of the repository, which are not followed"))
		}
		if !v.IsNil() {
			return b.deep(v.Elem(), depth+1)
		}
	case reflect.Map:
		if depth >= manyLevels && depth < manyLevels+4 && b.cyclic(v, map[container]bool{}) { // a map in a list is 4 levels deeper
			return false
		}
		for at := v.MapRange(); at.Next(); {
			if !b.deep(at.Key(), depth+1) || !b.deep(at.Value(), depth+1) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b.charge(v.Len() / bytesPerStep)
			break
		}
		for i := range v.Len() {
			if !b.deep(v.Index(i), depth+1) {
				return false
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if !b.deep(v.Field(i), depth+1) {
				return false
			}
		}
	}
	return true
}

// manyLevels is the depth at which deep begins to check whether a value contains itself.
const manyLevels = 200

// cyclic reports whether a value contains a map that contains itself. open maps the containers
// around the value to true; cyclic sets those that it has finished to false.
func (b *budget) cyclic(v reflect.Value, open map[container]bool) bool {
	b.charge(1)
	v = concrete(v)
	if k := v.Kind(); k != reflect.Map && k != reflect.Slice {
		return false
	}
	key := container{v.UnsafePointer(), v.Len()}
	if around, seen := open[key]; seen {
		return around
	}
	open[key] = true
	if v.Kind() == reflect.Map {
		for at := v.MapRange(); at.Next(); {
			if b.cyclic(at.Value(), open) {
				return true
			}
		}
	} else {
		for i := range v.Len() {
			if b.cyclic(v.Index(i), open) {
				return true
			}
		}
	}
	open[key] = false
	return false
}

// shallow charges for a value itself: the length of a text, of a list or of a map.
func (b *budget) shallow(v reflect.Value) {
	switch v = concrete(v); v.Kind() {
	case reflect.String:
		b.text(v.Len())
	case reflect.Map, reflect.Slice:
		b.charge(v.Len()/4 + 1)
	}
}
