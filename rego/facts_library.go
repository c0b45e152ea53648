package rego

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
)

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
