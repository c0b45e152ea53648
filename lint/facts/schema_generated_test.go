package facts

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
)

// describer returns the description of a struct field, or "".
type describer func(t reflect.Type, field string) string

// generated builds the schema from the structs and their comments.
func generated(describe describer) []byte {
	root := append(ordered{{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "schedlint facts"}},
		schemaOf(reflect.TypeFor[Facts](), describe)...)
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	if err := enc.Encode(root); err != nil {
		panic("facts: " + err.Error()) // strings and lists of strings always encode
	}
	return out.Bytes()
}

// scalars maps the Go kinds of plain values to the type names of JSON Schema.
func scalars() map[reflect.Kind]string {
	return map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer", reflect.Bool: "boolean"}
}

func schemaOf(t reflect.Type, describe describer) ordered {
	switch t.Kind() {
	case reflect.Struct:
		return schemaOfStruct(t, describe)
	case reflect.Slice:
		return ordered{{"type", "array"}, {"items", schemaOf(t.Elem(), describe)}}
	case reflect.Map: // the names are the user's, such as labels
		return ordered{{"type", "object"}, {"additionalProperties", schemaOf(t.Elem(), describe)}}
	case reflect.Interface: // a manifest
		return ordered{}
	}
	name, ok := scalars()[t.Kind()]
	if !ok {
		panic("facts: no schema for the type " + t.String())
	}
	return ordered{{"type", name}}
}

// outcomes returns the possible values of an outcome.
func outcomes() []string {
	return []string{string(diag.Always), string(diag.Sometimes), string(diag.Never), string(diag.Unknown), string(diag.None)}
}

// enumeration returns the values that a field may have. It returns nil if all values are allowed.
// The enum tag lists the values of a string field, separated by spaces. Two adjacent spaces, or a
// space at either end, add the value "".
func enumeration(f reflect.StructField) []string {
	if f.Type == reflect.TypeFor[diag.Outcome]() {
		return outcomes()
	}
	if values, ok := f.Tag.Lookup("enum"); ok {
		return strings.Split(values, " ")
	}
	return nil
}

func schemaOfStruct(t reflect.Type, describe describer) ordered {
	var properties ordered
	required := []string{}
	for f := range t.Fields() {
		name := f.Tag.Get("json")
		if name == "" {
			continue
		}
		field := schemaOf(f.Type, describe)
		if values := enumeration(f); values != nil {
			field = append(field, member{"enum", values})
		}
		if text := describe(t, f.Name); text != "" {
			field = append(ordered{{"description", text}}, field...)
		}
		properties, required = append(properties, member{name, field}), append(required, name)
	}
	return ordered{
		{"type", "object"}, {"additionalProperties", false}, {"required", required}, {"properties", properties},
	}
}

// ordered is a JSON object that keeps its members in order. The schema then has the order of the
// structs.
type ordered []member

type member struct {
	name  string
	value any
}

// MarshalJSON encodes the members in order.
func (o ordered) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := encode(&out, m.name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := encode(&out, m.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
