package inputs

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/render"
)

// TestRenderBlock checks that a block, when it is read back, names the roots that it was made
// from, whatever their names are.
func TestRenderBlock(t *testing.T) {
	names := []string{
		".", "a", "a/b", "no", "Yes", "null", "1", "1.5", "-a", "a b", "a: b", "# a", "a#b", "##[error]", "a*", "a?", "[a]", "{a,b}", `a\b`, "'a'", `"a"`, "a\nb", "é", "日本", "\u202e", "~", "::error::", "&a", "*a", "!a", "a/..b", "a.", "2024-01-01",
	}
	var b Block
	for _, name := range names {
		b.entries = append(b.entries, escapeGlob(name))
	}
	b.left = []leftOut{{"kustomize", "bad\xff\n- kustomize: evil", "x\n- helm: evil", "why\n- kustomize: evil"}}
	for _, before := range []string{"", "fail-on: warning", "# a\nignore: [b]\r\n"} {
		text, err := b.appended([]byte(before))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), before) {
			t.Errorf("%q does not begin with %q", text, before)
		}
		path := filepath.Join(t.TempDir(), config.Name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(path)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		all, err := c.Expand(config.Tree{Roots: names})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range all {
			got = append(got, r.Dir)
		}
		if !slices.Equal(got, names) {
			t.Errorf("%q, want %q", got, names)
		}
	}
}

// TestInputsRendered checks the tables for renders that succeed and for renders that fail, in short
// and with each row.
func TestInputsRendered(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"a/kustomization.yaml": "namespace: x", "b/kustomization.yaml": "resources: [gone.yaml]", "c/kustomization.yaml": "namespace: x"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: a, image: b}]}\n"
	renders := func(_ context.Context, all []render.Root) (outputs []*render.Output) {
		for _, r := range all {
			if real, err := filepath.EvalSymlinks(dir); err != nil || r.Confinement != real {
				t.Errorf("%+v, want it within %s", r, dir)
			}
			switch r.Dir {
			case "c":
				outputs = append(outputs, &render.Output{Problem: &render.Problem{Kind: render.Failed, File: "c/kustomization.yaml", Line: 2, Detail: "no matches\x1b"}})
			default:
				outputs = append(outputs, &render.Output{Text: []byte(pod + "---\n" + pod + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")})
			}
		}
		return outputs
	}
	in, err := Find(t.Context(), &config.Config{}, nil, renders)
	if err != nil {
		t.Fatal(err)
	}
	var short, out bytes.Buffer
	in.Print(&short, false)
	const folded = `1 of 3 kustomizations not rendered

Kustomizations: 3; 3 roots, 2 can render offline
  1 not rendered: no matches\x1b (c/kustomization.yaml:2)
    it is c
  workloads  root
  2          a
  2          b

`
	if got := short.String(); got != folded {
		t.Errorf("%s\nwant\n%s", got, folded)
	}
	in.Print(&out, true)
	in.Block().Print(&out, true)
	const want = `1 of 3 kustomizations not rendered

Kustomizations: 3; 3 roots, 2 can render offline
  offline  workloads  root  why not
  yes      2          a
  yes      2          b
  no       -          c     no matches\x1b (c/kustomization.yaml:2)

To render these and no other, add to .schedlint.yaml, or run again with --write:

renders:
- kustomize: a
- kustomize: b
# Roots that do not render offline:
# - kustomize: c
#   no matches\x1b (c/kustomization.yaml:2)
`
	if got := out.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
