package kustomize

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/fixtures/mutate"
	"github.com/schedlint/schedlint/lint/source"
)

// everyField is a kustomization that uses every field.
const everyField = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [web.yaml, ../base, .]
components: [../c]
namespace: shop
namePrefix: a-
commonLabels: {a: b}
labels: [{pairs: {a: b}, includeSelectors: true, includeTemplates: true}]
replicas: [{name: web, count: 3}]
images: [{name: a, newTag: b}]
patches:
- path: patch.yaml
  target: {kind: Deployment, name: w.*}
- patch: |
    - {op: replace, path: /spec/replicas, value: 2}
  target: {kind: Deployment}
patchesStrategicMerge: [patch.yaml]
patchesJson6902: [{target: {kind: Deployment, name: web, version: v1}, path: patch.yaml}]
transformers: [t.yaml]
generators: [g.yaml]
replacements: [{source: {kind: Deployment}, targets: [{select: {kind: Deployment}, fieldPaths: [spec.replicas]}]}]
`

const patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 4, template: {spec: {affinity: null, $patch: merge}}}\n"

// FuzzObscure reads a tree with arbitrary kustomizations and patches. Changed parts must be left
// out or unknown, and no object may be lost or counted twice.
func FuzzObscure(f *testing.F) {
	f.Add([]byte{}, []byte{}, []byte{})
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7}, []byte{5, 4, 3, 2}, []byte{1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, kustomization, changed, object []byte) {
		dir := t.TempDir()
		for name, text := range map[string][]byte{
			"o/kustomization.yaml": mutate.Mutate([]byte(everyField), kustomization),
			"o/web.yaml":           mutate.Mutate([]byte(web), object),
			"o/patch.yaml":         mutate.Mutate([]byte(patch), changed),
			"base/x.yaml":          []byte(web),
			"base/Kustomization":   []byte("resources: [x.yaml, ../o]\n"),
			"c/kustomization.yaml": mutate.Mutate([]byte(everyField), changed),
		} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		set, err := source.Load(source.Options{Dir: dir, Root: dir}, []string{"."})
		if err != nil {
			t.Fatal(err)
		}
		before := len(set.Objects)
		got := Obscure(set, func(*source.Object) bool { return true })
		if n := len(got.Objects) + len(got.Whole); n != before {
			t.Errorf("%d objects of %d: %d known, %d altered", n, before, len(got.Objects), len(got.Whole))
		}
		for _, o := range got.Objects {
			if s := o.NameSpan(); s.Line > o.File.LineCount() {
				t.Errorf("%s is at %v", o.Name, s)
			}
		}
	})
}
