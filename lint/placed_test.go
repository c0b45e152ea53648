package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/render"
)

// answered writes the pods of a workload and the answers about it.
func answered(w *diag.PlacementWorkload) string {
	c := &w.Change
	all := fmt.Sprint(w.Replicas, w.MinPlaced, w.MaxPlaced, w.Verdict, c.Rollout.Verdict, c.Drain.Verdict, c.Migrate.Verdict, c.Autoscale.Verdict)
	for _, s := range c.Survives {
		all += fmt.Sprint(" ", s.Key, s.Meaning, s.Verdict)
	}
	return all
}

// TestPlaceNamesSources checks that open questions in a decision about a render name places in
// the sources.
func TestPlaceNamesSources(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	linttest.Put(t, filepath.Join(dir, "nodes.yaml"), nodes50)
	root := filepath.Join(dir, "app")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	linttest.Put(t, filepath.Join(root, "kustomization.yaml"), "namePrefix: a-\nresources: [web.yaml]\n")
	web := app{name: "web", replicas: 2, cpu: 50, memory: 64}
	web.rules = []string{strings.Replace(web.apart(hostnameKey), "app: web", "pod-template-hash: 6c9f7d8b5", 1)}
	linttest.Put(t, filepath.Join(root, "web.yaml"), "# the web\n"+web.String())
	doc := linttest.Place(t, lint.Options{
		Dir: dir, Root: dir, Topology: []string{"nodes.yaml"}, Renderer: renderHere,
		Renders: []lint.Render{{Chosen: config.Chosen{Name: "app", Dir: "app"}, Root: render.Root{Confinement: dir, Dir: "app"}, Requested: true}},
	})
	want := []diag.Skip{{Reason: "unknown whether its own pods are kept apart", Count: 1, Places: []string{"app/web.yaml:5"}}}
	if diff := cmp.Diff(want, doc.Unknown); diff != "" {
		t.Error(diff)
	}
}
