package engine

import (
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// widgets is a CustomResourceDefinition in the style of CRD generators.
const widgets = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations: {controller-gen.kubebuilder.io/version: v0.19.0}
  name: widgets.example.com
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - additionalPrinterColumns:
    - {jsonPath: .spec.size, name: Size, type: integer}
    name: v1
    schema:
      openAPIV3Schema:
        description: |-
          A widget.

            schema:
              is no key here
        properties:
          spec:
            properties:
              size: {type: integer}
            x-kubernetes-preserve-unknown-fields: true
        type: object
    # after a comment
    served: true
    storage: true
    subresources: {status: {}}
  - name: v1beta1
    schema:
      openAPIV3Schema:
        type: object
    served: true
    storage: false
`

// TestSchemas checks that schemas are left out, whatever else changes the
// CustomResourceDefinitions.
func TestSchemas(t *testing.T) {
	for name, k := range map[string]string{
		"as it is":    "",
		"transformed": "namespace: shop\nnamePrefix: eu-\ncommonAnnotations: {a: b}\nlabels: [{pairs: {team: a}}]\nimages: [{name: x, newTag: '2'}]\n",
		"patched":     "patches:\n- patch: |-\n    apiVersion: apiextensions.k8s.io/v1\n    kind: CustomResourceDefinition\n    metadata:\n      name: widgets.example.com\n    spec:\n      conversion: {strategy: None}\n- {target: {kind: ConfigMap}, patch: '[{\"op\": \"add\", \"path\": \"/data/x\", \"value\": \"y\"}]'}\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, "-- r/kustomization.yaml --\nresources: [crds.yaml]\n"+k+"-- r/crds.yaml --\n"+small+widgets+"---\n"+strings.ReplaceAll(small, "small", "other"))
			out := Build(rootOf(dir, "r"), nonce)
			if out.Problem != nil || len(out.Documents) != 3 {
				t.Fatal(out.Problem, out.Documents)
			}
			if want, err := plain(filepath.Join(dir, "r")); err != nil || string(out.Text) != schemaless(want) {
				t.Errorf("got\n%s\nwant\n%s %v", out.Text, schemaless(want), err)
			}
			whole := rootOf(dir, "r")
			whole.Whole = true
			all := Build(whole, nonce)
			if want, err := plain(filepath.Join(dir, "r")); err != nil || all.Problem != nil || string(all.Text) != want {
				t.Errorf("the whole is\n%s\nwant\n%s %v %v", all.Text, want, err, all.Problem)
			}
			at, found := strings.Split(string(out.Text), "\n"), false
			for _, m := range out.Marks {
				found = found || strings.TrimSpace(at[m.Line-1]) == "a: b" && m.At == 50
			}
			if !found && name == "as it is" {
				t.Errorf("no mark leads to what is after the definition: %v", out.Marks)
			}
		})
	}
}

// TestSchemasStay checks that schemas are kept if they may matter or are not in the style of CRD
// generators.
func TestSchemasStay(t *testing.T) {
	one, _, _ := strings.Cut(widgets, "  - name: v1beta1")
	crd := func(from, to string) string { return strings.Replace(one, from, to, 1) }
	for name, c := range map[string]struct{ k, crds string }{
		"JSON patch":         {"patches:\n- target: {kind: CustomResource.*}\n  patch: '[{\"op\": \"replace\", \"path\": \"/spec/versions/0/schema/openAPIV3Schema/type\", \"value\": \"array\"}]'\n", one},
		"any target":         {"patches:\n- target: {name: widgets.*}\n  patch: '[{\"op\": \"remove\", \"path\": \"/spec/versions/0/schema/openAPIV3Schema/type\"}]'\n", one},
		"replacement":        {"replacements:\n- source: {kind: CustomResourceDefinition, fieldPath: spec.versions.0.schema.openAPIV3Schema.type}\n  targets: [{select: {kind: ConfigMap}, fieldPaths: [data.a]}]\n", one},
		"data":               {"configMapGenerator: [{name: made, files: [crds.yaml]}]\n", one},
		"labels with fields": {"labels: [{pairs: {a: b}, fields: [{path: spec/versions/schema/x, create: true}]}]\n", one},
		"kind after spec":    {"", crd("kind: CustomResourceDefinition\n", "") + "kind: CustomResourceDefinition\n"},
		"another group":      {"", crd("apiextensions.k8s.io/v1", "example.com/v1")},
		"flow style":         {"", crd("    schema:\n      openAPIV3Schema:\n", "    schema: {}\n    other:\n      openAPIV3Schema:\n")},
		"an anchor":          {"", crd("size: {type: integer}", "size: &size {type: integer}") + "  other: *size\n"},
		"in a text":          {"", crd("    schema:\n", "    description: \"\n    schema:\n        openAPIV3Schema: \"\n    other:\n")},
	} {
		t.Run(name, func(t *testing.T) {
			dir := repository(t, "-- r/kustomization.yaml --\nresources: [crds.yaml, small.yaml]\n"+c.k+"-- r/crds.yaml --\n"+c.crds+"-- r/small.yaml --\n"+small)
			out := Build(rootOf(dir, "r"), nonce)
			if want, err := plain(filepath.Join(dir, "r")); err != nil || string(out.Text) != want {
				t.Errorf("got\n%s\nwant\n%s %v", out.Text, want, err)
			}
		})
	}
}

// TestSchemasHideNothing checks that an object that merely looks like a definition is not changed.
func TestSchemasHideNothing(t *testing.T) {
	for name, text := range map[string]string{
		"kind in a text":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nx: \"\nkind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec:\n  versions:\n  - schema:\n      y\"\ndata: {b: c}\n",
		"spec in a text":   "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  x: |\n    kind: CustomResourceDefinition\n    spec:\n      versions:\n      - schema:\n          y: z\n",
		"another document": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x.y}\n---\nspec:\n  versions:\n  - schema:\n      y: z\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
	} {
		cut, keys := withoutSchemas([]byte(text))
		if cut == nil {
			continue
		}
		if doc, err := parse(cut); err == nil && doc.err == nil && onlyKeys(doc.docs, keys) {
			t.Errorf("%s: it is cut to\n%s", name, cut)
		}
	}
}

// TestSchemaLines checks that removing schemas does not move other lines.
func TestSchemaLines(t *testing.T) {
	text := strings.ReplaceAll(widgets, "\n", "\r\n")
	cut, keys := withoutSchemas([]byte(text))
	if strings.Count(string(cut), "\n") != strings.Count(text, "\n") || len(keys) != 2 || keys[0] != (schemaKey{15, 5}) {
		t.Fatalf("%v\n%s", keys, cut)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(cut, &doc); err != nil {
		t.Fatal(err)
	}
}
