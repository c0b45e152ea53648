package engine

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const base = `
-- base/kustomization.yaml --
resources: [deploy.yaml, config.yaml]
-- base/deploy.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: api
  labels: {app: api}
spec:
  replicas: 3 # as many as nodes
  selector:
    matchLabels:
      app: api
  template:
    metadata:
      labels:
        app: api
    spec:
      containers:
      - name: main
        image: registry.example/api:1.0
        args: ["--serve", '--port=80']
        resources:
          requests:
            cpu: "2"
            memory: 1Gi
---
# nothing
---
apiVersion: v1
kind: Service
metadata:
  name: api
spec:
  selector: {app: api}
  type: ClusterIP
-- base/config.yaml --
apiVersion: v1
kind: ConfigMap
metadata:
  name: shop
data:
  size: large
  text: |
    a: b
`

// TestPlaces checks where the values of a result are traced to.
func TestPlaces(t *testing.T) {
	for _, c := range []struct {
		name, overlay string
		want          []string // "part of an output line -> file:line" or "-> unmarked"
	}{
		{"base", "resources: [../base]", []string{
			"replicas: 3 -> base/deploy.yaml:7", `cpu: "2" -> base/deploy.yaml:22`, "size: large -> base/config.yaml:6",
			"kind: Service -> base/deploy.yaml:28", "--serve -> unmarked", "type: ClusterIP -> base/deploy.yaml:33", "text: | -> unmarked",
		}},
		{"patch file", "resources: [../base]\npatches:\n- path: patch.yaml\n-- overlay/patch.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: api}\nspec:\n  replicas: 5\n", []string{
			"replicas: 5 -> overlay/patch.yaml:5", "memory: 1Gi -> base/deploy.yaml:23",
		}},
		{"inline patch", "resources: [../base]\npatches:\n- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata:\n      name: api\n    spec:\n      replicas: 6\n", []string{
			"replicas: 6 -> overlay/kustomization.yaml:9", "memory: 1Gi -> base/deploy.yaml:23",
		}},
		{"legacy inline patch", "resources: [../base]\npatchesStrategicMerge:\n- |-\n  apiVersion: apps/v1\n  kind: Deployment\n  metadata:\n    name: api\n  spec:\n    replicas: 6\n", []string{
			"replicas: 6 -> overlay/kustomization.yaml:9",
		}},
		{"replicas", "resources: [../base]\nreplicas:\n- name: api\n  count: 7\n", []string{"replicas: 7 -> unmarked", "memory: 1Gi -> base/deploy.yaml:23"}},
		{"JSON patch", "resources: [../base]\npatches:\n- target: {kind: Deployment}\n  patch: |-\n    - op: replace\n      path: /spec/replicas\n      value: 8\n", []string{"replicas: 8 -> unmarked", "memory: 1Gi -> unmarked", "size: large -> base/config.yaml:6"}},
		{"component", "resources: [../base]\ncomponents: [../ha]\n-- ha/kustomization.yaml --\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- path: ha.yaml\n-- ha/ha.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: api\nspec:\n  replicas: 9\n", []string{
			"replicas: 9 -> ha/ha.yaml:6",
		}},
		{"replacement", "resources: [../base]\nreplacements:\n- source: {kind: ConfigMap, fieldPath: data.size}\n  targets:\n  - select: {kind: Service}\n    fieldPaths: [spec.type]\n", []string{
			"type: large -> unmarked", "size: large -> base/config.yaml:6",
		}},
		{"names and labels", "resources: [../base]\nnamePrefix: eu-\nnamespace: shop\nlabels:\n- pairs: {team: a}\n", []string{
			"name: eu-shop -> unmarked", "namespace: shop -> unmarked", "replicas: 3 -> base/deploy.yaml:7",
		}},
		{"images", "resources: [../base]\nimages:\n- name: registry.example/api\n  newTag: \"2.0\"\n", []string{"image: registry.example/api:2.0 -> unmarked"}},
		{"generator", "resources: [../base]\nconfigMapGenerator:\n- name: made\n  literals: [a=b]\n  files: [../base/config.yaml]\n", []string{
			"size: large -> unmarked", "replicas: 3 -> base/deploy.yaml:7",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t, base+"-- overlay/kustomization.yaml --\n"+c.overlay+"\n")
			out := Build(rootOf(dir, "overlay"), nonce)
			verify(t, dir, "overlay", out)
			if again := Build(rootOf(dir, "overlay"), nonce); !reflect.DeepEqual(out, again) {
				t.Error("a second build differs")
			}
			for _, w := range c.want {
				text, want, _ := strings.Cut(w, " -> ")
				if got := placed(out, text); got != want {
					t.Errorf("%s leads to %s, want %s\n%s", text, got, want, out.Text)
				}
			}
		})
	}
}

// TestDocuments checks which documents the objects of a result are traced to.
func TestDocuments(t *testing.T) {
	for _, c := range []struct{ name, overlay, want string }{
		{"base", "resources: [../base]", "base/deploy.yaml#0 base/deploy.yaml#2 base/config.yaml#0"},
		{"patched by JSON", "namePrefix: eu-\nresources: [../base]\npatches:\n- target: {kind: .*}\n  patch: |-\n    - {op: add, path: /metadata/annotations, value: {a: b}}\n", "base/deploy.yaml#0 base/deploy.yaml#2 base/config.yaml#0"},
		{"patched and renamed by a patch", "resources: [../base]\npatches:\n- target: {kind: Service}\n  options: {allowNameChange: true}\n  patch: |-\n    - {op: replace, path: /metadata/name, value: other}\n", "base/deploy.yaml#0 base/deploy.yaml#2 base/config.yaml#0"},
		{"version patched by JSON", "resources: [../base]\npatches:\n- target: {kind: Deployment}\n  patch: |-\n    - {op: replace, path: /apiVersion, value: apps/v1beta2}\n", "base/deploy.yaml#0 base/deploy.yaml#2 base/config.yaml#0"},
		{"generated", "resources: [../base]\nsecretGenerator:\n- {name: made, literals: [a=b]}\n", "base/deploy.yaml#0 base/deploy.yaml#2 base/config.yaml#0 ?"},
		{"twice", "resources: [../a, ../b]\n-- a/kustomization.yaml --\nnamePrefix: a-\nresources: [../base]\n-- b/kustomization.yaml --\nnameSuffix: -b\nresources: [../base]\npatches:\n- target: {kind: Deployment}\n  patch: |-\n    - {op: add, path: /spec/paused, value: true}\n",
			"base/deploy.yaml#0 base/deploy.yaml#2 base/config.yaml#0 base/deploy.yaml#0 base/deploy.yaml#2 base/config.yaml#0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t, base+"-- overlay/kustomization.yaml --\n"+c.overlay+"\n")
			out := Build(rootOf(dir, "overlay"), nonce)
			verify(t, dir, "overlay", out)
			rows := strings.Split(string(out.Text), "\n")
			var got []string
			for _, d := range out.Documents {
				if !strings.HasPrefix(rows[d.Line-1], "apiVersion: ") {
					t.Errorf("document at line %d: %s", d.Line, rows[d.Line-1])
				}
				if d.File < 0 {
					got = append(got, "?")
					continue
				}
				got = append(got, fmt.Sprintf("%s#%d", out.Files[d.File], d.Index))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %s, want %s\n%s", strings.Join(got, " "), c.want, out.Text)
			}
		})
	}
}
