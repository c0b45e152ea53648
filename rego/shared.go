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

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
)

// over overrides parameters with others. A value without a place of its own gets the given place.
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

// over returns the parameters of a rule, with shared ones as their defaults, if the rule has such
// parameters and runs.
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

// schema returns the schema of the parameters of a rule, or nil if it takes none. It reads the
// annotation only if the annotation may matter.
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

// shareable returns errors about shared parameters that no rule has, or that differ in type between
// rules.
func (e *Engine) shareable(s *Shared) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(s.Values.Values)) {
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

// error returns an error about one of the parameters.
func (s *Shared) error(name, format string, args ...any) error {
	place := ""
	if s.At != nil {
		place = cmp.Or(s.At(name), s.At()) + ": "
	}
	return fmt.Errorf("%srules.%s.params.%s: %s", place, cut(s.Key), cut(name), fmt.Sprintf(format, args...))
}

// sameType reports whether two schemas accept values of one type. It ignores limits and
// enumerations, which each rule checks by itself.
func (s *schema) sameType(o *schema) bool {
	switch {
	case s == nil || o == nil:
		return s == o
	case s.kind != o.kind || !slices.Equal(s.names(), o.names()):
		return false
	}
	for name, p := range s.properties {
		if !p.sameType(o.properties[name]) {
			return false
		}
	}
	return s.items.sameType(o.items)
}

// typeName names a type in a sentence.
func (s *schema) typeName() string {
	if s.items != nil {
		return article(s.kind) + " of " + s.items.kind + " items"
	}
	return article(s.kind)
}

// factsLibrary returns the module with which unit tests make rows. For each kind of row it has a
// function that returns a complete row, with the fields of its argument in place of the defaults.
// An argument with other fields makes the function undefined.
var factsLibrary = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("package schedlint.facts\n")
	for _, t := range rowTypes() {
		name := snake(t.Name())
		if name == "object" { // the name of a package of OPA's functions
			name = "api_object"
		}
		fmt.Fprintf(&b, "\n# %s is a row as %s describes it.\n%s(fields) := object.union(%s_row, fields) if every name, _ in fields { name in object.keys(%s_row) }\n\n%s_row := %s\n",
			name, t.Name(), name, name, name, name, blank(reflect.StructField{Type: t}))
	}
	return b.String()
})

// rowTypes returns the types of all rows, by their names.
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
	slices.SortFunc(all, func(a, b reflect.Type) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// snake converts a Go name to the style of the facts, such as pod_budget.
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

// blank returns the Rego value of a field that a test does not set: outcomes are unknown, other
// enumerations have their first value, and fields that say that something is known are true.
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
