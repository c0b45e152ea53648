package engine

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/render"
)

// TestUsed checks that an output names the copies that its build asked for, even if it fails.
func TestUsed(t *testing.T) {
	dir := repository(t, `
-- base/kustomization.yaml --
resources: ["https://example.com/org/base//deploy?ref=v1"]
-- app/kustomization.yaml --
resources:
- ../base
helmCharts:
- {name: tiny, repo: "https://charts.example/x", version: 0.1.0}
-- lost/kustomization.yaml --
resources:
- https://example.com/org/lost
-- third_party/base/kustomization.yaml --
resources: [a.yaml]
-- third_party/base/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
-- umbrella/Chart.yaml --
apiVersion: v2
name: umbrella
version: 1.0.0
dependencies:
- name: tiny
  version: 0.x
  repository: https://charts.example/x
-- umbrella/Chart.lock --
dependencies:
- {name: tiny, version: 0.1.0, repository: "https://charts.example/x"}
-- umbrella/values.yaml --
tiny:
  size: 7
-- folder/Chart.yaml --
apiVersion: v2
name: folder
version: 1.0.0
dependencies:
- {name: tiny, version: 0.1.0, repository: "oci://charts.example/x"}
`)
	write(t, filepath.Join(dir, "third_party/tiny.tgz"), tgz(t, map[string]string{
		"tiny/Chart.yaml": "apiVersion: v2\nname: tiny\nversion: 0.1.0\n", "tiny/values.yaml": "size: 1\n",
		"tiny/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: tiny}\ndata:\n  size: {{ .Values.size | quote }}\n",
	}))
	remotes := map[string]string{
		"https://example.com/org/base//deploy?ref=v1": "third_party/base", "https://charts.example/x/tiny@0.1.0": "third_party/tiny.tgz",
		"https://example.com/org/lost": "third_party/lost", "oci://charts.example/x/tiny": "third_party/base", "other": "third_party/other",
	}
	for name, c := range map[string]struct {
		used          map[string]render.Place
		text, problem string
	}{
		"app": {map[string]render.Place{
			"third_party/base": {File: "base/kustomization.yaml", Line: 1, Column: 13}, "third_party/tiny.tgz": {File: "app/kustomization.yaml", Line: 4, Column: 10},
		}, `size: "1"`, ""},
		"lost":     {map[string]render.Place{"third_party/lost": {File: "lost/kustomization.yaml", Line: 2, Column: 3}}, "", "third_party/lost does not exist"},
		"umbrella": {map[string]render.Place{"third_party/tiny.tgz": {File: "umbrella/Chart.yaml", Line: 5, Column: 9}}, `size: "7"`, ""},
		"folder":   {map[string]render.Place{"third_party/base": {File: "folder/Chart.yaml", Line: 5, Column: 10}}, "", "Chart.yaml:5: dependency tiny: remotes: third_party/base is a directory"},
	} {
		r := rootOf(dir, name)
		r.Remotes = remotes
		if name == "umbrella" || name == "folder" {
			r.Chart = &render.Chart{}
		}
		out := Build(r, "nonce")
		if !maps.Equal(out.Used, c.used) {
			t.Errorf("%s: used %+v", name, out.Used)
		}
		switch {
		case c.problem == "" && out.Problem != nil, c.problem != "" && (out.Problem == nil || !strings.Contains(out.Problem.Error(), c.problem)):
			t.Errorf("%s: %v, want %q", name, out.Problem, c.problem)
		case !strings.Contains(string(out.Text), c.text):
			t.Errorf("%s:\n%s", name, out.Text)
		}
	}
}

// TestWithin checks that a copy of another repository cannot read files of this one.
func TestWithin(t *testing.T) {
	dir := repository(t, `
-- app.yaml --
kind: Kustomization
-- own.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
-- third_party/git/r@1/good/kustomization.yaml --
resources: [../a.yaml]
-- third_party/git/r@1/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
-- third_party/git/r@1/bad/kustomization.yaml --
resources: [../../../../own.yaml]
-- third_party/git/r@1/data/kustomization.yaml --
configMapGenerator:
- name: stolen
  files: [../../../../own.yaml]
-- third_party/git/r@1/chart/kustomization.yaml --
helmGlobals: {chartHome: ../../../..}
helmCharts: [{name: shop}]
-- shop/Chart.yaml --
apiVersion: v2
name: shop
version: 1.0.0
-- shop/values.yaml --
a: 1
`)
	for name, refused := range map[string]bool{"good": false, "bad": true, "data": true, "chart": true} {
		r := rootOf(dir, "third_party/git/r@1/"+name)
		r.Overlay = &render.Overlay{File: "app.yaml", Line: 1}
		for _, within := range []string{"", "third_party"} {
			r.Within = within
			out := Build(r, "nonce")
			if failed := out.Problem != nil; failed != (refused && within != "") || failed && !strings.Contains(out.Problem.Detail, "is outside third_party") {
				t.Errorf("%s within %q: %v", name, within, out.Problem)
			}
		}
	}
}
