package template

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
)

// classes identifies a group of kinds that are treated the same way.
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

// isTrue reports whether a value is not empty. A struct is never empty. A missing value is always
// empty.
func isTrue(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return false
	case reflect.Struct:
		return true
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() > 0
	case reflect.Float32, reflect.Float64:
		return v.Float() != 0 // IsZero is false for -0
	case reflect.Complex64, reflect.Complex128:
		return v.Complex() != 0
	}
	return !v.IsZero()
}

// noValue is printed for a missing value.
const noValue = "<no value>"

// print writes a value as fmt does, but follows pointers. It cannot print functions and channels.
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

// words reports whether a type formats itself with Error or String.
func words(t reflect.Type) bool { return t.Implements(errorType) || t.Implements(stringerType) }

// Error says where and why the execution of a template failed. Its strings are not escaped.
type Error struct {
	// Template is the template that was executed.
	Template *Template
	// Line is a line of the template's source, counted from 1. Column is the number of bytes before
	// the node on that line.
	Line, Column int
	// Node is the source of the node, shortened for display.
	Node string
	// Err is the cause.
	Err error
}

// Error formats the error as text/template does.
func (e *Error) Error() string {
	return fmt.Sprintf("template: %s:%d:%d: %s", e.Template.Source.Name, e.Line, e.Column, e.Detail())
}

// Detail returns the message without the position.
func (e *Error) Detail() string {
	return fmt.Sprintf("executing %q at <%s>: %v", e.Template.Name, e.Node, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// maxNode is the maximum length of Error.Node in bytes.
const maxNode = 200

// callError is an error returned by a function. It builds its message only on demand. Errors from
// nested includes contain one another, so building all messages would take quadratic time.
type callError struct {
	name string
	err  error
}

func (e *callError) Error() string { return fmt.Sprintf("error calling %s: %v", e.name, e.err) }
func (e *callError) Unwrap() error { return e.err }

// fail stops the run at the current node.
func (x *run) fail(format string, args ...any) { x.stop(fmt.Errorf(format, args...)) }

// stop is like fail, but takes an error. Execute recovers its panic.
func (x *run) stop(err error) {
	e := &Error{Template: x.template, Err: err, Line: 1}
	if x.at != nil {
		e.Line, e.Column = x.template.Source.Position(x.at.Position())
		if e.Node = x.at.String(); len(e.Node) > maxNode {
			e.Node = e.Node[:maxNode] + "..."
		}
	}
	panic(e)
}

// compares lists the functions that compare whole strings.
var compares = map[string]bool{"eq": true, "ne": true, "lt": true, "le": true, "gt": true, "ge": true}

// bytesPerStep is the number of bytes compared in one step.
const bytesPerStep = 32

var (
	errIncompatible = errors.New("incompatible types for comparison")
	errUnordered    = errors.New("invalid type for comparison")
)

// equalToAny reports whether the first argument equals one of the others.
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

// equalOthers compares a value with nil, or compares two values that are comparable in Go.
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

// Source is the text that templates are parsed from.
type Source struct {
	Name, Text string
	starts     []int // offsets of the lines
}

func newSource(name, text string) *Source {
	s := &Source{Name: name, Text: text, starts: []int{0}}
	for at := 0; ; {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			return s
		}
		at += end + 1
		s.starts = append(s.starts, at)
	}
}

// maxActions is the maximum number of actions in a template. This limits the parser's stack,
// because an action may contain everything after it.
const maxActions = 200_000

// check rejects text with too many actions. The error has the same form as a parser error.
func (s *Source) check() error {
	at := 0
	for n := 0; ; n++ {
		next := strings.Index(s.Text[at:], "{{")
		if next < 0 {
			return nil
		}
		if n == maxActions {
			line, _ := s.Position(parse.Pos(at + next))
			return fmt.Errorf("template: %s:%d: templates are limited to %d actions", s.Name, line, maxActions)
		}
		at += next + len("{{")
	}
}

// Position returns the line of an offset, counted from 1, and the number of bytes before the
// offset on that line.
func (s *Source) Position(at parse.Pos) (line, column int) {
	line, found := slices.BinarySearch(s.starts, int(at))
	if found {
		line++
	}
	return line, int(at) - s.starts[line-1]
}

// Template is one template definition. It is a whole source text or the part between define and
// end.
type Template struct {
	Name   string
	Source *Source
	root   *parse.ListNode
}

// Set is a namespace of templates, with the functions that the templates can call.
type Set struct {
	templates   map[string]*Template
	own, shared map[string]any
}

// New returns an empty set. Each function must return a value, or a value and an error.
func New(functions map[string]any) *Set {
	return &Set{templates: map[string]*Template{}, shared: functions}
}

// Override sets functions that take precedence over the functions given to New. They replace the
// functions from an earlier call.
func (s *Set) Override(functions map[string]any) { s.own = functions }

// Clone returns a set with the same templates and functions.
func (s *Set) Clone() *Set {
	return &Set{maps.Clone(s.templates), s.own, s.shared}
}

// Len returns the number of templates.
func (s *Set) Len() int { return len(s.templates) }

// Lookup returns the template with the given name, or nil.
func (s *Set) Lookup(name string) *Template { return s.templates[name] }

// Parse adds the templates in the text. A nonempty template replaces an earlier one with the same
// name. Parse returns the template for the text itself. This template can be executed even if an
// earlier template keeps the name.
func (s *Set) Parse(name, text string) (*Template, error) {
	source := newSource(name, text)
	if err := source.check(); err != nil {
		return nil, err
	}
	trees, err := parse.Parse(name, text, "", "", s.own, s.shared, builtins)
	if err != nil {
		return nil, err
	}
	var whole *Template
	for defined, tree := range trees {
		t := &Template{defined, source, tree.Root}
		if defined == name {
			whole = t
		}
		if s.templates[defined] == nil || !parse.IsEmptyTree(tree.Root) {
			s.templates[defined] = t
		}
	}
	return whole, nil
}
