package lint_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// largeCluster writes a cluster like the dump of a live one. It has nodes in 12 pools and 3 zones
// with slightly different memory, a unique label and a rack label each. Its Deployments have about
// 13 pods each, with rules of every kind.
func largeCluster(b testing.TB, dir string, nodes, workloads int) {
	b.Helper()
	r := rand.New(rand.NewPCG(16, uint64(nodes)))
	if err := os.MkdirAll(filepath.Join(dir, "manifests"), 0o755); err != nil {
		b.Fatal(err)
	}
	var text strings.Builder
	save := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
		text.Reset()
	}
	for i := range nodes {
		text.WriteString(pooledNode(r, i))
	}
	save("nodes.yaml")
	for i := range workloads {
		text.WriteString(pooledWorkload(r, i))
		if i%100 == 99 || i == workloads-1 {
			save(fmt.Sprintf("manifests/%03d.yaml", i/100))
		}
	}
}

// pooledNode returns a node of one of the pools: the first are the largest, and two have a
// taint.
func pooledNode(r *rand.Rand, i int) string {
	pool := min(int(r.ExpFloat64()*3), 11)
	cpu, taint := 32, ""
	switch pool {
	case 3:
		cpu = 64
	case 7:
		cpu = 16
	case 8, 9:
		taint = fmt.Sprintf("spec: {taints: [{key: dedicated, value: p%d, effect: NoSchedule}]}\n", pool)
	}
	return fmt.Sprintf(`---
apiVersion: v1
kind: Node
metadata:
  name: n%[1]d
  labels: {kubernetes.io/hostname: n%[1]d, topology.kubernetes.io/zone: z%[2]d, pool: p%[3]d, example.com/rack: r%[4]d, example.com/serial: "%08[5]x"}
%[6]sstatus:
  allocatable: {cpu: "%[7]d", memory: %[8]dKi, pods: "110"}
`, i, i%3, pool, i/40, r.Uint32(), taint, cpu, cpu*4<<20-r.IntN(400<<10))
}

// pooledWorkload returns a Deployment. Half have a hard rule about their own pods, about those
// of another workload, or about noisy ones.
func pooledWorkload(r *rand.Rand, i int) string {
	app := fmt.Sprintf("app-%05d", i)
	labels, spec := "app: "+app, ""
	anti := "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {%s}}}]}}\n"
	switch k := r.IntN(100); {
	case k < 25:
		spec = fmt.Sprintf(anti, "app: "+app)
	case k < 40:
		spec = fmt.Sprintf("      topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: %s}}}]\n", app)
	case k < 45 && i > 0:
		spec = fmt.Sprintf("      affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: app-%05d}}}]}}\n", r.IntN(i))
	case k < 50:
		spec = fmt.Sprintf(anti, "tier: noisy")
	}
	if r.IntN(10) < 3 {
		spec += fmt.Sprintf("      nodeSelector: {pool: p%d}\n", r.IntN(4))
	}
	if r.IntN(10) == 0 {
		spec += "      tolerations: [{key: dedicated, operator: Exists}]\n"
	}
	if r.IntN(100) == 0 {
		labels += ", tier: noisy"
	}
	replicas := min(max(1, int(math.Exp(2.2+0.9*r.NormFloat64()))), 200)
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: team-%[2]d}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {%[4]s}}
    spec:
%[5]s      containers: [{name: main, image: "registry.example.com/%[1]s:1", resources: {requests: {cpu: %[6]dm, memory: %[7]dMi}}}]
`, app, i%50, replicas, labels, spec, []int{50, 100, 250, 500, 1000}[r.IntN(5)], []int{64, 128, 256, 512, 1024}[r.IntN(5)])
}

// scaleRows lists the commands to run on a large cluster, with what their output shows and bounds on
// their CPU time, as a multiple of the bare parse of the 2,000-file tree, and on their memory in MiB.
var scaleRows = []struct {
	name       string
	args       []string
	shows      string
	times, mib float64
}{
	{"lint", []string{"lint", "--format", "json"}, `"drain": \{\s+"always": [1-9]`, 11.2, 275},
	{"survive", []string{"lint", "--format", "json", "--survive", "kubernetes.io/hostname", "--survive", "topology.kubernetes.io/zone"}, `"drain": \{\s+"always": [1-9]`, 14, 300},
	{"place", []string{"place"}, "(?m)^verdict: never", 13.6, 275},
	{"place-json", []string{"place", "--format", "json=" + os.DevNull}, "", 13.8, 275}, // 90 MB
	{"place-html", []string{"place", "--format", "html=" + os.DevNull}, "", 27, 400},
}

// BenchmarkScale measures processes on 5,000 nodes and 10,000 Deployments.
func BenchmarkScale(b *testing.B) {
	dir := b.TempDir()
	tree := filepath.Join(dir, "tree")
	writeTree(b, tree)
	largeCluster(b, dir, 5000, 10_000)
	schedlint, bare := build(b, dir, "./cmd/schedlint"), build(b, dir, "./lint/testdata/bareparse")
	nodes, manifests := filepath.Join(dir, "nodes.yaml"), filepath.Join(dir, "manifests")
	b.Run("front-end", func(b *testing.B) {
		timesBare(b, 3, 3.6, 170, parsed(b, bare, manifests), func() cost {
			return measure(b, []int{0, 1}, "10000 workloads, no topology", schedlint, "lint", manifests)
		})
	})
	for _, row := range scaleRows {
		b.Run(row.name, func(b *testing.B) {
			timesBare(b, 5, row.times, row.mib, parsed(b, bare, tree), func() cost {
				return measure(b, []int{0, 1}, row.shows, schedlint, append(row.args, "--topology", nodes, manifests)...)
			})
		})
	}
}

// mixRows has the bounds on the CPU time of lint, lint with survive, and place in each mix at 1,000 nodes
// and 2,000 workloads, as a multiple of the bare parse. The last four, which take little, are twice the
// result. Taints are slow because each set of tolerations is checked against every node. Place is slow in
// the crowded mix because it settles workloads one by one.
var mixRows = map[string][3]float64{
	"spread":    {5.2, 6.4, 7.1},
	"stateful":  {2.6, 4.9, 2.6},
	"crowded":   {2, 2, 12.4},
	"taints":    {6.8, 6.8, 7.2},
	"running":   {5.2, 5.2, 5.1},
	"always":    {3, 4, 4},
	"sometimes": {3, 4, 4},
	"never":     {3, 4, 4},
	"unknown":   {4, 4, 3},
}

// BenchmarkScaleMixes measures processes on each mix, if SCHEDLINT_SCALE is all.
func BenchmarkScaleMixes(b *testing.B) {
	if os.Getenv("SCHEDLINT_SCALE") != "all" {
		b.Skip("SCHEDLINT_SCALE=all measures the mixes")
	}
	dir := b.TempDir()
	tree := filepath.Join(dir, "tree")
	writeTree(b, tree)
	schedlint, bare := build(b, dir, "./cmd/schedlint"), build(b, dir, "./lint/testdata/bareparse")
	for _, x := range mixes() {
		x.write(b, filepath.Join(dir, x.name), size{1000, 2000})
		for k, row := range scaleRows[:4] {
			shows := [...]string{`"workloads": [1-9]`, `"workloads": [1-9]`, "(?m)^verdict: ", ""}[k]
			b.Run(x.name+"/"+row.name, func(b *testing.B) {
				args := append(slices.Clone(row.args), "--topology", filepath.Join(dir, x.name, "nodes.yaml"), filepath.Join(dir, x.name, "manifests"))
				timesBare(b, 3, mixRows[x.name][min(k, 2)], row.mib, parsed(b, bare, tree), func() cost {
					return measure(b, []int{0, 1}, shows, schedlint, args...)
				})
			})
		}
	}
}
