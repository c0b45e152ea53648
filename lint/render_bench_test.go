package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// BenchmarkRoots measures lint of 100 kustomizations of one Deployment and one patch each, which workers
// render.
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
	timesBare(b, 5, 5.8, 80, parsed(b, bare, tree), func() cost {
		return measure(b, []int{0, 1}, `(?s)of 200 simulated runs.*100 renders, 100 workloads.*all fit, roll and drain`, schedlint, "lint", "-t", nodes, "--render", "only", "--fail-on-unrendered", roots)
	})
}

// mostOfBare bounds the cost of a chart with 40 templates, as a multiple of the bare parse of the
// generated tree. Starting the worker takes more than half of it. On machines where processes start
// slowly, the cost may instead be mostOfStart times the cost of a run over a small file.
const (
	mostOfBare  = 1.0 / 6
	mostOfStart = 1.8
)

// BenchmarkRootsChart measures what lint takes for a chart of 40 Deployments in addition to a small file
// without workloads.
func BenchmarkRootsChart(b *testing.B) {
	dir := b.TempDir()
	tree, chart := filepath.Join(dir, "tree"), filepath.Join(dir, "chart")
	writeTree(b, tree)
	files := map[string]string{
		"Chart.yaml":  "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
		"values.yaml": "replicaCount: 2\naffinity: {}\n",
	}
	for i := range 40 {
		files[fmt.Sprintf("templates/d%02d.yaml", i)] = fmt.Sprintf(benchTemplate, i)
	}
	writeFiles(b, chart, files)
	nodes := filepath.Join(dir, "nodes.yaml")
	if err := os.WriteFile(nodes, []byte("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: a, count: 6}\n"), 0o644); err != nil {
		b.Fatal(err)
	}
	schedlint, bare := build(b, dir, "./cmd/schedlint"), build(b, dir, "./lint/testdata/bareparse")
	over := trials.Least(6, 1, func() float64 {
		var cpu, floor, start float64
		for range 15 { // each is short
			f := measure(b, []int{0}, "", bare, tree)
			small := measure(b, []int{2}, "", schedlint, "lint", "-t", nodes, filepath.Join(chart, "values.yaml"))
			c := measure(b, []int{0, 1}, "1 render, 40 workloads", schedlint, "lint", "-t", nodes, "--fail-on-unrendered", chart)
			cpu, floor, start = cpu+c.cpu-small.cpu, floor+f.cpu, start+small.cpu
		}
		return min(cpu/floor/mostOfBare, cpu/start/mostOfStart)
	})
	b.ReportMetric(over, "of-bound")
	trials.Bound(b, "what a chart costs, as a multiple of what it may", over, 1)
}

const benchTemplate = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .Release.Name }}-%d
spec:
  replicas: {{ .Values.replicaCount }}
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      {{- with .Values.affinity }}
      affinity:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers: [{name: a, image: nginx}]
`

func writeFiles(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
