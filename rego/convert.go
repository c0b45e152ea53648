package rego

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/facts"
)

// factList is one list of facts and its name.
type factList struct {
	name string
	rows reflect.Value
}

// factLists returns all lists in the order of the struct.
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

// convert makes the input of the rules, as far as they read it, directly from the structs: going
// through JSON text costs several times as much.
func convert(f *facts.Facts, read *reads) *ast.Term {
	c := converter{read: read, strings: map[string]*ast.Term{}, fields: map[string][]field{}, numbers: map[*int]*ast.Term{}}
	return ast.ObjectTerm(c.fieldsOf(reflect.ValueOf(f).Elem(), "")...)
}

// converter turns lists into terms.
type converter struct {
	read    *reads
	strings map[string]*ast.Term
	// fields caches the fields that rules read of the rows at a path.
	fields map[string][]field
	// numbers caches the terms of lists of numbers, which several rows share.
	numbers map[*int]*ast.Term
	spare   []ast.Term
}

// field is a field that rules read.
type field struct {
	index int
	name  *ast.Term
	path  string
}

// indices returns the term of a list of numbers, one for all rows that share the list.
func (c *converter) indices(numbers []int) *ast.Term {
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

// fieldsOf returns the members of a struct at a path that rules read.
func (c *converter) fieldsOf(row reflect.Value, path string) [][2]*ast.Term {
	fields := c.readOf(row.Type(), path)
	all := make([][2]*ast.Term, len(fields))
	for i, f := range fields {
		all[i] = [2]*ast.Term{f.name, c.value(row.Field(f.index), f.path)}
	}
	return all
}

// readOf returns the fields that rules read of the rows at a path, including ids.
func (c *converter) readOf(t reflect.Type, path string) []field {
	fields, known := c.fields[path]
	if known {
		return fields
	}
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("json")
		at := strings.TrimPrefix(path+"."+name, ".")
		if name == "id" || name != "" && c.read.has(at) {
			fields = append(fields, field{i, ast.StringTerm(name), at})
		}
	}
	c.fields[path] = fields
	return fields
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
		for _, name := range slices.Sorted(maps.Keys(labels)) {
			all = append(all, [2]*ast.Term{c.text(name), c.text(labels[name])})
		}
		return c.term(ast.NewObject(all...))
	case reflect.Interface: // a manifest, as encoding/json would read it with exact numbers
		value, err := ast.InterfaceToValue(v.Interface())
		if err != nil { // a document never has such a value
			return ast.NullTerm()
		}
		return c.term(value)
	}
	if numbers, ok := v.Interface().([]int); ok {
		return c.indices(numbers)
	}
	terms := make([]*ast.Term, v.Len())
	for i := range terms {
		terms[i] = c.value(v.Index(i), path)
	}
	return ast.ArrayTerm(terms...)
}

// text returns one term per distinct string, as names repeat all the time.
func (c *converter) text(s string) *ast.Term {
	if t, ok := c.strings[s]; ok {
		return t
	}
	t := c.term(ast.String(s))
	c.strings[s] = t
	return t
}

// term returns a term from a block, so that many terms need one allocation.
func (c *converter) term(v ast.Value) *ast.Term {
	if len(c.spare) == 0 {
		c.spare = make([]ast.Term, 256)
	}
	t := &c.spare[0]
	c.spare = c.spare[1:]
	t.Value = v
	return t
}
