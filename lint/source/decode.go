package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sorting"
)

// Mismatch describes a value that does not fit its Go type, or a field that the type does not
// have.
type Mismatch struct {
	// Path is the path from the decoded node, such as affinity.podAffinity or tolerations[0].key.
	Path string
	// Key and Value are the key and the value of the field. Key is nil for a list item.
	Key, Value *Node
	// Unknown is set if the type has no such field. Suggestion is then the name that the user
	// probably meant, or empty.
	Unknown    bool
	Suggestion string
	// Names lists the names of the fields that the type has, in order, if Unknown is set.
	Names []string
	// Want is the name of the expected type, or empty if Unknown is set.
	Want string
	// Placeholder is set if a later tool replaces the value. The value is then unknown rather than
	// wrong.
	Placeholder bool
}

// Decoder decodes Nodes into Go values by their json tags. It follows the rules of the Kubernetes
// API: names are case-sensitive, null means the zero value, and scalars are not converted between
// types. A value that does not fit is reported, and the Go value stays zero. List items therefore
// keep their indices.
type Decoder struct {
	// Full maps a type that has only some of the fields of an API type to that API type.
	Full map[reflect.Type]reflect.Type
	// Open lists types that accept any field.
	Open map[reflect.Type]bool

	plans map[reflect.Type]*plan
	// reads caches whether a type implements its own JSON decoding.
	reads map[reflect.Type]bool
	// way is the path from the decoded node to the current position.
	way   []place
	text  []byte // scratch
	found []Mismatch
}

// plan holds the fields of a struct type.
type plan struct {
	fields map[string][]int
	names  []string
}

// Decode decodes n into out, which must be a pointer, and returns the values that did not fit.
func (d *Decoder) Decode(n *Node, out any) []Mismatch {
	d.found, d.way = nil, d.way[:0]
	d.at(place{value: n}, reflect.ValueOf(out).Elem())
	return d.found
}

// wholeNumber is the name of integer types in messages.
const wholeNumber = "whole number"

// place is one step of the decoder's path: a field, a list item, or the decoded node itself.
type place struct {
	key, value *Node
	index      int
}

// path returns the current path as a string. The string is built only for mismatches.
func (d *Decoder) path() string {
	var b strings.Builder
	for i := 1; i < len(d.way); i++ {
		switch p := &d.way[i]; {
		case p.key == nil:
			b.WriteString("[" + strconv.Itoa(p.index) + "]")
		case b.Len() == 0:
			b.WriteString(p.key.Value)
		default:
			b.WriteString("." + p.key.Value)
		}
	}
	return b.String()
}

func (d *Decoder) mismatch(want string) {
	p := &d.way[len(d.way)-1]
	unknown := p.value.Placeholder() || want == wholeNumber && p.value.PlaceholderOfNumber()
	d.found = append(d.found, Mismatch{Path: d.path(), Key: p.key, Value: p.value, Want: want, Placeholder: unknown})
}

// at decodes the value of a field or list item. During decoding, the decoder's path includes p.
func (d *Decoder) at(p place, out reflect.Value) {
	d.way = append(d.way, p)
	d.value(p.value, out)
	d.back()
}

// back removes the last step of the path. It clears the removed step so that the document can be
// garbage collected.
func (d *Decoder) back() {
	last := len(d.way) - 1
	d.way[last] = place{}
	d.way = d.way[:last]
}

// nodeType is the type of struct fields that hold undecoded Nodes.
var nodeType = reflect.TypeFor[*Node]()

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func (d *Decoder) value(n *Node, out reflect.Value) {
	if n.IsNull() {
		return
	}
	if out.Type() == nodeType {
		out.Set(reflect.ValueOf(n))
		return
	}
	if out.Kind() == reflect.Pointer {
		out.Set(reflect.New(out.Type().Elem()))
		d.value(n, out.Elem())
		return
	}
	if d.readsItself(out.Type()) {
		d.unmarshal(n, out)
		return
	}
	if n.Kind == Map && n.Placeholder() {
		d.mismatch("value")
		return
	}
	switch out.Kind() {
	case reflect.Struct, reflect.Map:
		if n.Kind != Map {
			d.mismatch("map")
		} else if out.Kind() == reflect.Struct {
			pl := d.plan(out.Type())
			for k, v := range n.Fields() {
				if index, ok := pl.fields[k.Value]; ok {
					if index != nil {
						d.at(place{key: k, value: v}, out.FieldByIndex(index))
					}
				} else if !d.Open[out.Type()] {
					d.way = append(d.way, place{key: k, value: v})
					m := Mismatch{Path: d.path(), Key: k, Value: v, Unknown: true, Names: pl.names}
					d.back()
					if len(d.found) < mostSuggestions {
						m.Suggestion = diag.Nearest(k.Value, pl.names)
					}
					d.found = append(d.found, m)
				}
			}
		} else {
			out.Set(reflect.MakeMapWithSize(out.Type(), n.Len()))
			key, item := reflect.New(out.Type().Key()).Elem(), reflect.New(out.Type().Elem()).Elem() // the map copies them
			for k, v := range n.Fields() {
				item.SetZero()
				before := len(d.found)
				d.at(place{key: k, value: v}, item)
				if len(d.found) == before {
					key.SetString(k.Value)
					out.SetMapIndex(key, item)
				}
			}
		}
	case reflect.Slice:
		if n.Kind != Sequence {
			d.mismatch("list")
			return
		}
		items := n.Items()
		out.Set(reflect.MakeSlice(out.Type(), len(items), len(items)))
		for i, item := range items {
			d.at(place{value: item, index: i}, out.Index(i))
		}
	default:
		d.scalar(n, out)
	}
}

// readsItself reports whether a type implements its own JSON decoding.
func (d *Decoder) readsItself(t reflect.Type) bool {
	reads, known := d.reads[t]
	if !known {
		if d.reads == nil {
			d.reads = map[reflect.Type]bool{}
		}
		reads = reflect.PointerTo(t).Implements(unmarshaler)
		d.reads[t] = reads
	}
	return reads
}

// unmarshal decodes a scalar into a type that implements its own JSON decoding, such as Quantity.
func (d *Decoder) unmarshal(n *Node, out reflect.Value) {
	if n.Kind != Scalar {
		d.mismatch(spaced(out.Type().Name()))
		return
	}
	d.text = n.appendJSON(d.text[:0])
	if out.Type().Name() == quantityType && Unwieldy(string(bytes.Trim(d.text, `"`))) {
		d.mismatch(quantityWithin)
		return
	}
	if n.Placeholder() || out.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(d.text) != nil {
		out.SetZero()
		d.mismatch(spaced(out.Type().Name()))
	}
}

// spaced splits a type name into words: IntOrString becomes "int or string".
func spaced(name string) string {
	var b strings.Builder
	for i, c := range name {
		if unicode.IsUpper(c) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// appendJSON appends a scalar as the JSON that kubectl sends to the API server. A value that JSON
// cannot represent is appended unchanged.
func (n *Node) appendJSON(to []byte) []byte {
	if n.Type == String && plainText(n.Value) {
		return append(append(append(to, '"'), n.Value...), '"')
	}
	var v any = n.Value
	switch n.Type {
	case Bool:
		v = n.truth()
	case Int, Float:
		if i, ok := n.Int(); ok {
			v = i
		} else if f, ok := n.float(); ok && n.Type == Float {
			v = f
		} else {
			return append(to, n.Value...)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return append(to, n.Value...)
	}
	return append(to, text...)
}

// plainText reports whether a string needs no escaping in JSON. It accepts only letters, digits and
// other characters that occur in quantities.
func plainText(s string) bool {
	for i := range len(s) {
		if c := s[i]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || c == '%') {
			return false
		}
	}
	return true
}

// mostSuggestions is the maximum number of suggestions per document. No one makes that many typos
// by hand.
const mostSuggestions = 1000

func (d *Decoder) scalar(n *Node, out reflect.Value) {
	switch kind := out.Kind(); {
	case kind == reflect.String && n.Kind == Scalar && n.Type == String:
		out.SetString(n.Value)
	case kind == reflect.String:
		d.mismatch("string")
	case kind == reflect.Bool && n.Kind == Scalar && n.Type == Bool:
		out.SetBool(n.truth())
	case kind == reflect.Bool:
		d.mismatch("boolean")
	case out.CanInt():
		if i, ok := n.Int(); ok && !out.OverflowInt(i) {
			out.SetInt(i)
		} else {
			d.mismatch(wholeNumber)
		}
	case out.CanUint():
		if i, ok := n.Int(); ok && i >= 0 && !out.OverflowUint(uint64(i)) {
			out.SetUint(uint64(i))
		} else {
			d.mismatch(wholeNumber)
		}
	default:
		panic(fmt.Sprintf("source: no decoding into %s", out.Type()))
	}
}

// Names returns the JSON names of a struct type's fields in sorted order.
func (d *Decoder) Names(t reflect.Type) []string { return d.plan(t).names }

// plan returns the fields of a struct type by their JSON names, including those of inlined structs.
// A field that is valid but not decoded has a nil index.
func (d *Decoder) plan(t reflect.Type) *plan {
	if pl, ok := d.plans[t]; ok {
		return pl
	}
	pl := &plan{fields: map[string][]int{}}
	if full, ok := d.Full[t]; ok {
		for name := range jsonFields(full) {
			pl.fields[name] = nil
		}
	}
	maps.Copy(pl.fields, jsonFields(t))
	pl.names = sorting.Keys(pl.fields)
	if d.plans == nil {
		d.plans = map[reflect.Type]*plan{}
	}
	d.plans[t] = pl
	return pl
}

// jsonFields returns the fields of a struct type by their JSON names. The fields of an embedded
// struct are included unless the struct itself has a JSON name.
func jsonFields(t reflect.Type) map[string][]int {
	own, inlined := map[string][]int{}, map[string][]int{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct:
			for inner, index := range jsonFields(f.Type) {
				inlined[inner] = append([]int{i}, index...)
			}
		case f.IsExported() && name != "" && name != "-":
			own[name] = f.Index
		}
	}
	maps.Copy(inlined, own)
	return inlined
}

// Plain returns the value of a scalar as encoding/json would decode it, but with exact numbers.
func (n *Node) Plain() any {
	switch n.Type {
	case Bool:
		return n.truth()
	case Int, Float:
		if text := n.appendJSON(nil); text[0] != '"' && json.Valid(text) {
			return json.Number(text)
		}
	}
	return n.Value
}
