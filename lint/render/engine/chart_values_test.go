package engine

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/render"
)

const valuesChart = `
-- charts/shop/Chart.yaml --
apiVersion: v2
name: shop
version: 1.2.0
-- charts/shop/values.yaml --
replicas: 1
zone: a
-- charts/shop/templates/a.yaml --
kind: Deployment
replicas: {{ .Values.replicas }}
zone: {{ .Values.zone }}
-- env/prod.yaml --
replicas: 5
-- release.yaml --
kind: HelmRelease
values:
  replicas: 7
`

// TestChartValues checks that values from elsewhere keep the origin of each line and are named in
// messages. Later values take precedence, and an optional file may be missing.
func TestChartValues(t *testing.T) {
	inRelease := []render.Place{{File: "release.yaml", Line: 3, Column: 13}}
	for name, c := range map[string]struct {
		values []render.Values
		want   string
	}{
		"text":           {[]render.Values{{File: "release.yaml", Text: []byte("replicas: 7\n"), Places: inRelease}}, "replicas: 7 charts/shop/templates/a.yaml:2 release.yaml:3:13"},
		"unknown place":  {[]render.Values{{File: "release.yaml", Text: []byte("replicas: 7\n"), Places: []render.Place{{}}}}, "replicas: 7 charts/shop/templates/a.yaml:2\n"},
		"no places":      {[]render.Values{{File: "release.yaml", Text: []byte("replicas: 7\n")}}, "replicas: 7 charts/shop/templates/a.yaml:2\n"},
		"text over file": {[]render.Values{{File: "env/prod.yaml"}, {File: "release.yaml", Text: []byte("replicas: 7\n"), Places: inRelease}}, "replicas: 7 charts/shop/templates/a.yaml:2 release.yaml:3:13"},
		"file over text": {[]render.Values{{Text: []byte("replicas: 7\n"), Places: inRelease}, {File: "env/prod.yaml"}}, "replicas: 5 charts/shop/templates/a.yaml:2 env/prod.yaml:1:11"},
		"empty text":     {[]render.Values{{File: "env/prod.yaml", Text: []byte{}}}, "replicas: 1 charts/shop/templates/a.yaml:2 charts/shop/values.yaml:1:11"},
		"optional":       {[]render.Values{{File: "env/no.yaml", Optional: true}}, "replicas: 1 charts/shop/templates/a.yaml:2 charts/shop/values.yaml:1:11"},
		"missing":        {[]render.Values{{File: "env/no.yaml"}}, "charts/shop/Chart.yaml:1: values file env/no.yaml does not exist"},
		"optional link":  {[]render.Values{{File: "../no.yaml", Optional: true}}, "charts/shop/Chart.yaml:1: values file ../no.yaml is outside the repository"},
		"broken text":    {[]render.Values{{File: "release.yaml", Text: []byte("a: ["), Places: inRelease}}, "release.yaml:3: the values cannot be read"},
		"broken file":    {[]render.Values{{File: "release.yaml", Text: []byte("a: [")}}, "release.yaml:1: the values cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := chartRoot(repository(t, valuesChart))
			r.Chart.Values = c.values
			if got := outcome(Build(r, nonce)); !strings.Contains(got, c.want) {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func outcome(out *render.Output) string {
	if out.Problem != nil {
		return out.Problem.Kind + " " + out.Problem.Error()
	}
	return linesOf(out)
}

// TestChartVersion checks that a chart is refused if it does not have the requested version.
func TestChartVersion(t *testing.T) {
	for version, want := range map[string]string{
		"": "", "1.2.0": "", "1.x": "", ">=1.1.0 <2": "", "~1.2": "", "v1.2.0": "", "*": "",
		"2.x":     "refused charts/shop/Chart.yaml:3: chart shop is 1.2.0 here, the release asks for 2.x",
		"1.2.1":   "refused charts/shop/Chart.yaml:3: chart shop is 1.2.0 here, the release asks for 1.2.1",
		"no such": `refused charts/shop/Chart.yaml:1: the release asks for version "no such", which is neither a version nor a range`,
	} {
		r := chartRoot(repository(t, valuesChart))
		r.Chart.Version = version
		if out := Build(r, nonce); (want == "") != (out.Problem == nil) || !strings.HasPrefix(outcome(out), want) {
			t.Errorf("%s: %s, want %s", version, outcome(out), want)
		}
	}
}

// TestPackedChart checks that a packed chart renders like a directory, but without line origins,
// and that its problems are reported at the archive.
func TestPackedChart(t *testing.T) {
	chart := map[string]string{
		"shop/Chart.yaml": "apiVersion: v2\nname: shop\nversion: 1.2.0\n", "shop/values.yaml": "replicas: 1\n",
		"shop/.helmignore": "templates\n", "shop/templates/a.yaml": "kind: Deployment\nreplicas: {{ .Values.replicas }}\n",
	}
	for name, c := range map[string]struct {
		change func(r *render.Root)
		want   string
	}{
		"rendered":     {func(*render.Root) {}, "kind: Deployment\nreplicas: 1\n"},
		"values":       {func(r *render.Root) { r.Chart.Values = render.Files("env/prod.yaml") }, "replicas: 5 env/prod.yaml:1:11\n"},
		"version":      {func(r *render.Root) { r.Chart.Version = "2.x" }, "refused vendor/shop.tgz:1: chart shop is 1.2.0 here, the release asks for 2.x"},
		"missing":      {func(r *render.Root) { r.Chart.Archive = "vendor/no.tgz" }, "failed vendor/no.tgz:1: vendor/no.tgz does not exist"},
		"no archive":   {func(r *render.Root) { r.Chart.Archive = "env/prod.yaml" }, "failed env/prod.yaml:1: the archive cannot be read"},
		"a directory":  {func(r *render.Root) { r.Chart.Archive = "env" }, "failed env:1: env is a directory"},
		"outside":      {func(r *render.Root) { r.Chart.Archive = "../x.tgz" }, "refused ../x.tgz:1: ../x.tgz is outside the repository"},
		"bad template": {func(r *render.Root) { r.Chart.Set = []string{"replicas=["} }, "failed vendor/shop.tgz:1: templates/a.yaml:"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, valuesChart+"-- vendor/shop.tgz --\n")
			if err := os.WriteFile(filepath.Join(dir, "vendor/shop.tgz"), tgz(t, chart), 0o600); err != nil {
				t.Fatal(err)
			}
			r := chartRoot(dir)
			r.Dir, r.Chart.Archive = "vendor", "vendor/shop.tgz"
			c.change(&r)
			out := Build(r, nonce)
			got := packed(out)
			if !strings.Contains(got, c.want) {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// packed returns the problem of an output, or its text with the origins of its values.
func packed(out *render.Output) string {
	if out.Problem != nil {
		return outcome(out)
	}
	var all strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(string(out.Text), "\n"), "\n") {
		at := out.Lines[i]
		if at.Template >= 0 {
			return "a line has a template"
		}
		if all.WriteString(line); at.Values >= 0 {
			fmt.Fprintf(&all, " %s:%d:%d", out.Files[at.Values], at.ValuesAt, at.ValuesColumn)
		}
		all.WriteString("\n")
	}
	return all.String()
}

func tgz(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	to := tar.NewWriter(zipped)
	for name, text := range files {
		if err := to.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(to.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestChartNamespace checks that an object without a namespace gets that of the release, unless
// its kind is cluster-scoped.
func TestChartNamespace(t *testing.T) {
	for object, want := range map[string]string{
		"apiVersion: v1\nkind: Pod\nmetadata:\n  # ours\n  name: a\n":                               "apiVersion: v1\nkind: Pod\nmetadata:\n  # ours\n  namespace: \"web\"\n  name: a\n",
		"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: b\n":                         "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  namespace: b\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n":                                          "apiVersion: v1\nkind: Pod\nmetadata: {namespace: \"web\", name: a}\n",
		"{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"a\"}}\n":            "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {namespace: \"web\", \"name\": \"a\"}}\n",
		"apiVersion: v1\nkind: Node\nmetadata: {name: a}\n":                                         "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n",
		"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: a\n":       "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: a\n",
		"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: a\nvalue: 1\n":   "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata:\n  name: a\nvalue: 1\n",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata:\n    labels: {a: b}\n    name: a\nx: y\n": "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n    namespace: \"web\"\n    labels: {a: b}\n    name: a\nx: y\n",
		"apiVersion: v1\nkind: Pod\nmetadata: {}\n":                                                 "apiVersion: v1\nkind: Pod\nmetadata: {}\n",
		"apiVersion: v1\nkind: Pod\n":                                                               "apiVersion: v1\nkind: Pod\n",
	} {
		r := chartRoot(repository(t, "-- charts/shop/Chart.yaml --\napiVersion: v2\nname: shop\nversion: 1.2.0\n-- charts/shop/templates/a.yaml --\n"+object))
		r.Overlay = &render.Overlay{File: "release.yaml", Line: 3, Namespace: "web"}
		out := Build(r, nonce)
		if out.Problem != nil || string(out.Text) != want || len(out.Lines) != strings.Count(want, "\n") {
			t.Errorf("%v %s\nwant %s", out.Problem, out.Text, want)
		}
	}
}

// TestChartDefaults checks values that replace the chart's own. They cannot be deleted by a null
// alone, and nothing from values.yaml remains.
func TestChartDefaults(t *testing.T) {
	files := valuesChart + "-- charts/shop/templates/b.yaml --\nkind: A\nall: {{ toJson .Values }}\n"
	for name, c := range map[string]struct {
		values   []render.Values
		defaults int
		want     string
	}{
		"own":      {render.Files("env/prod.yaml"), 0, `all: {"replicas":5,"zone":"a"}`},
		"replaced": {render.Files("env/prod.yaml"), 1, `all: {"replicas":5}`},
		"deleted":  {append(render.Files("env/prod.yaml"), render.Values{Text: []byte("replicas: null\n")}), 1, `all: {}`},
		"missing":  {[]render.Values{{File: "env/no.yaml", Optional: true}}, 1, `all: {}`},
		"too many": {render.Files("env/prod.yaml"), 9, `all: {"replicas":5}`},
	} {
		r := chartRoot(repository(t, files))
		r.Chart.Values, r.Chart.Defaults = c.values, c.defaults
		if out := Build(r, nonce); out.Problem != nil || !strings.Contains(string(out.Text), c.want+"\n") {
			t.Errorf("%s: %v %s\nwant %s", name, out.Problem, out.Text, c.want)
		}
	}
}
