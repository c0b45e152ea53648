package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/render"
)

const pointed = base + `
-- plain/api.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${NAME}
spec:
  replicas: ${REPLICAS}
  template:
    spec:
      nodeName: "${NODE:=n1}"
      schedulerName: ${SECRET}
-- plain/left.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: left
  annotations: {kustomize.toolkit.fluxcd.io/substitute: disabled}
data:
  text: ${REPLICAS}
-- plain/values.yaml --
size: large
-- own/kustomization.yaml --
resources: [../base]
images:
- {name: registry.example/api, newName: mirror.example/api, newTag: "1.5"}
replicas:
- {name: api, count: 2}
commonAnnotations: {owner: directory, tier: front}
-- high/kustomization.yaml --
kind: Component
patches:
- target: {kind: Deployment}
  patch: |
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: any}
    spec: {paused: true}
-- flux.yaml --
spec:
  postBuild:
    substitute:
      REPLICAS: "7"
  patches:
  - patch: |
      apiVersion: apps/v1
      kind: Deployment
      metadata:
        name: api
      spec:
        replicas: 5
    target: {kind: Deployment}
  - patch: |
      - op: add
        path: /spec/template/spec/tolerations
        value:
        - key: a~b
          operator: "Exists"
      - {op: replace, path: /spec/replicas, value: 4}
      - op: add
        path: /spec/template/spec/tolerations/-
        value: {key: last}
      - {op: add, path: /metadata/labels/x~1y, value: z}
      - {op: add, path: /spec/paused, value: true}
      - {op: remove, path: /spec/paused}
      - {op: add, path: /spec/minReadySeconds, value: 7}
      - {op: replace, path: /spec/minReadySeconds, value: 7}
    target: {kind: Deployment, name: ap.*}
`

// jsonPatched returns the overlay fields of the second pointer patch.
func jsonPatched(t *testing.T) []byte {
	t.Helper()
	_, text, _ := strings.Cut(pointed, "  - patch: |\n      - op")
	text, _, _ = strings.Cut("      - op"+text, "    target")
	patch := strings.ReplaceAll(text, "\n      ", "\n")[6:]
	fields, err := json.Marshal(map[string]any{"namePrefix": "p-", "patches": []any{map[string]any{"patch": strings.TrimRight(patch, " "), "target": map[string]any{"kind": "Deployment", "name": "ap.*"}}}})
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

func overlaid(o *render.Overlay, dir string) func(string) render.Root {
	return func(repository string) render.Root {
		r := rootOf(repository, dir)
		r.Overlay = o
		return r
	}
}

// written lists the marks of an output as "value@file:line".
func written(out *render.Output) (all []string) {
	lines := strings.Split(string(out.Text), "\n")
	for _, m := range out.Marks {
		all = append(all, fmt.Sprintf("%s@%s:%d", strings.TrimSpace(lines[m.Line-1][m.Column-1:]), out.Files[m.File], m.At))
	}
	return all
}

// TestOverlay builds directories as the controllers do, and checks that values are traced to the
// sources.
func TestOverlay(t *testing.T) {
	for _, c := range []struct {
		name      string
		dir       string
		overlay   render.Overlay
		has, lack []string
		marks     []string
	}{
		{
			"fields", "base",
			render.Overlay{
				Fields:  []byte(`{"namespace":"prod","namePrefix":"p-","components":["../high"],"images":[{"name":"registry.example/api","newTag":"2.0"}],"patches":[{"patch":"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: api\nspec:\n  replicas: 5\n","target":{"kind":"Deployment"}}]}`),
				Patches: []int{6}, Labels: map[string]string{"team": "shop"}, Namespace: "late",
			},
			[]string{"name: p-api", "namespace: prod", "paused: true", "image: registry.example/api:2.0", "replicas: 5", "team: shop"}, []string{"namespace: late"},
			[]string{"5@flux.yaml:12", "main@base/deploy.yaml:17"},
		},
		{
			"fields that the directory has too", "own",
			render.Overlay{
				Fields: []byte(`{"images":[{"name":"registry.example/api","newTag":"2.0"}],"replicas":[{"name":"api","count":6}],"commonAnnotations":{"owner":"pointer"}}`),
			},
			[]string{"image: registry.example/api:2.0", "replicas: 6", "owner: pointer", "tier: front"}, []string{"mirror.example", "replicas: 2", "owner: directory"}, nil,
		},
		{
			"fields for annotations alone", "base",
			render.Overlay{Fields: []byte(`{"commonAnnotations":{"owner":"pointer"}}`)},
			[]string{"owner: pointer"}, nil, nil,
		},
		{
			"generated without objects", "plain",
			render.Overlay{Generated: true, Resources: []string{"values.yaml"}},
			nil, []string{"size: large"}, nil,
		},
		{
			"generated", "plain",
			render.Overlay{
				Generated: true, Resources: []string{"api.yaml", "left.yaml", "values.yaml"}, Namespace: "late",
				Variables: &render.Variables{Given: map[string]render.Variable{"REPLICAS": {Value: "7", File: "flux.yaml", Line: 4, Column: 17}, "NAME": {Value: "api"}}, Unknown: []string{"SECRET"}},
			},
			[]string{"name: api\n", "namespace: late", "replicas: 7", "nodeName: n1", "schedulerName: ${SECRET}", "text: ${REPLICAS}"}, []string{"size: large"},
			[]string{"7@flux.yaml:4", "apps/v1@plain/api.yaml:1"},
		},
		{
			"JSON patch", "base",
			render.Overlay{
				Fields:  []byte(`{"namePrefix":"p-","patches":[{"patch":"x","target":{"kind":"none"}}]}`),
				Patches: []int{14},
			},
			[]string{"key: a~b", "x/y: z", "replicas: 4", "minReadySeconds: 7"}, []string{"paused"},
			[]string{"a~b@flux.yaml:18", "Exists@flux.yaml:19", "4@flux.yaml:20", "last@flux.yaml:23", "z@flux.yaml:24", "7@flux.yaml:28", "ClusterIP@base/deploy.yaml:33"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "JSON patch" {
				c.overlay.Fields = jsonPatched(t)
			}
			c.overlay.File, c.overlay.Line = "flux.yaml", 1
			out := Build(overlaid(&c.overlay, c.dir)(repository(t, pointed)), nonce)
			if out.Problem != nil {
				t.Fatal(out.Problem)
			}
			hasAndLacks(t, out.Text, c.has, c.lack)
			for _, want := range c.marks {
				if got := written(out); !slices.Contains(got, want) {
					t.Errorf("no mark %s among %q", want, got)
				}
			}
		})
	}
}

// TestOverlayProblems checks that problems are reported where a user would look for them, which is
// at the pointer if no file of the directory is wrong.
func TestOverlayProblems(t *testing.T) {
	for _, c := range []struct {
		dir     string
		overlay render.Overlay
		want    string
	}{
		{"gone", render.Overlay{}, "flux.yaml:3: gone does not exist"},
		{"plain", render.Overlay{}, "flux.yaml:3: plain has no kustomization.yaml"},
		{"../..", render.Overlay{}, "flux.yaml:3: ../.. is outside the repository"},
		{"base", render.Overlay{Fields: []byte(`{"components":["../gone"]}`)}, "flux.yaml:3: components entry ../gone: gone does not exist"},
		{"base", render.Overlay{Fields: []byte(`{"components":["https://example.com/org/c//x"]}`)}, "flux.yaml:3: components entry https://example.com/org/c//x is remote"},
		{"base", render.Overlay{Fields: []byte(`{"patches":[{"patch":"a: [","target":{"kind":"x"}}]}`)}, "flux.yaml:3: "},
		{"base", render.Overlay{Fields: []byte(`[]`)}, "flux.yaml:3: the fields for kustomize cannot be read"},
		{"plain", render.Overlay{Generated: true, Resources: []string{"api.yaml"}, Variables: &render.Variables{Given: map[string]render.Variable{"NAME": {Value: "a: b: c"}}}}, "flux.yaml:3: Deployment ${NAME} with its variables substituted: "},
	} {
		c.overlay.File, c.overlay.Line = "flux.yaml", 3
		out := Build(overlaid(&c.overlay, c.dir)(repository(t, pointed)), nonce)
		if out.Problem == nil || !strings.HasPrefix(out.Problem.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.dir, out.Problem, c.want)
		}
	}
}
