package listing

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// page is the published reference. The text above the mark is written by hand.
const (
	page = "../../../docs/facts.md"
	mark = "<!-- Generated from the schema of the facts; SCHEDLINT_UPDATE=1 go test ./lint/facts/... rewrites what follows. -->\n\n"
)

// generatedReference is the documentation of all fields as Markdown. There is a section for each list
// and each type of nested row. If an earlier row has the same fields, a link replaces the section.
func generatedReference() string {
	var b bytes.Buffer
	r := reference{&b, map[string]string{}}
	r.all()
	return b.String()
}

// TestReferenceFile checks that the page equals the schema, and updates it on request.
func TestReferenceFile(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	introduction, below, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatalf("%s lacks the line %q", page, mark)
	}
	want := generatedReference()
	if os.Getenv("SCHEDLINT_UPDATE") != "" {
		if err := os.WriteFile(page, []byte(introduction+mark+want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, below); diff != "" {
		t.Errorf("%s is out of date; run SCHEDLINT_UPDATE=1 go test ./lint/facts/...\n%s", page, diff)
	}
}

// TestReferenceIsWhole checks that every type of row has one table with all of its fields, and that
// every link leads to a heading.
func TestReferenceIsWhole(t *testing.T) {
	var b bytes.Buffer
	r := reference{&b, map[string]string{}}
	r.all()
	tables, anchors := map[string]string{}, map[string]bool{"outcomes": true}
	_, sections, _ := strings.Cut(b.String(), "\n#")
	for section := range strings.SplitSeq(sections, "\n#") {
		path, table, _ := strings.Cut(strings.TrimLeft(section, "# "), "\n")
		if anchors[anchor(path)] {
			t.Errorf("two headings have the anchor %s", anchor(path))
		}
		anchors[anchor(path)], tables[path] = true, table
	}
	for _, m := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(b.String(), -1) {
		if !anchors[m[1]] {
			t.Errorf("a link leads to #%s, which is no heading", m[1])
		}
	}
	for _, name := range schema().Required {
		r.check(t, tables, name, schema().Properties[name])
	}
}

// check reports the fields of a row and its nested rows that are missing in their tables.
func (r *reference) check(t *testing.T, tables map[string]string, path string, n *node) {
	t.Helper()
	row := n.inner()
	if len(row.Properties) == 0 {
		return
	}
	table := tables[r.seen[row.shape()]]
	if fields := strings.Count(table, "\n| `"); fields != len(row.Properties) {
		t.Errorf("%s: a table of %d fields, expected %d", path, fields, len(row.Properties))
	}
	for name, field := range row.Properties {
		if !strings.Contains(table, "\n| `"+name+"` | ") {
			t.Errorf("no table has the field %s.%s", path, name)
		}
		r.check(t, tables, path+"."+name, field)
	}
}

// reference writes a table of fields for each type of row in the schema.
type reference struct {
	w io.Writer
	// seen maps the shape of a row to the path of its table.
	seen map[string]string
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
