package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

func brief(s diag.Span) string {
	if s.EndLine == s.Line {
		return fmt.Sprintf("%d:%d-%d", s.Line, s.Column, s.EndColumn)
	}
	return fmt.Sprintf("%d:%d-%d:%d", s.Line, s.Column, s.EndLine, s.EndColumn)
}

// spans lists documents with the expected positions of the field x and of its value.
var spans = map[string]struct{ text, field, value string }{
	"plain":                 {"a: 1\nx: word # c\n", "2:1-8", "2:4-8"},
	"of two words":          {"x: two words   # c\n", "1:1-13", "1:4-13"},
	"double quotes":         {"x: \"a \\\" b\" # c\n", "1:1-12", "1:4-12"},
	"single quotes":         {"x: 'it''s' # c\n", "1:1-11", "1:4-11"},
	"quoted key":            {"'x': 1\n", "1:1-7", "1:6-7"},
	"in a flow map":         {"{a: 1, x: word, b: 2}\n", "1:8-15", "1:11-15"},
	"behind wide letters":   {"{größe: 1, x: ß, 😀: 2}\n", "1:12-16", "1:15-16"},
	"a map":                 {"x:\n  a: 1\n", "1:1-2", "2:3-4"},
	"a flow map":            {"x: {a: 1}\n", "1:1-2", "1:4-5"},
	"a list":                {"x:\n- 1\n", "1:1-2", "2:1-2"},
	"nothing":               {"x:\ny: 1\n", "1:1-2", "1:3-3"},
	"nothing in a flow map": {"{x: , y: 1}\n", "1:2-3", "1:5-5"},
	"null":                  {"x: ~\n", "1:1-5", "1:4-5"},
	"on the next line":      {"x:\n  word\n", "1:1-2", "2:3-7"},
	"plain, two lines":      {"x: one\n  two # c\n", "1:1-2:6", "1:4-2:6"},
	"quoted, two lines":     {"x: \"one\n  two\"\n", "1:1-2:7", "1:4-2:7"},
	"block":                 {"x: |- # c\n  one\n  two\n", "1:1-6", "1:4-6"},
	"tag":                   {"x: !!str 12\n", "1:1-12", "1:10-12"},
	"anchor":                {"x: &a \"q\"\n", "1:1-10", "1:7-10"},
	"alias":                 {"a: &a word\nx: *a\n", "2:1-2", "1:7-11"},
	"by a merge key":        {"a: &a {x: 1}\n<<: *a\n", "1:8-12", "1:11-12"},
	"after a mark":          {"\ufeffx: 1\n", "1:1-5", "1:4-5"},
	"CRLF":                  {"a: 1\r\nx: word\r\n", "2:1-8", "2:4-8"},
	"second document":       {"a: 1\n---\nx: word\n", "3:1-8", "3:4-8"},
	"JSON":                  {"{\"a\": 1,\n\t\"x\": \"w\\u00f6rd\"}", "2:2-18", "2:7-18"},
	"JSON number":           {`{"x":1.5}`, "1:2-9", "1:6-9"},
	"JSON object":           {`{"x": {"a": 1}}`, "1:2-5", "1:7-8"},
}

// TestSpans checks the positions of the field x and of its value.
func TestSpans(t *testing.T) {
	for name, row := range spans {
		_, f := parsed("f", row.text)
		docs, errs := documents(f.Text, everything)
		if len(errs) > 0 {
			t.Fatalf("%s: %v", name, errs)
		}
		k, v := docs[len(docs)-1].root.Field("x")
		if got := brief(f.FieldSpan(k, v)); got != row.field {
			t.Errorf("%s: field at %s, want %s", name, got, row.field)
		}
		if got := brief(f.Span(v)); got != row.value {
			t.Errorf("%s: value at %s, want %s", name, got, row.value)
		}
	}
}

func TestLines(t *testing.T) {
	f := &File{Name: "f", Text: []byte("\ufefföne  \r\n\ttwo \n\nlast")}
	for n, want := range map[int]string{0: "", 1: "öne  ", 2: "\ttwo ", 3: "", 4: "last", 5: "", -1: ""} {
		if got := f.Line(n); got != want {
			t.Errorf("line %d is %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int]string{1: "1:1-4", 2: "2:2-5", 3: "3:1-1", 4: "4:1-5"} {
		if got := brief(f.LineSpan(n)); got != want {
			t.Errorf("line %d spans %s, want %s", n, got, want)
		}
	}
	for text, want := range map[string]int{"": 1, "a": 1, "a\n": 1, "a\nb": 2, "\n": 1, "\n\n": 2, "\ufeff": 1, "\ufeff\n": 1} {
		if got := (&File{Text: []byte(text)}).LineCount(); got != want {
			t.Errorf("%q has %d lines, want %d", text, got, want)
		}
	}
	if !f.Span(nil).IsZero() || !(*File)(nil).Span(&Node{Line: 1}).IsZero() || !f.Span(&Node{}).IsZero() {
		t.Error("nothing has a place")
	}
}

// TestIndex converts every offset to a position and back, also across chunk boundaries.
func TestIndex(t *testing.T) {
	for _, text := range []string{
		"", "a", "a\nb\n", "\ufeffä\nö", strings.Repeat("aäö😀\n", 700), strings.Repeat("ä", chunk), strings.Repeat("a", 2*chunk) + "\nb", strings.Repeat("ä", 3*chunk) + "\n" + strings.Repeat("b", chunk),
	} {
		x := newIndex([]byte(text), false)
		line, column := 1, 1
		for at, c := range text {
			if at == 0 && c == '\ufeff' {
				continue
			}
			if l, k := x.place(at); l != line || k != column {
				t.Fatalf("%.20q: byte %d is at %d:%d, want %d:%d", text, at, l, k, line, column)
			}
			if got := x.offset(line, column); got != at {
				t.Fatalf("%.20q: %d:%d is byte %d, want %d", text, line, column, got, at)
			}
			if column++; c == '\n' {
				line, column = line+1, 1
			}
		}
	}
}
