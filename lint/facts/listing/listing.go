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
)

// Context holds the facts of one context.
type Context struct {
	Facts *facts.Facts
	// Place returns the place of the row with an id, with the file name as it is printed.
	Place func(id int) diag.Span
	// Params holds the parameters of a rule as rules see them, or nil.
	Params json.RawMessage
}

// Options selects what is listed. Zero values select everything.
type Options struct {
	// List is one of the lists.
	List string
	// File and Line select the rows at a place.
	File string
	Line int
}

// Formats returns the formats of Write.
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

// value returns the facts, or one list of them, with the fields in their order.
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
		panic("listing: " + err.Error()) // the text was just written
	}
	out.WriteByte('\n')
}

// rows passes each row of a list to a function, and returns their number.
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

// title names the context.
func (c *Context) title(out *bytes.Buffer) {
	about := c.Facts.Cluster
	parts := slices.DeleteFunc([]string{about.Name, about.Context}, func(s string) bool { return s == "" })
	if len(parts) > 0 {
		fmt.Fprintf(out, "# %s\n", report.Visible(strings.Join(parts, " ")))
	}
}

// overview counts the rows of each list.
func (c *Context) overview(out *bytes.Buffer) {
	c.title(out)
	fmt.Fprintf(out, "%-16s  %5s  %s\n", "LIST", "ROWS", "DESCRIPTION")
	for _, list := range Lists() {
		n := c.rows(list, func(int, reflect.Value) {})
		fmt.Fprintf(out, "%-16s  %5d  %s\n", list, n, firstSentence(description([]string{list})))
	}
}

// firstSentence returns a text up to the first full stop that ends a sentence.
func firstSentence(text string) string {
	sentence, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(sentence, ".")
}

// table writes a line for each row of a list: its place, its index and its fields.
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

// cells writes the fields of a row. Fields of a nested row get its path as a prefix.
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

// place returns the place of a row as file:line.
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

// brief returns a value in a word: rows within rows are counted.
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

// at writes each row located on a line, with all fields, under the path by which rules find it.
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
