package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/schedlint/schedlint/lint/render"
)

// FuzzMark checks that text with markers is the same document, that each marker is a comment on
// its own scalar, and that removing the markers restores the text.
func FuzzMark(f *testing.F) {
	for _, seed := range []string{
		"a: b\nc:\n- d # e\n- 'f''g'   \n- \"h\\\"\" #i\n", "a: &x b\nc: *x\nd: !!str 5\ne: &y\n  f: 1\n", "a: |\n  b: c\nd: >-\n  e\n  f\ng: h\n i\nk: \"l\n  m\"\n",
		"- a: b\n  # c\n- [d, e]\n- {f: g}\n- - h\n# i\n", "---\na: b\n---\n# c\n...\n--- # d\ne: f\n", "a: b\r\nc: d # e\r\n", "? a\n: b\n? c : d\n", "a: b #c\n  # d\n\n  # e\nf:\n  # g\n  h: i\n# k\n",
		"a: http://b#c\nd: -\ne: '#'\nf: ~\ng:\nh: ''\n", "\ufeffa: b\n", "a: b\u2028c: d\n", "a:\n  b: c\n  \n # d\n", "<<: {a: b}\nc: d\n", "a: !x b\nc: !<tag:yaml.org,2002:str> d\n", "a: b\n#\n#c\n", "a:\n- b # c\n  # d\n- e\n",
	} {
		f.Add([]byte(seed))
	}
	for _, part := range txtar.Parse([]byte(base)).Files {
		f.Add(part.Data)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<14 {
			return
		}
		doc, err := parse(text)
		l, ok := newLines(text)
		m := newMarker(nonce)
		if err != nil || doc.err != nil || !ok || bytes.Contains(text, []byte(m.sign[2:])) {
			return
		}
		var changes []change
		for i, root := range doc.docs {
			if isMapping(root) {
				changes = append(changes, m.mark(l, document{root: root, doc: i})...)
			}
		}
		marked := apply(text, changes)
		if got := m.without(string(marked)); got != string(text) {
			t.Fatalf("without markers it is %q", got)
		}
		again, err := parse(marked)
		if err != nil || again.err != nil || len(again.docs) != len(doc.docs) {
			t.Fatalf("%q cannot be read: %v %v", marked, err, again)
		}
		seen := 0
		for i, root := range doc.docs {
			seen += equalNodes(t, m, root, again.docs[i])
		}
		if seen != len(m.places) {
			t.Errorf("%d of %d markers found\n%s", seen, len(m.places), marked)
		}
	})
}

// equalNodes compares documents except for comments, and counts the scalars with a marker.
func equalNodes(t *testing.T, m *marker, a, b *yaml.Node) (marked int) {
	if a == nil || b == nil {
		if a != b {
			t.Fatal("a document is lost")
		}
		return 0
	}
	if a.Kind != b.Kind || a.Value != b.Value || a.Tag != b.Tag || a.Style != b.Style || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) || a.Line != b.Line {
		t.Fatalf("line %d: %q has become %q", a.Line, a.Value, b.Value)
	}
	if i, rest, ok := m.parse(b.LineComment); ok {
		at := &m.places[i]
		if rest != a.LineComment {
			t.Errorf("line %d: the comment %q has become %q", a.Line, a.LineComment, rest)
		}
		if at.value.value != b.Value || at.line != b.Line || b.Kind != yaml.ScalarNode {
			t.Errorf("line %d: %q has the marker of %v", b.Line, b.Value, at)
		}
		marked++
	}
	for i := range a.Content {
		marked += equalNodes(t, m, a.Content[i], b.Content[i])
	}
	return marked
}

// FuzzBuild checks that no input makes a build panic, and that the result equals that of
// kustomize.
func FuzzBuild(f *testing.F) {
	for _, seed := range []string{
		"resources: [a.yaml]", "resources: [a.yaml]\npatches: [{path: a.yaml}]\nnamePrefix: x-", "configMapGenerator: [{name: x, files: [a.yaml]}]",
		"resources: [a.yaml]\nreplacements:\n- source: {kind: ConfigMap, fieldPath: metadata.name}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.a]",
		"resources: [a.yaml]\npatches:\n- target: {kind: ConfigMap}\n  patch: |-\n    - op: add\n      path: /data/c\n      value: d",
		"resources: [a.yaml]\ntransformers:\n- |-\n  apiVersion: builtin\n  kind: PrefixTransformer\n  metadata: {name: x}\n  prefix: y",
		"helmCharts:\n- name: c\n  releaseName: a\n  namespace: b\n  includeCRDs: true\n  valuesFile: a.yaml\n  valuesMerge: merge\n  valuesInline: {data: {a: c, d: null}}\n",
		"helmGlobals: {chartHome: charts}\nhelmCharts: [{name: c, additionalValuesFiles: [a.yaml], skipHooks: true, apiVersions: [x/v1], kubeVersion: '1.30'}]\nnamespace: x",
		"helmChartInflationGenerator:\n- {chartName: c, values: a.yaml, valuesLocal: {data: [1]}, releaseName: r}\ngenerators:\n- |-\n  apiVersion: builtin\n  kind: HelmChartInflationGenerator\n  metadata: {name: x}\n  name: c\n  releaseName: s",
	} {
		f.Add([]byte(seed), []byte(small))
	}
	f.Fuzz(func(t *testing.T, kustomization, resource []byte) {
		if len(kustomization)+len(resource) > 1<<14 {
			return
		}
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{
			"r/kustomization.yaml": kustomization, "r/a.yaml": resource,
			"r/charts/c/Chart.yaml": []byte("apiVersion: v2\nname: c\nversion: 1.0.0\n"), "r/charts/c/values.yaml": []byte("data: {a: b}\n"),
			"r/charts/c/templates/a.yaml": []byte("kind: ConfigMap\napiVersion: v1\nmetadata: {name: \"{{ .Release.Name }}\"}\ndata: {{- toYaml .Values.data | nindent 2 }}\n"),
			"r/charts/c/crds/a.yaml":      resource,
		} {
			write(t, filepath.Join(dir, name), text)
		}
		out := Build(rootOf(dir, "r"), nonce)
		switch {
		case out.Problem != nil || strings.Contains(string(kustomization), nonce):
		case strings.Contains(strings.ToLower(string(kustomization)), "helm"): // kustomize would run it
			placedWithin(t, out)
		default:
			verify(t, dir, "r", out)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Error("something was written")
		}
	})
}

// placedWithin checks that each mark leads into a file or to a line of chart output.
func placedWithin(t *testing.T, out *render.Output) {
	t.Helper()
	for _, m := range out.Marks {
		printed := out.Charts[out.Files[m.File]]
		if printed != nil && (m.At < 1 || m.At > len(printed.Lines)) {
			t.Errorf("%+v is no line of a chart", m)
		}
	}
	for _, printed := range out.Charts {
		for _, l := range printed.Lines {
			if l.Template >= len(printed.Files) || l.Values >= len(printed.Files) {
				t.Errorf("%+v is in no file", l)
			}
		}
	}
}
