package lint_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/render"
)

// TestNoResult checks a run with a failed render. The rest is judged, and the failure is a note if
// the render was not requested explicitly.
func TestNoResult(t *testing.T) {
	dir, err := filepath.Abs("../fixtures/apps")
	if err != nil {
		t.Fatal(err)
	}
	e := linttest.Engine(t)
	for _, test := range []struct {
		kind     string
		named    bool
		wrong    bool
		rule     string
		complete bool
	}{
		{render.Failed, true, false, "render-failed", true},
		{render.Refused, true, false, "render-refused", true},
		{render.Killed, true, false, "", false},
		{render.Failed, false, false, "", true},
		{render.Refused, false, false, "", true},
		{render.Refused, false, true, "render-refused", true},
		{render.Killed, false, false, "", true},
		{render.Lost, true, false, "", false},
		{render.Lost, false, false, "", false},
		{render.Spent, true, false, "", false},
		{render.Spent, false, false, "", false}, // earlier renders may exist to hide it
	} {
		report, err := lint.Run(context.Background(), lint.Options{
			Dir: dir, Root: dir, Paths: []string{"."}, Topology: []string{"nodes.yaml"}, Policy: e,
			Level: func(id string) diag.Level { r, _ := e.Rule(id); return r.Level },
			Renders: []lint.Render{{
				Chosen: config.Chosen{Name: "x"}, Requested: test.named,
				Root: render.Root{Confinement: dir, Dir: "deploy/overlays/prod"},
			}},
			Renderer: func(context.Context, []render.Root) []*render.Output {
				return []*render.Output{{Problem: &render.Problem{Kind: test.kind, File: "deploy/overlays/prod/kustomization.yaml", Line: 2, Detail: "no", Wrong: test.wrong}}}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, d := range report.Diagnostics {
			if d.Location.File == "deploy/overlays/prod/kustomization.yaml" {
				found += d.Rule
			}
		}
		s := &report.Summary
		if found != test.rule || report.Complete() != test.complete || s.Unrendered != 1 || s.Renders != 0 || len(s.Unknown) == 0 || s.Workloads == 0 {
			t.Errorf("%s, named %v, wrong %v: found %q, complete %v, %+v", test.kind, test.named, test.wrong, found, report.Complete(), s)
		}
	}
}
