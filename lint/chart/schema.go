package chart

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	helm "helm.sh/helm/v3/pkg/chart"

	"github.com/schedlint/schedlint/lint/limits"
)

const schemaFile = "values.schema.json"

// validate checks the values against the values.schema.json files of the chart and its
// dependencies. It does not follow references to other files, although Helm does.
func (l *loader) validate(c *helm.Chart, values map[string]any) error {
	if c.Schema != nil {
		name := l.nameOf(c.Schema, schemaFile)
		if err := l.validateOne(name, c.Schema, values); err != nil {
			return err
		}
	}
	for _, d := range c.Dependencies() {
		if table, ok := values[d.Name()].(map[string]any); ok { // Coalesce refuses all else
			if err := l.validate(d, table); err != nil {
				return err
			}
		}
	}
	return nil
}

// schemaURL is Helm's name for a schema.
const schemaURL = "file:///values.schema.json"

func (l *loader) validateOne(name string, text []byte, values map[string]any) (err error) {
	defer func() {
		if over, ok := err.(limit); ok {
			err = limitAt(name, "%s", string(over))
		}
	}()
	defer limited(&err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return &Problem{File: name, Line: 1, Detail: fmt.Sprintf("the schema cannot be read: %v", err)}
	}
	w := schemaWork{left: limits.SchemaSteps}
	if why := w.read(doc, 0); why != "" {
		l.budget.charge(limits.SchemaSteps - max(w.left, 0))
		return limitAt(name, "the schema %s", why)
	}
	compiler, elsewhere := jsonschema.NewCompiler(), closed{}
	compiler.UseLoader(&elsewhere)
	compiler.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) {
		size, _ := program(text)
		l.budget.charge(size)
		re, err := regexp.Compile(text)
		return &counted{re, size, &l.budget}, err
	})
	if err := compiler.AddResource(schemaURL, doc); err != nil {
		return &Problem{File: name, Line: 1, Detail: fmt.Sprintf("the schema cannot be read: %v", err)}
	}
	schema, err := compiler.Compile(schemaURL)
	switch {
	case elsewhere.url != "": // the result may depend on another file
		l.notes = append(l.notes, Note{name, fmt.Sprintf("the values are not checked, as the schema refers to %.200q, and schemas are not read from other files or the network", elsewhere.url)})
		return nil
	case err != nil:
		return &Problem{File: name, Line: 1, Detail: fmt.Sprintf("the schema cannot be used: %v", err), Refused: true}
	}
	w.visit(schema, values, 0)
	l.budget.charge(limits.SchemaSteps - max(w.left, 0))
	if w.left < 0 {
		return limitAt(name, "holding the values against the schema takes more than %d steps", limits.SchemaSteps)
	}
	if err := schema.Validate(values); err != nil {
		return &Problem{File: name, Line: 1, Detail: fmt.Sprintf("the values do not meet the schema: %v", err)}
	}
	return nil
}

// closed rejects references from a schema to other files, and records the first one. Helm would
// read any file on the machine or access the network. A URN accepts any value, as in Helm
// (pkg/chartutil: urnLoader).
type closed struct{ url string }

func (c *closed) Load(url string) (any, error) {
	if strings.HasPrefix(url, "urn:") {
		return true, nil
	}
	c.url = cmp.Or(c.url, url)
	return nil, errors.New("it is elsewhere")
}

// counted is a regular expression that charges for matching.
type counted struct {
	*regexp.Regexp
	size   int
	budget *budget
}

func (c *counted) MatchString(text string) bool {
	c.budget.charge(c.size * (len(text) + 1) / bytesPerStep)
	return c.Regexp.MatchString(text)
}

// read charges for the size of a schema. It returns a message if the schema exceeds a limit. The
// jsonschema library stores the full path of every subschema and calculates with numbers of any
// length.
func (w *schemaWork) read(part any, depth int) string {
	switch part := part.(type) {
	case json.Number:
		mantissa, exponent, _ := strings.Cut(strings.ToLower(part.String()), "e")
		if n, err := strconv.Atoi(cmp.Or(exponent, "0")); err != nil || max(len(mantissa), n, -n) > limits.SchemaDigits {
			return fmt.Sprintf("has a number of more than %d digits", limits.SchemaDigits)
		}
	case map[string]any:
		for _, key := range sortedKeys(part) {
			if why := w.inner(part[key], depth, len(key)); why != "" {
				return why
			}
		}
	case []any:
		for _, inner := range part {
			if why := w.inner(inner, depth, 0); why != "" {
				return why
			}
		}
	}
	return ""
}

func (w *schemaWork) inner(part any, depth, key int) string {
	if w.left -= 1 + (depth+key)/bytesPerStep; w.left < 0 {
		return fmt.Sprintf("takes more than %d steps to read", limits.SchemaSteps)
	}
	if depth == limits.SchemaNesting {
		return fmt.Sprintf("is nested more than %d deep", limits.SchemaNesting)
	}
	return w.read(part, depth+1)
}

// schemaWork computes an upper bound on the number of subschema-value pairs that validation visits.
// This number can be exponential if schemas refer to each other repeatedly.
type schemaWork struct{ left int }

func (w *schemaWork) visit(s *jsonschema.Schema, value any, depth int) {
	if s == nil || w.left < 0 {
		return
	}
	if w.left--; depth > maxSchemaDepth {
		w.left = -1
		return
	}
	for _, same := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, {s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else}} {
		for _, inner := range same {
			w.visit(inner, value, depth+1)
		}
	}
	if s.Enum != nil {
		w.left -= len(s.Enum.Values)
	}
	if s.DynamicRef != nil {
		w.visit(s.DynamicRef.Ref, value, depth+1)
	}
	for _, inner := range s.DependentSchemas {
		w.visit(inner, value, depth+1)
	}
	for _, d := range s.Dependencies {
		if inner, ok := d.(*jsonschema.Schema); ok {
			w.visit(inner, value, depth+1)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for key, value := range value {
			w.visit(s.Properties[key], value, depth+1)
			for _, inner := range s.PatternProperties {
				w.visit(inner, value, depth+1)
			}
			if inner, ok := s.AdditionalProperties.(*jsonschema.Schema); ok {
				w.visit(inner, value, depth+1)
			}
			w.visit(s.UnevaluatedProperties, value, depth+1)
			w.visit(s.PropertyNames, key, depth+1)
		}
	case []any:
		if s.UniqueItems {
			w.left -= len(value) * len(value)
		}
		for i, value := range value {
			w.visit(s.Items2020, value, depth+1)
			w.visit(s.Contains, value, depth+1)
			w.visit(s.UnevaluatedItems, value, depth+1)
			if i < len(s.PrefixItems) {
				w.visit(s.PrefixItems[i], value, depth+1)
			}
			if inner, ok := s.AdditionalItems.(*jsonschema.Schema); ok {
				w.visit(inner, value, depth+1)
			}
			switch items := s.Items.(type) {
			case *jsonschema.Schema:
				w.visit(items, value, depth+1)
			case []*jsonschema.Schema:
				if i < len(items) {
					w.visit(items[i], value, depth+1)
				}
			}
		}
	}
}

const maxSchemaDepth = 1000
