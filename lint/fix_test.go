package lint_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/rego"
)

// tree is a directory with a path to lint in it, and optional nodes.
type tree struct{ name, dir, path, topology string }

// trees returns all files among the fixtures, with the nodes beside them if there are any.
func trees(t *testing.T) (all []tree) {
	t.Helper()
	for _, pattern := range []string{"../fixtures/*/*.yaml", "../fixtures/*/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no file: %v", pattern, err)
		}
		for _, file := range files {
			if filepath.Base(filepath.Dir(file)) == "topology" { // node files
				continue
			}
			tr := tree{strings.TrimPrefix(filepath.ToSlash(file), "../"), filepath.Dir(file), filepath.Base(file), ""}
			if exists(filepath.Join(tr.dir, "nodes.yaml")) && !strings.HasPrefix(filepath.Base(file), "nodes-") {
				tr.topology = "nodes.yaml"
			}
			all = append(all, tr)
		}
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// fixing returns options that lint an entire directory.
func fixing(e *rego.Engine, dir, topology string) lint.Options {
	o := lint.Options{
		Dir: dir, Root: dir, Paths: []string{"."}, Policy: e,
		Level: func(id string) diag.Level { r, _ := e.Rule(id); return r.Level },
	}
	if topology != "" {
		o.Topology = []string{topology}
	}
	return o
}

// TestEveryOfferedEditFixes runs editsFix on the fixtures.
func TestEveryOfferedEditFixes(t *testing.T) {
	t.Parallel()
	editsFix(t, trials.Sample(t, trees(t), 60))
}

// editsFix applies each offered edit alone in a copy of the tree and lints the copy without Fix.
// The finding must be gone, no finding may be new, and no byte outside the edit may change.
func editsFix(t *testing.T, all []tree) {
	t.Helper()
	e, offered := linttest.Engine(t), 0
	for _, tr := range all {
		t.Run(tr.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(tr.dir)); err != nil {
				t.Fatal(err)
			}
			o := fixing(e, dir, tr.topology)
			o.Paths = []string{tr.path}
			fixed, err := lint.Fix(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range fixed.Files {
				for _, edit := range f.Edits {
					offered++
					checkEdit(t, o, fixed.Before, f, edit)
				}
			}
			checkTogether(t, o, fixed)
		})
	}
	if offered == 0 {
		t.Error("no edit is offered anywhere")
	}
	t.Logf("%d edits are offered", offered)
}

// checkEdit writes one edit to disk, lints, and restores the file.
func checkEdit(t *testing.T, o lint.Options, before *diag.Report, f lint.FixedFile, edit diag.Edit) {
	t.Helper()
	text := applied(string(f.Before), edit)
	checkBytes(t, string(f.Before), text, edit)
	linttest.Put(t, f.Path, text)
	defer linttest.Put(t, f.Path, string(f.Before))
	after, err := lint.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	was, is := tally(before), tally(after)
	for key, n := range is {
		if n > was[key] {
			t.Errorf("%s:%d: %s is new after writing %s", f.Name, edit.Location.Line, key, edit.NewText)
		}
	}
	asked := false
	for _, d := range before.Diagnostics {
		if slices.ContainsFunc(d.Fixes, func(fix diag.Fix) bool { return fix.Safe && fix.Edits[0] == edit }) {
			asked = true
			if key := fmt.Sprint(d.Rule, d.Cluster, d.Object, d.Location.File); is[key] >= was[key] {
				t.Errorf("%s:%d: %s is still there after writing %s", f.Name, edit.Location.Line, d.Rule, edit.NewText)
			}
		}
	}
	if !asked {
		t.Errorf("%s:%d: no finding asks for %s", f.Name, edit.Location.Line, edit.NewText)
	}
}

// checkTogether writes all files and checks that linting them gives the report that Fix promised,
// and that fixing again changes nothing.
func checkTogether(t *testing.T, o lint.Options, fixed *lint.Fixed) {
	t.Helper()
	for _, f := range fixed.Files {
		linttest.Put(t, f.Path, string(f.After))
	}
	again, err := lint.Fix(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := findings(again.Before), findings(fixed.After); got != want {
		t.Errorf("found %s, and %s was promised", got, want)
	}
	if len(again.Files) > 0 {
		t.Errorf("once more: %s changes", again.Files[0].Name)
	}
}

// tally counts the findings by what they are about.
func tally(r *diag.Report) map[string]int {
	counts := map[string]int{}
	for _, d := range r.Diagnostics {
		counts[fmt.Sprint(d.Rule, d.Cluster, d.Object, d.Location.File)]++
	}
	return counts
}

var lineEnds = regexp.MustCompile("\r\n|\r|\n|\u0085|\u2028|\u2029")

// checkBytes checks that two texts, including comments and line ends, differ only in the edit.
func checkBytes(t *testing.T, before, after string, edit diag.Edit) {
	t.Helper()
	old, is := edit.OldText, edit.NewText
	same := false
	for at := 0; at <= len(before) && !same; at++ {
		next := strings.Index(before[at:], old)
		if next < 0 {
			break
		}
		at += next
		same = before[:at]+is+before[at+len(old):] == after
	}
	if !same {
		t.Errorf("more than %s has changed in\n%s\nwhich is now\n%s", old, before, after)
	}
	if !slices.Equal(lineEnds.FindAllString(before, -1), lineEnds.FindAllString(after, -1)) {
		t.Errorf("line ends have changed")
	}
}

const wrongKey, rightKey = "topology.kubernetes.io/hostname", "kubernetes.io/hostname"

// soft returns a Deployment with key as its topology key.
func soft(key string) string {
	return strings.Replace(webManifest("1", softHost), "topologyKey: "+rightKey, "topologyKey: "+key, 1)
}

// fixFiles fixes files in a new directory, with nodes if topology is not empty.
func fixFiles(t *testing.T, topology string, files map[string]string) *lint.Fixed {
	t.Helper()
	dir := t.TempDir()
	nodes := ""
	for name, text := range files {
		linttest.Put(t, filepath.Join(dir, name), text)
	}
	if topology != "" {
		nodes = filepath.Join(t.TempDir(), "nodes.yaml")
		linttest.Put(t, nodes, topology)
	}
	before := snapshot(t, dir)
	fixed, err := lint.Fix(context.Background(), fixing(linttest.Engine(t), dir, nodes))
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(before, snapshot(t, dir)) {
		t.Error("something was written")
	}
	return fixed
}

// snapshot returns the text of every file.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, path))
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestFixPlaces fixes manifests in which columns and bytes differ, and checks that only the key
// changes.
func TestFixPlaces(t *testing.T) {
	plain := soft(wrongKey + " # why not")
	flow := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"é😀","labels":{"app":"p"}},"spec":{"containers":[{"name":"c","image":"c"}],` +
		`"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/hostname","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app":"p"}}}]}}`
	for name, text := range map[string]string{
		"plain":         plain,
		"double quotes": soft(`"` + wrongKey + `"`),
		"single quotes": soft("'" + wrongKey + "'"),
		"tag":           soft("!!str " + wrongKey),
		"crlf":          strings.ReplaceAll(plain, "\n", "\r\n"),
		"mixed ends":    strings.Replace(plain, "\n", "\r\n", 3),
		"mark":          "\ufeff" + plain,
		"two marks":     "\ufeff\ufeff" + plain,
		"no last end":   strings.TrimSuffix(plain, "\n"),
		"wide":          "# héllo 世界 😀\n" + strings.Replace(plain, "            podAffinityTerm:", "            \"podAffinityTerm\": # 世界", 1),
		"wide breaks":   "# one\u0085# two\u2028# three\u2029" + plain,
		"carriage":      "# one\r# two\n" + plain,
		"tabs":          strings.Replace(plain, "topologyKey: ", "topologyKey:\t", 1),
		"json":          flow,
		"flow":          "# 世界\n" + flow + "\n",
		"many":          plain + "---\n" + strings.ReplaceAll(plain, "name: web", "name: wéb2"),
	} {
		t.Run(name, func(t *testing.T) {
			fixed := fixFiles(t, "", map[string]string{"web.yaml": text})
			if len(fixed.Files) != 1 {
				t.Fatalf("nothing is offered: %s %v", findings(fixed.Before), fixed.Withheld)
			}
			if got, want := string(fixed.Files[0].After), strings.ReplaceAll(text, wrongKey, rightKey); got != want {
				t.Errorf("got\n%q, want\n%q", got, want)
			}
		})
	}
}
