package rego

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// checker checks parameters against their schema and collects the errors.
type checker struct {
	name string // prefix of every parameter name, such as rules.prod-zone-loss.params
	at   func(path ...string) string
	errs []error
	seen int
}

// say adds an error about a value. If the position of the value is unknown, the error points to the
// nearest enclosing value whose position is known.
func (c *checker) say(path []string, format string, args ...any) {
	if len(c.errs) == maxParamErrors {
		return
	}
	place := ""
	for n := len(path); c.at != nil && place == "" && n >= 0; n-- {
		place = c.at(path[:n]...)
	}
	if place != "" {
		place += ": "
	}
	name := c.name
	for _, element := range path {
		if _, err := strconv.Atoi(element); err == nil {
			name += "[" + element + "]"
		} else {
			name += "." + cut(element)
		}
	}
	c.errs = append(c.errs, fmt.Errorf("%s%s: %s", place, name, fmt.Sprintf(format, args...)))
}

// value checks a value and returns it with defaults filled in for missing properties.
func (c *checker) value(s *schema, v any, path []string) any {
	if c.seen++; c.seen > maxParamValues {
		if c.seen == maxParamValues+1 {
			c.say(nil, "expected at most %d values", maxParamValues)
		}
		return nil
	}
	switch s.kind {
	case "any":
		return c.any(v, path)
	case "array":
		return c.array(s, v, path)
	case "object":
		given, ok := v.(map[string]any)
		if !ok {
			c.say(path, "expected a map, found %s", found(v))
			return nil
		}
		for _, name := range sorting.Keys(given) {
			if s.properties[name] == nil && !s.open {
				c.say(below(path, name), "unknown parameter%s; expected %s", near(name, s.names()), strings.Join(s.names(), ", "))
			}
		}
		if s.open {
			return c.any(v, path)
		}
		all := map[string]any{}
		for _, name := range s.names() {
			p := s.properties[name]
			value, has := given[name]
			switch {
			case has:
				all[name] = c.value(p, value, below(path, name))
			case p.hasDefault:
				all[name] = p.fallback
			default:
				c.say(below(path, name), "missing; expected %s", article(p.kind))
			}
		}
		return all
	}
	one, err := s.scalar(v)
	if err != nil {
		c.say(path, "%v", err)
	}
	return one
}

func (c *checker) array(s *schema, v any, path []string) any {
	list, ok := v.([]any)
	switch {
	case !ok:
		c.say(path, "expected a list, found %s", found(v))
		return nil
	case len(list) < s.minItems || len(list) > maxParamItems:
		c.say(path, "expected from %d to %d items, found %d", s.minItems, maxParamItems, len(list))
		return nil
	}
	all := make([]any, len(list))
	for i, item := range list {
		all[i] = c.value(s.items, item, below(path, strconv.Itoa(i)))
	}
	return all
}

// any checks the sizes of a value that has no schema.
func (c *checker) any(v any, path []string) any {
	if c.seen++; c.seen > maxParamValues || len(path) > maxSchemaDepth {
		c.say(path, "expected at most %d values, at most %d levels deep", maxParamValues, maxSchemaDepth)
		return nil
	}
	s := &schema{kind: "number"}
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return c.array(&schema{kind: "array", items: &schema{kind: "any"}}, v, path)
	case map[string]any:
		all := map[string]any{}
		for _, key := range sorting.Keys(v) {
			if len(key) > maxParamText {
				c.say(path, "expected keys of at most %d bytes", maxParamText)
			}
			all[key] = c.any(v[key], below(path, key))
		}
		return all
	case string:
		s.kind = "string"
	case bool:
		s.kind = "boolean"
	}
	one, err := s.scalar(v)
	if err != nil {
		c.say(path, "%v", err)
	}
	return one
}

// below returns a copy of path with one more element. The copy keeps sibling paths from sharing
// memory.
func below(path []string, element string) []string { return append(slices.Clone(path), element) }

// scalar checks a string, number or boolean.
func (s *schema) scalar(v any) (any, error) {
	switch s.kind {
	case "string":
		text, ok := v.(string)
		switch {
		case !ok:
			return nil, fmt.Errorf("expected a string, found %s", found(v))
		case len(text) > maxParamText:
			return nil, fmt.Errorf("expected at most %d bytes, found %d", maxParamText, len(text))
		case s.pattern != nil && !s.pattern.MatchString(text):
			return nil, fmt.Errorf("expected a match of %s, found %s", cut(s.pattern.String()), found(v))
		}
		return s.listed(text)
	case "boolean":
		if _, ok := v.(bool); ok {
			return v, nil
		}
		return nil, fmt.Errorf("expected true or false, found %s", found(v))
	}
	n, ok := numberOf(v)
	switch {
	case !ok || s.kind == "integer" && (n != math.Trunc(n) || math.Abs(n) > maxInteger):
		return nil, fmt.Errorf("expected %s, found %s", article(s.kind), found(v))
	case s.minimum != nil && n < *s.minimum:
		return nil, fmt.Errorf("expected at least %v, found %s", *s.minimum, found(v))
	case s.maximum != nil && n > *s.maximum:
		return nil, fmt.Errorf("expected at most %v, found %s", *s.maximum, found(v))
	}
	if n == math.Trunc(n) && math.Abs(n) <= maxInteger {
		return s.listed(int64(n)) // YAML can write an integer with an exponent
	}
	return s.listed(n)
}

// maxInteger is 2^53. Up to this limit, float64 represents every integer exactly.
const maxInteger = 1 << 53

// listed checks a value against the schema's enumeration, if there is one.
func (s *schema) listed(v any) (any, error) {
	if len(s.enum) == 0 || slices.Contains(s.enum, v) {
		return v, nil
	}
	names := lists.Of(s.enum, func(one any) string { return fmt.Sprint(one) })
	return nil, fmt.Errorf("expected one of %s, found %s%s", cut(strings.Join(names, ", ")), found(v), near(fmt.Sprint(v), names))
}

// numberOf returns v as a finite number. It rejects .inf and .nan, which YAML allows.
func numberOf(v any) (n float64, ok bool) {
	switch v := v.(type) {
	case int:
		n = float64(v)
	case int64:
		n = float64(v)
	case uint64:
		n = float64(v)
	case float64:
		n = v
	case json.Number:
		var err error
		if n, err = v.Float64(); err != nil {
			return 0, false
		}
	default:
		return 0, false
	}
	return n, !math.IsNaN(n) && !math.IsInf(n, 0)
}

// found formats a value for use in a message. If the value has members, found returns only its
// type.
func found(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(cut(v))
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	case bool, int, int64, uint64, float64, json.Number:
		return cut(fmt.Sprint(v))
	}
	return "a value of another kind"
}

// article returns a type's name with an article.
func article(kind string) string {
	switch kind {
	case "array":
		return "a list"
	case "object":
		return "a map"
	case "integer":
		return "an integer"
	case "null":
		return kind
	}
	return "a " + kind
}

// fit checks a rule's parameters and returns them as a term for the rule's input.
func (s *schema) fit(name string, v Values) (*ast.Term, error) {
	c := &checker{name: name, at: v.At}
	given := v.Values
	if given == nil {
		given = map[string]any{}
	}
	all := c.value(s, given, nil)
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	value, err := ast.InterfaceToValue(all)
	return ast.NewTerm(value), err
}

// withParams adds a rule's parameters to its input. It does not copy the facts.
func withParams(input, params *ast.Term) *ast.Term {
	if params == nil {
		return input
	}
	all := [][2]*ast.Term{{ast.InternedTerm("params"), params}}
	input.Value.(ast.Object).Foreach(func(key, value *ast.Term) {
		all = append(all, [2]*ast.Term{key, value})
	})
	return ast.ObjectTerm(all...)
}
