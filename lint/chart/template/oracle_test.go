package template

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"strings"
	"testing"
	text "text/template"
	"text/template/parse"
	"time"
)

// The tests in this file compare this package with text/template on the same data and functions.

// bounded is a Watch that limits the number of steps.
type bounded struct{ left int }

var errSteps = errors.New("no steps are left")

func (b *bounded) Step(n int) error {
	if b.left -= n; b.left < 0 {
		return errSteps
	}
	return nil
}
func (b *bounded) Text(*Template, *parse.TextNode) error                          { return nil }
func (b *bounded) Value(*Template, *parse.ActionNode, reflect.Value, Scope) error { return nil }
func (b *bounded) Decide(string, reflect.Value) error                             { return nil }
func (b *bounded) Branch(*Template, *parse.IfNode, *parse.ListNode, Scope) error  { return nil }
func (b *bounded) Join()                                                          {}
func (b *bounded) Enter(*Template, *parse.TemplateNode) error                     { return nil }
func (b *bounded) Leave()                                                         {}

type inner struct{ Name string }

func (i *inner) Hello(to string) string { return "hello " + to + " from " + i.Name }
func (i inner) Fails() (string, error)  { return "", errors.New("it fails") }
func (i inner) Panics() string          { panic("it panics") }

type words2 string

func (w words2) String() string { return "<" + string(w) + ">" }

type outer struct {
	inner
	Public  inner
	Pointer *inner
	Nil     *inner
	Any     any
	Map     map[string]int
	F       func(int) int
	private int
	Time    time.Time
}

type embedding struct{ *inner }

type broken2 struct{}

func (*broken2) Error() string { return "broken" }

var methods = Methods{
	reflect.TypeFor[*inner]():     {"Hello": (*inner).Hello, "Fails": inner.Fails, "Panics": inner.Panics},
	reflect.TypeFor[inner]():      {"Fails": inner.Fails, "Panics": inner.Panics},
	reflect.TypeFor[outer]():      {"Fails": func(o outer) (string, error) { return o.Fails() }, "Panics": func(o outer) string { return o.Panics() }},
	reflect.TypeFor[*outer]():     {"Hello": (*outer).Hello, "Fails": (*outer).Fails, "Panics": (*outer).Panics},
	reflect.TypeFor[words2]():     {"String": words2.String},
	reflect.TypeFor[time.Time]():  {"Year": time.Time.Year, "Format": time.Time.Format, "Weekday": time.Time.Weekday},
	reflect.TypeFor[*time.Time](): {"Year": (*time.Time).Year, "Format": (*time.Time).Format, "Weekday": (*time.Time).Weekday},
}

func data() map[string]any {
	at := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	var none *inner
	return map[string]any{
		"int": 3, "zero": 0, "neg": -2, "int64": int64(7), "uint": uint(5), "u8": uint8(200), "float": 2.5, "nan0": 0.0, "big": 1e21,
		"text": "some text", "empty": "", "true": true, "false": false, "nil": nil, "complex": 1 + 2i,
		"list": []any{1, "two", 3.0, nil, map[string]any{"a": 1}, []any{true}}, "none": []any{}, "strings": []string{"a", "b"}, "ints": []int{3, 1, 2},
		"array": [2]int{8, 9}, "bytes": []byte("bytes"),
		"map":   map[string]any{"b": 2, "a": map[string]any{"x": "y", "n": nil}, "list": []any{1, 2}, "len": 4},
		"texts": map[string]string{"k": "v"}, "anys": map[any]any{"k": 1, "j": 2}, "byInt": map[int]string{2: "two", 1: "one"}, "emptyMap": map[string]any{},
		"byFloat": map[float64]int{2: 1, 1.5: 2}, "byBool": map[bool]int{true: 1, false: 0},
		"inner": inner{"i"}, "pointer": &inner{"p"}, "nilPointer": none, "outer": outer{private: 1, inner: inner{"e"}, Map: map[string]int{"m": 1}, F: func(i int) int { return i + 1 }, Time: at},
		"outerPointer": &outer{inner: inner{"e"}, Pointer: &inner{"q"}, Any: "any", Time: at}, "words": words2("w"), "wordsPointer": ptr(words2("wp")),
		"time": at, "timePointer": &at, "err": errors.New("an error"), "broken": &broken2{},
		"fn": func(i int) int { return 2 * i }, "nilFn": (func() int)(nil), "pointerToMap": &map[string]any{"z": 1}, "pointerPointer": ptr(&inner{"pp"}),
		"variadic": func(first int, more ...string) string { return fmt.Sprint(first, more) },
		"seq":      iter.Seq[int](func(yield func(int) bool) { _ = yield(1) && yield(2) && yield(3) }), "noSeq": iter.Seq[int](func(func(int) bool) {}),
		"seq2":  iter.Seq2[string, int](func(yield func(string, int) bool) { _ = yield("a", 1) && yield("b", 2) }),
		"value": reflect.ValueOf("reflected"),
		"pair":  func() (int, int) { return 1, 2 }, "nothing": func() {}, "triple": func() (int, int, error) { return 1, 2, nil },
		"embedding": embedding{&inner{"e"}}, "embeddingNil": embedding{},
		"byUint": map[uint]int{2: 1, 1: 2, 10: 3}, "noUint": uint(0), "highest": uint64(math.MaxUint64), "minusOne": -1,
	}
}

func ptr[T any](v T) *T { return &v }

func functions() map[string]any {
	return map[string]any{
		"list": func(v ...any) []any { return v },
		"dict": func(v ...any) map[string]any { return map[string]any{fmt.Sprint(v...): v} },
		"deflt": func(d any, v ...any) any {
			if len(v) == 0 || v[0] == nil {
				return d
			}
			return v[0]
		},
		"quote":  func(v ...any) string { return fmt.Sprintf("%q", fmt.Sprint(v...)) },
		"fails":  func(why string) (string, error) { return "", errors.New(why) },
		"panics": func(v any) string { panic(v) }, "boom": func() int { var p *int; return *p },
		"int_": func(i int) int { return i + 1 }, "i64": func(i int64) int64 { return i }, "f64": func(f float64) float64 { return f / 2 }, "f32": func(f float32) float32 { return f / 2 },
		"str": func(s string) string { return s + "!" }, "u_8": func(u uint8) uint8 { return u }, "b": func(b bool) bool { return !b }, "c": func(c complex128) complex128 { return c },
		"words": func(w words2) words2 { return w }, "map_": func(m map[string]any) int { return len(m) }, "slice_": func(s []any) int { return len(s) },
		"ptr": func(p *inner) string {
			if p == nil {
				return "none"
			}
			return p.Name
		}, "val": func(i inner) string { return i.Name },
		"err": func(e error) string { return fmt.Sprint(e) }, "stringer": func(s fmt.Stringer) string { return fmt.Sprint(s) },
		"refl": func(v reflect.Value) string { return v.Kind().String() }, "reflects": func(v ...reflect.Value) int { return len(v) }, "back": func(v reflect.Value) reflect.Value { return v },
		"nothing": func() any { return nil }, "nilErr": func() error { return nil }, "names": func(n int, s ...string) string { return fmt.Sprint(n, s) },
		"fn": func() func(int) int { return func(i int) int { return i * i } }, "call1": func(f func(int) int) int { return f(3) }, "any": func(v any) any { return v }, "structs": func() outer { return outer{Any: 1} },
		"table": func() map[string]any { return map[string]any{"a": 1, "b": 2, "c": 3} },
		"set":   func(m map[string]any, key string, v any) map[string]any { m[key] = v; return m },
		"unset": func(m map[string]any, key string) map[string]any { delete(m, key); return m },
		"same":  func(s string) (string, error) { return s, nil },
	}
}

// tamed returns functions for random templates. None of them can make values grow endlessly.
func tamed() map[string]any {
	all := functions()
	for name, f := range map[string]func(...any) string{
		"print": fmt.Sprint, "println": fmt.Sprintln, "html": text.HTMLEscaper, "js": text.JSEscaper, "urlquery": text.URLQueryEscaper,
		"quote": all["quote"].(func(...any) string),
	} {
		all[name] = func(v ...any) (string, error) { return short(f(v...)) }
	}
	all["printf"] = func(format string, v ...any) (string, error) { return short(fmt.Sprintf(format, v...)) }
	all["str"] = func(s string) (string, error) { return short(s + "!") }
	calls := 0
	all["list"] = func(v ...any) ([]any, error) {
		if calls++; calls > 10 {
			return nil, errors.New("too many lists")
		}
		return v, nil
	}
	for _, name := range []string{"dict", "set", "unset"} { // they would change the data that the other package uses
		delete(all, name)
	}
	return all
}

func short(s string) (string, error) {
	if len(s) > 10_000 {
		return "", errors.New("the text is too long")
	}
	return s, nil
}

// outcome is the result of executing a template.
type outcome struct {
	text string
	at   string // name:line of the error
	err  error
}

func place(err error) string {
	if err == nil {
		return ""
	}
	parts := strings.SplitN(err.Error(), ":", 4)
	if len(parts) < 4 {
		return err.Error()
	}
	return parts[1] + ":" + parts[2]
}

func ours(functions map[string]any, source string, v any) (o outcome, parsed bool) {
	s := New(functions)
	t, err := s.Parse("main", source)
	if err != nil {
		return outcome{err: err}, false
	}
	var out strings.Builder
	m := &Machine{Watch: &bounded{20_000}, Methods: methods, MaxDepth: 1000}
	err = m.Execute(&out, s, t, v)
	return outcome{out.String(), place(err), err}, true
}

func theirs(functions map[string]any, source string, v any) (o outcome, parsed bool) {
	t, err := text.New("main").Option("missingkey=zero").Funcs(functions).Parse(source)
	if err != nil {
		return outcome{err: err}, false
	}
	var out limited
	err = t.Execute(&out, v)
	return outcome{out.String(), place(err), err}, true
}

// limited is a writer that stops endless recursion in text/template.
type limited struct{ strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	if l.Len() > 1<<20 {
		return 0, errSteps
	}
	return l.Builder.Write(p)
}

// compareWith executes a template with both packages and compares the results. It compares nothing
// if the steps are used up.
func compareWith(t *testing.T, functions func() map[string]any, source string, v any) (failed bool) {
	t.Helper()
	a, parsed := ours(functions(), source, v)
	if !parsed || errors.Is(a.err, errSteps) || a.err != nil && strings.Contains(a.err.Error(), "limited to a depth") {
		return true
	}
	b, _ := theirs(functions(), source, v)
	if errors.Is(b.err, errSteps) {
		return true
	}
	if (a.err == nil) != (b.err == nil) || a.at != b.at || a.text != b.text {
		t.Errorf("%s\nours   %.500q at %q: %.500v\ntheirs %.500q at %q: %.500v", source, a.text, a.at, a.err, b.text, b.at, b.err)
	}
	return a.err != nil
}
