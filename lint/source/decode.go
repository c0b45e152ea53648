package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/schedlint/schedlint/lint/diag"
)

// Mismatch is a value that does not fit the type it is decoded into, or a
// field that the type does not have.
type Mismatch struct {
	// Path is the field path from where decoding began, as in
	// affinity.podAffinity, tolerations[0].key.
	Path string
	// Key and Value are the field; Key is nil for items of a sequence.
	Key, Value *Node
	// Unknown is set for a field that the type does not have; Suggestion is then
	// the name that was probably meant, if any.
	Unknown    bool
	Suggestion string
	// Want names the expected type otherwise.
	Want string
	// Placeholder is set if the value is a variable of a later tool, so that
	// nothing is wrong yet and nothing is known.
	Placeholder bool
}

// Decoder decodes Nodes into Go values by their json tags with the rules of
// the Kubernetes API: names are case-sensitive, null is the zero value, and no
// scalar turns into another type. What does not fit is left at zero and
// reported, and everything else is decoded all the same; items of sequences
// keep their index.
type Decoder struct {
	// Full gives, for a type that declares only some fields, the type that
	// declares all that are legal.
	Full map[reflect.Type]reflect.Type
	// Open types take any field without a word.
	Open map[reflect.Type]bool

	plans map[reflect.Type]*plan
	found []Mismatch
}

// plan is how to fill one struct type.
type plan struct {
	fields map[string][]int
	names  []string
}

// Decode fills out, a pointer, from n and returns what did not fit.
func (d *Decoder) Decode(n *Node, out any) []Mismatch {
	d.found = nil
	d.value(place{value: n}, reflect.ValueOf(out).Elem())
	return d.found
}

// place is where decoding stands. The path is a chain, since most paths are
// never needed as text.
type place struct {
	up         *place
	key, value *Node
	index      int
}

func (p *place) path() string {
	if p == nil || p.up == nil {
		return ""
	}
	up := p.up.path()
	switch {
	case p.key == nil:
		return up + "[" + strconv.Itoa(p.index) + "]"
	case up == "":
		return p.key.Value
	}
	return up + "." + p.key.Value
}

func (d *Decoder) mismatch(p *place, want string) {
	d.found = append(d.found, Mismatch{Path: p.path(), Key: p.key, Value: p.value, Want: want, Placeholder: p.value.Placeholder()})
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func (d *Decoder) value(p place, out reflect.Value) {
	if p.value.IsNull() {
		return
	}
	if out.Kind() == reflect.Pointer {
		out.Set(reflect.New(out.Type().Elem()))
		d.value(p, out.Elem())
		return
	}
	if reflect.PointerTo(out.Type()).Implements(unmarshaler) {
		d.unmarshal(&p, out)
		return
	}
	switch out.Kind() {
	case reflect.Struct:
		d.structure(&p, out)
	case reflect.Map:
		d.mapping(&p, out)
	case reflect.Slice:
		d.sequence(&p, out)
	default:
		d.scalar(&p, out)
	}
}

// unmarshal hands a scalar to a type that reads JSON itself, as Quantity does.
func (d *Decoder) unmarshal(p *place, out reflect.Value) {
	want := spaced(out.Type().Name())
	if p.value.Kind != Scalar {
		d.mismatch(p, want)
		return
	}
	text := p.value.json()
	if out.Type().Name() == quantityType && Unwieldy(string(bytes.Trim(text, `"`))) {
		d.mismatch(p, quantityWithin)
		return
	}
	if p.value.Placeholder() || out.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text) != nil {
		out.SetZero()
		d.mismatch(p, want)
	}
}

// spaced is the name of a type as words: IntOrString is "int or string".
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

// json is a scalar as kubectl writes it for the API server; what JSON has no
// form for stays as it is.
func (n *Node) json() []byte {
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
			return []byte(n.Value)
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return []byte(n.Value)
	}
	return text
}

// mostSuggestions is for how many mistakes of a document the field that was meant is
// looked for. Nobody makes as many by hand.
const mostSuggestions = 1000

func (d *Decoder) structure(p *place, out reflect.Value) {
	if p.value.Kind != Map {
		d.mismatch(p, "map")
		return
	}
	pl := d.plan(out.Type())
	for k, v := range p.value.Fields() {
		at := place{up: p, key: k, value: v}
		if index, ok := pl.fields[k.Value]; ok {
			if index != nil {
				d.value(at, out.FieldByIndex(index))
			}
		} else if !d.Open[out.Type()] {
			m := Mismatch{Path: at.path(), Key: k, Value: v, Unknown: true}
			if len(d.found) < mostSuggestions {
				m.Suggestion = diag.Nearest(k.Value, pl.names)
			}
			d.found = append(d.found, m)
		}
	}
}

func (d *Decoder) mapping(p *place, out reflect.Value) {
	if p.value.Kind != Map {
		d.mismatch(p, "map")
		return
	}
	out.Set(reflect.MakeMapWithSize(out.Type(), p.value.Len()))
	for k, v := range p.value.Fields() {
		item := reflect.New(out.Type().Elem()).Elem()
		before := len(d.found)
		d.value(place{up: p, key: k, value: v}, item)
		if len(d.found) == before {
			out.SetMapIndex(reflect.ValueOf(k.Value).Convert(out.Type().Key()), item)
		}
	}
}

func (d *Decoder) sequence(p *place, out reflect.Value) {
	if p.value.Kind != Sequence {
		d.mismatch(p, "list")
		return
	}
	items := p.value.Items()
	out.Set(reflect.MakeSlice(out.Type(), len(items), len(items)))
	for i, item := range items {
		d.value(place{up: p, value: item, index: i}, out.Index(i))
	}
}

func (d *Decoder) scalar(p *place, out reflect.Value) {
	n := p.value
	switch kind := out.Kind(); {
	case kind == reflect.String && n.Kind == Scalar && n.Type == String:
		out.SetString(n.Value)
	case kind == reflect.String:
		d.mismatch(p, "string")
	case kind == reflect.Bool && n.Kind == Scalar && n.Type == Bool:
		out.SetBool(n.truth())
	case kind == reflect.Bool:
		d.mismatch(p, "boolean")
	case out.CanInt():
		if i, ok := n.Int(); ok && !out.OverflowInt(i) {
			out.SetInt(i)
		} else {
			d.mismatch(p, "whole number")
		}
	case out.CanUint():
		if i, ok := n.Int(); ok && i >= 0 && !out.OverflowUint(uint64(i)) {
			out.SetUint(uint64(i))
		} else {
			d.mismatch(p, "whole number")
		}
	default:
		panic(fmt.Sprintf("source: no decoding into %s", out.Type()))
	}
}

// Names are the json names of the fields of a struct type, sorted.
func (d *Decoder) Names(t reflect.Type) []string { return d.plan(t).names }

// plan lists the fields of a struct type by their json names, inlined structs
// included; a nil index is a field that is legal but not decoded.
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
	for name, index := range jsonFields(t) {
		pl.fields[name] = index
	}
	for name := range pl.fields {
		pl.names = append(pl.names, name)
	}
	slices.Sort(pl.names)
	if d.plans == nil {
		d.plans = map[reflect.Type]*plan{}
	}
	d.plans[t] = pl
	return pl
}

// jsonFields finds the fields of a struct type by their json names. Fields of
// an embedded struct count as its own, unless it has a json name itself.
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
