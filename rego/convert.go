package rego

import (
	"reflect"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/facts"
)

// factList is one list of facts and its name.
type factList struct {
	name string
	rows reflect.Value
}

// factLists gives all lists in the order of the struct.
func factLists(f *facts.Facts) []factList {
	var lists []factList
	v := reflect.ValueOf(f).Elem()
	for i := range v.NumField() {
		if name := v.Type().Field(i).Tag.Get("json"); name != "" {
			lists = append(lists, factList{name, v.Field(i)})
		}
	}
	return lists
}

// listNames gives the names of the lists that hold a fact.
func listNames(f *facts.Facts) []string {
	var names []string
	for _, list := range factLists(f) {
		if list.rows.Len() > 0 {
			names = append(names, list.name)
		}
	}
	return names
}

// idsOf gives the ids of the facts in those lists.
func idsOf(f *facts.Facts, read *reads) map[int]bool {
	ids := map[int]bool{}
	for _, list := range factLists(f) {
		if !read.has(list.name) {
			continue
		}
		for i := range list.rows.Len() {
			ids[int(list.rows.Index(i).FieldByName("ID").Int())] = true
		}
	}
	return ids
}

// convert makes the input of the rules from the lists that they read, straight
// from the structs: the way over JSON text costs several times as much.
func convert(f *facts.Facts, read *reads) *ast.Term {
	c := converter{strings: map[string]*ast.Term{}, names: map[reflect.Type][]*ast.Term{}}
	var pairs [][2]*ast.Term
	for _, list := range factLists(f) {
		if read.has(list.name) {
			pairs = append(pairs, [2]*ast.Term{ast.StringTerm(list.name), c.list(list.rows)})
		}
	}
	return ast.ObjectTerm(pairs...)
}

// converter turns lists into terms.
type converter struct {
	strings map[string]*ast.Term
	names   map[reflect.Type][]*ast.Term
	spare   []ast.Term
}

func (c *converter) list(rows reflect.Value) *ast.Term {
	terms := make([]*ast.Term, rows.Len())
	for i := range terms {
		terms[i] = c.value(rows.Index(i))
	}
	return ast.ArrayTerm(terms...)
}

// object is a row, or what stands in one.
func (c *converter) object(row reflect.Value) *ast.Term {
	keys := c.keys(row.Type())
	pairs := make([][2]*ast.Term, len(keys))
	for i, key := range keys {
		pairs[i] = [2]*ast.Term{key, c.value(row.Field(i))}
	}
	return c.term(ast.NewObject(pairs...))
}

// keys are the names of the fields of a type of rows.
func (c *converter) keys(t reflect.Type) []*ast.Term {
	keys, known := c.names[t]
	if !known {
		for f := range t.Fields() {
			keys = append(keys, ast.StringTerm(f.Tag.Get("json")))
		}
		c.names[t] = keys
	}
	return keys
}

func (c *converter) value(v reflect.Value) *ast.Term {
	switch v.Kind() {
	case reflect.String:
		return c.text(v.String())
	case reflect.Int:
		return ast.InternedTerm(v.Int())
	case reflect.Bool:
		return ast.InternedTerm(v.Bool())
	case reflect.Struct:
		return c.object(v)
	}
	return c.list(v)
}

// text gives one term per distinct string: names repeat all the time.
func (c *converter) text(s string) *ast.Term {
	if t, ok := c.strings[s]; ok {
		return t
	}
	t := c.term(ast.String(s))
	c.strings[s] = t
	return t
}

// term takes terms from a block, which is one allocation for many.
func (c *converter) term(v ast.Value) *ast.Term {
	if len(c.spare) == 0 {
		c.spare = make([]ast.Term, 256)
	}
	t := &c.spare[0]
	c.spare = c.spare[1:]
	t.Value = v
	return t
}
