package engine

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/render"
)

const small = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: small\ndata:\n  a: b\n"

// problem builds a root that must fail. It checks that the problem has a position and does not
// contain a path of the machine.
func problem(t *testing.T, confinement, dir string) *render.Problem {
	t.Helper()
	out := Build(rootOf(confinement, dir), nonce)
	p := out.Problem
	if p == nil {
		t.Fatalf("it is rendered:\n%s", out.Text)
	}
	if p.File == "" || p.Line < 1 || p.Column < 1 || p.Detail == "" {
		t.Errorf("no place: %+v", p)
	}
	if strings.Contains(p.Detail+p.File, confinement) || strings.Contains(p.Detail, nonce) {
		t.Errorf("it has a path of the machine or a marker: %v", p)
	}
	if strings.Contains(p.Detail, "\n") || len(p.Detail) > maxMessage {
		t.Errorf("it is no line of %d bytes: %q", maxMessage, p.Detail)
	}
	return p
}

// TestRefused builds input that tries to read foreign files, use the network or execute something.
func TestRefused(t *testing.T) {
	builtin := func(kind, rest string) string {
		return "-- r/plugin.yaml --\napiVersion: builtin\nkind: " + kind + "\nmetadata:\n  name: x\n" + rest
	}
	for _, c := range []struct {
		name, files string // the kustomization of directory r comes first
		want        string // file:line:column and words from the message
	}{
		{"resource", "resources:\n- https://user:pw@example.com/x.yaml?token=abc\n", "r/kustomization.yaml:2:3 ***@example.com/x.yaml?token=***"},
		{"git with odd colons", "resources: ['a@:x/y/z']\n-- r/a@:x/y/z/kustomization.yaml --\n", "r/kustomization.yaml:1:13 remote"},
		{"git without a host", "resources: ['a@/x/y']\n-- r/a@/x/y/kustomization.yaml --\n", "r/kustomization.yaml:1:13 remote"},
		{"git", "resources:\n- git@github.com:org/repo.git\n", "r/kustomization.yaml:2:3 git@github.com:org/repo.git"},
		{"short github", "resources: ['github.com/org/repo/deploy?ref=v1']\n", "r/kustomization.yaml:1:13 github.com/org/repo"},
		{"ssh", "resources: ['ssh://git@host/x']\n", "r/kustomization.yaml:1:13 ssh://***@host/x"},
		{"go-getter", "resources: ['git::https://host/org/repo']\n", "r/kustomization.yaml:1:13 remote"},
		{"file URL", "resources: ['file:///etc']\n", "r/kustomization.yaml:1:13 remote"},
		{"azure", "resources: ['dev@dev.azure.com/org/p/_git/repo']\n", "r/kustomization.yaml:1:13 remote"},
		{"key in another case", "Resources:\n- HTTPS://example.com/x.yaml\n", "r/kustomization.yaml:2:3 remote"},
		{"key in Unicode", "re\u017fources:\n- https://example.com/x.yaml\n", "r/kustomization.yaml:1:1 remote"},
		{"alias", "namePrefix: &u https://example.com/x.yaml\nresources: [*u]\n", "r/kustomization.yaml:1:13 remote"},
		{"merge key", "<<: {resources: [https://example.com/x.yaml]}\n", "r/kustomization.yaml:1:1 remote"},
		{"bases", "bases: [https://example.com/x]\n", "r/kustomization.yaml:1:9 remote"},
		{"components", "components: [https://example.com/x]\n", "r/kustomization.yaml:1:14 remote"},
		{"crds", "crds: [https://example.com/x]\n", "r/kustomization.yaml:1:8 remote"},
		{"configurations", "configurations: [https://example.com/x]\n", "r/kustomization.yaml:1:18 remote"},
		{"generators", "generators: [https://example.com/x]\n", "r/kustomization.yaml:1:14 remote"},
		{"transformers", "transformers: [https://example.com/x]\n", "r/kustomization.yaml:1:16 remote"},
		{"validators", "validators: [https://example.com/x]\n", "r/kustomization.yaml:1:14 remote"},
		{"patches", "patches: [{path: https://example.com/x}]\n", "r/kustomization.yaml:1:18 remote"},
		{"patchesStrategicMerge", "patchesStrategicMerge: [https://example.com/x]\n", "r/kustomization.yaml:1:25 remote"},
		{"patchesJson6902", "patchesJson6902: [{path: https://example.com/x}]\n", "r/kustomization.yaml:1:26 remote"},
		{"replacements", "replacements: [{path: https://example.com/x}]\n", "r/kustomization.yaml:1:23 remote"},
		{"openapi", "openapi: {path: https://example.com/x}\n", "r/kustomization.yaml:1:17 remote"},
		{"files", "configMapGenerator: [{name: a, files: [k=https://example.com/x]}]\n", "r/kustomization.yaml:1:40 remote"},
		{"envs", "secretGenerator: [{name: a, envs: ['https://example.com/x?a=b=c']}]\n", "r/kustomization.yaml:1:36 remote"},
		{"env", "configMapGenerator: [{name: a, env: https://example.com/x}]\n", "r/kustomization.yaml:1:37 remote"},
		{"charts", "helmCharts:\n- name: redis\n  repo: https://example.com\n", "r/kustomization.yaml:2:9 chart redis"},
		{"old charts", "helmChartInflationGenerator:\n- chartName: redis\n  chartRepoUrl: https://example.com\n", "r/kustomization.yaml:2:14 chart redis"},
		{"chart home", "helmGlobals: {chartHome: ../..}\nhelmCharts:\n- name: redis\n", "r/kustomization.yaml:3:9 outside the repository"},
		{"chart plugin", "generators: [plugin.yaml]\n" + builtin("HelmChartInflationGenerator", "name: redis\nrepo: https://example.com\n"), "r/plugin.yaml:5:7 chart redis"},
		{"exec", "generators:\n- plugin.yaml\n-- r/plugin.yaml --\napiVersion: v1\nkind: X\nmetadata:\n  name: x\n  annotations:\n    config.kubernetes.io/function: |\n      exec: {path: ./run}\n", "r/plugin.yaml:6:36 function"},
		{"container", "transformers:\n- |-\n  apiVersion: builtin\n  kind: PrefixTransformer\n  metadata:\n    name: x\n    annotations: {config.k8s.io/function: 'container: {image: x}'}\n", "r/kustomization.yaml:2:3 function"},
		{"plugin", "validators: [plugin.yaml]\n-- r/plugin.yaml --\napiVersion: example.com/v1\nkind: X\nmetadata: {name: x}\n", "r/plugin.yaml:1:1 not built into kustomize"},
		{"plugin in a List", "generators: [plugin.yaml]\n-- r/plugin.yaml --\napiVersion: v1\nkind: List\nitems:\n- apiVersion: example.com/v1\n  kind: X\n  metadata: {name: x}\n", "r/plugin.yaml:4:3 not built into kustomize"},
		{"plugin in a directory", "generators: [../p]\n-- p/kustomization.yaml --\nresources: [x.yaml]\n-- p/x.yaml --\napiVersion: example.com/v1\nkind: X\nmetadata: {name: x}\n", "p/x.yaml:1:1 not built into kustomize"},
		{"patched plugin", "generators: [../p]\n-- p/kustomization.yaml --\npatches: [{patch: 'a: b'}]\n", "r/kustomization.yaml:1:14 generated or patched plugins"},
		{"merged plugin", "generators: [plugin.yaml]\n" + builtin("ConfigMapGenerator", "<<: {path: x}\n"), "r/plugin.yaml:5:1 merge key"},
		{"patch of a plugin", "transformers: [plugin.yaml]\n" + builtin("PatchTransformer", "Path: https://example.com/x\n"), "r/plugin.yaml:5:7 remote"},
		{"patches of a plugin", "transformers: [plugin.yaml]\n" + builtin("PatchStrategicMergeTransformer", "paths: [https://example.com/x]\n"), "r/plugin.yaml:5:9 remote"},
		{"replacement of a plugin", "transformers: [plugin.yaml]\n" + builtin("ReplacementTransformer", "replacements: [{path: https://example.com/x}]\n"), "r/plugin.yaml:5:23 remote"},
		{"data of a plugin", "generators: [plugin.yaml]\n" + builtin("ConfigMapGenerator", "files: [a=https://example.com/x]\n"), "r/plugin.yaml:5:9 remote"},
		{"absolute", "configMapGenerator: [{name: a, files: [/etc/passwd]}]\n", "r/kustomization.yaml:1:40 absolute"},
		{"absolute directory", "resources: [/etc]\n", "r/kustomization.yaml:1:13 absolute"},
		{"outside", "configMapGenerator: [{name: a, files: [p=../../../../../../../../etc/passwd]}]\n", "r/kustomization.yaml:1:40 outside the repository"},
		{"outside directory", "resources: [../..]\n", "r/kustomization.yaml:1:13 outside the repository"},
		{"outside in a plugin", "transformers: [plugin.yaml]\n" + builtin("PatchTransformer", "path: ../../../../../../../etc/passwd\n"), "r/kustomization.yaml:1:1 outside the repository"},
		{"git's own", "configMapGenerator: [{name: a, files: [../.git/config]}]\n-- .git/config --\nsecret\n", "r/kustomization.yaml:1:40 belongs to git"},
		{"line break in a name", "resources: [\"a\\nb\"]\n", `r/kustomization.yaml:1:13 "r/a\nb" does not exist`},
		{"alias bomb", "resources: [a.yaml]\n-- r/a.yaml --\n" + bomb(), "r/kustomization.yaml:1:13 expands to more than"},
		{"endless alias", "resources: [a.yaml]\n-- r/a.yaml --\na: &a\n  b: *a\n", "r/kustomization.yaml:1:13 contains itself"},
		{"bomb in a kustomization", "resources: [x]\n" + bomb(), "r/kustomization.yaml:1:1 expands to more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t, "-- r/kustomization.yaml --\n"+c.files)
			p := problem(t, dir, "r")
			place, words, _ := strings.Cut(c.want, " ")
			if got := fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column); got != place || !strings.Contains(p.Detail, words) {
				t.Errorf("got %s %s\nwant %s %s", got, p.Detail, place, words)
			}
			if p.Kind != render.Refused && !strings.Contains(c.want, "not exist") {
				t.Errorf("%s, want refused: %s", p.Kind, p.Detail)
			}
		})
	}
}

// bomb returns YAML whose aliases expand to 9^9 nodes.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return b.String()
}

// TestFailed builds input that kustomize rejects, and checks the positions of the problems.
func TestFailed(t *testing.T) {
	for _, c := range []struct{ name, files, want string }{
		{"missing file", "resources:\n- a.yaml\n", "r/kustomization.yaml:2:3 r/a.yaml does not exist"},
		{"missing directory", "resources:\n- ../base\n", "r/kustomization.yaml:2:3 base does not exist"},
		{"missing patch", "patches:\n- path: p.yaml\n", "r/kustomization.yaml:2:9 r/p.yaml does not exist"},
		{"missing data", "configMapGenerator:\n- name: a\n  files: [k=v.txt]\n", "r/kustomization.yaml:3:11 r/v.txt does not exist"},
		{"no kustomization", "resources:\n- ../base\n-- base/x.yaml --\n", "r/kustomization.yaml:2:3 base has no kustomization.yaml"},
		{"two kustomizations", "resources: []\n-- r/Kustomization --\n", "r/kustomization.yaml:1:1 2 kustomization files"},
		{"itself", "resources: [../r]\n", "r/kustomization.yaml:1:13 includes itself"},
		{"dot", "resources: [.]\n", "r/kustomization.yaml:1:13 includes itself"},
		{"parent", "resources: [..]\n", "r/kustomization.yaml:1:13 contains r"},
		{"cycle", "resources: [../b]\n-- b/kustomization.yaml --\ncomponents: []\nresources: [../r]\n", "b/kustomization.yaml:2:13 includes itself"},
		{"component as a resource", "resources: [../b]\n-- b/kustomization.yaml --\nkind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n", "r/kustomization.yaml:1:13 list it under components"},
		{"resource as a component", "components: [../b]\n-- b/kustomization.yaml --\nresources: []\n", "r/kustomization.yaml:1:14 list it under resources"},
		{"unknown field", "resources: []\nresourcs: []\n", "r/kustomization.yaml:2:1 unknown field"},
		{"another type", "resources: []\nnamespace: yes\n", "r/kustomization.yaml:2:1 namespace: expected a string, found a boolean"},
		{"a map for a list", "resources: {a: b}\n", "r/kustomization.yaml:1:1 resources: expected a list, found a map"},
		{"invalid YAML", "resources: [\n", "r/kustomization.yaml:1:1 invalid YAML"},
		{"empty", "", "r/kustomization.yaml:1:1 empty"},
		{"invalid resource", "resources:\n- a.yaml\n-- r/a.yaml --\na: b\nc: [\n", "r/kustomization.yaml:2:3 r/a.yaml:"},
		{"no object", "resources:\n- a.yaml\n-- r/a.yaml --\na: b\n", "r/kustomization.yaml:2:3 missing"},
		{"twice the same", "resources:\n- a.yaml\n- b.yaml\n-- r/a.yaml --\n" + small + "-- r/b.yaml --\n" + small, "r/kustomization.yaml:3:3 already registered"},
		{"invalid schema", "resources: [a.yaml]\nopenapi: {path: s.json}\npatches: [{path: a.yaml}]\n-- r/s.json --\nnope\n-- r/a.yaml --\n" + small, "r/kustomization.yaml:1:1 crashed"},
		{"patch without target", "resources: [../b]\n-- b/kustomization.yaml --\npatches:\n- path: p.yaml\n-- b/p.yaml --\n" + small, "b/kustomization.yaml:2:9 no resource matches"},
		{"inline patch without target", "resources: [a.yaml]\npatches:\n- patch: |-\n    apiVersion: v1\n    kind: ConfigMap\n    metadata:\n      name: other\n-- r/a.yaml --\n" + small, "r/kustomization.yaml:3:10 no resource matches"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t, "-- r/kustomization.yaml --\n"+c.files)
			p := problem(t, dir, "r")
			place, words, _ := strings.Cut(c.want, " ")
			if got := fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column); got != place || !strings.Contains(p.Detail, words) || p.Kind != render.Failed {
				t.Errorf("got %s %s %s\nwant %s %s", p.Kind, got, p.Detail, place, words)
			}
		})
	}
}

// grows lists small kustomizations with large results.
func grows() []struct{ name, files, want string } {
	d0 := func(k, a string) string {
		return "-- d0/kustomization.yaml --\nresources: [a.yaml]\n" + k + "-- d0/a.yaml --\n" + a
	}
	many := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(format, "#", fmt.Sprint(i)))
		}
		return b.String()
	}
	maps := many("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m#}\n", 900)
	back := "- source: {kind: ConfigMap, name: small, fieldPath: data.X}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.Y]\n    options: {delimiter: '-', index: 9}\n"
	forth := strings.NewReplacer("data.X", "data.a", "data.Y", "data.b").Replace(back) + strings.NewReplacer("data.X", "data.b", "data.Y", "data.a").Replace(back)
	whole := "- source: {kind: ConfigMap, name: small, fieldPath: data}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.k#]\n    options: {create: true}\n"
	vars := "vars:\n- name: X\n  objref: {apiVersion: v1, kind: ConfigMap, name: big}\n  fieldref: {fieldpath: data.a}\n"
	return []struct{ name, files, want string }{
		{"prefix", d0("namePrefix: "+strings.Repeat("x", 100_000)+"\n", maps), "limit of 67108864 bytes"},
		{"labels", d0("commonLabels:\n"+many("  l#: v\n", 5000), maps), "limit of"},
		{"annotations", d0("commonAnnotations:\n"+many("  l#: v\n", 5000), maps), "limit of"},
		{"pairs", d0("labels:\n- pairs:\n"+many("    l#: v\n", 5000), maps), "limit of"},
		{"vars", d0(vars, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata:\n  a: "+strings.Repeat("x", 100_000)+"\n  b: "+strings.Repeat("$(X)", 100_000)+"\n"), "limit of 67108864 bytes"},
		{"replacements", d0("replacements:\n"+strings.Repeat(forth, 20), small+"  b: c\n"), "limit of 67108864 bytes"},
		{"replacements in a file", d0("replacements:\n"+strings.Repeat("- path: r.yaml\n", 20), small+"  b: c\n") + "-- d0/r.yaml --\n" + forth, "limit of 67108864 bytes"},
		{"replacements of a map", d0("replacements:\n"+many(whole, 60), small), "limit of 67108864 bytes"},
		{"openapi", d0("openapi: {path: s.json}\npatches: [{path: a.yaml}]\n", "apiVersion: example.com/v1\nkind: X\nmetadata: {name: x}\nspec: {a: b}\n") +
			`-- d0/s.json --
{"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"$ref": "#/definitions/a"},
"v1.X": {"x-kubernetes-group-version-kind": [{"group": "example.com", "kind": "X", "version": "v1"}], "properties": {"spec": {"$ref": "#/definitions/a"}}}}}
`, "a definition is a reference to itself"},
	}
}

// TestLimits builds input that must be refused before kustomize runs.
func TestLimits(t *testing.T) {
	diamond := func(levels int) string {
		var b strings.Builder
		for i := range levels {
			fmt.Fprintf(&b, "-- d%d/kustomization.yaml --\nresources: [l, r]\n", i)
			for _, side := range []string{"l", "r"} {
				fmt.Fprintf(&b, "-- d%d/%s/kustomization.yaml --\nnamePrefix: %s\nresources: [../../d%d]\n", i, side, side, i+1)
			}
		}
		fmt.Fprintf(&b, "-- d%d/kustomization.yaml --\nresources: [a.yaml]\n-- d%d/a.yaml --\n%s", levels, levels, small)
		return b.String()
	}
	chain := func(levels int) string {
		var b strings.Builder
		for i := range levels {
			fmt.Fprintf(&b, "-- d%d/kustomization.yaml --\nresources: [../d%d]\n", i, i+1)
		}
		fmt.Fprintf(&b, "-- d%d/kustomization.yaml --\nresources: [a.yaml]\n-- d%d/a.yaml --\n%s", levels, levels, small)
		return b.String()
	}
	many := "-- d0/kustomization.yaml --\nresources: [a.yaml]\n-- d0/a.yaml --\n" + strings.Repeat("---\n"+small, 10_001)
	cases := []struct{ name, files, want string }{
		{"diamond", diamond(22), "limit of"},
		{"deep diamond", diamond(90), "more than 100 levels"},
		{"chain", chain(101), "more than 100 levels"},
		{"objects", many, "limit of 10000 objects"},
		{"comparisons", "-- d0/kustomization.yaml --\nresources: [a.yaml]\n-- d0/a.yaml --\n" + strings.Repeat("---\n"+small, 4_000), "objects squared"},
		{"patches", "-- d0/kustomization.yaml --\nresources: [a.yaml]\npatches:\n" + strings.Repeat("- {target: {kind: ConfigMap}, patch: 'a: b'}\n", 100) + "-- d0/a.yaml --\n" + strings.Repeat("---\n"+small, 500), "objects squared"},
		{"patches of a component", "-- d0/kustomization.yaml --\nresources: [a.yaml]\ncomponents: [../c]\n-- c/kustomization.yaml --\nkind: Component\npatches:\n" + strings.Repeat("- {target: {kind: ConfigMap}, patch: 'a: b'}\n", 100) + "-- d0/a.yaml --\n" + strings.Repeat("---\n"+small, 500), "objects squared"},
	}
	for _, c := range trials.Sample(t, append(cases, grows()...), 6) {
		t.Run(c.name, func(t *testing.T) {
			p := problem(t, repository(t, c.files), "d0")
			if p.Kind != render.Refused || !strings.Contains(p.Detail, c.want) {
				t.Errorf("got %s %v, want %s", p.Kind, p, c.want)
			}
		})
	}
	t.Run("left", func(t *testing.T) {
		dir := repository(t, diamond(3))
		r := rootOf(dir, "d0")
		if out := Build(r, nonce); out.Problem != nil || out.Cost.Objects != 8 || len(out.Documents) != 8 {
			t.Fatalf("%v %v", out.Problem, out.Cost)
		}
		r.Left.Objects = 7
		if out := Build(r, nonce); out.Problem == nil || !strings.Contains(out.Problem.Detail, "limit of 7 objects") {
			t.Error(out.Problem)
		}
	})
}

// TestForgedMarkers builds sources with comments and values that look like markers.
func TestForgedMarkers(t *testing.T) {
	for _, forged := range []string{"0000", nonce} {
		dir := repository(t, "-- r/kustomization.yaml --\nresources: [a.yaml]\nconfigMapGenerator: [{name: g, files: [a.yaml]}]\n-- r/a.yaml --\n"+
			"apiVersion: v1 # §"+forged+":1\nkind: ConfigMap # §"+forged+":0\n# §"+forged+":3\nmetadata:\n  name: x # §"+forged+":2\ndata:\n  a: '# §"+forged+":1'\n")
		verify(t, dir, "r", Build(rootOf(dir, "r"), nonce))
	}
}

// TestRemotes checks that URLs are replaced with directories.
func TestRemotes(t *testing.T) {
	dir := repository(t, "-- r/kustomization.yaml --\nresources: [\"https://example.com/org/base//deploy?ref=v1\"] # theirs\nconfigMapGenerator:\n- name: g\n  files: [k=https://example.com/v.txt]\n-- vendor/base/kustomization.yaml --\nresources: [a.yaml]\n-- vendor/base/a.yaml --\n"+small+"-- vendor/v.txt --\nx\n")
	r := rootOf(dir, "r")
	r.Remotes = map[string]string{"https://example.com/org/base//deploy?ref=v1": "vendor/base", "https://example.com/v.txt": "vendor/v.txt"}
	out := Build(r, nonce)
	if out.Problem != nil || placed(out, "a: b") != "vendor/base/a.yaml:6" || !strings.Contains(string(out.Text), "k: |\n    x\n") {
		t.Fatalf("%v\n%s", out.Problem, out.Text)
	}
	if got := fmt.Sprint(out.Sources, out.Data); got != "[r/kustomization.yaml vendor/base/a.yaml vendor/base/kustomization.yaml] [vendor/v.txt]" {
		t.Error(got)
	}
	r.Remotes["https://example.com/v.txt"] = "../outside"
	if p := Build(r, nonce).Problem; p == nil || p.Kind != render.Refused || !strings.Contains(p.Detail, "outside the repository") {
		t.Error(p)
	}
}

// TestRootOnly checks that a kustomization may only use files in or below its own directory.
func TestRootOnly(t *testing.T) {
	dir := repository(t, "-- r/kustomization.yaml --\nresources: [../a.yaml]\n-- a.yaml --\n"+small)
	r := rootOf(dir, "r")
	if out := Build(r, nonce); out.Problem != nil {
		t.Error(out.Problem)
	}
	r.RootOnly = true
	if p := Build(r, nonce).Problem; p == nil || p.Kind != render.Failed || p.Line != 1 || p.Column != 13 {
		t.Error(p)
	}
}

// TestSchemaDoesNotStay checks that the schema of one build does not affect the next.
func TestSchemaDoesNotStay(t *testing.T) {
	dir := repository(t, base+"-- s/kustomization.yaml --\nopenapi: {path: s.json}\nresources: [../base]\npatches: [{path: p.yaml}]\n-- s/s.json --\n{\"definitions\": {}}\n-- s/p.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec: {template: {spec: {containers: [{name: main, tty: true}]}}}\n"+
		"-- r/kustomization.yaml --\nresources: [../base]\npatches: [{path: ../s/p.yaml}]\n")
	for _, root := range []string{"r", "s", "r"} {
		verify(t, dir, root, Build(rootOf(dir, root), nonce))
	}
}

// TestSeal seals the process, checks the effect, and undoes it.
func TestSeal(t *testing.T) {
	transport, client := http.DefaultTransport, http.DefaultClient
	t.Cleanup(func() { http.DefaultTransport, http.DefaultClient = transport, client })
	t.Setenv("PATH", os.Getenv("PATH"))
	if err := Seal(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*http.Client{http.DefaultClient, {}} {
		if _, err := c.Get("http://127.0.0.1:1/"); err == nil || !strings.Contains(err.Error(), "does not use the network") {
			t.Error(err)
		}
	}
	if os.Getenv("PATH") != "" {
		t.Error("PATH is left")
	}
}
