package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

const nonce = "7f3a"

// repository writes the files of a txtar archive to a directory and returns the directory.
func repository(t testing.TB, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), f.Data)
	}
	return dir
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func rootOf(confinement, dir string) render.Root {
	return render.Root{Confinement: confinement, Dir: dir, Left: limits.Renders}
}

// plain returns the output of kustomize for a directory.
func plain(dir string) (text string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	defer openapi.ResetOpenAPI()
	return plainOnce(dir)
}

// plainOnce is plain, but leaves kustomize's schema as it is.
func plainOnce(dir string) (string, error) {
	opts := krusty.MakeDefaultOptions()
	opts.PluginConfig = types.DisabledPluginConfig()
	opts.LoadRestrictions = types.LoadRestrictionsNone
	m, err := krusty.MakeKustomizer(opts).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return "", err
	}
	out, err := m.AsYaml()
	return string(out), err
}

// verify compares an output with that of kustomize, and each mark with its source.
func verify(t testing.TB, confinement, dir string, out *render.Output) {
	t.Helper()
	if out.Problem != nil {
		t.Fatalf("%s: %v", dir, out.Problem)
	}
	want, err := plain(filepath.Join(confinement, dir))
	if err != nil {
		t.Fatalf("%s: kustomize fails: %v", dir, err)
	}
	if string(out.Text) != want && string(out.Text) != schemaless(want) {
		t.Errorf("%s: the text differs from kustomize's\n got: %s\nwant: %s", dir, out.Text, want)
	}
	printed := valuesOf(t, out.Text)
	sources := map[string]map[[2]int]scalar{}
	last := [2]int{}
	for _, m := range out.Marks {
		name := out.Files[m.File]
		if sources[name] == nil {
			sources[name] = sourceValues(t, filepath.Join(confinement, filepath.FromSlash(name)))
		}
		at := [2]int{m.Line, m.Column}
		if at[0] < last[0] || at[0] == last[0] && at[1] <= last[1] {
			t.Errorf("%s: marks are not sorted at %v", dir, at)
		}
		last = at
		there, ok := printed[at]
		here, known := sources[name][[2]int{m.At, m.AtColumn}]
		if !ok || !known || there != here && !numbersEqual(there, here) {
			t.Errorf("%s: %v is %v (%t); %s:%d:%d is %v (%t)", dir, at, there, ok, name, m.At, m.AtColumn, here, known)
		}
	}
}

// schemaless removes the schemas of CustomResourceDefinitions from kustomize's output.
func schemaless(text string) string {
	cut, _ := withoutSchemas([]byte(text))
	if cut == nil {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(string(cut)) {
		switch line {
		case "\n":
		case "    schema:\n":
			out.WriteString("    schema: null\n")
		default:
			out.WriteString(line)
		}
	}
	return out.String()
}

func numbersEqual(a, b scalar) bool {
	return a.tag == b.tag && a.same(&yaml.Node{Kind: yaml.ScalarNode, Tag: b.tag, Value: b.value})
}

// valuesOf returns the scalars in a text by position, without tags and anchors.
func valuesOf(t testing.TB, text []byte) map[[2]int]scalar {
	t.Helper()
	all := map[[2]int]scalar{}
	doc, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(string(text), "\n")
	for _, root := range doc.docs {
		gather(root, rows, all)
	}
	return all
}

func gather(n *yaml.Node, rows []string, all map[[2]int]scalar) {
	if n == nil {
		return
	}
	if n.Kind == yaml.ScalarNode {
		column := n.Column
		if n.Line > 0 && n.Line <= len(rows) {
			row := []rune(rows[n.Line-1])
			rest := string(row[min(len(row), n.Column-1):])
			column += len([]rune(property().FindString(rest)))
		}
		all[[2]int{n.Line, column}] = scalar{n.ShortTag(), n.Value}
	}
	for _, child := range n.Content {
		gather(child, rows, all)
	}
}

// sourceValues returns the scalars in a file and in the patches in its literal blocks.
func sourceValues(t testing.TB, path string) map[[2]int]scalar {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all := valuesOf(t, text)
	doc, err := parse(text)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(string(text), "\n")
	for _, root := range doc.docs {
		blocks(t, root, rows, all)
	}
	return all
}

func blocks(t testing.TB, n *yaml.Node, rows []string, all map[[2]int]scalar) {
	if n == nil {
		return
	}
	if n.Kind == yaml.ScalarNode && n.Style&yaml.LiteralStyle != 0 {
		if doc, err := parse([]byte(n.Value)); err == nil && doc.err == nil {
			lines := strings.Split(n.Value, "\n")
			for at, value := range valuesOf(t, []byte(n.Value)) {
				row := rows[n.Line+at[0]-1]
				inner := lines[at[0]-1]
				all[[2]int{n.Line + at[0], at[1] + len(row) - len(inner)}] = value
			}
		}
	}
	for _, child := range n.Content {
		blocks(t, child, rows, all)
	}
}

// placed returns "file:line" of the first mark on the output line that contains the given string.
func placed(out *render.Output, contains string) string {
	for i, row := range strings.Split(string(out.Text), "\n") {
		if !strings.Contains(row, contains) {
			continue
		}
		for _, m := range out.Marks {
			if m.Line == i+1 {
				return fmt.Sprintf("%s:%d", out.Files[m.File], m.At)
			}
		}
		return "unmarked"
	}
	return "not there"
}

// hasAndLacks checks that a text contains some strings and lacks others.
func hasAndLacks(t *testing.T, text []byte, has, lack []string) {
	t.Helper()
	for _, want := range has {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, bad := range lack {
		if strings.Contains(string(text), bad) {
			t.Errorf("%q in\n%s", bad, text)
		}
	}
}

// TestOneLine checks that a message is short, printable and on one line.
func TestOneLine(t *testing.T) {
	full := strings.Repeat("a", maxMessage)
	for text, want := range map[string]string{
		"a\n  b\t": "a b", "a\x1b[2J": "a?[2J", "caf\u00e9 \xff": "caf\u00e9 ?",
		full: full, full + "b": full[3:] + "...", full[4:] + "\u00e9bbb": full[4:] + "...",
	} {
		if got := oneLine(text); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
