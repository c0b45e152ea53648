package roots

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/mutate"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/source"
)

func TestIsRemote(t *testing.T) {
	for entry, want := range map[string]bool{
		"../base": false, "base": false, "web.yaml": false, "": false, "a/github.com/b": false, "a:b": false, "github.community/x": false, "dir/x@y": false, "a b://c": false,
		"https://example.com/org/repo//deploy?ref=v1": true, "HTTP://example.com/x.yaml": true, "https:/example.com": true, "git::https://example.com/a": true,
		"ssh://git@example.com/a.git": true, "file:///tmp/repo": true, "git@example.com:org/repo": true, "github.com/org/repo": true, "GitHub.com:org/repo": true,
		"git::github.com/org/repo": true, "s3://bucket/x": true, "user@dir/x": true,
	} {
		if got := IsRemote(entry); got != want {
			t.Errorf("%q is remote: %v, want %v", entry, got, want)
		}
	}
}

func TestMentionsNode(t *testing.T) {
	for text, want := range map[string]bool{
		"kind: Node": true, "kind: Node\n": true, "\"kind\": \"Node\"": true, "'kind' : 'Node',": true, "{kind: Node}": true, "kind: NodePool\nkind:\tNode\n": true,
		"kind: NodePool": false, "Node": false, "kinds: Node": false, "kind Node": false, "name: Node": false, "": false, ":Node": false,
	} {
		if got := mentionsNode([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// everyField is a kustomization with every field that may contain a name.
const everyField = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [web.yaml, ../base, ., "https://example.com/a"]
bases: [../base]
components: [../c]
patches: [{path: p.yaml}, {patch: "a: b"}]
patchesStrategicMerge: [p.yaml, "{a: b}"]
patchesJson6902: [{path: p.yaml}]
replacements: [{path: r.yaml}]
crds: [crd.json]
configurations: [c.yaml]
generators: [g.yaml]
transformers: ["kind: X\nmetadata: {name: a}"]
validators: [../c]
openapi: {path: o.json}
configMapGenerator: [{files: [a, k=b], envs: [e], env: f}]
secretGenerator: [{files: [../../../../etc/passwd]}]
helmCharts: [{name: redis, repo: "https://example.com"}]
helmChartInflationGenerator: [{chartName: old}]
`

// TestParseEveryField counts the names in everyField.
func TestParseEveryField(t *testing.T) {
	p := parse(source.NewFile("kustomization.yaml", "kustomization.yaml", []byte(everyField)))
	if p.broken != "" || p.foreign || len(p.entries) != 20 || len(p.charts) != 2 {
		t.Errorf("%d names, %d charts: %+v", len(p.entries), len(p.charts), p)
	}
}

// TestParseMany checks the limit for the number of names in a kustomization.
func TestParseMany(t *testing.T) {
	p := parse(source.NewFile("kustomization.yaml", "kustomization.yaml", []byte("resources:\n"+strings.Repeat("- f\n", limits.Render.Entries+1))))
	if len(p.entries) != limits.Render.Entries || p.broken != "names more than 20000 files and directories" || p.line != limits.Render.Entries+2 {
		t.Errorf("%d names, %q at %d", len(p.entries), p.broken, p.line)
	}
}

// FuzzFind reads arbitrary kustomizations and checks that each one is parsed or has a reason, that
// every reason has a location in the file, and that a second run has the same result.
func FuzzFind(f *testing.F) {
	f.Add([]byte{}, []byte("kind: Component"), false)
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7}, []byte("resources: [../a]"), false)
	f.Add([]byte("a: &a [*a]"), []byte("{{ x }}"), true)
	f.Add([]byte("resources:\n- \x00\n- ../\xff\n"), []byte("---\n---\n"), true)
	f.Add([]byte("resources: [../../a, ../a/../a/., 'a\nb', //, '']"), []byte("kind: 1"), true)
	f.Fuzz(func(t *testing.T, text, other []byte, raw bool) {
		if !raw {
			text = mutate.Mutate([]byte(everyField), text)
		}
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{"a/kustomization.yaml": text, "c/kustomization.yaml": other, "base/Kustomization": other} {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		find := func() *Found {
			found, err := Find(Options{Root: root, Paths: []string{root}})
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		found := find()
		for _, k := range found.Kustomizations {
			for _, r := range k.Reasons {
				if r.Line < 1 || r.File != k.File && !strings.HasPrefix(r.File, k.Dir+"/") || strings.Contains(r.Detail, root) {
					t.Errorf("%+v", r)
				}
			}
		}
		if a, b := summary(found), summary(find()); a != b {
			t.Errorf("%s\nthe second time\n%s", a, b)
		}
	})
}
