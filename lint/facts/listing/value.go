package listing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// object is a row with its fields in their order.
type object []member

type member struct {
	name  string
	value any // an object, or a reflect.Value
}

func objectOf(v reflect.Value) object {
	var all object
	for f, field := range v.Fields() {
		if name := f.Tag.Get("json"); name != "" {
			all = append(all, member{name, field})
		}
	}
	return all
}

// resolved converts a value to the form that is written: an object, a list of values, or a plain
// value.
func resolved(v any) any {
	value, ok := v.(reflect.Value)
	if !ok {
		return v
	}
	if !value.IsValid() {
		return nil
	}
	switch raw := value.Interface().(type) {
	case json.RawMessage:
		return raw
	case json.Number:
		return raw
	}
	switch value.Kind() {
	case reflect.Interface:
		return resolved(value.Elem())
	case reflect.Struct:
		return objectOf(value)
	case reflect.Slice:
		list := make([]any, value.Len())
		for i := range list {
			list[i] = value.Index(i)
		}
		return list
	case reflect.Map:
		all := object{}
		names := value.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			all = append(all, member{name.String(), value.MapIndex(name)})
		}
		return all
	}
	return value.Interface()
}

func appendJSON(to []byte, v any) []byte {
	switch x := resolved(v).(type) {
	case object:
		to = append(to, '{')
		for i, m := range x {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendJSON(append(appendPlain(to, m.name), ':'), m.value)
		}
		return append(to, '}')
	case []any:
		to = append(to, '[')
		for i, item := range x {
			if i > 0 {
				to = append(to, ',')
			}
			to = appendJSON(to, item)
		}
		return append(to, ']')
	default:
		return appendPlain(to, x)
	}
}

func appendPlain(to []byte, v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("listing: " + err.Error()) // strings, numbers and booleans always encode
	}
	return append(to, bytes.TrimRight(out.Bytes(), "\n")...)
}

// writeYAML writes an object in block style. Strings are quoted as in JSON, which YAML reads,
// unless they are plain words.
func writeYAML(out *bytes.Buffer, v any, depth int) {
	switch x := resolved(v).(type) {
	case object:
		for _, m := range x {
			writeField(out, strings.Repeat("  ", depth), m, depth)
		}
	case []any:
		for _, item := range x {
			out.WriteString(strings.Repeat("  ", depth) + "-")
			writeItem(out, item, depth)
		}
	}
}

// writeField writes a field after an indentation.
func writeField(out *bytes.Buffer, indent string, m member, depth int) {
	fmt.Fprintf(out, "%s%s:", indent, scalar(m.name))
	if nested(m.value) {
		out.WriteByte('\n')
		writeYAML(out, m.value, depth+1)
		return
	}
	fmt.Fprintf(out, " %s\n", flat(m.value))
}

// writeItem writes an item of a list after its dash.
func writeItem(out *bytes.Buffer, item any, depth int) {
	fields, isObject := resolved(item).(object)
	switch {
	case !nested(item):
		fmt.Fprintf(out, " %s\n", flat(item))
	case isObject:
		for i, m := range fields {
			indent := strings.Repeat("  ", depth+1)
			if i == 0 {
				indent = " "
			}
			writeField(out, indent, m, depth+1)
		}
	default:
		out.WriteByte('\n')
		writeYAML(out, item, depth+1)
	}
}

// nested reports whether a value takes lines of its own.
func nested(v any) bool {
	switch x := resolved(v).(type) {
	case object:
		return len(x) > 0
	case []any:
		return len(x) > 0
	}
	return false
}

// flat returns a value in the form that fits on the line of its key.
func flat(v any) string {
	if text, ok := resolved(v).(string); ok {
		return scalar(text)
	}
	return string(appendJSON(nil, v))
}

// scalar returns a string as YAML: only words that cannot be read as anything else are not quoted.
func scalar(text string) string {
	plain := text != "" && !slices.Contains(reserved, strings.ToLower(text)) && strings.IndexFunc(text, func(r rune) bool {
		return r != '_' && r != '-' && r != '/' && r != '.' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
	first := text + " "
	if plain && (first[0] >= 'a' && first[0] <= 'z' || first[0] >= 'A' && first[0] <= 'Z') {
		return text
	}
	return string(appendPlain(nil, text))
}

// reserved lists the words that YAML 1.1 or 1.2 does not read as strings.
var reserved = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
