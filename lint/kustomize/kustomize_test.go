package kustomize

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - {topologyKey: kubernetes.io/hostname, namespaces: [shop], labelSelector: {matchLabels: {app: web}}}
      containers:
      - {name: web, image: example.com/web, resources: {requests: {cpu: 1}}}
      - {name: log, image: example.com/log}
`

// unknown returns the paths of the unknown fields in an object.
func unknown(n *source.Node, at string) []string {
	if n.Placeholder() {
		return []string{at}
	}
	var all []string
	for k, v := range n.Fields() {
		all = append(all, unknown(v, strings.TrimPrefix(at+"."+k.Value, "."))...)
	}
	for i, item := range n.Items() {
		all = append(all, unknown(item, fmt.Sprintf("%s[%d]", at, i))...)
	}
	return all
}

func read(t *testing.T, files map[string]string) *source.Set {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set, err := source.Load(source.Options{Dir: dir, Root: dir}, []string{"."})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// stands reports whether an object still has a pod template.
func stands(o *source.Object) bool {
	return o.Root.At("spec", "template", "spec", "containers").Len() > 0
}

func TestObscure(t *testing.T) {
	const pod, term = "spec.template.spec.", "spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]."
	for name, test := range map[string]struct {
		overlay string // the kustomization that uses base
		files   map[string]string
		want    string // unknown fields of web, or whole
	}{
		"resources alone":           {overlay: "resources: [../base]"},
		"images and names":          {overlay: "resources: [../base]\nimages: [{name: example.com/web, newTag: v2}]\nnamePrefix: x-\ncommonAnnotations: {a: b}"},
		"replicas":                  {overlay: "resources: [../base]\nreplicas: [{name: web, count: 5}]", want: "spec.replicas"},
		"replicas of another":       {overlay: "resources: [../base]\nreplicas: [{name: api, count: 5}]"},
		"replicas after a rename":   {overlay: "resources: [../base]\nnamePrefix: x-\nreplicas: [{name: x-web, count: 5}]", want: "spec.replicas"},
		"components":                {overlay: "resources: [../base]\ncomponents: [../c]", want: "whole"},
		"transformers":              {overlay: "resources: [../base]\ntransformers: [t.yaml]", want: "whole"},
		"replacements":              {overlay: "resources: [../base]\nreplacements: [{path: r.yaml}]", want: "whole"},
		"labels of objects only":    {overlay: "resources: [../base]\nlabels: [{pairs: {env: prod}}]"},
		"namespace":                 {overlay: "resources: [../base]\nnamespace: prod", want: term + "namespaces"},
		"nothing of base":           {overlay: "resources: [other.yaml]\ncomponents: [../c]"},
		"a patch that is not there": {overlay: "resources: [../base]\npatches: [{path: gone.yaml}]", want: "whole"},
		"one for another kind":      {overlay: "resources: [../base]\npatches: [{path: gone.yaml, target: {kind: StatefulSet}}]"},
		"labels of pods": {
			overlay: "resources: [../base]\nlabels: [{pairs: {env: prod}, includeSelectors: true}]",
			want:    "spec.selector.matchLabels.env spec.template.metadata.labels.env " + term + "labelSelector.matchLabels.env",
		},
		"a merge patch": {
			overlay: "resources: [../base]\npatches: [{path: p.yaml}]",
			files:   map[string]string{"overlay/p.yaml": "kind: Deployment\nmetadata: {name: web}\nspec: {replicas: 2, template: {spec: {nodeSelector: {disk: ssd}, containers: [{name: web, image: x}]}}}"},
			want:    "spec.replicas " + pod + "nodeSelector",
		},
		"a merge patch of another": {
			overlay: "resources: [../base]\npatches: [{path: p.yaml}]",
			files:   map[string]string{"overlay/p.yaml": "kind: Deployment\nmetadata: {name: api}\nspec: {replicas: 2}"},
		},
		"requests": {
			overlay: "resources: [../base]\npatchesStrategicMerge: [p.yaml]",
			files:   map[string]string{"overlay/p.yaml": "kind: Deployment\nmetadata: {name: web}\nspec: {template: {spec: {containers: [{name: web, resources: {limits: {cpu: 2}}}]}}}"},
			want:    pod + "containers[0].resources",
		},
		"deletion": {
			overlay: "resources: [../base]\npatches: [{patch: \"kind: Deployment\\nmetadata: {name: web}\\n$patch: delete\\n\"}]", want: "whole",
		},
		"a JSON patch": {
			overlay: "resources: [../base]\npatches:\n- target: {kind: Deploy.*, name: web}\n  patch: |-\n    - {op: test, path: /spec/paused, value: true}\n    - {op: add, path: /spec/template/spec/tolerations/-, value: {operator: Exists}}\n    - {op: replace, path: /spec/template/spec/containers/0/image, value: x}\n    - {op: remove, path: /spec/template/spec/affinity/podAntiAffinity}",
			want:    pod + "affinity.podAntiAffinity " + pod + "tolerations",
		},
		"a JSON patch of the template": {
			overlay: "resources: [../base]\npatches: [{target: {name: web}, patch: \"[{op: replace, path: /spec/template/spec, value: {}}]\"}]", want: "whole",
		},
		"all labels of the pods": {
			overlay: "resources: [../base]\npatches: [{target: {name: web}, patch: \"[{op: replace, path: /spec/template/metadata/labels, value: {app: x}}]\"}]", want: "whole",
		},
		"all labels of the object": {
			overlay: "resources: [../base]\npatches: [{target: {name: web}, patch: \"[{op: replace, path: /metadata/labels, value: {app: x}}]\"}]",
		},
		"through a directory between": {
			overlay: "resources: [../middle]\nreplicas: [{name: web, count: 5}]",
			files:   map[string]string{"middle/kustomization.yaml": "resources: [../base]"},
			want:    "spec.replicas",
		},
		"a circle": {
			overlay: "resources: [../base, ../overlay]\nreplicas: [{name: web, count: 5}]", want: "spec.replicas",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"base/kustomization.yaml": "resources: [web.yaml]", "base/web.yaml": web, "overlay/kustomization.yaml": test.overlay}
			for k, v := range test.files {
				files[k] = v
			}
			r := Obscure(read(t, files), stands)
			got := ""
			for _, o := range r.Objects {
				got += strings.Join(slices.Sorted(slices.Values(unknown(o.Root, ""))), " ")
			}
			if len(r.Whole) > 0 {
				got = "whole"
			}
			if got != test.want {
				t.Errorf("unknown: %s\nwant:    %s", got, test.want)
			}
		})
	}
}

// TestObscureKeepsTheRest compares the tree of an object with the original: unchanged parts are
// identical, and the original is not modified.
func TestObscureKeepsTheRest(t *testing.T) {
	set := read(t, map[string]string{"web.yaml": web, "kustomization.yaml": "resources: [web.yaml]\nreplicas: [{name: web, count: 5}]"})
	before := set.Objects[0]
	after := Obscure(set, stands).Objects[0]
	if got := unknown(before.Root, ""); len(got) > 0 {
		t.Errorf("the tree that was read has changed: %v", got)
	}
	if before.Root.At("spec", "template") != after.Root.At("spec", "template") {
		t.Error("the template was copied although nothing of it changes")
	}
	was, is := before.Root.At("spec", "replicas"), after.Root.At("spec", "replicas")
	if was.Line != is.Line || was.Column != is.Column {
		t.Errorf("replicas moved from %d:%d to %d:%d", was.Line, was.Column, is.Line, is.Column)
	}
}

// TestObscureIsBounded follows kustomizations that each refer to two others, twenty levels deep.
// There are a million paths through the forty directories.
func TestObscureIsBounded(t *testing.T) {
	files := map[string]string{"web.yaml": web}
	for i := range 20 {
		next := fmt.Sprintf("[../a%d, ../b%d]", i+1, i+1)
		if i == 19 {
			next = "[../web.yaml]"
		}
		for _, side := range []string{"a", "b"} {
			files[fmt.Sprintf("%s%d/kustomization.yaml", side, i)] = "replicas: [{name: web, count: 5}]\nresources: " + next
		}
	}
	set := read(t, files)
	tree := newTree(set)
	tree.byFile()
	if tree.steps > 10_000 {
		t.Errorf("%d steps", tree.steps)
	}
	if got := unknown(Obscure(set, stands).Objects[0].Root, ""); !slices.Equal(got, []string{"spec.replicas"}) {
		t.Errorf("unknown: %v", got)
	}
}
