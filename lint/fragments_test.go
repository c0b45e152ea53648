package lint_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/render"
)

const (
	fluxRelease = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: redis\n  namespace: apps\nspec:\n  values:\n    nodeSelector: {disk: ssd}\n"
	edgeRelease = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: redis\nspec:\n  destination: {name: edge}\n  source: {repoURL: https://charts.example.com, chart: redis, helm: {valuesObject: {nodeSelector: {disk: ssd}}}}\n"
)

// runIn lints the given files in a new directory.
func runIn(t *testing.T, files map[string]string, o lint.Options) *diag.Report {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		linttest.Put(t, filepath.Join(dir, name), text)
	}
	e := linttest.Engine(t)
	o.Dir, o.Root, o.Policy, o.Topology = dir, dir, e, []string{"nodes.yaml"}
	o.Level = func(id string) diag.Level { r, _ := e.Rule(id); return r.Level }
	if o.Config != nil {
		o.Config.Dir = dir
	}
	for i := range o.Renders {
		o.Renders[i].Root.Confinement = dir
	}
	report, err := lint.Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestRenderedChart checks that values of a release are judged only if its chart is not
// rendered.
func TestRenderedChart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		line  int
		chart *render.Chart
		want  int
	}{
		{"its chart", 4, &render.Chart{}, 0},
		{"the chart of another", 14, &render.Chart{}, 1},
		{"no chart", 4, nil, 1},
	} {
		report := runIn(t, map[string]string{"nodes.yaml": nodes50, "redis.yaml": fluxRelease}, lint.Options{
			Paths: []string{"redis.yaml"},
			Renders: []lint.Render{{
				Chosen: config.Chosen{Name: "redis.yaml#redis"}, Root: render.Root{Dir: "charts/redis", Chart: test.chart},
				Pointer: diag.Span{File: "redis.yaml", Line: test.line},
			}},
			Renderer: func(context.Context, []render.Root) []*render.Output { return []*render.Output{{}} },
		})
		if n := len(report.Diagnostics); n != test.want || report.Summary.Fragments != test.want {
			t.Errorf("%s: %d findings, %d fragments, want %d of each", test.name, n, report.Summary.Fragments, test.want)
		}
	}
}

// TestRenderedSource checks that, of several sources, only the values of those that are not
// rendered are judged.
func TestRenderedSource(t *testing.T) {
	t.Parallel()
	app := "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: redis\nspec:\n  sources:\n" +
		strings.Repeat("  - {repoURL: https://charts.example.com, chart: redis, helm: {valuesObject: {nodeSelector: {disk: ssd}}}}\n", 3)
	for name, test := range map[string]struct{ sources, want []int }{
		"none":  {nil, []int{7, 8, 9}},
		"one":   {[]int{1}, []int{7, 9}},
		"every": {[]int{2, 0, 1}, nil},
	} {
		var renders []lint.Render
		for _, i := range test.sources {
			renders = append(renders, lint.Render{
				Chosen: config.Chosen{Name: fmt.Sprint("app#", i)}, Root: render.Root{Dir: "charts/redis", Chart: &render.Chart{}},
				Pointer: diag.Span{File: "app.yaml", Line: 4}, Source: i,
			})
		}
		report := runIn(t, map[string]string{"nodes.yaml": nodes50, "app.yaml": app}, lint.Options{
			Paths: []string{"app.yaml"}, Renders: renders,
			Renderer: func(_ context.Context, all []render.Root) []*render.Output {
				return slices.Repeat([]*render.Output{{}}, len(all))
			},
		})
		var lines []int
		for _, d := range report.Diagnostics {
			lines = append(lines, d.Location.Line)
		}
		if !slices.Equal(lines, test.want) {
			t.Errorf("%s: findings at lines %v, want %v", name, lines, test.want)
		}
		if judged := len(report.Summary.NotJudged) == 0; judged != (test.want == nil) {
			t.Errorf("%s: not checked: %v", name, report.Summary.NotJudged)
		}
	}
}

// TestReleaseOfAnotherCluster checks that values for another cluster are judged with the nodes of
// that cluster, or without nodes if that cluster does not include the release.
func TestReleaseOfAnotherCluster(t *testing.T) {
	t.Parallel()
	files := map[string]string{"nodes.yaml": nodes50, "redis.yaml": edgeRelease, "kustomization.yaml": "resources: [redis.yaml]\n"}
	renders := []lint.Render{{Chosen: config.Chosen{Name: "all", Dir: "."}, Root: render.Root{Dir: "."}, Requested: true}}
	for name, test := range map[string]struct {
		clusters []config.Cluster
		renders  []lint.Render
		want     int
	}{
		"as written":               {[]config.Cluster{{Name: "edge", Destinations: []string{"edge"}}}, nil, 1},
		"to another":               {[]config.Cluster{{Name: "prod", Destinations: []string{"prod"}}}, nil, 1},
		"deployed by another":      {[]config.Cluster{{Name: "prod", Renders: []string{"all"}}, {Name: "edge", Destinations: []string{"edge"}}}, renders, 0},
		"deployed by itself":       {[]config.Cluster{{Name: "edge", Renders: []string{"all"}, Destinations: []string{"edge"}}}, renders, 1},
		"deployed by one":          {[]config.Cluster{{Name: "prod", Renders: []string{"all"}}}, renders, 1},
		"in files of another":      {[]config.Cluster{{Name: "prod", Paths: []string{"."}}, {Name: "edge", Destinations: []string{"edge"}}}, nil, 1},
		"declared there and taken": {[]config.Cluster{{Name: "edge", Paths: []string{"."}, Destinations: []string{"edge"}}}, nil, 1},
	} {
		paths := []string{"redis.yaml"}
		if test.renders != nil {
			paths = nil
		}
		report := runIn(t, files, lint.Options{Paths: paths, Config: &config.Config{Clusters: test.clusters}, Renders: test.renders, Renderer: renderHere})
		if n := len(report.Diagnostics); n != test.want {
			t.Errorf("%s: %d findings, want %d", name, n, test.want)
		}
	}
}
