package kinds

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// Text returns the row as an item of the configuration's key kinds. It leaves out what is not set.
func (r *Row) Text() string {
	var b strings.Builder
	write(&b, reflect.ValueOf(r).Elem(), "  ")
	text := "-" + strings.TrimPrefix(b.String(), " ")
	if len(r.Pods) == 0 {
		text += "  pods: []\n"
	}
	return text
}

// write writes the fields of a struct, each on lines of its own.
func write(b *strings.Builder, v reflect.Value, indent string) {
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Tag.Get("json"), v.Field(i)
		switch {
		case f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0:
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() == reflect.Struct:
			fmt.Fprintf(b, "%s%s:\n", indent, name)
			for j := range f.Len() {
				var item strings.Builder
				write(&item, f.Index(j), indent+"  ")
				if item.Len() == 0 {
					item.WriteString(indent + "  {}\n")
				}
				b.WriteString(indent + "-" + item.String()[len(indent)+1:])
			}
		case f.Kind() == reflect.Map && f.Len() > 3:
			fmt.Fprintf(b, "%s%s:\n", indent, name)
			for _, key := range keys(f) {
				fmt.Fprintf(b, "%s  %s: %s\n", indent, quoted(key), flow(f.MapIndex(reflect.ValueOf(key))))
			}
		default:
			fmt.Fprintf(b, "%s%s: %s\n", indent, name, flow(f))
		}
	}
}

// flow returns a value on one line.
func flow(v reflect.Value) string {
	var parts []string
	switch v.Kind() {
	case reflect.Pointer:
		return flow(v.Elem())
	case reflect.String:
		return quoted(v.String())
	case reflect.Slice:
		for i := range v.Len() {
			parts = append(parts, flow(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		for _, key := range keys(v) {
			parts = append(parts, quoted(key)+": "+flow(v.MapIndex(reflect.ValueOf(key))))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				parts = append(parts, v.Type().Field(i).Tag.Get("json")+": "+flow(f))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v.Interface())
}

func keys(v reflect.Value) []string {
	all := lists.SetOf(v.MapKeys(), reflect.Value.String)
	return sorting.Keys(all)
}

// plain matches strings that YAML reads as they are written, unless they are words such as true.
var plain = lazy.Regexp(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// quoted returns a string for YAML, whose double-quoted strings have the escapes of Go.
func quoted(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "yes", "no", "on", "off", "y", "n", "null":
	default:
		if plain().MatchString(text) {
			return text
		}
	}
	return strings.ReplaceAll(strconv.QuoteToASCII(text), "##", `#\x23`) // harmless in a terminal and a CI log
}
