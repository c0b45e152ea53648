package chart

import (
	"bytes"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
	helm "helm.sh/helm/v3/pkg/chart"
)

const schemaFile = "values.schema.json"

// validate holds the values against values.schema.json of the chart and of its
// dependencies, as Helm does, but without following references out of the file.
func (l *loader) validate(c *helm.Chart, values map[string]any) error {
	if c.Schema != nil {
		name := l.nameOf(c.Schema, schemaFile)
		if err := l.validateOne(name, c.Schema, values); err != nil {
			return err
		}
	}
	for _, d := range c.Dependencies() {
		of, ok := values[d.Name()]
		if !ok || of == nil {
			continue
		}
		table, ok := of.(map[string]any)
		if !ok {
			return l.at(valuesFile, d.Name(), "the values of the dependency %s are not a mapping", d.Name())
		}
		if err := l.validate(d, table); err != nil {
			return err
		}
	}
	return nil
}

// schemaURL is how Helm names a schema to the library.
const schemaURL = "file:///values.schema.json"

func (l *loader) validateOne(name string, text []byte, values map[string]any) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return &Problem{File: name, Line: 1, Detail: fmt.Sprintf("the schema cannot be read: %v", err)}
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(closed{})
	if err := compiler.AddResource(schemaURL, doc); err != nil {
		return &Problem{File: name, Line: 1, Detail: fmt.Sprintf("the schema cannot be read: %v", err)}
	}
	schema, err := compiler.Compile(schemaURL)
	if err != nil {
		return &Problem{File: name, Line: 1, Detail: fmt.Sprintf("the schema cannot be used: %v", err), Refused: true}
	}
	w := schemaWork{left: maxSchemaSteps}
	w.visit(schema, values, 0)
	l.budget.charge(maxSchemaSteps - max(w.left, 0))
	if w.left < 0 {
		return limitAt(name, "holding the values against the schema takes more than %d steps", maxSchemaSteps)
	}
	if err := schema.Validate(values); err != nil {
		return &Problem{File: name, Line: 1, Detail: fmt.Sprintf("the values do not meet the schema: %v", err)}
	}
	return nil
}

// closed refuses what a schema refers to outside its file: Helm would read any file of
// the machine, and connect.
type closed struct{}

func (closed) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %.200q, and schemas are not read from other files or the network", url)
}

// maxSchemaSteps is how many pairs of a schema and a value are looked at. Schemas that
// refer to one another several times make exponentially many.
const maxSchemaSteps = 1_000_000

// schemaWork counts the pairs at most, without judging them.
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
		w.table(s, value, depth)
	case []any:
		w.list(s, value, depth)
	}
}

const maxSchemaDepth = 1000

func (w *schemaWork) table(s *jsonschema.Schema, table map[string]any, depth int) {
	for key, value := range table {
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
}

func (w *schemaWork) list(s *jsonschema.Schema, list []any, depth int) {
	if s.UniqueItems {
		w.left -= len(list) * len(list)
	}
	for i, value := range list {
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
