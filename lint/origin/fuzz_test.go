package origin_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/fixtures/mutate"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/origin"
	"github.com/schedlint/schedlint/lint/source"
)

// Rendered objects, their sources, and a kustomization.
const (
	renderedWeb = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: pre-web
  namespace: shop
  annotations:
    config.kubernetes.io/origin: |
      path: base/web.yaml
    alpha.config.kubernetes.io/transformations: |
      - configuredIn: kustomization.yaml
        configuredBy: {apiVersion: builtin, kind: PatchTransformer}
spec:
  replicas: 3
  template:
    metadata: {labels: {app: web, env: prod}}
    spec:
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]}}
      containers: [{name: web, image: a, resources: {requests: {cpu: 1}}}, {name: log, image: b}]
`
	writtenWeb = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {app: web}}}]}}
      containers: [{name: web, image: a}, {name: log, image: b}]
`
	overlay = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: shop
namePrefix: pre-
resources: [base]
components: [component]
labels: [{pairs: {env: prod}, includeTemplates: true}]
replicas: [{name: web, count: 3}]
replacements:
- source: {kind: Deployment, name: web, fieldPath: "spec.template.spec.containers.[name=log].image"}
  targets: [{select: {name: web}, reject: [{name: log}], fieldPaths: [spec.template.spec.containers.0.image, 'metadata.annotations.a\.b']}]
- {sourceValue: zone, targets: [{select: {kind: Deployment}, fieldPaths: [spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.*.topologyKey]}]}
- path: patch.yaml
patches:
- path: patch.yaml
- target: {kind: Deployment, name: w.*}
  patch: |-
    - op: add
      path: /spec/template/spec/containers/0/resources
      value: {requests: {cpu: 1}}
patchesStrategicMerge:
- |-
  apiVersion: apps/v1
  kind: Deployment
  metadata: {name: web}
  spec: {replicas: 2}
`
	patchWeb = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 4, template: {spec: {containers: [{name: web, resources: {requests: {cpu: 1}}}]}}}\n"
)

// FuzzMapper locates every value of a rendered object in arbitrary sources and kustomizations. Each
// result must be a place in an existing file.
func FuzzMapper(f *testing.F) {
	f.Add([]byte{}, []byte{}, []byte{}, false)
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7}, []byte{5, 4, 3, 2}, []byte{1, 2, 3, 4}, true)
	f.Fuzz(func(t *testing.T, rendered, written, made []byte, find bool) {
		dir := t.TempDir()
		for name, text := range map[string][]byte{
			"kustomization.yaml":           mutate.Mutate([]byte(overlay), made),
			"patch.yaml":                   mutate.Mutate([]byte(patchWeb), made),
			"base/kustomization.yaml":      []byte("resources: [web.yaml]\n"),
			"base/web.yaml":                mutate.Mutate([]byte(writtenWeb), written),
			"component/kustomization.yaml": []byte("apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches: [{path: ../patch.yaml}]\ncomponents: [../component]\n"),
			"out.yaml":                     mutate.Mutate([]byte(renderedWeb), rendered),
		} {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		set, err := source.Load(source.Options{Dir: dir, Root: dir}, []string{"out.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := origin.New(origin.Options{Dir: dir, Root: dir, Base: ".", Files: map[string]*source.File{}})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range set.Objects {
			from, ok := o.Origin()
			if find || !ok {
				if from, ok = m.Find(o); !ok {
					continue
				}
			}
			each(o.Root, func(n *source.Node) {
				if at, ok := m.Locate(o, from, o.File.Span(n)); ok {
					inFile(t, dir, at.Span)
					inFile(t, dir, at.Patched)
				}
			})
		}
	})
}

// each calls f for every key and value.
func each(n *source.Node, f func(*source.Node)) {
	f(n)
	for k, v := range n.Fields() {
		f(k)
		each(v, f)
	}
	for _, item := range n.Items() {
		each(item, f)
	}
}

// inFile checks that a place is inside its file.
func inFile(t *testing.T, dir string, s diag.Span) {
	t.Helper()
	if s.IsZero() {
		return
	}
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(s.File)))
	if err != nil {
		t.Fatalf("%v: %v", s, err)
	}
	file := source.NewFile(s.File, s.File, text)
	if s.Line < 1 || s.EndLine < s.Line || s.EndLine > file.LineCount() || s.Column < 1 || s.EndColumn < 1 {
		t.Errorf("%v is outside of %s", s, s.File)
	}
}
