package facts

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/schedlint/schedlint/lint/diag"
)

// Schema is the JSON Schema (draft-07) of what rules see as input, generated
// from Facts. It is closed: every field is required and no other is allowed, so
// that a rule with a misspelt field does not load. Only keywords that OPA reads
// or that describe a value to people are used.
func Schema() []byte {
	root := append(ordered{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "schedlint facts"}},
		schemaOf(reflect.TypeFor[Facts]())...)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic("facts: " + err.Error()) // strings and lists of strings always encode
	}
	return out.Bytes()
}

// enums are the string types with a fixed set of values.
func enums() map[reflect.Type][]string {
	return map[reflect.Type][]string{
		reflect.TypeFor[diag.Outcome](): {string(diag.Always), string(diag.Sometimes), string(diag.Never), string(diag.Unknown), string(diag.None)},
	}
}

// scalars names the plain types as JSON Schema does.
func scalars() map[reflect.Kind]string {
	return map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer", reflect.Bool: "boolean"}
}

func schemaOf(t reflect.Type) ordered {
	switch t.Kind() {
	case reflect.Struct:
		return schemaOfStruct(t)
	case reflect.Slice:
		return ordered{{"type", "array"}, {"items", schemaOf(t.Elem())}}
	}
	name, ok := scalars()[t.Kind()]
	if !ok {
		panic("facts: no schema for the type " + t.String())
	}
	if values, ok := enums()[t]; ok {
		return ordered{{"type", name}, {"enum", values}}
	}
	return ordered{{"type", name}}
}

func schemaOfStruct(t reflect.Type) ordered {
	var properties ordered
	var required []string
	for f := range t.Fields() {
		if name := f.Tag.Get("json"); name != "" {
			properties = append(properties, member{name, schemaOf(f.Type)})
			required = append(required, name)
		}
	}
	return ordered{
		{"type", "object"}, {"additionalProperties", false}, {"required", required}, {"properties", properties},
	}
}

// ordered is a JSON object that keeps the order of its members, so that the
// schema reads like the structs.
type ordered []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := json.NewEncoder(&out).Encode(m.name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := json.NewEncoder(&out).Encode(m.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
