package listing

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
)

// node is a node of the facts schema.
type node struct {
	Type        string           `json:"type"`
	Description string           `json:"description"`
	Enum        []string         `json:"enum"`
	Properties  map[string]*node `json:"properties"`
	Required    []string         `json:"required"` // the names of the properties, in order
	Items       *node            `json:"items"`
}

var schema = sync.OnceValue(func() *node {
	var root node
	if err := json.Unmarshal(facts.Schema(), &root); err != nil {
		panic("listing: " + err.Error()) // the schema is generated and tested
	}
	return &root
})

// inner returns the schema of a row. For a list, this is the schema of its items.
func (n *node) inner() *node {
	for n.Items != nil {
		n = n.Items
	}
	return n
}

// kind returns the type of a node in words.
func (n *node) kind() string {
	switch {
	case n.Items != nil:
		return "list of " + n.Items.kind() + "s"
	case n.Type == "object" && n.Properties == nil:
		return "labels"
	case n.Type == "object":
		return "row"
	case n.Type == "":
		return "any value"
	}
	return n.Type
}

// description returns the description of the field at a path.
func description(path []string) string {
	n := schema()
	for _, name := range path {
		n = n.inner().Properties[name]
	}
	return n.Description
}

// Schema writes the JSON Schema of the facts.
func Schema(w io.Writer) error {
	_, err := w.Write(facts.Schema())
	return err
}

// Doc writes the description of the field at a path such as workloads.terms.key. It also writes the
// fields of a nested row.
func Doc(w io.Writer, path string) error {
	n, at := schema(), "input"
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "input."), ".") {
		if path == "" || path == "input" {
			break
		}
		next := n.inner().Properties[name]
		if next == nil {
			return noField(at, name, n.inner())
		}
		n, at = next, at+"."+name
	}
	fmt.Fprintf(w, "%s (%s)\n", at, n.kind())
	if n.Description != "" {
		fmt.Fprintf(w, "\n%s\n", n.Description)
	}
	n.values(w)
	fields := n.inner()
	if len(fields.Required) > 0 {
		fmt.Fprintln(w, "\nFields:")
	}
	for _, name := range fields.Required {
		field := fields.Properties[name]
		fmt.Fprintf(w, "\n%s (%s)\n", name, field.kind())
		if field.Description != "" {
			fmt.Fprintf(w, "    %s\n", field.Description)
		}
	}
	return nil
}

// values lists the values of an enumeration.
func (n *node) values(w io.Writer) {
	if len(n.Enum) == 0 {
		return
	}
	var words []string
	for _, value := range n.Enum {
		words = append(words, fmt.Sprintf("%q", value))
	}
	fmt.Fprintf(w, "\nOne of %s.\n", strings.Join(words, ", "))
}

func noField(at, name string, n *node) error {
	names := slices.Sorted(maps.Keys(n.Properties))
	if len(names) == 0 {
		return fmt.Errorf("%s has no fields", at)
	}
	if near := diag.Nearest(name, names); near != "" {
		return fmt.Errorf("%s has no field %s; did you mean %s?", at, name, near)
	}
	return fmt.Errorf("%s has no field %s; there are %s", at, name, strings.Join(names, ", "))
}

// reference writes a table of fields for each type of row in the schema.
type reference struct {
	w io.Writer
	// seen maps the shape of a row to the path of its table.
	seen map[string]string
}

// Reference writes the documentation of all fields as Markdown. There is a section for each list
// and each type of nested row. If an earlier row has the same fields, a link replaces the section.
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

// row writes the section for a row and the sections for its nested rows.
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

// anchor returns the link target of a path's heading. Markdown drops the dots.
func anchor(path string) string { return strings.ReplaceAll(path, ".", "") }

// shape returns a string that identifies the fields of a row.
func (n *node) shape() string {
	var b strings.Builder
	for _, name := range n.Required {
		field := n.Properties[name]
		fmt.Fprintf(&b, "%s %s %q {%s}; ", name, field.kind(), field.inner().Enum, field.inner().shape())
	}
	return b.String()
}

// named returns the type of a node. Outcomes have their own type name.
func (n *node) named() string {
	if n.inner().outcome() {
		return strings.Replace(n.kind(), "string", "[outcome](#outcomes)", 1)
	}
	return n.kind()
}

// outcome reports whether a node is an outcome. It recognizes an outcome by its possible values.
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

// cell formats text as a table cell.
func cell(text string) string {
	return strings.ReplaceAll(escaped(strings.Join(strings.Fields(text), " ")), "|", `\|`)
}

// escaped escapes characters that Markdown would read as HTML.
func escaped(text string) string { return strings.ReplaceAll(text, "<", "&lt;") }
