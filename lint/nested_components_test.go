package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint/diag"
)

// TestNestedComponents checks the depth limit for components of a kustomization. At the limit, the finding
// points to the innermost component, which sets the value. Beyond it, the finding points to the resource.
func TestNestedComponents(t *testing.T) {
	for depth, want := range map[int]string{50: "base/c50/kustomization.yaml", 51: "base/web.yaml"} {
		root := t.TempDir()
		put := func(name, text string) {
			at := filepath.Join(root, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			linttest.Put(t, at, text)
		}
		put("nodes.yaml", "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: a, count: 2, labels: {disk: ssd}}]\n")
		put("base/kustomization.yaml", "resources: [web.yaml]\ncomponents: [c0]\n")
		put("base/web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"+
			"    spec:\n      nodeSelector: {disk: ssd}\n      containers: [{name: c, image: c}]\n")
		const component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
		for i := range depth {
			put(fmt.Sprintf("base/c%d/kustomization.yaml", i), fmt.Sprintf("%scomponents: [../c%d]\n", component, i+1))
		}
		put(fmt.Sprintf("base/c%d/kustomization.yaml", depth), component+"patches:\n- target: {kind: Deployment}\n  patch: |\n    - {op: replace, path: /spec/template/spec/nodeSelector/disk, value: never}\n")
		report, err := runRendering(t, []string{"base"}, "", nil, root, []string{"nodes.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		at := slices.IndexFunc(report.Diagnostics, func(d diag.Diagnostic) bool { return d.Rule == "no-eligible-node" })
		if at < 0 || report.Diagnostics[at].Location.File != want {
			t.Errorf("%d deep: %+v, want it in %s", depth, report.Diagnostics, want)
		}
	}
}
