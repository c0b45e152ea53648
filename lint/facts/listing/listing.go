package listing

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/sorting"
)

// Context holds the facts of one context.
type Context struct {
	Facts *facts.Facts
	// Place returns the location of the row with the given id. The location has the file name to
	// print.
	Place func(id int) diag.Span
	// Params holds the parameters of a rule in the form that rules see, or nil.
	Params json.RawMessage
}

// Options selects the rows to list. The zero value selects all rows.
type Options struct {
	// List is the name of a list.
	List string
	// File and Line select the rows at a location.
	File string
	Line int
}

// Formats returns the formats that Write supports.
func Formats() []string { return []string{"table", "json", "yaml"} }

// Lists returns the names of all lists.
func Lists() []string {
	var names []string
	for f := range reflect.TypeFor[facts.Facts]().Fields() {
		if f.Type.Kind() == reflect.Slice {
			names = append(names, f.Tag.Get("json"))
		}
	}
	return names
}

// Write writes the facts of all contexts.
func Write(w io.Writer, format string, contexts []Context, o Options) error {
	var out bytes.Buffer
	for i := range contexts {
		c := &contexts[i]
		switch {
		case o.Line > 0:
			c.at(&out, o)
		case format == "json":
			c.json(&out, o.List)
		case format == "yaml":
			fmt.Fprintln(&out, "---")
			writeYAML(&out, c.value(o.List), 0)
		case o.List != "":
			c.table(&out, o.List)
		default:
			c.overview(&out)
		}
		if _, err := out.WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

// value returns all facts, or one list of them. The fields are in schema order.
func (c *Context) value(list string) object {
	all := objectOf(reflect.ValueOf(c.Facts).Elem())
	if list != "" {
		all = slices.DeleteFunc(all, func(m member) bool { return m.name != "version" && m.name != "cluster" && m.name != list })
	}
	if c.Params != nil {
		all = append(all, member{"params", reflect.ValueOf(c.Params)})
	}
	return all
}

func (c *Context) json(out *bytes.Buffer, list string) {
	text := appendJSON(nil, c.value(list))
	if err := json.Indent(out, text, "", "  "); err != nil {
		panic("listing: " + err.Error()) // JSON has just encoded the text
	}
	out.WriteByte('\n')
}

// rows calls a function for each row of a list, and returns the number of rows.
func (c *Context) rows(list string, row func(i int, v reflect.Value)) int {
	all := reflect.ValueOf(c.Facts).Elem()
	for i := range all.NumField() {
		if all.Type().Field(i).Tag.Get("json") == list {
			for j := range all.Field(i).Len() {
				row(j, all.Field(i).Index(j))
			}
			return all.Field(i).Len()
		}
	}
	return 0
}

// title writes a title that identifies the context.
func (c *Context) title(out *bytes.Buffer) {
	about := c.Facts.Cluster
	parts := slices.DeleteFunc([]string{about.Name, about.Context}, func(s string) bool { return s == "" })
	if len(parts) > 0 {
		fmt.Fprintf(out, "# %s\n", report.Visible(strings.Join(parts, " ")))
	}
}

// overview writes the number of rows in each list.
func (c *Context) overview(out *bytes.Buffer) {
	c.title(out)
	fmt.Fprintf(out, "%-16s  %5s  %s\n", "LIST", "ROWS", "DESCRIPTION")
	for _, list := range Lists() {
		n := c.rows(list, func(int, reflect.Value) {})
		fmt.Fprintf(out, "%-16s  %5d  %s\n", list, n, firstSentence(description([]string{list})))
	}
}

// firstSentence returns the first sentence of text.
func firstSentence(text string) string {
	sentence, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(sentence, ".")
}

// table writes a line for each row of a list with its location, index and fields.
func (c *Context) table(out *bytes.Buffer, list string) {
	c.title(out)
	c.rows(list, func(i int, v reflect.Value) {
		fmt.Fprintf(out, "%s: %s[%d]", c.place(v), list, i)
		if w := v.FieldByName("W"); w.IsValid() && w.Int() >= 0 {
			fmt.Fprintf(out, " %s", report.Visible(c.Facts.Ref(int(w.Int()))))
		}
		cells(out, "", v)
		out.WriteByte('\n')
	})
}

// cells writes the fields of a row. It puts the path of a nested row before each of its fields.
func cells(out *bytes.Buffer, prefix string, row reflect.Value) {
	for f, field := range row.Fields() {
		switch name := f.Tag.Get("json"); {
		case name == "id" || name == "w" || name == "":
		case field.Kind() == reflect.Struct:
			cells(out, prefix+name+".", field)
		default:
			fmt.Fprintf(out, " %s%s=%s", prefix, name, brief(field))
		}
	}
}

// place returns the location of a row as file:line.
func (c *Context) place(row reflect.Value) string {
	id := row.FieldByName("ID")
	if !id.IsValid() {
		return "-"
	}
	at := c.Place(int(id.Int()))
	if at.IsZero() {
		return "-"
	}
	return fmt.Sprintf("%s:%d", report.Visible(at.File), at.Line)
}

// brief returns a short form of a value. For a list of nested rows, it returns the number of rows.
func brief(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Slice:
		if v.Len() > 0 && v.Index(0).Kind() == reflect.Struct {
			return fmt.Sprintf("[%d]", v.Len())
		}
	case reflect.Interface:
		return "{...}"
	}
	return report.Visible(string(appendJSON(nil, v)))
}

// at writes all rows that are located on a line. It writes all fields of each row, and the path of
// the row in the facts.
func (c *Context) at(out *bytes.Buffer, o Options) {
	for _, list := range Lists() {
		c.rows(list, func(i int, v reflect.Value) { c.within(out, o, fmt.Sprintf("%s[%d]", list, i), v) })
	}
}

func (c *Context) within(out *bytes.Buffer, o Options, path string, row reflect.Value) {
	if row.Kind() != reflect.Struct {
		return
	}
	if id := row.FieldByName("ID"); id.IsValid() {
		if at := c.Place(int(id.Int())); at.Line == o.Line && at.File == o.File {
			fmt.Fprintf(out, "input.%s:\n", path)
			writeYAML(out, objectOf(row), 1)
		}
	}
	for f, field := range row.Fields() {
		if field.Kind() == reflect.Slice {
			for i := range field.Len() {
				c.within(out, o, fmt.Sprintf("%s.%s[%d]", path, f.Tag.Get("json"), i), field.Index(i))
			}
		}
	}
}

// object is a row with its fields in order.
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

// resolved converts a value to an object, a list of values or a plain value.
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
		sorting.Stable(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
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

// writeYAML writes an object in block style. Plain words are not quoted. Other strings are quoted
// as in JSON, which is valid YAML.
func writeYAML(out *bytes.Buffer, v any, depth int) {
	switch x := resolved(v).(type) {
	case object:
		for _, m := range x {
			writeField(out, strings.Repeat("  ", depth), m, depth)
		}
	case []any:
		for _, item := range x {
			out.WriteString(strings.Repeat("  ", depth) + "-")
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
	}
}

// writeField writes an indented field.
func writeField(out *bytes.Buffer, indent string, m member, depth int) {
	fmt.Fprintf(out, "%s%s:", indent, scalar(m.name))
	if nested(m.value) {
		out.WriteByte('\n')
		writeYAML(out, m.value, depth+1)
		return
	}
	fmt.Fprintf(out, " %s\n", flat(m.value))
}

// nested reports whether a value is written on separate lines.
func nested(v any) bool {
	switch x := resolved(v).(type) {
	case object:
		return len(x) > 0
	case []any:
		return len(x) > 0
	}
	return false
}

// flat formats a value on the same line as its key.
func flat(v any) string {
	if text, ok := resolved(v).(string); ok {
		return scalar(text)
	}
	return string(appendJSON(nil, v))
}

// scalar returns a string as YAML. It does not quote a plain word that YAML always reads as a
// string.
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

// reserved lists the words that YAML 1.1 or YAML 1.2 does not read as strings.
var reserved = []string{"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
