package lint_test

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/accept"
	"github.com/schedlint/schedlint/lint/diag"
)

// TestBaselineOutlivesMoves runs outlivesMoves on the bad fixtures of rules.
func TestBaselineOutlivesMoves(t *testing.T) {
	dir := t.TempDir()
	nodes, tree := filepath.Join(dir, "nodes.yaml"), filepath.Join(dir, "tree")
	linttest.Put(t, nodes, linttest.Workers(3, 3))
	bad, err := filepath.Glob("../fixtures/*/bad.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range trials.Sample(t, bad, 20) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(tree, filepath.Base(filepath.Dir(path)))
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		linttest.Put(t, filepath.Join(at, "bad.yaml"), string(text))
	}
	outlivesMoves(t, tree, nodes, 15)
}

// outlivesMoves creates a baseline for a tree, moves all files to another directory, adds lines at
// the top and changes line ends. It then lints against the baseline and checks that no finding is
// new and that every entry still matches.
func outlivesMoves(t *testing.T, tree, nodes string, least int) {
	t.Helper()
	tree, err := filepath.Abs(tree)
	if err != nil {
		t.Fatal(err)
	}
	lintTree := func(dir string, b *accept.Baseline) *diag.Report {
		e := linttest.Engine(t)
		r, err := lint.Run(context.Background(), lint.Options{
			Dir: dir, Root: dir, Paths: []string{"."}, Topology: []string{nodes}, Policy: e, Baseline: b, Today: "2026-11-21",
			Level: func(id string) diag.Level { rule, _ := e.Rule(id); return rule.Level },
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	before := lintTree(tree, nil)
	if len(before.Diagnostics) < least {
		t.Fatalf("%d findings, too few to tell", len(before.Diagnostics))
	}
	b := accept.NewBaseline("there before", "", before.Diagnostics)
	moved := t.TempDir()
	copyTree(t, tree, filepath.Join(moved, "services", "all"), func(name string, text []byte) []byte {
		if strings.HasSuffix(name, ".json") || bytes.Contains(text, []byte("\r")) {
			return text
		}
		return append([]byte("# moved\r\n\r\n"), bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))...)
	})
	after := lintTree(moved, b)
	for i := range after.Diagnostics {
		d := &after.Diagnostics[i]
		if d.Object == (diag.Object{}) {
			continue // a baseline identifies these by file name, which has changed
		}
		t.Errorf("%s:%d: %s is new: %s", d.Location.File, d.Location.Line, d.Rule, d.Message)
	}
	if nameless := nameless(before.Diagnostics); after.Summary.Healed > nameless {
		t.Errorf("%d entries no longer fire, %d of them may", after.Summary.Healed, nameless)
	}
}

func nameless(all []diag.Diagnostic) (n int) {
	for _, d := range all {
		if d.Object == (diag.Object{}) {
			n++
		}
	}
	return n
}

// copyTree copies the regular files of a tree and changes the text of each.
func copyTree(t *testing.T, from, to string, change func(name string, text []byte) []byte) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(to, rel)), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), change(rel, text), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}
