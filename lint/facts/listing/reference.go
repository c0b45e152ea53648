package listing

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// reference writes the tables of the fields, one for each row of the schema.
type reference struct {
	w io.Writer
	// seen maps the shape of a row to the path of the table that describes it.
	seen map[string]string
}

// Reference writes all fields as Markdown: a section for each list, and one for each row within a
// row. Rows with the same fields have one table, which the others link to.
func Reference(w io.Writer) {
	r := reference{w, map[string]string{}}
	r.all()
}

func (r *reference) all() {
	root := schema()
	fmt.Fprint(r.w, "| list | what it holds |\n| --- | --- |\n")
	for _, name := range Lists() {
		fmt.Fprintf(r.w, "| [%s](#%s) | %s |\n", name, name, cell(firstSentence(root.Properties[name].Description)))
	}
	for _, name := range root.Required {
		if top := root.Properties[name]; top.inner().Properties != nil {
			r.row(2, name, top)
		}
	}
}

// row writes the section of a row, and those of the rows in it.
func (r *reference) row(depth int, path string, n *node) {
	row := n.inner()
	r.seen[row.shape()] = path
	fmt.Fprintf(r.w, "\n%s %s\n\n", strings.Repeat("#", depth), path)
	if n.Description != "" {
		fmt.Fprintf(r.w, "%s\n\n", strings.TrimSpace(escaped(n.Description)))
	}
	fmt.Fprint(r.w, "| field | type | values | description |\n| --- | --- | --- | --- |\n")
	var below []string
	for _, name := range row.Required {
		field := row.Properties[name]
		at := path + "." + name
		kind := field.named()
		if inner := field.inner(); len(inner.Properties) > 0 {
			if first := r.seen[inner.shape()]; first != "" {
				at = first
			} else {
				below = append(below, name)
				r.seen[inner.shape()] = at
			}
			kind = strings.Replace(kind, "row", fmt.Sprintf("[row](#%s)", anchor(at)), 1)
		}
		fmt.Fprintf(r.w, "| `%s` | %s | %s | %s |\n", name, kind, field.inner().listed(), cell(field.Description))
	}
	for _, name := range below {
		r.row(min(depth+1, 4), path+"."+name, row.Properties[name])
	}
}

// anchor returns the link target of a path's heading: Markdown leaves out dots.
func anchor(path string) string { return strings.ReplaceAll(path, ".", "") }

// shape identifies the fields of a row.
func (n *node) shape() string {
	var b strings.Builder
	for _, name := range n.Required {
		field := n.Properties[name]
		fmt.Fprintf(&b, "%s %s %q {%s}; ", name, field.kind(), field.inner().Enum, field.inner().shape())
	}
	return b.String()
}

// named returns the type of a node. Outcomes have a type name of their own.
func (n *node) named() string {
	if n.inner().outcome() {
		return strings.Replace(n.kind(), "string", "[outcome](#outcomes)", 1)
	}
	return n.kind()
}

// outcome reports whether the values of a node are those of an outcome.
func (n *node) outcome() bool {
	return slices.Equal(n.Enum, []string{"always", "sometimes", "never", "unknown", "none"})
}

// listed returns the values of an enumeration, or "" for an outcome.
func (n *node) listed() string {
	if n.outcome() || len(n.Enum) == 0 {
		return ""
	}
	var words []string
	for _, value := range n.Enum {
		words = append(words, fmt.Sprintf("`%q`", value))
	}
	return strings.Join(words, ", ")
}

// cell formats a text as a table cell.
func cell(text string) string {
	return strings.ReplaceAll(escaped(strings.Join(strings.Fields(text), " ")), "|", `\|`)
}

// escaped escapes what Markdown would read as HTML.
func escaped(text string) string { return strings.ReplaceAll(text, "<", "&lt;") }
