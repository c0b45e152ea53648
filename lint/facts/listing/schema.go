package listing

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
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
			names := sorting.Keys(n.inner().Properties)
			if len(names) == 0 {
				return fmt.Errorf("%s has no fields", at)
			}
			if near := diag.Nearest(name, names); near != "" {
				return fmt.Errorf("%s has no field %s; did you mean %s?", at, name, near)
			}
			return fmt.Errorf("%s has no field %s; there are %s", at, name, strings.Join(names, ", "))
		}
		n, at = next, at+"."+name
	}
	fmt.Fprintf(w, "%s (%s)\n", at, n.kind())
	if n.Description != "" {
		fmt.Fprintf(w, "\n%s\n", n.Description)
	}
	if len(n.Enum) != 0 {
		words := lists.Of(n.Enum, func(value string) string { return fmt.Sprintf("%q", value) })
		fmt.Fprintf(w, "\nOne of %s.\n", strings.Join(words, ", "))
	}
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
