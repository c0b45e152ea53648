package chart

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestOrigins renders the charts in testdata. Each line of a chart's file "want" contains a part
// of an output line, followed by the expected origin: the template line and, if known, the
// position of the value.
func TestOrigins(t *testing.T) {
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatal("no charts", err)
	}
	for _, name := range all {
		t.Run(filepath.Base(name), func(t *testing.T) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			in := chartOf(string(text))
			in.Set = setsOf(string(text))
			res, err := Render(in)
			if err != nil {
				t.Fatal(err)
			}
			checkWant(t, res, wantOf(text))
			checkOrigins(t, in, res)
			again, err := Render(in)
			if err != nil || !reflect.DeepEqual(res, again) {
				t.Errorf("rendered again it differs: %v", err)
			}
		})
	}
}

// TestSetOrigins checks the values that --set changes in a list of a values file, and a text of
// several lines.
func TestSetOrigins(t *testing.T) {
	in := chartOf(shop + `-- -f:env.yaml --
pools:
- cpu: 10
- cpu: 20
- cpu: 30
-- templates/a.yaml --
{{ range .Values.pools }}
cpu: {{ .cpu }}
{{ end }}
script:
  {{ .Values.script | nindent 2 }}
`)
	in.Set = []string{"pools[1].cpu=21", "script=set -e\nrun"}
	res, err := Render(in)
	if err != nil {
		t.Fatal(err)
	}
	checkWant(t, res, []string{
		"cpu: 10 => templates/a.yaml:2 env.yaml:2:8", "cpu: 21 => templates/a.yaml:2 --set", "cpu: 30 => templates/a.yaml:2 env.yaml:4:8",
		"set -e => templates/a.yaml:5 --set", "run => templates/a.yaml:5 --set",
	})
}

func setsOf(text string) (all []string) {
	for _, f := range txtar.Parse([]byte(text)).Files {
		if f.Name == "--set" {
			all = strings.Fields(string(f.Data))
		}
	}
	return all
}

func wantOf(text []byte) []string {
	for _, f := range txtar.Parse(text).Files {
		if f.Name == "want" {
			return strings.Split(strings.TrimSpace(string(f.Data)), "\n")
		}
	}
	return nil
}

// checkWant checks lines of the form "part => template:line" or "part => template:line
// values:line:column".
func checkWant(t *testing.T, res *Result, want []string) {
	for _, w := range want {
		part, expected, ok := strings.Cut(w, " => ")
		if !ok {
			t.Fatalf("no expectation in %q", w)
		}
		var got []string
		for _, m := range res.Manifests {
			for i, line := range strings.Split(string(m.Text), "\n") {
				if strings.Contains(line, part) {
					got = append(got, originText(m.Lines[i]))
				}
			}
		}
		if found := cmp.Or(strings.Join(got, ", "), "none"); found != expected {
			t.Errorf("%s => %s, want %s", part, found, expected)
		}
	}
}

func originText(o Origin) string {
	text := fmt.Sprintf("%s:%d", o.Template, o.Line)
	switch {
	case o.Values.Line > 0:
		text += fmt.Sprintf(" %s:%d:%d", o.Values.File, o.Values.Line, o.Values.Column)
	case o.Values.File != "":
		text += " " + o.Values.File
	}
	if o.Item.Line > 0 && (o.Item.Line != o.Values.Line || o.Item.File != o.Values.File) {
		text += fmt.Sprintf(" in %s:%d:%d", o.Item.File, o.Item.Line, o.Item.Column)
	}
	return text
}

// checkOrigins checks that every line has an origin. The template line of an exact origin must
// have the same text between its actions, and the position of a value must contain that value.
func checkOrigins(t *testing.T, in Input, res *Result) {
	t.Helper()
	texts := map[string][]string{}
	for _, f := range in.Files {
		texts[f.Name] = strings.Split(string(f.Data), "\n")
	}
	for _, f := range in.Values {
		texts[f.Name] = strings.Split(string(f.Data), "\n")
	}
	for _, m := range res.Manifests {
		lines := bytes.SplitAfter(m.Text, []byte("\n"))
		if len(lines[len(lines)-1]) == 0 {
			lines = lines[:len(lines)-1]
		}
		if len(lines) != len(m.Lines) {
			t.Errorf("%s has %d lines and %d origins", m.Template, len(lines), len(m.Lines))
			continue
		}
		for i, line := range lines {
			checkOrigin(t, texts, string(line), m.Lines[i])
		}
	}
}

func checkOrigin(t *testing.T, texts map[string][]string, line string, o Origin) {
	t.Helper()
	from := texts[o.Template]
	if o.Line < 1 || o.Line > len(from) {
		t.Errorf("line %q comes from %s:%d, which does not exist", line, o.Template, o.Line)
		return
	}
	if source := from[o.Line-1]; o.Exact && !covers(source, strings.TrimSpace(line)) {
		t.Errorf("line %q comes from %s:%d, which is %q", line, o.Template, o.Line, source)
	}
	if o.Values.Line == 0 {
		return
	}
	value := texts[o.Values.File][o.Values.Line-1]
	printed := scalarOf(line)
	if !strings.Contains(value, strings.TrimSuffix(strings.TrimSpace(printed), ":")) && !strings.Contains(value, "|") {
		t.Errorf("line %q has the value of %s:%d, which is %q", line, o.Values.File, o.Values.Line, value)
	}
}

// covers reports whether a template line may have printed an output line. Without actions, one of
// the two lines must contain the other. Otherwise, the text before the first action or after the
// last one must be in the output line.
func covers(source, line string) bool {
	if line == "" {
		return true
	}
	before, _, acts := strings.Cut(source, "{{")
	if !acts && !strings.Contains(source, "}}") {
		return strings.Contains(source, line) || strings.Contains(line, strings.TrimSpace(source))
	}
	_, after, _ := cutLast(source, "}}")
	before, after = strings.Trim(before, " -"), strings.TrimSpace(after)
	return strings.Contains(line, before) || after != "" && strings.Contains(line, after)
}

func cutLast(s, sep string) (string, string, bool) {
	at := strings.LastIndex(s, sep)
	if at < 0 {
		return s, "", false
	}
	return s[:at], s[at+len(sep):], true
}
