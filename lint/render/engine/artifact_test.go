package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/render"
)

// artifactOf returns an artifact of files, given as "name=original".
func artifactOf(dir string, files ...string) *render.Artifact {
	a := &render.Artifact{Name: "ExternalArtifact/n/x", Dir: dir}
	name := func(f string) string { return strings.SplitN(f, "=", 2)[0] }
	for _, f := range slices.SortedFunc(slices.Values(files), func(a, b string) int { return strings.Compare(name(a), name(b)) }) {
		name, original, _ := strings.Cut(f, "=")
		a.Copies.Names, a.Copies.Originals = append(a.Copies.Names, name), append(a.Copies.Originals, original)
	}
	return a
}

const inParts = `
-- app.yaml --
values: none
-- bases/web/all.yaml --
resources: [web.yaml]
-- bases/web/web.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  a: b
-- overlays/prod.yaml --
namePrefix: prod-
resources: [../base, extra.yaml]
components: [../parts]
configMapGenerator:
- {name: gen, files: [settings.ini]}
-- overlays/part.yaml --
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
- patch: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: web}
    data:
      patched: indeed
-- other/settings.ini --
x=y
-- other/extra.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: extra}
-- chart/Chart.yaml --
apiVersion: v2
name: shop
version: 1.0.0
-- chart/values.yaml --
a: own
-- chart/templates/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: own}
data:
  a: {{ .Values.a }}
-- other/b.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data:
  a: {{ .Values.a }}
-- other/values.yaml --
a: others
`

var inPartsFiles = []string{
	"base/kustomization.yaml=bases/web/all.yaml", "base/web.yaml=bases/web/web.yaml", "prod/kustomization.yaml=overlays/prod.yaml",
	"prod/extra.yaml=other/extra.yaml", "prod/settings.ini=other/settings.ini", "parts/kustomization.yaml=overlays/part.yaml",
}

// TestArtifact checks that the build of an artifact prints what kustomize prints for the same files
// on disk, and that all names in the output are those of the originals.
func TestArtifact(t *testing.T) {
	dir := repository(t, inParts)
	there := t.TempDir()
	for _, f := range inPartsFiles {
		name, original, _ := strings.Cut(f, "=")
		text, err := os.ReadFile(filepath.Join(dir, original))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(there, name), text)
	}
	want, err := plain(filepath.Join(there, "prod"))
	if err != nil {
		t.Fatal(err)
	}
	r := rootOf(dir, "overlays")
	r.Artifact = artifactOf("prod", inPartsFiles...)
	out := Build(r, nonce)
	if out.Problem != nil || string(out.Text) != want {
		t.Fatalf("%v\n%s\nwant\n%s", out.Problem, out.Text, want)
	}
	names := func(all ...string) []string { return all }
	if !slices.Equal(out.Files, names("bases/web/web.yaml", "overlays/part.yaml", "other/extra.yaml")) ||
		!slices.Equal(out.Sources, names("bases/web/all.yaml", "bases/web/web.yaml", "other/extra.yaml", "overlays/part.yaml", "overlays/prod.yaml")) ||
		!slices.Equal(out.Data, names("other/settings.ini")) {
		t.Errorf("files %q, sources %q, data %q", out.Files, out.Sources, out.Data)
	}
	var marks []string
	for _, m := range out.Marks {
		marks = append(marks, fmt.Sprintf("%s:%d:%d", out.Files[m.File], m.At, m.AtColumn))
	}
	for _, at := range names("bases/web/web.yaml:5:6", "overlays/part.yaml:9:16") {
		if !slices.Contains(marks, at) {
			t.Errorf("no mark leads to %s: %q", at, marks)
		}
	}
}

// TestArtifactChart checks charts that are put together: as they are, and with a patch after them.
func TestArtifactChart(t *testing.T) {
	dir := repository(t, inParts)
	chart := []string{"shop/Chart.yaml=chart/Chart.yaml", "shop/values.yaml=other/values.yaml", "shop/templates/a.yaml=chart/templates/a.yaml", "shop/templates/b.yaml=other/b.yaml"}
	for _, patched := range []bool{false, true} {
		r := rootOf(dir, "chart")
		r.Chart, r.Artifact, r.Overlay = &render.Chart{}, artifactOf("shop", chart...), &render.Overlay{File: "app.yaml", Line: 1}
		if patched {
			r.Overlay.Labels = map[string]string{"l": "v"}
		}
		out := Build(r, nonce)
		if out.Problem != nil || strings.Count(string(out.Text), "a: others") != 2 {
			t.Fatalf("%v\n%s", out.Problem, out.Text)
		}
		printed := out
		for _, c := range out.Charts {
			printed = c
		}
		files := slices.Sorted(slices.Values(printed.Files))
		if !slices.Equal(files, []string{"chart/templates/a.yaml", "other/b.yaml", "other/values.yaml"}) {
			t.Errorf("files %q", printed.Files)
		}
		if want := []string{"chart/Chart.yaml", "chart/templates/a.yaml", "other/b.yaml", "other/values.yaml"}; !slices.Equal(out.Sources, want) {
			t.Errorf("sources %q", out.Sources)
		}
	}
	// Values that are merged replace those of the chart. They are outside the artifact.
	chart[1] = "shop/values.yaml=chart/values.yaml"
	r := rootOf(dir, "chart")
	r.Chart, r.Artifact = &render.Chart{Values: render.Files("chart/values.yaml", "other/values.yaml"), Defaults: 2}, artifactOf("shop", chart...)
	if out := Build(r, nonce); out.Problem != nil || strings.Count(string(out.Text), "a: others") != 2 {
		t.Errorf("%v\n%s", out.Problem, out.Text)
	}
}

// TestArtifactProblems checks what an artifact does not contain, and names that attackers choose.
func TestArtifactProblems(t *testing.T) {
	dir := repository(t, inParts+`
-- out/up.yaml --
resources: [../../../../other/extra.yaml]
-- out/cycle.yaml --
resources: [../a]
-- out/link --
-- out/fail.yaml --
a: b
c: {{ fail "no" }}
-- out/dir/file --
-- out/generator.yaml --
configMapGenerator: [{name: gen, files: [data]}]
-- third_party/base/kustomization.yaml --
resources: [a.yaml]
-- third_party/base/a.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: vendored}
-- out/remote.yaml --
resources: ["https://example.com/base"]
`)
	outside := filepath.Join(t.TempDir(), "secret")
	write(t, outside, []byte(small))
	if err := os.Remove(filepath.Join(dir, "out/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "out/link")); err != nil {
		t.Skip(err)
	}
	for name, c := range map[string]struct {
		at    string
		files []string
		want  string
	}{
		"all":                      {"prod", inPartsFiles, ""},
		"a base that is not there": {"prod", slices.Concat(inPartsFiles[2:]), "overlays/prod.yaml:2: resources entry ../base: ExternalArtifact/n/x/base does not exist"},
		"a file that is not there": {"base", inPartsFiles[:1], "bases/web/all.yaml:1: resources entry web.yaml: ExternalArtifact/n/x/base/web.yaml does not exist"},
		"no kustomization":         {"prod", inPartsFiles[:2], "app.yaml:3: ExternalArtifact/n/x/prod does not exist"},
		"a deleted original":       {"base", []string{inPartsFiles[0], "base/web.yaml=gone.yaml"}, "bases/web/all.yaml:1: resources entry web.yaml: ExternalArtifact/n/x/base/web.yaml does not exist"},
		"a deleted kustomization":  {"base", []string{"base/kustomization.yaml=gone.yaml"}, "app.yaml:3: ExternalArtifact/n/x/base has no kustomization.yaml"},
		"out of the artifact":      {"prod", []string{"prod/kustomization.yaml=out/up.yaml"}, "out/up.yaml:1: resources entry ../../../../other/extra.yaml: other/extra.yaml is outside ExternalArtifact/n/x"},
		"a cycle of copies":        {"b", []string{"a/kustomization.yaml=out/cycle.yaml", "b/kustomization.yaml=out/cycle.yaml"}, "out/cycle.yaml:1: resources entry ../a: cycle: ExternalArtifact/n/x/a includes itself"},
		"a link out of it":         {"a", []string{"a/kustomization.yaml=out/generator.yaml", "a/data=out/link"}, "out/generator.yaml:1: configMapGenerator entry data: ExternalArtifact/n/x/a/data is a symbolic link to a target outside the repository"},
		"a directory":              {"a", []string{"a/kustomization.yaml=out/generator.yaml", "a/data=out/dir"}, "out/generator.yaml:1: configMapGenerator entry data: ExternalArtifact/n/x/a/data is not a regular file"},
		"an original outside":      {"a", []string{"a/kustomization.yaml=out/generator.yaml", "a/data=../secret"}, "out/generator.yaml:1: configMapGenerator entry data: ExternalArtifact/n/x/a/data is outside the repository"},
		"an original of git":       {"a", []string{"a/kustomization.yaml=out/generator.yaml", "a/data=.git/config"}, "out/generator.yaml:1: configMapGenerator entry data: ExternalArtifact/n/x/a/data belongs to git and is not read"},
		"a merged file":            {"a", []string{"a/kustomization.yaml=out/generator.yaml", "a/data="}, "out/generator.yaml:1: configMapGenerator entry data: ExternalArtifact/n/x/a/data is merged from several files, and only the values.yaml of a chart may be"},
		"a file and a directory":   {"a", []string{"a/kustomization.yaml=out/generator.yaml", "a/data=other/settings.ini", "a/data/x=other/settings.ini", "a/data-x=other/settings.ini"}, ""},
		"other letters":            {"a", []string{"a/kustomization.yaml=out/generator.yaml", "a/DATA=other/settings.ini"}, "out/generator.yaml:1: configMapGenerator entry data: ExternalArtifact/n/x/a/data does not exist"},
		"names that lead up":       {"a", []string{"../a/data=other/settings.ini", "a/../a/data=other/settings.ini", "a/kustomization.yaml=out/generator.yaml"}, "out/generator.yaml:1: configMapGenerator entry data: ExternalArtifact/n/x/a/data does not exist"},
		"the whole artifact":       {".", []string{"kustomization.yaml=out/generator.yaml", "data=other/settings.ini"}, ""},
		"a vendored base":          {"a", []string{"a/kustomization.yaml=out/remote.yaml"}, ""},
	} {
		r := rootOf(dir, "out")
		r.Artifact, r.Overlay = artifactOf(c.at, c.files...), &render.Overlay{File: "app.yaml", Line: 3}
		r.Remotes = map[string]string{"https://example.com/base": "third_party/base"}
		got := ""
		if out := Build(r, nonce); out.Problem != nil {
			got = out.Problem.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q\nwant %q", name, got, c.want)
		}
	}
	// the chart's own files
	for name, c := range map[string]struct{ files, want string }{
		"no Chart.yaml":       {"shop/values.yaml=chart/values.yaml", "app.yaml:3: "},
		"a deleted template":  {"shop/Chart.yaml=chart/Chart.yaml shop/templates/a.yaml=gone.yaml", "app.yaml:3: ExternalArtifact/n/x/shop/templates/a.yaml does not exist"},
		"a fault":             {"shop/Chart.yaml=chart/Chart.yaml shop/values.yaml=overlays/prod.yaml shop/templates/a.yaml=out/fail.yaml", "out/fail.yaml:2: "},
		"a file and a folder": {"shop/Chart.yaml=chart/Chart.yaml shop/values.yaml=chart/values.yaml shop/templates/a.yaml=chart/templates/a.yaml shop/templates/a.yaml/x=other/b.yaml", ""},
	} {
		r := rootOf(dir, "chart")
		r.Chart, r.Artifact, r.Overlay = &render.Chart{}, artifactOf("shop", strings.Fields(c.files)...), &render.Overlay{File: "app.yaml", Line: 3}
		got := ""
		if out := Build(r, nonce); out.Problem != nil {
			got = out.Problem.Error()
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q\nwant %q", name, got, c.want)
		}
	}
}

// TestArtifactTwice checks that copies of one kustomization do not share what is added to one.
func TestArtifactTwice(t *testing.T) {
	dir := repository(t, `
-- k.yaml --
resources: [c.yaml]
-- top.yaml --
resources: [a, c.yaml]
-- c.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
-- d.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: d}
`)
	r := rootOf(dir, ".")
	r.Artifact = artifactOf(".", "kustomization.yaml=top.yaml", "c.yaml=d.yaml", "a/kustomization.yaml=k.yaml", "a/c.yaml=c.yaml")
	r.Overlay = &render.Overlay{File: "k.yaml", Line: 1, Fields: []byte(`{"namePrefix":"x-"}`)}
	out := Build(r, nonce)
	if out.Problem != nil || strings.Count(string(out.Text), "name: x-") != 2 || !slices.Equal(out.Files, []string{"c.yaml", "d.yaml"}) {
		t.Errorf("%v %q\n%s", out.Problem, out.Files, out.Text)
	}
	r.Artifact = artifactOf("b", "a/kustomization.yaml=k.yaml", "a/c.yaml=c.yaml", "b/kustomization.yaml=top.yaml", "b/a/kustomization.yaml=k.yaml", "b/a/c.yaml=c.yaml", "b/c.yaml=d.yaml")
	out = Build(r, nonce)
	if want := []string{"c.yaml", "d.yaml", "k.yaml", "top.yaml"}; out.Problem != nil || !slices.Equal(out.Sources, want) {
		t.Errorf("%v %q", out.Problem, out.Sources)
	}
}
