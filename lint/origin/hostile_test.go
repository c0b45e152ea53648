package origin_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/source"
)

// tree writes files into a new directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func pod(name, origin, tolerations string) string {
	return fmt.Sprintf("kind: Pod\nmetadata:\n  name: %s\n  annotations:\n    config.kubernetes.io/origin: |\n      path: %s\nspec:\n  tolerations:%s\n", name, origin, tolerations)
}

// TestManyWays follows an exponential number of paths to one file, circular references, and a very
// large number of patches.
func TestManyWays(t *testing.T) {
	var tolerations, operations, documents, patches, replacements strings.Builder
	count := 5000
	if trials.Few(t) {
		count = 1000
	}
	for i := range count {
		fmt.Fprintf(&tolerations, "\n  - {key: k%d, value: x}", i)
		if i < 400 {
			fmt.Fprintf(&operations, "- {op: add, path: /spec/tolerations/%d/value, value: y}\n", i)
		}
		fmt.Fprintf(&patches, "- {path: op.yaml, target: {name: p.*}}\n")
		fmt.Fprintf(&replacements, "- {source: {kind: Pod, name: p%d, fieldPath: spec.tolerations.[key=k%d].value}, targets: [{select: {name: one}, fieldPaths: [spec.tolerations.[key=k%d].value]}]}\n", i, i, i)
		documents.WriteString("---\n" + pod(fmt.Sprint("p", i), "x", " []"))
	}
	files := map[string]string{
		"many.yaml": documents.String(), "one.yaml": pod("one", "x", tolerations.String()),
		"op.yaml": operations.String(), "kustomization.yaml": "resources: [one.yaml, many.yaml, d0, ., ..]\ncomponents: [d0, .]\npatches:\n" + "- {path: op.yaml, target: {name: one}}\n- {path: op.yaml, target: {name: one}}\n" + patches.String() + "replacements:\n" + replacements.String(),
	}
	for i := range 40 {
		next := fmt.Sprintf("../d%d", i+1)
		files[fmt.Sprintf("d%d/kustomization.yaml", i)] = fmt.Sprintf("resources: [%s, %s, ../d0, ../many.yaml]\ncomponents: [%s, %s]\n", next, next, next, next)
	}
	dir := tree(t, files)
	rendered := pod("one", "one.yaml", strings.ReplaceAll(tolerations.String(), "value: x", "value: y"))
	for i := range count {
		rendered += "---\n" + pod(fmt.Sprint("p", i), "many.yaml", " []")
	}
	n := checkRendered(t, dir, ".", []byte(rendered))
	if n.places < 2*count || n.exact < count {
		t.Errorf("%+v", n)
	}
}

// TestLargeFiles checks that no more bytes are read in total than one input may have.
func TestLargeFiles(t *testing.T) {
	dir := tree(t, map[string]string{"web.yaml": pod("web", "x", "")})
	large := filepath.Join(dir, "large.yaml")
	if err := os.WriteFile(large, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, 65<<20); err != nil {
		t.Fatal(err)
	}
	m, err := origin.New(origin.Options{Dir: dir, Root: dir, Base: ".", Files: map[string]*source.File{}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{"large.yaml": false, "web.yaml": true, strings.Repeat("a/", 2000) + "web.yaml": false} {
		f := &source.File{Name: "rendered", Text: []byte(pod("web", path, ""))}
		o, _ := source.NewStream(f).At((&source.Object{File: f, Root: f.Roots()[0]}).NameSpan())
		from, ok := o.Origin()
		if !ok {
			t.Fatalf("%.40s is no origin", path)
		}
		if _, found := m.Locate(o, from, o.NameSpan()); found != want {
			t.Errorf("%.40s: %v", path, found)
		}
	}
}
