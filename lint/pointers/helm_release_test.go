package pointers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

func releaseOf(t *testing.T, spec string, more ...string) *Pointer {
	t.Helper()
	read := func(text string) *source.Object {
		file := source.NewFile("r.yaml", "r.yaml", []byte(text))
		return file.ObjectsOf(file.Roots()[0])[0]
	}
	var objects []*source.Object
	for _, text := range more {
		objects = append(objects, read("apiVersion: source.toolkit.fluxcd.io/v1\n"+text))
	}
	r := &Reader{Repositories: NewRepositories(nil, nil, objects, nil), Tree: fakeTree{}}
	return r.Read(read("apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a, namespace: n}\nspec:\n" + spec))[0]
}

const gitChart = "  chart: {spec: {chart: ./c, sourceRef: {kind: GitRepository, name: g}}}\n"

// TestRelease checks the names, destinations and charts of releases.
func TestRelease(t *testing.T) {
	long := strings.Repeat("l", 60)
	for _, c := range []struct{ spec, want string }{
		{gitChart, "a in n, c, "},
		{gitChart + "  releaseName: b\n  targetNamespace: t\n", "b in t, c, "},
		{gitChart + "  targetNamespace: t\n", "t-a in t, c, "},
		{gitChart + "  releaseName: " + long + "\n", strings.Repeat("l", 40) + "-17e9467ad5bd in n, c, "},
		{"  chart: {spec: {chart: x, version: 1.x, sourceRef: {kind: HelmRepository, name: h}}}\n", "a in n, https://h/c/x 1.x, "},
		{"  chartRef: {kind: OCIRepository, name: o}\n", "a in n, oci://h/o/x 2.0.0, "},
		{"  chartRef: {kind: OCIRepository, name: o, namespace: other}\n", "a in n, , Helm chart: OCIRepository other/o, which is not in the tree"},
		{"  chartRef: {kind: ExternalArtifact, name: o}\n", "a in n, , "},
		{gitChart + "  postRenderers: [{kustomize: {images: [{name: i}]}}, {kustomize: {patches: []}}]\n", "a in n, c, post-renderer: images before the patches of another one"},
		{gitChart + "  valuesFrom: [{kind: ConfigMap, name: '${X}'}]\n", "a in n, c, variable in the pointer: the chart, the name or a reference holds a variable"},
		{"  chart: {spec: {chart: c, valuesFile: v.yaml, sourceRef: {kind: GitRepository, name: g}}}\n", "a in n, c, values that are not known: valuesFile: write valuesFiles"},
		{"  chart: {spec: {chart: ../c, sourceRef: {kind: GitRepository, name: g}}}\n", "a in n, ../c, path outside of the repository: ../c"},
	} {
		p := releaseOf(t, c.spec, "kind: HelmRepository\nmetadata: {name: h, namespace: n}\nspec: {url: https://h/c/}\n", "kind: OCIRepository\nmetadata: {name: o, namespace: n}\nspec: {url: oci://h/o/x, ref: {tag: 2.0.0}}\n")
		s := &p.Sources[0]
		at := s.Path
		if s.Chart.Remote {
			at = strings.TrimSpace(s.Address() + " " + s.Chart.Version)
		}
		why := ""
		if s.Why.Some() {
			why = s.Why.String()
		}
		if got := fmt.Sprintf("%s in %s, %s, %s", s.Chart.Release, s.Chart.Namespace, at, why); got != c.want {
			t.Errorf("%s\n%s\nwant\n%s", c.spec, got, c.want)
		}
	}
}

// TestPostRenderers checks that patches keep their order and that images follow them.
func TestPostRenderers(t *testing.T) {
	p := releaseOf(t, gitChart+"  postRenderers:\n  - kustomize:\n      patches:\n      - patch: |\n          a: b\n  - kustomize:\n      patchesJson6902: [{target: {kind: X}, patch: [{op: remove, path: /a}]}]\n      images: [{name: i, newTag: '1'}]\n")
	want := `{"images":[{"name":"i","newTag":"1"}],"patches":[{"patch":"a: b\n"},{"patch":"[{\"op\":\"remove\",\"path\":\"/a\"}]","target":{"kind":"X"}}]}`
	if s := &p.Sources[0]; string(s.Fields) != want || fmt.Sprint(s.Patches) != "[9 0]" {
		t.Errorf("%s %v\nwant %s", s.Fields, s.Patches, want)
	}
}

// TestValues checks that values are written with one scalar and its place per line, and that their
// meaning does not change.
func TestValues(t *testing.T) {
	p := releaseOf(t, gitChart+"  values:\n    a: {b: 1, c: [x, {d: '2', e: [y]}, [z]]}\n    'n: m': \"q\\tr\"\n    block: |\n      one\n      two\n    none:\n    empty: {}\n")
	want := `"a": 7
  "b": 1 7
  "c": 7
    - "x" 7
    - "d": "2" 7
      "e": 7
        - y 7
    - 7
      - "z" 7
"n: m": "q\tr" 8
"block": "one\ntwo\n" 9
"none": null 12
"empty": {} 13
`
	text := p.Sources[0].Chart.Values
	var got strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(string(text.Bytes), "\n"), "\n") {
		got.WriteString(line)
		if n := text.Lines[i]; n != nil {
			fmt.Fprintf(&got, " %d", n.Line)
		}
		got.WriteByte('\n')
	}
	again := source.NewFile("v.yaml", "v.yaml", text.Bytes)
	if !source.Equal(again.Roots()[0], text.node) {
		t.Errorf("%s does not say the same", text.Bytes)
	}
	if got.String() != want {
		t.Errorf("%s\nwant\n%s", got.String(), want)
	}
}

// TestNested checks that a value is read as --set reads it.
func TestNested(t *testing.T) {
	for _, c := range []struct {
		name, value string
		whole       bool
		want        string
	}{
		{"a", "5", false, `"a": 5`}, {"a.b-c", "TRUE", false, `"a": {"b-c": true}`}, {"a", "05", false, `"a": "05"`}, {"a", "-05", false, `"a": -5`},
		{"a", "1.5", false, `"a": "1.5"`}, {"a", "null", false, `"a": null`}, {"a", "", false, `"a": ""`}, {"a", "5", true, `"a": "5"`},
		{"a", "x=y z: \"", false, `"a": "x=y z: \""`}, {"a", "99999999999999999999", false, `"a": "99999999999999999999"`},
		{"a[0]", "1", false, ""}, {`a\.b`, "1", false, ""}, {"a", "1,2", false, ""}, {"a", "{1}", false, ""}, {"a", "1,2", true, `"a": "1,2"`}, {"", "1", false, ""}, {"a..b", "1", false, ""},
	} {
		if got, ok := Nested(c.name, c.value, c.whole); ok != (c.want != "") || strings.TrimSpace(string(got)) != c.want {
			t.Errorf("%s=%s: %s, want %s", c.name, c.value, got, c.want)
		}
	}
}
