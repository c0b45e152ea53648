package source

import (
	"fmt"
	"strings"
	"testing"
)

// mistake is a document with one typical slip. The line to correct ends in "# here", or is the
// first one in want.
type mistake struct {
	name, text string
	want       int
}

var mistakes = []mistake{
	{"bad indentation of a key", "a:\n  b: 1\n   c: 2\nd: 3\n", 3},
	{"a key indented less than its siblings", "a:\n    b: 1\n  c: 2\nd: 3\n", 3},
	{"tab for indentation", "a:\n\tb: 1\nc: 2\n", 2},
	{"tab for indentation, later", "a:\n  b: 1\n\tc: 2\nd: 3\n", 3},
	{"tab after spaces", "a:\n  b:\n  \tc: 2\nd: 3\n", 3},
	{"unclosed double quote", "a: 1\nb: \"word\nc: 2\nd: 3\n", 2},
	{"unclosed single quote", "a: 1\nb: 'word\nc: 2\nd: 3\n", 2},
	{"unclosed quote before another", "a: 1\nb: \"word\nc: \"x\"\nd: 3\n", 2},
	{"unclosed quote far before another", "a: 1\nb: 'word\nc: 3\nd: 'x'\n", 2},
	{"quote inside single quotes", "a: 1\nb: 'it's'\nc: 2\n", 2},
	{"unclosed bracket", "a: 1\nb: [x, y\nc: 2\n", 2},
	{"unclosed brace", "a: 1\nb: {x: y\nc: 2\nd: 3\n", 2},
	{"bracket too many", "a: 1\nb: [x, y]]\nc: 2\n", 2},
	{"missing colon", "a: 1\nb\nc: 2\n", 2},
	{"missing colon before a block", "a: 1\nb\n  c: 2\nd: 3\n", 2},
	{"missing blank after a colon", "a:\n  b:1\n  c: 2\nd: 3\n", 2},
	{"two colons", "a: 1\nb: c: d\ne: 2\n", 2},
	{"stray text", "a: 1\nb:\n  c: 2\nstray words here\nd: 3\n", 4},
	{"stray text after a list", "a:\n- x\n- y\nstray\nd: 3\n", 4},
	{"text after a quoted value", "a: \"x\" y\nb: 1\n", 1},
	{"dash without blank", "a:\n- x\n-y\nb: 1\n", 3},
	{"dash without blank before fields", "a:\n  -b: x\n    c: y\nd: 1\n", 2},
	{"list item beside keys", "a: 1\n- b\nc: 2\n", 2},
	{"key beside list items", "a:\n  - x\n  b: 1\nc: 2\n", 3},
	{"list item too far left", "a:\n  b:\n    - x\n   - y\nc: 1\n", 4},
	{"value with a leading star", "a: 1\nb: *.example.com\nc: 2\n", 2},
	{"value with a leading at", "a: 1\nb: @x\nc: 2\n", 2},
	{"value with a leading backtick", "a: 1\nb: `x`\nc: 2\n", 2},
	{"value with a percent sign", "a: 1\nb: %x\nc: 2\n", 2},
	{"bad escape", "a: 1\nb: \"C:\\Users\"\nc: 2\n", 2},
	{"block text not indented", "a: |\n  one\ntwo\nb: 1\n", 3},
	{"merge conflict", "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> x\nc: 4\n", 2},
	{"unknown alias", "a: 1\nb: *x\nc: 2\n", 2},
	{"JSON without a comma", "{\n  \"a\": 1\n  \"b\": 2\n}\n", 2},
	{"JSON with tabs without a comma", "{\n\t\"a\": 1,\n\t\"b\": 2\n\t\"c\": 3\n}\n", 3},
	{"JSON that ends early", "{\n\t\"a\": {\n\t\t\"b\": 1\n", 3},
}

// TestSyntaxErrorLine checks that an error is reported on the line that the user must correct, for
// all kinds of line breaks.
func TestSyntaxErrorLine(t *testing.T) {
	for _, m := range mistakes {
		for _, text := range []string{m.text, strings.ReplaceAll(m.text, "\n", "\r\n"), "# comment\n" + m.text, "---\n" + m.text} {
			want := m.want + strings.Count(text, "\n") - strings.Count(m.text, "\n")
			docs, errs := documents([]byte(text), everything)
			if len(errs) != 1 || len(docs) != 1 || docs[0].root != nil {
				t.Errorf("%s: %d documents, errors %v", m.name, len(docs), errs)
			} else if errs[0].line != want {
				t.Errorf("%s: line %d: %s; want line %d\n%s", m.name, errs[0].line, errs[0].detail, want, text)
			}
		}
	}
}

// TestDocumentsAroundErrors checks that a broken document does not hide others and does not change
// their line numbers.
func TestDocumentsAroundErrors(t *testing.T) {
	for _, m := range mistakes {
		if strings.HasPrefix(m.text, "{") {
			continue // JSON has no document separators
		}
		text := "kind: A\n---\n" + m.text + "---\nkind: B\nmetadata:\n  name: b\n--- # again\n" + m.text + "---\nkind: C\n"
		n := strings.Count(m.text, "\n")
		set, _ := parsed("x", text)
		want := fmt.Sprintf("A  1, B b %d, C  %d, unparsable-document %d, unparsable-document %d", n+4, 2*n+9, m.want+2, n+7+m.want)
		if got := reading(set); got != want {
			t.Errorf("%s\n got %s\nwant %s", m.name, got, want)
		}
		if set.Documents != 5 {
			t.Errorf("%s: %d documents, want 5", m.name, set.Documents)
		}
	}
}

// TestParts checks where documents end.
func TestParts(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"a\n":                                "a\n",
		"a\n---\nb\n":                        "a\n|---\nb\n",
		"---\na\n---\nb\n":                   "---\na\n|---\nb\n",
		"# c\n\n---\na\n":                    "# c\n\n---\na\n",
		"%YAML 1.1\n---\na\n--- # d\nb":      "%YAML 1.1\n---\na\n|--- # d\nb",
		"a\n--- b\n---c\n ---\n----\n---\td": "a\n|--- b\n---c\n ---\n----\n|---\td",
		"a\r\n---\r\nb":                      "a\r\n|---\r\nb",
		"a: '\n---\nb: '\n":                  "a: '\n|---\nb: '\n",
		"---\n---\n---":                      "---\n|---\n|---",
	} {
		var got []string
		for part := range parts([]byte(text)) {
			got = append(got, string(part))
		}
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%q: got %q, want %q", text, joined, want)
		}
	}
}

// TestMeaningless checks documents that parse but are invalid. They are mistakes if they were
// meant to be manifests, even if everything else in the file is data.
func TestMeaningless(t *testing.T) {
	for text, want := range map[string]string{
		"a: &a 1\n---\nkind: Pod\nb: *a\n":        "unparsable-document 4:1-6",
		"a: &a 1\n---\napiVersion: v1\nb: [*a]\n": "unparsable-document 4:1-8",
		"a: &a 1\n---\nb: *a\n":                   "",
		"kind: Pod\nmetadata: {<<: x}\n":          "unparsable-document 2:1-18",
		"metadata: {<<: x}\n":                     "",
	} {
		set, _ := parsedWith(Options{Keep: everything.Keep}, "x", text)
		if got := problems(set); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		if want == "" && set.Skipped[0].Reason != SkipNoManifest {
			t.Errorf("%q: %v", text, set.Skipped)
		}
	}
}
