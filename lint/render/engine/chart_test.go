package engine

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
)

const shopChart = `
-- charts/shop/Chart.yaml --
apiVersion: v2
name: shop
version: 1.0.0
-- charts/shop/values.yaml --
replicas: 2
-- charts/shop/README.md --
about
-- charts/shop/templates/NOTES.txt --
notes
-- charts/shop/templates/a.yaml --
# only a comment
---

apiVersion: v1
kind: Pod
metadata: {name: test, annotations: {helm.sh/hook: test}}
--- # the second
kind: Deployment
replicas: {{ .Values.replicas }}
---
kind: Unknown
---
kind: ConfigMap
{{- if .Values.bad }}
a: [
{{- end }}
-- charts/shop/templates/b.yaml --
kind: Service
-- charts/shop/charts/db/Chart.yaml --
apiVersion: v2
name: db
version: 1.0.0
-- charts/shop/charts/db/templates/db.yaml --
kind: StatefulSet
-- env/prod.yaml --
# of production
replicas: 5
`

func chartRoot(dir string, values ...string) render.Root {
	r := rootOf(dir, "charts/shop")
	r.Chart = &render.Chart{Values: render.Files(values...)}
	return r
}

// TestChart checks that objects are in Helm's install order, with hooks last, and that the origin
// of each line is known.
func TestChart(t *testing.T) {
	out := Build(chartRoot(repository(t, shopChart), "env/prod.yaml"), nonce)
	if out.Problem != nil {
		t.Fatal(out.Problem)
	}
	want := `
kind: ConfigMap charts/shop/templates/a.yaml:13
--- charts/shop/templates/b.yaml:1
kind: Service charts/shop/templates/b.yaml:1
--- charts/shop/templates/a.yaml:7
# the second charts/shop/templates/a.yaml:7
kind: Deployment charts/shop/templates/a.yaml:8
replicas: 5 charts/shop/templates/a.yaml:9 env/prod.yaml:2:11
--- charts/shop/charts/db/templates/db.yaml:1
kind: StatefulSet charts/shop/charts/db/templates/db.yaml:1
--- charts/shop/templates/a.yaml:11
kind: Unknown charts/shop/templates/a.yaml:11
--- charts/shop/templates/a.yaml:4
apiVersion: v1 charts/shop/templates/a.yaml:4
kind: Pod charts/shop/templates/a.yaml:5
metadata: {name: test, annotations: {helm.sh/hook: test}} charts/shop/templates/a.yaml:6
`
	if got := "\n" + linesOf(out); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if len(out.Documents) != 6 || out.Cost.Objects != 6 || out.Cost.Steps == 0 || out.Cost.Entries == 0 {
		t.Errorf("%d documents, cost %+v", len(out.Documents), out.Cost)
	}
	for _, d := range out.Documents {
		if before := bytes.Split(out.Text, []byte("\n"))[d.Line-1]; !bytes.HasPrefix(before, []byte("kind")) && !bytes.HasPrefix(before, []byte("apiVersion")) && before[0] != '#' {
			t.Errorf("a document begins at line %d with %q", d.Line, before)
		}
	}
	if !slices.Contains(out.Sources, "env/prod.yaml") || !slices.Contains(out.Sources, "charts/shop/templates/a.yaml") || !slices.Contains(out.Data, "charts/shop/README.md") {
		t.Errorf("sources %v, data %v", out.Sources, out.Data)
	}
}

// TestChartFolders checks that a dependency in another directory of the repository is rendered, and
// that its lines are found there.
func TestChartFolders(t *testing.T) {
	const web = `
-- charts/web/Chart.yaml --
apiVersion: v2
name: web
version: 1.0.0
dependencies:
- name: lib
  version: 1.0.0
  repository: file://../DIR
-- charts/file --
text
-- charts/lib/Chart.yaml --
apiVersion: v2
name: lib
version: 1.0.0
-- charts/lib/values.yaml --
port: 80
-- charts/lib/.git/config --
remote
-- charts/lib/README.md --
about
-- charts/lib/templates/l.yaml --
kind: Service
port: {{ .Values.port }}
`
	for _, c := range []struct {
		dir, file string // file leads out of the repository
		template  string // of lib
		want      string
	}{
		{"lib", "", "", "kind: Service charts/lib/templates/l.yaml:1\nport: 80 charts/lib/templates/l.yaml:2 charts/lib/values.yaml:1:7\n"},
		{"gone", "", "", "charts/web/Chart.yaml:5: dependency lib: charts/gone does not exist"},
		{"file", "", "", "charts/web/Chart.yaml:5: dependency lib: charts/file is not a directory"},
		{"lib", "charts/lib/users", "\n{{ .Files.Get \"users\" }}\n", `charts/lib/templates/x.yaml:2: a template may read "../lib/users", a link out of the repository, which is not followed`},
		{"lib", "charts/lib/crds", "", "charts/lib/crds:1: charts/lib/crds is a symbolic link to a target outside the repository"},
	} {
		dir := repository(t, strings.Replace(web, "DIR", c.dir, 1))
		if c.file != "" {
			link(t, "/etc/passwd", filepath.Join(dir, c.file))
		}
		if c.template != "" {
			write(t, filepath.Join(dir, "charts/lib/templates/x.yaml"), []byte(c.template))
		}
		r := rootOf(dir, "charts/web")
		r.Chart = &render.Chart{}
		out := Build(r, nonce)
		got := ""
		if out.Problem != nil {
			got = out.Problem.Error()
		} else {
			got = linesOf(out)
		}
		if got != c.want {
			t.Errorf("%s %s: %s\nwant %s", c.dir, c.file, got, c.want)
		}
		if all := append(slices.Clone(out.Sources), out.Data...); slices.ContainsFunc(all, func(name string) bool { return strings.Contains(name, ".git/") }) {
			t.Errorf("reads a file in .git: %q", all)
		}
	}
}

// TestChartDepth checks how deep the directories of a chart may be.
func TestChartDepth(t *testing.T) {
	for depth, want := range map[int]string{limits.ChartFolders: "", limits.ChartFolders + 1: fmt.Sprintf("the chart has more than %d directories in one another", limits.ChartFolders)} {
		dir := repository(t, shopChart)
		deep := filepath.Join(dir, "charts/shop", strings.Repeat("d/", depth))
		if err := os.MkdirAll(deep, 0o755); err != nil {
			t.Fatal(err)
		}
		out := Build(chartRoot(dir), nonce)
		if got := out.Problem; (got != nil) != (want != "") || got != nil && !strings.HasSuffix(got.Error(), want) {
			t.Errorf("depth %d: %v, want %q", depth, got, want)
		}
	}
}

func linesOf(out *render.Output) string {
	var all strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(string(out.Text), "\n"), "\n") {
		at := out.Lines[i]
		fmt.Fprintf(&all, "%s %s:%d", line, out.Files[at.Template], at.At)
		if at.Values >= 0 {
			fmt.Fprintf(&all, " %s:%d:%d", out.Files[at.Values], at.ValuesAt, at.ValuesColumn)
		}
		all.WriteString("\n")
	}
	return all.String()
}

// TestChartRefused checks that nothing outside of the repository is read, and that a syntax error
// is reported in the template.
func TestChartRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string, r *render.Root)
		want   string
	}{
		"a template that leads out": {func(t *testing.T, dir string, _ *render.Root) {
			link(t, "/etc/passwd", filepath.Join(dir, "charts/shop/templates/x"))
		}, "charts/shop/templates/x:1: charts/shop/templates/x is a symbolic link to a target outside the repository"},
		"a directory that leads out": {func(t *testing.T, dir string, _ *render.Root) {
			link(t, "/etc", filepath.Join(dir, "charts/shop/crds"))
		}, "charts/shop/crds:1: charts/shop/crds is a symbolic link to a target outside the repository"},
		"a file that leads out, and is read": {func(t *testing.T, dir string, _ *render.Root) {
			link(t, "/etc/passwd", filepath.Join(dir, "charts/shop/users"))
			write(t, filepath.Join(dir, "charts/shop/templates/x.yaml"), []byte("\n{{ .Files.Get \"users\" }}\n"))
		}, `charts/shop/templates/x.yaml:2: a template may read "users", a link out of the repository, which is not followed`},
		"a link to itself": {func(t *testing.T, dir string, _ *render.Root) {
			link(t, ".", filepath.Join(dir, "charts/shop/x"))
		}, "too many levels of symbolic links"},
		"values outside": {func(_ *testing.T, _ string, r *render.Root) { r.Chart.Values = render.Files("../x.yaml") },
			"charts/shop/Chart.yaml:1: values file ../x.yaml is outside the repository"},
		"no values": {func(_ *testing.T, _ string, r *render.Root) { r.Chart.Values = render.Files("x.yaml") },
			"charts/shop/Chart.yaml:1: values file x.yaml does not exist"},
		"no chart": {func(_ *testing.T, _ string, r *render.Root) { r.Dir = "env" },
			"env/Chart.yaml:1: Chart.yaml file is missing"},
		"no object": {func(_ *testing.T, _ string, r *render.Root) { r.Chart.Set = []string{"bad=true"} },
			"charts/shop/templates/a.yaml:"},
		"an argument": {func(_ *testing.T, _ string, r *render.Root) { r.Chart.Set = []string{"a[x"} },
			`charts/shop/Chart.yaml:1: "a[x" cannot be read`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, shopChart)
			r := chartRoot(dir)
			c.change(t, dir, &r)
			out := Build(r, nonce)
			if out.Problem == nil || !strings.Contains(out.Problem.Error(), c.want) {
				t.Errorf("%v, want %s", out.Problem, c.want)
			}
		})
	}
}

// TestRepeatedKeys checks repeated keys. Tools that read Helm's manifests use the last one.
// Kustomize rejects them, which is reported at the template lines.
func TestRepeatedKeys(t *testing.T) {
	var read map[string]string
	if err := sigsyaml.Unmarshal([]byte("a: first\na: last\n"), &read); err != nil || read["a"] != "last" {
		t.Errorf("%v %v", read, err)
	}
	dir := repository(t, "-- k/kustomization.yaml --\nhelmCharts: [{name: c}]\n-- k/charts/c/Chart.yaml --\napiVersion: v2\nname: c\nversion: 1.0.0\n-- k/charts/c/values.yaml --\n-- k/charts/c/templates/a.yaml --\n{{ if true }}\n"+
		small+"  {{- if true }}\n  a: d\n  {{- end }}\n{{ end }}\n-- p/kustomization.yaml --\nresources: [a.yaml]\n-- p/a.yaml --\n"+small+"  a: d\n")
	if _, err := plain(filepath.Join(dir, "p")); err == nil || !strings.Contains(err.Error(), `mapping key "a" already defined`) {
		t.Errorf("kustomize says %v", err)
	}
	p := Build(rootOf(dir, "k"), nonce).Problem
	if p == nil || p.Kind != render.Repeated || p.Detail != "a" || p.File != "k/charts/c/templates/a.yaml" || p.Line != 9 || p.First == nil || p.First.Line != 7 {
		t.Errorf("%+v", p)
	}
}

// TestChartLinks checks that files may be links out of the repository if no template reads them.
func TestChartLinks(t *testing.T) {
	dir := repository(t, shopChart)
	want := Build(chartRoot(dir), nonce)
	link(t, "../../../LICENSE", filepath.Join(dir, "charts/shop/LICENSE"))
	write(t, filepath.Join(filepath.Dir(dir), "LICENSE"), []byte("not ours"))
	link(t, "/etc", filepath.Join(dir, "charts/shop/docs"))
	out := Build(chartRoot(dir), nonce)
	if out.Problem != nil || !slices.Equal(out.Text, want.Text) {
		t.Fatalf("%v\n%s", out.Problem, out.Text)
	}
	if slices.ContainsFunc(append(out.Sources, out.Data...), func(name string) bool { return strings.Contains(name, "LICENSE") || strings.Contains(name, "docs") }) {
		t.Errorf("it counts as read: %v", out.Data)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip(err)
	}
}

// TestChartCost checks that a chart is also charged if it does not render, and that documentation
// costs less than files that are parsed.
func TestChartCost(t *testing.T) {
	dir := repository(t, shopChart+"-- charts/shop/templates/z.yaml --\na: {{ range until 1000 }}{{ end }}{{ fail \"no\" }}\n-- charts/shop/docs.txt --\n"+strings.Repeat("x", 1<<20))
	out := Build(chartRoot(dir), nonce)
	if out.Problem == nil || out.Cost.Steps < 1000 {
		t.Errorf("%v took %d steps", out.Problem, out.Cost.Steps)
	}
	if out := Build(render.Root{Confinement: dir, Dir: "nowhere", Chart: &render.Chart{}, Left: limits.Render}, nonce); out.Cost.Steps < 1000 {
		t.Errorf("no chart took %d steps", out.Cost.Steps)
	}
	if out.Cost.Bytes < 1<<16 || out.Cost.Bytes > 1<<17 {
		t.Errorf("%d bytes", out.Cost.Bytes)
	}
}
