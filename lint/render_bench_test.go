package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkRoots compares whole processes, in turns: lint of 100 kustomizations of one
// Deployment and one patch each, which workers render, and the bare parse of the generated
// tree.
func BenchmarkRoots(b *testing.B) {
	dir := b.TempDir()
	tree, roots := filepath.Join(dir, "tree"), filepath.Join(dir, "roots")
	writeTree(b, tree)
	for i := range 100 {
		root := filepath.Join(roots, fmt.Sprintf("root-%02d", i))
		writeFiles(b, root, map[string]string{
			"web.yaml":           workloadFile(i, "Deployment"),
			"patch.yaml":         "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: service-" + fmt.Sprint(i) + "\nspec:\n  replicas: 2\n",
			"kustomization.yaml": "resources: [web.yaml]\npatches: [{path: patch.yaml, target: {kind: Deployment}}]\n",
		})
	}
	nodes := filepath.Join(dir, "nodes.yaml")
	if err := os.WriteFile(nodes, []byte(nodes50), 0o644); err != nil {
		b.Fatal(err)
	}
	schedlint, bare := build(b, dir, "./cmd/schedlint"), build(b, dir, "./lint/testdata/bareparse")
	var cpu, ratio []float64
	b.ResetTimer()
	for range max(b.N, 5) {
		floor := measure(b, []int{0}, bare, tree)
		c := measure(b, []int{0, 1}, schedlint, "lint", "-t", nodes, "--render", "only", "--fail-on-unrendered", roots)
		cpu, ratio = append(cpu, c.cpu), append(ratio, c.cpu/floor.cpu)
	}
	b.ReportMetric(median(cpu), "cpu-s")
	b.ReportMetric(median(ratio), "times-bare")
}

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
