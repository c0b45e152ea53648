package rego

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// Limits on the parameters of a rule and on their values.
const (
	maxSchemaDepth  = 8
	maxSchemas      = 200     // per rule, including schemas of items and nested properties
	maxParamText    = 4 << 10 // bytes per string
	maxParamItems   = 1000    // per array
	maxParamValues  = 10_000  // per rule
	maxParamErrors  = 20      // per rule, to keep the output short
	maxParamPattern = 1000    // bytes per pattern; maxPattern limits its instructions
)

// schema describes parameters, using a subset of JSON Schema.
type schema struct {
	kind        string
	description string
	enum        []any
	items       *schema
	properties  map[string]*schema
	required    []string
	// open is set for an object with any keys and values. It has no properties.
	open bool
	// fallback is the default value. It includes the default values of its properties.
	fallback   any
	hasDefault bool
	minimum    *float64
	maximum    *float64
	minItems   int
	pattern    *regexp.Regexp
}

// names returns the sorted property names.
func (s *schema) names() []string { return sorting.Keys(s.properties) }

// keyword is a schema keyword with the types it applies to. A function reads the keyword's value.
// The function's error says what was expected.
type keyword struct {
	name  string
	kinds string // separated by spaces, or "" for all
	read  func(r *schemaReader, s *schema, at string, value any) error
}

// kinds returns the types that a parameter can have.
func kinds() []string { return []string{"string", "integer", "number", "boolean", "array", "object"} }

// keywords returns all keywords. The type comes first, because the meaning of the other keywords
// depends on it.
func keywords() []keyword {
	return []keyword{
		{"type", "", (*schemaReader).kind},
		{"description", "", func(_ *schemaReader, s *schema, _ string, v any) error { return textOf(&s.description, v) }},
		{"enum", "string integer number", (*schemaReader).enum},
		{"items", "array", func(r *schemaReader, s *schema, at string, v any) error { s.items = r.schema(at, v); return nil }},
		{"minItems", "array", (*schemaReader).minItems},
		{"properties", "object", (*schemaReader).properties},
		{"required", "object", (*schemaReader).required},
		{"additionalProperties", "object", (*schemaReader).open},
		{"minimum", "integer number", func(_ *schemaReader, s *schema, _ string, v any) error { return limitOf(&s.minimum, v) }},
		{"maximum", "integer number", func(_ *schemaReader, s *schema, _ string, v any) error { return limitOf(&s.maximum, v) }},
		{"pattern", "string", (*schemaReader).pattern},
		{"default", "", (*schemaReader).fallback},
	}
}

// schemaReader reads a rule's schema and collects the problems it finds.
type schemaReader struct {
	problems []string
	count    int
	depth    int
}

func (r *schemaReader) say(at, format string, args ...any) {
	r.problems = append(r.problems, "has "+at+", which "+fmt.Sprintf(format, args...))
}

func (r *schemaReader) schema(at string, value any) *schema {
	s := &schema{}
	given, ok := value.(map[string]any)
	r.count++
	switch {
	case !ok:
		r.say(at, "is %s; expected a map with a type", found(value))
		return s
	case r.depth == maxSchemaDepth:
		r.say(at, "is nested more than %d levels deep", maxSchemaDepth)
		return s
	case r.count > maxSchemas:
		if r.count == maxSchemas+1 {
			r.say("custom.params", "holds more than %d schemas", maxSchemas)
		}
		return s
	}
	r.depth++
	defer func() { r.depth-- }()
	before := len(r.problems)
	// If unknown keys were ignored, a misspelled key would turn off a check.
	names := lists.Of(keywords(), func(k keyword) string { return k.name })
	for _, key := range sorting.Keys(given) {
		if !slices.Contains(names, key) {
			r.problems = append(r.problems, fmt.Sprintf("has the unknown key %s.%s%s; expected %s",
				at, cut(key), near(key, names), strings.Join(names, ", ")))
		}
	}
	for _, k := range keywords() {
		v, has := given[k.name]
		switch {
		case !has:
		case k.kinds != "" && !slices.Contains(strings.Fields(k.kinds), s.kind):
			r.say(at+"."+k.name, "type %s does not take; it is for %s", s.kind, strings.ReplaceAll(k.kinds, " ", ", "))
		case k.name == "default" && len(r.problems) > before: // a default cannot be checked against an invalid schema
		default:
			if err := k.read(r, s, at+"."+k.name, v); err != nil {
				r.say(at+"."+k.name, "%v", err)
			}
		}
		if s.kind == "" { // type is read before any other keyword
			if !has {
				r.say(at, "has no type; expected one of %s", strings.Join(kinds(), ", "))
			}
			return s
		}
	}
	r.whole(at, s)
	return s
}

// whole checks that a schema is complete. An array needs items, an object needs properties, and
// every property must be required or have a default.
func (r *schemaReader) whole(at string, s *schema) {
	switch {
	case s.kind == "array" && s.items == nil:
		r.say(at, "has no items; say of what type they are")
	case s.open && s.properties != nil:
		r.say(at, "has properties and additionalProperties; drop one of the two")
	case s.kind == "object" && len(s.properties) == 0 && !s.open:
		r.say(at, "has no properties; name them with their types, or write additionalProperties: true")
	}
	for _, name := range s.names() {
		if !s.properties[name].hasDefault && !slices.Contains(s.required, name) && s.properties[name].kind != "" {
			r.say(at+".properties."+name, "has no default; give one or list %s in required", name)
		}
	}
}

func (r *schemaReader) kind(s *schema, _ string, value any) error {
	name, _ := value.(string)
	if !slices.Contains(kinds(), name) {
		return fmt.Errorf("is %s%s; expected one of %s", found(value), near(name, kinds()), strings.Join(kinds(), ", "))
	}
	s.kind = name
	return nil
}

func (r *schemaReader) enum(s *schema, _ string, value any) error {
	list, ok := value.([]any)
	if !ok || len(list) == 0 {
		return fmt.Errorf("is %s; expected a list of values", found(value))
	}
	plain := &schema{kind: s.kind}
	for _, v := range list {
		one, err := plain.scalar(v)
		if err != nil {
			return fmt.Errorf("holds %s; expected %s", found(v), article(s.kind))
		}
		s.enum = append(s.enum, one)
	}
	return nil
}

func (r *schemaReader) properties(s *schema, at string, value any) error {
	given, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("is %s; expected a map of names to schemas", found(value))
	}
	s.properties = map[string]*schema{}
	for _, name := range sorting.Keys(given) {
		if !paramName().MatchString(name) {
			return fmt.Errorf("holds the name %q; expected lower-case letters, digits and underscores", cut(name))
		}
		s.properties[name] = r.schema(at+"."+name, given[name])
	}
	return nil
}

// paramName matches valid parameter names. Rules can write them as input.params.<name> without
// quotes.
var paramName = lazy.Regexp(`^[a-z][a-z0-9_]{0,62}$`)

func (r *schemaReader) required(s *schema, _ string, value any) error {
	list, ok := value.([]any)
	if !ok {
		return fmt.Errorf("is %s; expected a list of names", found(value))
	}
	for _, v := range list {
		name, _ := v.(string)
		p := s.properties[name]
		switch {
		case p == nil:
			return fmt.Errorf("holds %s%s; expected names of properties", found(v), near(name, s.names()))
		case p.hasDefault:
			return fmt.Errorf("holds %s, which has a default; drop one of the two", name)
		}
		s.required = append(s.required, name)
	}
	return nil
}

func (r *schemaReader) open(s *schema, _ string, value any) error {
	if value != true {
		return fmt.Errorf("is %s; expected true, for any keys and values", found(value))
	}
	s.open = true
	return nil
}

func (r *schemaReader) minItems(s *schema, _ string, value any) error {
	n, ok := numberOf(value)
	if !ok || n < 0 || n > maxParamItems || n != math.Trunc(n) {
		return fmt.Errorf("is %s; expected an integer from 0 to %d", found(value), maxParamItems)
	}
	s.minItems = int(n)
	return nil
}

func (r *schemaReader) pattern(s *schema, _ string, value any) error {
	text, ok := value.(string)
	switch {
	case !ok:
		return fmt.Errorf("is %s; expected a regular expression", found(value))
	case len(text) > maxParamPattern || instructions(text) > maxPattern:
		return fmt.Errorf("is too large; expected at most %d bytes and %d instructions", maxParamPattern, maxPattern)
	}
	var err error
	if s.pattern, err = regexp.Compile(text); err != nil {
		return fmt.Errorf("is no regular expression: %s", cut(oneLine(err.Error())))
	}
	return nil
}

// fallback reads the default value and checks it against the schema.
func (r *schemaReader) fallback(s *schema, _ string, value any) error {
	c := &checker{name: "default"}
	s.fallback = c.value(s, value, nil)
	s.hasDefault = true
	if len(c.errs) > 0 {
		return fmt.Errorf("does not fit its schema: %w", c.errs[0])
	}
	return nil
}

func textOf(into *string, value any) error {
	s, ok := value.(string)
	if !ok {
		return fmt.Errorf("is %s; expected a string", found(value))
	}
	*into = strings.TrimSpace(s)
	return nil
}

func limitOf(into **float64, value any) error {
	n, ok := numberOf(value)
	if !ok {
		return fmt.Errorf("is %s; expected a number", found(value))
	}
	*into = &n
	return nil
}

// definition returns the schema in the format that OPA's type checker expects.
func (s *schema) definition() any {
	if s.open {
		return map[string]any{}
	}
	d := map[string]any{"type": s.kind}
	switch s.kind {
	case "array":
		d["items"] = s.items.definition()
	case "object":
		properties := map[string]any{}
		for name, p := range s.properties {
			properties[name] = p.definition()
		}
		d["properties"], d["additionalProperties"] = properties, false
	}
	return d
}
