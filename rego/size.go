package rego

import (
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// size is the size of a value: the bytes of its strings, and its members.
type size struct{ text, items int64 }

func (s size) plus(o size) size { return size{s.text + o.text, s.items + o.items} }

// steps returns the cost of reading or making a value of that size.
func (s size) steps() int64 { return s.text/textStep + s.items }

// nothing returns the size of an argument that a function does not read.
func (m *meter) nothing(*ast.Term) size { return size{} }

// outer returns the size of the first level of a value.
func (m *meter) outer(t *ast.Term) size {
	switch v := t.Value.(type) {
	case ast.String:
		return size{text: int64(len(v))}
	case ast.Number:
		m.number(v)
	case *ast.Array:
		return size{items: int64(v.Len())}
	case ast.Object:
		return size{items: int64(v.Len())}
	case ast.Set:
		return size{items: int64(v.Len())}
	}
	return size{}
}

// whole returns the size of a value at all levels. A value that holds another one several times is
// as large as its text would be.
func (m *meter) whole(t *ast.Term) size {
	w := tour{meter: m, limit: maxItems, verb: "goes through"}
	w.term(t, 0)
	return w.size
}

// tour visits all members of a value.
type tour struct {
	*meter
	size
	limit int64
	verb  string // what happens to the value, for messages
}

func (w *tour) term(t *ast.Term, depth int) {
	if depth > maxDepth {
		w.refuse("makes a value that is nested more than %d levels deep", maxDepth)
	}
	inner := func(t *ast.Term) {
		if w.items++; w.items > w.limit {
			w.refuse("%s a value with more than %d members", w.verb, w.limit)
		}
		w.term(t, depth+1)
	}
	switch v := t.Value.(type) {
	case ast.String:
		w.text += int64(len(v))
	case ast.Number:
		w.number(v)
	case *ast.Array:
		v.Foreach(inner)
	case ast.Set:
		v.Foreach(inner)
	case ast.Object:
		v.Foreach(func(key, value *ast.Term) {
			inner(key)
			inner(value)
		})
	}
}

// number refuses numbers that make arithmetic slow or whose digits fill memory, such as
// 1e1000000000.
func (m *meter) number(n ast.Number) {
	if magnitude(string(n)) > maxDigits {
		m.refuse("uses a number with more than %d digits", maxDigits)
	}
}

// magnitude bounds the digits of a number, written out, on either side of the point.
func magnitude(n string) int64 {
	at := strings.IndexAny(n, "eE")
	if at < 0 {
		return int64(len(n))
	}
	exponent, err := strconv.ParseInt(strings.TrimPrefix(n[at+1:], "+"), 10, 32)
	if err != nil {
		return 1 << 32 // the syntax is that of a number, so it is too large
	}
	return int64(at) + max(exponent, -exponent)
}
