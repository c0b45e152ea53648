package listing

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// page is the published reference. The text above the mark is written by hand.
const (
	page = "../../../docs/facts.md"
	mark = "<!-- Generated from lint/facts/schema.json; SCHEDLINT_UPDATE=1 go test ./lint/facts/... rewrites what follows. -->\n\n"
)

func generatedReference() string {
	var b bytes.Buffer
	Reference(&b)
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
