package source

import (
	"fmt"
	"strings"
	"testing"
)

const directiveText = `# schedlint:ignore one at the top
apiVersion: v1
kind: ConfigMap
metadata:
  name: a # schedlint:ignore two behind a value
data:
  # schedlint:ignore three stands

  # above another comment
  key: "# schedlint:ignore no it is a text"
  block: |
    # schedlint:ignore no it is a text
    text
  # schedlint:ignore
  folded: >-
    a
    # schedlint:ignore no it is a text
  plain: a#schedlint:ignore no there is no blank
  "# schedlint:ignore no": a key
  later: x #schedlint:ignore four	 until=2027-01-01 because  of it
# see schedlint:ignore no it speaks of it
# schedlint:ignore five at the end
`

func TestDirectives(t *testing.T) {
	want := []string{
		`2 "one" "at the top" 1:1-34`, `5 "two" "behind a value" 5:11-48`, `10 "three" "stands" 7:3-34`, `15 "" "" 14:3-21`,
		`20 "four" "until=2027-01-01 because  of it" 20:12-67`, `0 "five" "at the end" 22:1-35`,
	}
	for _, breaks := range []string{"\n", "\r\n"} {
		text := strings.ReplaceAll(directiveText, "\n", breaks)
		f := &File{Name: "f", Text: []byte(text)}
		var got []string
		for _, d := range f.Directives() {
			got = append(got, fmt.Sprintf("%d %q %q %d:%d-%d", d.Line, d.Rule, d.Text, d.Span.Line, d.Span.Column, d.Span.EndColumn))
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if string(f.Text) != text {
			t.Error("the text has changed")
		}
	}
}

// TestDirectivesOfTemplates checks that template actions that print nothing may separate a
// directive from the line that it applies to.
func TestDirectivesOfTemplates(t *testing.T) {
	for text, want := range map[string]string{
		"{{/* # schedlint:ignore one why */}}\na: b\n":                                                     `2 "one" "why" 1:6-32`,
		"{{- /* # schedlint:ignore one why not */ -}}\na: b\n":                                             `2 "one" "why not" 1:8-38`,
		"{{/*# schedlint:ignore one why*/}}\n\na: b\n":                                                     `3 "one" "why" 1:5-31`,
		"{{- /*\n# schedlint:ignore one why\nmore */ -}}\na: b\n":                                          `4 "one" "why" 2:1-27`,
		"# schedlint:ignore one why\n{{- if .x }}\n{{ $y := .z }}\n{{ $y = 1 }}\n{{- with\n .b }}\na: b\n": `7 "one" "why" 1:1-27`,
		"# schedlint:ignore one why\n{{- toYaml .x }}\na: b\n":                                             `2 "one" "why" 1:1-27`,
		"{{- if .x }} a: {{ .b }} # schedlint:ignore one why\nb: c\n":                                      `1 "one" "why" 1:26-52`,
		"{{- if \"}}\" }} # schedlint:ignore one why\nb: c\n":                                              `2 "one" "why" 1:16-42`,
		"a: b {{/* # schedlint:ignore one why */}}\nb: c\n":                                                `1 "one" "why" 1:11-37`,
		"{{/* never closed\n# schedlint:ignore one why\na: b\n":                                            `3 "one" "why" 2:1-27`,
		"a: b {{ `\n# schedlint:ignore one why\na: b\n":                                                    `3 "one" "why" 2:1-27`,
		"a: '{{/* # schedlint:ignore one why */}}'\n":                                                      ``,
	} {
		f := &File{Name: "f", Text: []byte(text)}
		got := ""
		for _, d := range f.Directives() {
			got += fmt.Sprintf("%d %q %q %d:%d-%d", d.Line, d.Rule, d.Text, d.Span.Line, d.Span.Column, d.Span.EndColumn)
		}
		if got != want {
			t.Errorf("%q: found %s, want %s", text, got, want)
		}
	}
}

// TestDirectivesOfBrokenText checks directives in files that do not parse and in JSON.
func TestDirectivesOfBrokenText(t *testing.T) {
	for text, want := range map[string]int{
		"a: [ # schedlint:ignore unparsable-document a draft\n": 1,
		"a: &x [*x] # schedlint:ignore alias-cycle why not\n":   1,
		"{\"a\": \" # schedlint:ignore x y\"}":                  0,
		"":                                                      0,
		"\xff # schedlint:ignore unreadable-file why not":       1,
	} {
		f := &File{Name: "f", Text: []byte(text)}
		if got := f.Directives(); len(got) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzDirectives(f *testing.F) { fuzzed(f, fuzzDirectives) }

func fuzzDirectives(t *testing.T, text []byte) {
	file := &File{Name: "f", Text: text}
	for _, d := range file.Directives() {
		line := []rune(file.Line(d.Span.Line))
		if d.Span.EndColumn-1 > len(line) || d.Line > file.LineCount() || line[d.Span.Column-1] != '#' {
			t.Errorf("%+v is not in %q", d, text)
		}
	}
}
