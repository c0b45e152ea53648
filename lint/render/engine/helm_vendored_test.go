package engine

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/render"
)

// TestHelmChartsVendored checks that a chart may be packed or in another directory of the
// repository.
func TestHelmChartsVendored(t *testing.T) {
	const elsewhere = `
-- third_party/tiny/Chart.yaml --
apiVersion: v2
name: tiny
version: 0.1.0
-- third_party/tiny/values.yaml --
size: 1
-- third_party/tiny/templates/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {size: "{{ .Values.size }}"}
`
	chart := map[string]string{
		"tiny/Chart.yaml": "apiVersion: v2\nname: tiny\nversion: 0.1.0\n", "tiny/values.yaml": "size: 1\n",
		"tiny/templates/a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"{{ .Release.Name }}\"}\ndata: {size: \"{{ .Values.size }}\"}\n",
	}
	remote := map[string]string{"https://charts.example/x/tiny": "third_party/tiny"}
	for _, c := range []struct {
		name, archive, kustomization string
		remotes                      map[string]string
		rootOnly                     bool
		want                         string
	}{
		{"packed", "app/charts/tiny-0.1.0.tgz", "helmCharts:\n- {name: tiny, version: 0.1.0, repo: https://charts.example/x}\n", nil, false, `size: "1"`},
		{"packed where it is pulled to", "app/charts/tiny-0.1.0/tiny-0.1.0.tgz", "helmCharts:\n- {name: tiny, version: 0.1.0, repo: https://charts.example/x}\n", nil, true, `size: "1"`},
		{"packed without a version", "app/charts/tiny.tgz", "helmCharts:\n- {name: tiny, valuesInline: {size: 5}}\n", nil, false, `size: "5"`},
		{"null in the kustomization deletes nothing", "app/charts/tiny.tgz", "helmCharts:\n- {name: tiny, valuesInline: {size: null, a: b}}\n", nil, false, `size: "1"`},
		{"packed, below the chart's values", "app/charts/tiny.tgz", "helmCharts:\n- {name: tiny, valuesMerge: merge, valuesInline: {size: 5}}\n", nil, false, "app/kustomization.yaml:2: helmCharts (chart tiny): valuesMerge: merge needs the values of the chart, which is packed: unpack app/charts/tiny.tgz"},
		{"another version", "app/charts/tiny.tgz", "helmCharts:\n- {name: tiny, version: 0.2.0}\n", nil, false, "app/charts/tiny.tgz:1: chart tiny is 0.1.0 here, the release asks for 0.2.0"},
		{"remote", "", "helmCharts:\n- {name: tiny, repo: https://charts.example/x/}\n", remote, false, `size: "1"`},
		{"remote with its version", "", "helmCharts:\n- {name: tiny, version: 0.1.0, repo: https://charts.example/x}\n", map[string]string{"https://charts.example/x/tiny": "nowhere", "https://charts.example/x/tiny@0.1.0": "third_party/tiny"}, true, `size: "1"`},
		{"remote of another version", "", "helmCharts:\n- {name: tiny, version: 0.3.0, repo: https://charts.example/x}\n", remote, false, "third_party/tiny/Chart.yaml:3: chart tiny is 0.1.0 here, the release asks for 0.3.0"},
		{"remote packed", "third_party/t.tgz", "helmCharts:\n- {name: tiny, repo: oci://reg.example/c}\n", map[string]string{"oci://reg.example/c/tiny": "third_party/t.tgz"}, false, `size: "1"`},
		{"remote that is not there", "", "helmCharts:\n- {name: tiny, repo: https://charts.example/x}\n", map[string]string{"https://charts.example/x/tiny": "../out"}, false, "app/kustomization.yaml:2: helmCharts (chart tiny): remotes: ../out is outside the repository"},
		{"root-only", "", "helmGlobals: {chartHome: ../third_party}\nhelmCharts:\n- name: tiny\n", nil, true, "app/kustomization.yaml:3: helmCharts (chart tiny): third_party/tiny/values.yaml is outside app, and load-restrictor is root-only"},
		{"any file", "", "helmGlobals: {chartHome: ../third_party}\nhelmCharts:\n- name: tiny\n", nil, false, `size: "1"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t, elsewhere+"-- app/kustomization.yaml --\n"+c.kustomization)
			if c.archive != "" {
				write(t, filepath.Join(dir, c.archive), tgz(t, maps.Clone(chart)))
			}
			r := rootOf(dir, "app")
			r.Remotes, r.RootOnly = c.remotes, c.rootOnly
			out := Build(r, nonce)
			got := string(out.Text)
			if out.Problem != nil {
				got = out.Problem.Error()
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// TestHelmChartsHostile checks that charts count toward the limits of the build and cannot read
// anything outside of the repository.
func TestHelmChartsHostile(t *testing.T) {
	const list = "helmCharts:\n"
	few := func(_ *testing.T, _ string, r *render.Root) { r.Left.Entries = 2000 }
	for _, c := range []struct {
		name, kustomization string
		change              func(t *testing.T, dir string, r *render.Root)
		want                string
	}{
		{"very many", list + strings.Repeat("- {name: cache, releaseName: c}\n", 10_000), few, "the build exceeds the limit of 2000 kustomization entries"},
		{"very many that print nothing", list + strings.Repeat("- {name: none}\n", 10_000) + "-- app/charts/none/Chart.yaml --\napiVersion: v2\nname: none\nversion: 0.1.0\n-- app/charts/none/values.yaml --\n{}\n", few, "the build exceeds the limit of 2000 kustomization entries"},
		{"very many objects", list + "- name: many\n-- app/charts/many/Chart.yaml --\napiVersion: v2\nname: many\nversion: 0.1.0\n-- app/charts/many/values.yaml --\n{}\n-- app/charts/many/templates/a.yaml --\n" + strings.Repeat("---\nkind: A\n", 12_000), nil, "app/charts/many/Chart.yaml:1: the chart prints 12000 objects, more than the limit of 10000"},
		{"an include that never ends", list + "- name: loop\n-- app/charts/loop/Chart.yaml --\napiVersion: v2\nname: loop\nversion: 0.1.0\n-- app/charts/loop/values.yaml --\n{}\n-- app/charts/loop/templates/a.yaml --\n{{ define \"x\" }}{{ include \"x\" . }}{{ include \"x\" . }}{{ end }}\n{{ include \"x\" . }}\n", nil, "app/charts/loop/templates/a.yaml:"},
		{"a chart home that is a link out", list + "- name: x\n-- app/charts/.keep --\n", func(t *testing.T, dir string, _ *render.Root) {
			if err := os.RemoveAll(filepath.Join(dir, "app/charts")); err != nil {
				t.Fatal(err)
			}
			link(t, t.TempDir(), filepath.Join(dir, "app/charts"))
		}, "app/kustomization.yaml:2: helmCharts (chart x): "},
		{"a values file that is a link out", list + "- {name: cache, valuesFile: out.yaml}\n", func(t *testing.T, dir string, _ *render.Root) {
			link(t, "/etc/passwd", filepath.Join(dir, "app/out.yaml"))
		}, "app/kustomization.yaml:2: helmCharts (chart cache): valuesFile: app/out.yaml is a symbolic link to a target outside the repository"},
		{"values of the chart that are a link out", list + "- name: cache\n", func(t *testing.T, dir string, _ *render.Root) {
			name := filepath.Join(dir, "app/charts/cache/values.yaml")
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
			link(t, "/etc/passwd", name)
		}, "app/kustomization.yaml:2: helmCharts (chart cache): app/charts/cache/values.yaml is a symbolic link to a target outside the repository"},
		{"a values file that is a bomb", list + "- {name: cache, valuesFile: bomb.yaml, valuesInline: {a: b}}\n-- app/bomb.yaml --\n" + bomb(), nil, "app/kustomization.yaml:2: helmCharts (chart cache): app/bomb.yaml: expands to more than 4000000 YAML nodes"},
		{"values in git's directory", list + "- {name: cache, valuesFile: ../.git/config}\n", nil, "app/kustomization.yaml:2: helmCharts (chart cache): valuesFile: .git/config belongs to git and is not read"},
		{"little left", list + "- name: cache\n", func(_ *testing.T, _ string, r *render.Root) { r.Left.Bytes = 1500 }, "exceeds the limit of 1500 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t, cacheChart+"-- app/kustomization.yaml --\n"+c.kustomization)
			r := rootOf(dir, "app")
			if c.change != nil {
				c.change(t, dir, &r)
			}
			out := Build(r, nonce)
			if out.Problem == nil || !strings.Contains(out.Problem.Error(), c.want) {
				t.Fatalf("%v, want %s", out.Problem, c.want)
			}
			if strings.Contains(out.Problem.Error(), dir) {
				t.Errorf("%v names the directory", out.Problem)
			}
		})
	}
}
