package source

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// sameAsParser compares the result of parseSimple with that of the YAML library. It ignores input
// that is not simple.
func sameAsParser(text []byte) (simple bool, err error) {
	var got, want []string
	note := func(to *[]string) func(*yaml.Node) bool {
		return func(root *yaml.Node) bool {
			var b strings.Builder
			outline(&b, root.Content, 0)
			*to = append(*to, b.String())
			return true
		}
	}
	if !parseSimple(text, &simpleNodes{}, note(&got)) {
		return false, nil
	}
	if failed, err := decodeAll(text, note(&want)); failed {
		return true, fmt.Errorf("read as\n%q\nbut the parser says %v", got, err)
	}
	if len(got) != len(want) {
		return true, fmt.Errorf("%d documents, not %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return true, fmt.Errorf("document %d is\n%s\nbut the parser says\n%s", i, got[i], want[i])
		}
	}
	return true, nil
}

// outline writes everything that the converter reads from nodes.
func outline(b *strings.Builder, nodes []*yaml.Node, depth int) {
	styles := yaml.TaggedStyle | yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	for _, n := range nodes {
		fmt.Fprintf(b, "%*s%d:%d kind %d style %d %q", 2*depth, "", n.Line, n.Column, n.Kind, n.Style&styles, n.Value)
		if n.Style&yaml.TaggedStyle != 0 || n.Anchor != "" || n.Kind == yaml.AliasNode {
			fmt.Fprint(b, " ", n.Tag, n.Anchor, n.Alias != nil)
		}
		b.WriteByte('\n')
		outline(b, n.Content, depth+1)
	}
}

// FuzzSimple checks that parseSimple and the YAML library agree on arbitrary simple input,
// including mistakes.
func FuzzSimple(f *testing.F) { fuzzed(f, fuzzSimple) }

func fuzzSimple(t *testing.T, text []byte) {
	if hasWideBreak(text) {
		return // such input never gets to parseSimple
	}
	if _, err := sameAsParser(text); err != nil {
		t.Errorf("%q: %v", text, err)
	}
}

// TestSimple checks which documents are simple, and compares the result with the YAML library.
func TestSimple(t *testing.T) {
	for _, row := range []struct {
		text   string
		simple bool
	}{
		{"a: b\n", true},
		{"a: b", true},
		{"# top\n---\n# more\na: b # why\n\n---\nc: d\n", true},
		{"a: b\n---\n", true},
		{"---\n---\na: b\n---\n# end\n", true},
		{"  a: b\n  c:\n  - d\n", true},
		{"a:\n- b\n- c: d\n  e: f\n-\n- - g\n  - h\n-   i: j\n    k: l\nm:\n", true},
		{"a:\n  - b\n  # between\n\n  - c\nd: {}\ne: []\n", true},
		{"a: {b: c, d: [e, \"f, g\", 'h'], i: {j: k}}\n", true},
		{"a: \"x \\\"y\\\" \\n\"\nb: 'it''s'\n\"c\": d\n'e f': g\n", true},
		{"a: http://b/c#d\ne: f:g\nh: -1\ni: --j\nk: l, m\n", true},
		{"a: é\nü: {ö: ä, ß: é} # ç\né: x\n", true},
		{"a: |\n  b\n\n    c\n  \n  d: e  \n\nf: |-\n  # g\n\n\nh: |\n\n  i", true},
		{"a:\n- |\n  b\n- |-\n   c\n", true},
		// These need the YAML library, because they mean something else or are invalid.
		{"a: b\n  c\n", false},
		{"a: b\n c: d\n", false},
		{"a: b: c\n", false},
		{"a: \"b\n", false},
		{"a: \"b\n  c\"\n", false},
		{"a: \"b\" c\n", false},
		{"a: [b\n", false},
		{"a: [b,\n  c]\n", false},
		{"a: {b}\n", false},
		{"a: {\"b\":c}\n", false},
		{"a: [b: c]\n", false},
		{"a: &x b\nc: *x\n", false},
		{"a: !!str 1\n", false},
		{"<<: {a: b}\n", false},
		{"? a\n: b\n", false},
		{"a: >\n  b\n", false},
		{"a: |+\n  b\n", false},
		{"a: |2\n   b\n", false},
		{"a: |\n\tb\n", false},
		{"a:\tb\n", false},
		{"\ta: b\n", false},
		{"%YAML 1.1\n---\na: b\n", false},
		{"a: b\n...\n", false},
		{"a: b\n--- # c", false},
		{"a: b\n---", false},
		{"a\n", false},
		{"--- a\n", false},
		{"a:\n    b: c\n  d: e\n", false},
		{"- a\nb: c\n", false},
		{"a: b\n- c\n", false},
		{"a : b\n", false},
		{"a: b\r\n", false},
		{"a: \"\\x41\"\n", false},
		{"a: @b\n", false},
		{"a: {{ .Values.b }}\n", false},
		{strings.Repeat("a", 2000) + ": b\n", false},
		{"a: " + strings.Repeat("[", 500) + strings.Repeat("]", 500) + "\n", false},
		{strings.Repeat("- ", 500) + "a\n", false},
	} {
		simple, err := sameAsParser([]byte(row.text))
		if err != nil || simple != row.simple {
			t.Errorf("%.80q: simple %v, %v", row.text, simple, err)
		}
	}
}

// TestManifestsAreSimple checks that all fixtures are read correctly and that most of them are
// simple.
func TestManifestsAreSimple(t *testing.T) { readAsParser(t, "../../fixtures", 8) }

// readAsParser compares both parsers on all files below a directory. At least the given number out
// of ten must be simple.
func readAsParser(t *testing.T, dir string, outOfTen int) {
	all, simple := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || hasWideBreak(text) {
			return err
		}
		all++
		ok, err := sameAsParser(text)
		if ok {
			simple++
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return nil
	})
	if err != nil || simple*10 < all*outOfTen {
		t.Errorf("%d of %d texts are simple, %v", simple, all, err)
	}
}
