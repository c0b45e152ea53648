package rego

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sorting"
)

// factList is a named list of facts.
type factList struct {
	name string
	rows reflect.Value
}

// factLists returns all lists of facts in struct field order.
func factLists(f *facts.Facts) []factList {
	var lists []factList
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		if list := v.Field(i); list.Kind() == reflect.Slice {
			lists = append(lists, factList{v.Type().Field(i).Tag.Get("json"), list})
		}
	}
	return lists
}

// convert builds the rules' input. The input includes only the fields that the rules read. It does
// not go through JSON, which would be several times slower.
func convert(f *facts.Facts, read *reads) *ast.Term {
	c := converter{read: read, strings: map[string]*ast.Term{}, fields: map[string][]field{}, numbers: map[*int]*ast.Term{}}
	return ast.ObjectTerm(c.fieldsOf(reflect.ValueOf(f).Elem(), "")...)
}

// inventoryOf returns the objects of the input in the order in which templates of Gatekeeper look
// them up: namespace.NAMESPACE.APIVERSION.KIND.NAME and cluster.APIVERSION.KIND.NAME. An object
// without a namespace is in both, with the namespace "", because its kind may be one that has none.
func inventoryOf(input *ast.Term) *ast.Term {
	root := ast.NewObject()
	put := func(manifest *ast.Term, path ...*ast.Term) {
		at := root
		for _, key := range path[:len(path)-1] {
			if at.Get(key) == nil {
				at.Insert(key, ast.ObjectTerm())
			}
			at = at.Get(key).Value.(ast.Object)
		}
		at.Insert(path[len(path)-1], manifest)
	}
	rows := input.Get(ast.StringTerm("objects"))
	if rows == nil {
		return ast.NewTerm(root)
	}
	rows.Value.(*ast.Array).Foreach(func(row *ast.Term) {
		field := func(name string) *ast.Term { return row.Get(ast.StringTerm(name)) }
		manifest, version, kind, name, space := field("manifest"), field("api_version"), field("kind"), field("name"), field("namespace")
		if manifest == nil || version == nil || kind == nil || name == nil || space == nil { // no rule reads the inventory
			return
		}
		put(manifest, ast.StringTerm("namespace"), space, version, kind, name)
		if text(space) == "" {
			put(manifest, ast.StringTerm("cluster"), version, kind, name)
		}
	})
	return ast.NewTerm(root)
}

// converter turns facts into OPA terms.
type converter struct {
	read    *reads
	strings map[string]*ast.Term
	// fields caches the struct fields that rules read, keyed by row path.
	fields map[string][]field
	// numbers caches one term per list of numbers. Several rows can share a list.
	numbers map[*int]*ast.Term
	spare   []ast.Term
}

// field is a struct field that rules read.
type field struct {
	index int
	name  *ast.Term
	path  string
}

// fieldsOf returns a struct's id and the fields that rules read, as key-value pairs.
func (c *converter) fieldsOf(row reflect.Value, path string) [][2]*ast.Term {
	fields, known := c.fields[path]
	if !known {
		t := row.Type()
		for i := range t.NumField() {
			name := t.Field(i).Tag.Get("json")
			at := strings.TrimPrefix(path+"."+name, ".")
			if name == "id" || name != "" && c.read.has(at) {
				fields = append(fields, field{i, ast.StringTerm(name), at})
			}
		}
		c.fields[path] = fields
	}
	all := make([][2]*ast.Term, len(fields))
	for i, f := range fields {
		all[i] = [2]*ast.Term{f.name, c.value(row.Field(f.index), f.path)}
	}
	return all
}

func (c *converter) value(v reflect.Value, path string) *ast.Term {
	switch v.Kind() {
	case reflect.String:
		return c.text(v.String())
	case reflect.Int:
		return ast.InternedTerm(v.Int())
	case reflect.Bool:
		return ast.InternedTerm(v.Bool())
	case reflect.Struct:
		return c.term(ast.NewObject(c.fieldsOf(v, path)...))
	case reflect.Map:
		labels := v.Interface().(map[string]string)
		all := make([][2]*ast.Term, 0, len(labels))
		for _, name := range sorting.Keys(labels) {
			all = append(all, [2]*ast.Term{c.text(name), c.text(labels[name])})
		}
		return c.term(ast.NewObject(all...))
	case reflect.Interface: // a manifest, converted as encoding/json would with exact numbers
		value, err := ast.InterfaceToValue(v.Interface())
		if err != nil { // cannot happen, because a manifest has only JSON values
			return ast.NullTerm()
		}
		return c.term(value)
	}
	if numbers, ok := v.Interface().([]int); ok {
		// Rows with the same list get the same term.
		if len(numbers) == 0 {
			return ast.ArrayTerm()
		}
		if t, ok := c.numbers[&numbers[0]]; ok && t.Value.(*ast.Array).Len() == len(numbers) {
			return t
		}
		terms := make([]*ast.Term, len(numbers))
		for i, n := range numbers {
			terms[i] = ast.InternedTerm(n)
		}
		t := ast.ArrayTerm(terms...)
		c.numbers[&numbers[0]] = t
		return t
	}
	terms := make([]*ast.Term, v.Len())
	for i := range terms {
		terms[i] = c.value(v.Index(i), path)
	}
	return ast.ArrayTerm(terms...)
}

// text returns the term for a string. It caches terms, because many names are repeated.
func (c *converter) text(s string) *ast.Term {
	if t, ok := c.strings[s]; ok {
		return t
	}
	t := c.term(ast.String(s))
	c.strings[s] = t
	return t
}

// term wraps a value in a term. It allocates terms in blocks to reduce the number of allocations.
func (c *converter) term(v ast.Value) *ast.Term {
	if len(c.spare) == 0 {
		c.spare = make([]ast.Term, 256)
	}
	t := &c.spare[0]
	c.spare = c.spare[1:]
	t.Value = v
	return t
}

// over returns the parameters in v and adds missing parameters from the argument "under". The
// argument "place" is a position in the configuration. It is used for parameters whose own position
// is unknown.
func (v Values) over(under Values, place string) Values {
	all := maps.Clone(under.Values)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, v.Values)
	return Values{Values: all, At: func(path ...string) string {
		at := under.At
		if len(path) > 0 {
			if _, has := v.Values[path[0]]; has {
				at = v.At
			}
		}
		if at == nil {
			return place
		}
		return cmp.Or(at(path...), place)
	}}
}

// over combines the shared parameters that match a rule with the parameters in "given". The
// parameters in "given" take precedence. Shared parameters apply only if the rule runs and declares
// them.
func (r *rule) over(all []Shared, given Values) Values {
	if r.isTemplate() || r.off {
		return given
	}
	below, found := Values{}, false
	for i := range all {
		s := &all[i]
		if !s.Matches(r.id) {
			continue
		}
		some := Values{Values: map[string]any{}, At: s.At}
		for name, value := range s.Values.Values {
			if r.parameter(name) != nil {
				some.Values[name], found = value, true
			}
		}
		below = some.over(below, "")
	}
	if !found {
		return given
	}
	return given.over(below, "")
}

// schema returns the schema of a rule's parameters, or nil if the rule has no parameters. It parses
// the annotation only if the annotation's text mentions parameters.
func (r *rule) schema() *schema {
	if !r.mentions("params:") {
		return nil
	}
	return r.notes().params
}

// parameter returns the schema of a parameter, or nil if the rule has no such parameter.
func (r *rule) parameter(name string) *schema {
	if s := r.schema(); s != nil {
		return s.properties[name]
	}
	return nil
}

// shareable checks the parameters in one Shared entry. It is an error if no matching rule declares
// a parameter, or if matching rules declare the parameter with different types.
func (e *Engine) shareable(s *Shared) (errs []error) {
	for _, name := range sorting.Keys(s.Values.Values) {
		var first *rule
		var known []string
		for _, r := range e.rules {
			if r.isTemplate() || !s.Matches(r.id) {
				continue
			}
			is := r.parameter(name)
			switch {
			case is == nil:
				if s := r.schema(); s != nil {
					known = append(known, s.names()...)
				}
			case first == nil:
				first = r
			case !is.sameType(first.parameter(name)):
				errs = append(errs, s.error(name, "%s takes %s and %s takes %s; give the parameter to each rule",
					first.id, first.parameter(name).typeName(), r.id, is.typeName()))
			}
		}
		if first == nil {
			errs = append(errs, s.error(name, "no rule that %s matches has this parameter%s", s.Key, near(name, known)))
		}
	}
	return errs
}

// error returns an error about a shared parameter.
func (s *Shared) error(name, format string, args ...any) error {
	place := ""
	if s.At != nil {
		place = cmp.Or(s.At(name), s.At()) + ": "
	}
	return fmt.Errorf("%srules.%s.params.%s: %s", place, cut(s.Key), cut(name), fmt.Sprintf(format, args...))
}

// sameType reports whether two schemas have the same type. Limits and enumerations may differ,
// because each rule checks them itself.
func (s *schema) sameType(o *schema) bool {
	switch {
	case s == nil || o == nil:
		return s == o
	case s.kind != o.kind || s.open != o.open || !slices.Equal(s.names(), o.names()):
		return false
	}
	for name, p := range s.properties {
		if !p.sameType(o.properties[name]) {
			return false
		}
	}
	return s.items.sameType(o.items)
}

// typeName returns the name of the schema's type for use in a sentence.
func (s *schema) typeName() string {
	if s.items != nil {
		return article(s.kind) + " of " + s.items.kind + " items"
	}
	return article(s.kind)
}

// factsLibrary returns the source of the library that unit tests use to build rows. The library has
// one function per row type. The argument of the function is an object with some of the row's
// fields. The function adds default values for all other fields. If the object has an unknown
// field, the result is undefined.
var factsLibrary = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("package schedlint.facts\n")
	for _, t := range rowTypes() {
		name := snake(t.Name())
		if name == "object" { // OPA already has a function package with this name
			name = "api_object"
		}
		fmt.Fprintf(&b, "\n# %s is a row as %s describes it.\n%s(fields) := object.union(%s_row, fields) if every name, _ in fields { name in object.keys(%s_row) }\n\n%s_row := %s\n",
			name, t.Name(), name, name, name, name, blank(reflect.StructField{Type: t}))
	}
	return b.String()
})

// rowTypes returns all row types, sorted by name.
func rowTypes() []reflect.Type {
	seen := map[reflect.Type]bool{}
	var all []reflect.Type
	var gather func(t reflect.Type)
	gather = func(t reflect.Type) {
		for t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct || seen[t] {
			return
		}
		seen[t] = true
		if t != reflect.TypeFor[facts.Facts]() {
			all = append(all, t)
		}
		for f := range t.Fields() {
			gather(f.Type)
		}
	}
	gather(reflect.TypeFor[facts.Facts]())
	sorting.Stable(all, func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// snake converts a Go name to snake case, the style of field names in facts. For example, PodBudget
// becomes pod_budget.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' && i > 0 && (name[i-1] < 'A' || name[i-1] > 'Z') {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// blank returns a field's default value as Rego source. The default is unknown for an outcome and
// the first value for any other enumeration. A field named known or ending in _known defaults to
// true.
func blank(f reflect.StructField) string {
	name := f.Tag.Get("json")
	switch f.Type.Kind() {
	case reflect.Struct:
		var fields []string
		for inner := range f.Type.Fields() {
			if name := inner.Tag.Get("json"); name != "" {
				fields = append(fields, fmt.Sprintf("%q: %s", name, blank(inner)))
			}
		}
		return "{" + strings.Join(fields, ", ") + "}"
	case reflect.Slice:
		return "[]"
	case reflect.Map:
		return "{}"
	case reflect.Bool:
		return strconv.FormatBool(name == "known" || strings.HasSuffix(name, "_known"))
	case reflect.Int:
		if name == "id" {
			return "1"
		}
		return "0"
	case reflect.Interface:
		return "null"
	}
	values, enumerated := f.Tag.Lookup("enum")
	switch first, _, _ := strings.Cut(values, " "); {
	case f.Type == reflect.TypeFor[diag.Outcome]():
		return strconv.Quote(string(diag.Unknown))
	case enumerated:
		return strconv.Quote(first)
	}
	return `""`
}
