package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/render"
)

const releasePointer = `
-- apps/cache.yaml --
kind: HelmRelease
spec:
  values:
    replicas: "6"
  postRenderers:
  - kustomize:
      patches:
      - patch: |
          apiVersion: apps/v1
          kind: StatefulSet
          metadata:
            name: c-api
          spec:
            template:
              spec:
                priorityClassName: high
`

// TestChartOverlay checks that the fields of a pointer apply to the output of a chart. Each value
// must be traced to a line of the chart or to the pointer.
func TestChartOverlay(t *testing.T) {
	patch := `apiVersion: apps/v1\nkind: StatefulSet\nmetadata:\n  name: c-api\nspec:\n  template:\n    spec:\n      priorityClassName: high\n`
	for _, c := range []struct {
		name        string
		fields      string
		change      func(o *render.Overlay, c *render.Chart)
		has, places []string
	}{
		{"patch", `{"patches":[{"patch":"` + patch + `"}],"images":[{"name":"registry.example/cache","newTag":"9.0"}]}`, nil,
			[]string{"image: registry.example/cache:9.0", "ns: prod"},
			[]string{"priorityClassName: high -> apps/cache.yaml:16", "replicas: 3 -> env/prod.yaml:1 app/charts/cache/templates/api.yaml:8",
				"app: cache -> app/charts/cache/templates/api.yaml:5", "disk: ssd -> app/charts/cache/values.yaml:7 app/charts/cache/templates/api.yaml:13"}},
		{"values of the pointer", `{}`, func(_ *render.Overlay, c *render.Chart) {
			c.Values = []render.Values{{File: "apps/cache.yaml", Text: []byte("replicas: 6\n"), Places: []render.Place{{File: "apps/cache.yaml", Line: 4, Column: 15}}}}
		}, nil, []string{"replicas: 6 -> apps/cache.yaml:4 app/charts/cache/templates/api.yaml:8"}},
		{"prefix, namespace and labels", `{"namePrefix":"eu-","namespace":"moved"}`, func(o *render.Overlay, _ *render.Chart) {
			o.Labels = map[string]string{"team": "shop"}
		}, []string{"name: eu-c-api", "namespace: moved", "team: shop"}, []string{"replicas: 3 -> env/prod.yaml:1 app/charts/cache/templates/api.yaml:8"}},
		{"variables", `{}`, func(o *render.Overlay, c *render.Chart) {
			o.Variables = &render.Variables{Given: map[string]render.Variable{"TAG": {Value: "5.0", File: "apps/cache.yaml", Line: 4, Column: 15}}}
			c.Set = []string{"image.tag=${TAG}"}
		}, []string{"image: registry.example/cache:5.0"}, []string{"replicas: 3 -> env/prod.yaml:1 app/charts/cache/templates/api.yaml:8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t, cacheChart+releasePointer+"-- env/prod.yaml --\nreplicas: 3\n-- app/charts/cache/kustomization.yaml --\nresources: [gone]\n-- app/charts/cache/kustomization.yml --\n{}\n")
			r := rootOf(dir, "app/charts/cache")
			r.Chart = &render.Chart{Name: "c", Namespace: "prod", Values: render.Files("env/prod.yaml"), NoHooks: true}
			r.Overlay = &render.Overlay{File: "apps/cache.yaml", Line: 1, Fields: []byte(c.fields), Patches: []int{8}}
			if c.change != nil {
				c.change(r.Overlay, r.Chart)
			}
			out := Build(r, nonce)
			if out.Problem != nil {
				t.Fatal(out.Problem)
			}
			for _, want := range c.has {
				if !strings.Contains(string(out.Text), want) {
					t.Errorf("no %q in\n%s", want, out.Text)
				}
			}
			for _, w := range c.places {
				text, want, _ := strings.Cut(w, " -> ")
				if got := ledTo(out, text); got != want {
					t.Errorf("%s leads to %s, want %s\n%s", text, got, want, out.Text)
				}
			}
			for _, name := range []string{"app/charts/cache/templates/api.yaml", "app/charts/cache/values.yaml"} {
				if !slices.Contains(out.Sources, name) {
					t.Errorf("no %s among the sources %q", name, out.Sources)
				}
			}
		})
	}
}

// TestChartOverlayProblems checks that problems are reported at the faulty file or at the pointer.
func TestChartOverlayProblems(t *testing.T) {
	for _, c := range []struct{ fields, set, want string }{
		{`{"patches":[{"patch":"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: gone}\n"}]}`, "", "apps/cache.yaml:3: "},
		{`{"components":["../gone"]}`, "", "apps/cache.yaml:3: components entry ../gone: app/charts/gone does not exist"},
		{`[]`, "", "apps/cache.yaml:3: the fields for kustomize cannot be read"},
		{`{}`, "replicas=a: [", "app/charts/cache/templates/api.yaml:8: what the template prints is not an object"},
	} {
		dir := repository(t, cacheChart+releasePointer)
		r := rootOf(dir, "app/charts/cache")
		r.Chart = &render.Chart{Name: "c"}
		if c.set != "" {
			r.Chart.SetString = []string{c.set}
		}
		r.Overlay = &render.Overlay{File: "apps/cache.yaml", Line: 3, Fields: []byte(c.fields)}
		if out := Build(r, nonce); out.Problem == nil || !strings.HasPrefix(out.Problem.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.fields, out.Problem, c.want)
		} else if strings.Contains(out.Problem.Detail, "chart.yaml") {
			t.Errorf("%v names what is not there", out.Problem)
		}
	}
}
