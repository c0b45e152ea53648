package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/diag"
)

// parsed parses text strictly, as a file with the given name.
func parsed(name, text string) (*Set, *File) { return parsedWith(everything, name, text) }

func parsedWith(opts Options, name, text string) (*Set, *File) {
	r := result{file: &File{Name: name, Display: name, Text: []byte(text)}}
	r.parse(opts)
	return join([]result{r}), r.file
}

var everything = Options{Keep: func(string, string) bool { return true }, Strict: true}

// inLines splits text into lines as spans count them.
func inLines(text []byte) [][]byte {
	return bytes.SplitAfter(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n"))
}

// spanText returns the text of a span; ok is false if the span is outside of the lines.
func spanText(lines [][]byte, s diag.Span) (text string, ok bool) {
	if s.Line < 1 || s.EndLine < s.Line || s.EndLine > len(lines) || s.EndLine == s.Line && s.EndColumn < s.Column {
		return "", false
	}
	var b strings.Builder
	for n := s.Line; n <= s.EndLine; n++ {
		runes := []rune(string(lines[n-1]))
		from, to := 0, len(runes)
		if n == s.Line {
			from = s.Column - 1
		}
		if n == s.EndLine {
			to = s.EndColumn - 1
		}
		if from < 0 || to > len(runes) || from > to {
			return "", false
		}
		b.WriteString(string(runes[from:to]))
	}
	return b.String(), true
}

// walk visits every node below n once, in order. key says whether the node is a key.
func walk(n *Node, seen map[*Node]bool, visit func(n *Node, key bool)) {
	if n == nil || seen[n] {
		return
	}
	seen[n] = true
	visit(n, false)
	for k, v := range n.Fields() {
		visit(k, true)
		walk(v, seen, visit)
	}
	for _, item := range n.Items() {
		walk(item, seen, visit)
	}
}

// checkPlaces checks the position of every node in text. A span must cover exactly the text of its
// scalar.
func checkPlaces(name string, text []byte) (bad []string) {
	f := &File{Name: name, Text: text}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	docs, errs := documents(text, everything)
	lines := inLines(text)
	for _, d := range docs {
		walk(d.root, map[*Node]bool{}, func(n *Node, key bool) {
			if why := misplaced(f, lines, n); why != "" {
				bad = append(bad, fmt.Sprintf("%s:%d:%d: key %t, %q: %s", f.Name, n.Line, n.Column, key, n.Value, why))
			}
		})
	}
	for _, e := range errs {
		if e.line < 1 || e.line > f.LineCount() || e.column < 1 {
			bad = append(bad, fmt.Sprintf("%s: error outside the file: %d:%d %s", f.Name, e.line, e.column, e.detail))
		}
	}
	return bad
}

func misplaced(f *File, lines [][]byte, n *Node) string {
	span := f.Span(n)
	text, ok := spanText(lines, span)
	switch {
	case !ok:
		return fmt.Sprintf("span outside the file: %v", span)
	case n.Kind != Scalar:
		return misplacedStart(n, text)
	case n.Value == "" && !n.Quoted:
		if text != "" {
			return fmt.Sprintf("an absent value covers %q", text)
		}
		return ""
	case n.Quoted && strings.HasPrefix(text, "|"), n.Quoted && strings.HasPrefix(text, ">"):
		return misplacedBlock(f, n, span)
	}
	if !n.Quoted { // white space differs if the scalar has several lines
		if text != n.Value && (!strings.ContainsAny(text, "\r\n\u0085\u2028\u2029") || squeezed(text) != squeezed(n.Value)) {
			return fmt.Sprintf("covers %q", text)
		}
		return ""
	}
	value, err := undone(f, text)
	if err != nil || value != n.Value {
		return fmt.Sprintf("covers %q, which is %q (%v)", text, value, err)
	}
	return ""
}

// misplacedStart checks the first character of a map or a list. A block map may begin with any
// character.
func misplacedStart(n *Node, text string) string {
	if n.Kind == Map && text != "" && strings.Trim(text, " \t\r\n") != "" || n.Kind == Sequence && strings.ContainsAny(text, "[-&!") {
		return ""
	}
	return fmt.Sprintf("%s starts at %q", n.Kind, text)
}

func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// undone removes quotes, escapes and line folding from the text of a scalar.
func undone(f *File, text string) (value string, err error) {
	if looksLikeJSON(f.Text) && strings.HasPrefix(text, `"`) {
		err = json.Unmarshal([]byte(text), &value)
		return value, err
	}
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil || len(n.Content) != 1 || n.Content[0].Kind != yaml.ScalarNode {
		return "", fmt.Errorf("no scalar: %w", err)
	}
	return n.Content[0].Value, nil
}

// misplacedBlock checks the first line of a block scalar.
func misplacedBlock(f *File, n *Node, span diag.Span) string {
	if hasWideBreak(f.Text) { // lines of the scalar differ from lines of the file
		return ""
	}
	first, _, _ := strings.Cut(strings.TrimSpace(n.Value), "\n")
	first = strings.TrimSpace(first)
	for line := span.Line + 1; line <= f.LineCount(); line++ {
		if text := strings.TrimSpace(f.Line(line)); text != "" {
			if strings.HasPrefix(first, text) || strings.HasPrefix(text, first) {
				return ""
			}
			return fmt.Sprintf("the block begins with %q", text)
		}
	}
	if first == "" {
		return ""
	}
	return "no text below the indicator"
}

// TestPlacesOfFiles checks every position in every fixture.
func TestPlacesOfFiles(t *testing.T) { placesOfFiles(t, "../../fixtures") }

// placesOfFiles checks every position in every manifest below a directory.
func placesOfFiles(t *testing.T, root string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isManifest(path) {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		for _, bad := range checkPlaces(path, text) {
			t.Error(bad)
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Fatalf("%s: %d files: %v", root, files, err)
	}
}

// oddTexts lists unusual documents in which every position is checked.
var oddTexts = map[string]string{
	"several documents":      "a: 1\n---\nb: 2\n--- # comment\nc: 3\n---   \n\n\nd: [x, y]\n...\n---\ne: 5\n",
	"document on the line":   "--- {a: b}\n--- [c]\n--- word\n--- |\n  text\n",
	"end of line CRLF":       "a: 1\r\nb:\r\n- x\r\n- \"y\"\r\n---\r\nc: |\r\n  text\r\nd: word\r\n",
	"byte order mark":        "\ufeffa: 1\nb: [2]\n",
	"two byte order marks":   "\ufeff\ufeff\ufeff\n\na: word\n",
	"byte order mark, JSON":  "\ufeff{\"a\": 1}",
	"not ASCII":              "größe: groß\n\"π\": {名前: \"値\", b: '値'}\nemoji: [😀, 😀😀, x] # 😀\nlast: x\n",
	"flow":                   "{a: 1, \"b\": [x, 'y', {c: d}], e: {}, f: [], g: , h}\n",
	"flow over lines":        "a: {\n  b: c,\n  d: [e,\n    f,\n  ],\n}\ng: [\n]\n",
	"adjacent values":        "{\"a\":1,\"b\":\"c\",\"d\":[]}\n# no JSON\n",
	"anchors":                "a: &x word\nb: *x\nc: &y {d: e}\nf: *y\ng: &z\n- 1\nh: *z\n&k key: v\ni: &e\nj: &t !!str 12\nl: !!str &u 12\nm: *k\n",
	"anchor and colon":       "a: &a:b\nc: &d :e\n",
	"anchors in flow":        "[&a x, *a, &b {c: d}, *b, &e , !!str , f]\n",
	"merge keys":             "base: &b {x: 1, y: 2}\nmore: &m {z: 3}\nuse:\n  <<: [*b, *m]\n  y: 4\n",
	"tags":                   "a: !!str 12\nb: !custom word\nc: !<tag:yaml.org,2002:str> 12\nd: !!int \"3\"\ne: !!str\nf: !!map {g: h}\n",
	"property on its line":   "a: !!str\n  word\nb: &x # comment\n  \"quoted\"\nc: &y\n  # comment\n  d: e\nf: !!str # comment\n\n  # more\n  |\n  text\n",
	"plain over lines":       "a: one two\n  three # comment\nb: one\n\n  two\nc: [one\n  two, three\n  four]\nd: one   \n   two\t\n  three\n",
	"quoted over lines":      "a: \"one\n  two\\\n  three\"\nb: 'one\n  ''two''\n\n  three'\nc: 'it''s'\nd: \"q\\\"q\\\\\"\n",
	"quoted keys":            "\"a b\": 1\n'c''d': 2\n\"e\\tf\": 3\n? g\n: h\n? 'i'\n: j\n",
	"escapes":                "a: \"\\x41\\u00e4\\U0001F600\\n\\e\"\nb: \"tab\\ttab\"\n",
	"block scalars":          "a: |\n  one\n  two\nb: >-\n  one\n  two\nc: |2\n   one\nd: | # comment\n  one\ne: |+\n\nf: |-\ng: >\n\n  one\n",
	"absent values":          "a:\nb: \nc: # comment\nd:\n- \n-\n- x\ne: ~\nf: null\ng: ''\n",
	"compact lists":          "a:\n- b: 1\n  c: 2\n- - d\n  - - e\n- f:\n  - g\n",
	"comments":               "# first\n\n# second\na: 1 # here\n# between\nb: # there\n  c: x\n# last\n",
	"colons and signs":       "a: b:c\nd: e#f\ng: -h\ni: http://x:80/?q#y\nj: a - b\nk: \"x\"  # y\n",
	"trailing blanks":        "a: word   \nb: [x  ,  y  ]   \nc: {d: e  }  \n",
	"no line break at end":   "a: 1\nb: word",
	"tabs between":           "a:\tword\nb: [x,\ty]\nc:\t\"q\"\t# comment\n",
	"JSON with tabs":         "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"c\": [true, null, -1.5e3]\n\t}\n}\n",
	"JSON with surrogates":   "{\"a\": \"\\ud83d\\ude00\", \"b\": \"\\ud83d\", \"😀\": \"x\", \"c\": \"\\/\\b\\f\"}",
	"JSON, nested":           "[{\"a\": [[], {}, [{\"b\": {\"c\": \"d\"}}]]}, 1, \"x\", \"\"]",
	"JSON on one line":       "{\"a\":{\"b\":[1,2,{\"c\":\"d\"}]},\"e\":\"f\"}{\"g\":1}\n",
	"JSON with CRLF":         "{\r\n  \"a\": 1,\r\n  \"b\": \"c\"\r\n}\r\n",
	"lone carriage returns":  "a: 1\rb: [x, y]\rc:\r- d\r",
	"line breaks of Unicode": "a: \"one\u2028two\" # c\nb: 'x\u0085y'\nc: |\n  one\u2029  two\nd: word\ne: [x, ä, y]\n",
	"two documents, Unicode": "a: \"one\u2028two\"\n---\nb: \"x\u2028y\"\nc: d\n---\ne: f\n",
	"directives":             "%YAML 1.1\n---\na: 1\n...\n%TAG ! tag:example.com,2000:\n---\nb: !x 2\n",
	"indented":               "  a: 1\n  b:\n     - c\n     - d: e\n",
	"long ASCII line":        "a: [" + strings.Repeat("word, ", 2000) + "end]\nb: c\n",
	"long line":              "a: [" + strings.Repeat("größe, ", 2000) + "end]\nb: c\n",
}

// TestPlacesOfErrors checks positions in documents with several mistakes.
func TestPlacesOfErrors(t *testing.T) {
	for _, text := range []string{
		"a: &b {*b }\na:\na:", // a cycle, followed by repeated keys
	} {
		for _, bad := range checkPlaces("text", []byte(text)) {
			t.Errorf("%q: %s", text, bad)
		}
	}
}

func TestPlacesOfOddTexts(t *testing.T) {
	for name, text := range oddTexts {
		t.Run(name, func(t *testing.T) {
			for _, bad := range checkPlaces("text", []byte(text)) {
				t.Error(bad)
			}
			if docs, errs := documents([]byte(text), everything); len(errs) > 0 || len(docs) == 0 {
				t.Errorf("%d documents, errors %v", len(docs), errs)
			}
		})
	}
}
