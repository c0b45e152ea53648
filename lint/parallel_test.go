package lint_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
)

// manyClusters writes a directory with clusters, some of which share nodes, and returns the
// configuration that names them. The objects outside these clusters are split into contexts. If
// broken is set, some clusters have errors.
func manyClusters(t *testing.T, broken bool) (dir string, c *config.Config) {
	t.Helper()
	r := rand.New(rand.NewPCG(16, 6))
	dir = t.TempDir()
	for _, sub := range []string{"nodes", "rest"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c = &config.Config{}
	for i := range 12 {
		name := fmt.Sprintf("c%02d", i)
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		linttest.Put(t, filepath.Join(dir, name, "apps.yaml"), liveWorkloads(r, 4))
		if broken && i%5 == 2 { // declared twice, which is an error
			linttest.Put(t, filepath.Join(dir, name, "again.yaml"), liveWorkloads(r, 4))
		}
		if i%4 == 3 { // a patch, which is skipped
			linttest.Put(t, filepath.Join(dir, name, "patch.yaml"), "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: patched}\nspec: {replicas: 2}\n")
		}
		nodes := name + ".yaml"
		switch {
		case i%3 == 0:
			nodes = "shared.yaml"
		case broken && i%4 == 1: // without nodes
			linttest.Put(t, filepath.Join(dir, "nodes", nodes), "kind: NodeTopology\n")
		default:
			linttest.Put(t, filepath.Join(dir, "nodes", nodes), liveNodes(r, 3+i))
		}
		c.Clusters = append(c.Clusters, config.Cluster{Name: name, Paths: []string{name + "/**"}, Topology: []string{"nodes/" + nodes}})
	}
	linttest.Put(t, filepath.Join(dir, "nodes", "shared.yaml"), liveNodes(r, 7))
	if !broken {
		c.Topology = []string{"nodes/shared.yaml"}
	}
	linttest.Put(t, filepath.Join(dir, "rest", "a.yaml"), liveWorkloads(r, 3))
	linttest.Put(t, filepath.Join(dir, "rest", "b.yaml"), liveWorkloads(r, 3))
	return dir, c
}

// sideBySide compares the results of a run on one processor and on several.
func sideBySide(t *testing.T, run func() string) (want string) {
	t.Helper()
	on := func(processors int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		return run()
	}
	want = on(1)
	for _, processors := range []int{2, 8} {
		if got := on(processors); got != want {
			t.Errorf("on %d processors:\n%s\non one:\n%s", processors, got, want)
		}
	}
	return want
}

// TestClustersSideBySide checks that a report does not depend on the number of processors, for
// clusters that share nodes, have errors, or are split into contexts.
func TestClustersSideBySide(t *testing.T) {
	dir, c := manyClusters(t, true)
	want := sideBySide(t, func() string {
		e := linttest.Engine(t)
		report, err := lint.Run(context.Background(), lint.Options{
			Dir: dir, Root: dir, Paths: []string{"."}, Config: c, Policy: e, Survive: []string{"kubernetes.io/hostname"},
			Today: "2026-11-21", Level: func(id string) diag.Level { r, _ := e.Rule(id); return r.Level },
		})
		text, failed := json.Marshal([]any{report.Diagnostics, report.Accepted, report.Summary, report.Failures})
		if failed != nil {
			t.Fatal(failed)
		}
		return fmt.Sprintf("%s\n%v", text, err)
	})
	for _, said := range []string{`"cluster":"c11"`, "declares Deployment", "reading topology"} {
		if !strings.Contains(want, said) {
			t.Errorf("%q is missing in\n%s", said, want)
		}
	}
}

// TestPlacementsSideBySide checks that decisions do not depend on the number of processors. Each
// decision lists the input that was skipped before its cluster.
func TestPlacementsSideBySide(t *testing.T) {
	for _, broken := range []bool{false, true} {
		dir, c := manyClusters(t, broken)
		want := sideBySide(t, func() string {
			doc, err := lint.Place(context.Background(), lint.Options{Dir: dir, Root: dir, Paths: []string{"."}, Config: c})
			text, failed := json.Marshal(doc)
			if failed != nil {
				t.Fatal(failed)
			}
			return fmt.Sprintf("%s\n%v", text, err)
		})
		all := []string{`"cluster":"c11"`, "skipped: strategic-merge patch (1)", "skipped: strategic-merge patch (3)"}
		if broken {
			all = []string{"declares Deployment", "reading topology"}
		}
		for _, said := range all {
			if !strings.Contains(want, said) {
				t.Errorf("%q is missing in\n%s", said, want)
			}
		}
	}
}
