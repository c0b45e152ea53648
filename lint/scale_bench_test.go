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

// scaleRows lists the commands to run on a large cluster, with limits on their CPU time, as a
// multiple of the bare parse of the 2,000-file tree, and on their memory in MiB. The limits allow
// for a busy machine. On a quiet machine they take 11, 15, 13 and 15 times the bare parse, and the
// goal of the first three is 10, 16 and 12.
var scaleRows = []struct {
	name       string
	args       []string
	times, mib float64
}{
	{"lint", []string{"lint", "--format", "json"}, 15, 275},
	{"survive", []string{"lint", "--format", "json", "--survive", "kubernetes.io/hostname", "--survive", "topology.kubernetes.io/zone"}, 20, 285},
	{"place", []string{"place"}, 18, 300},
	{"place-json", []string{"place", "--format", "json=" + os.DevNull}, 20, 300}, // 90 MB
}

// BenchmarkScale measures processes on 5,000 nodes and 10,000 Deployments, and fails beyond the
// limits.
func BenchmarkScale(b *testing.B) {
	dir := b.TempDir()
	tree := filepath.Join(dir, "tree")
	writeTree(b, tree)
	largeCluster(b, dir, 5000, 10_000)
	schedlint, bare := build(b, dir, "./cmd/schedlint"), build(b, dir, "./lint/testdata/bareparse")
	nodes, manifests := filepath.Join(dir, "nodes.yaml"), filepath.Join(dir, "manifests")
	b.Run("front-end", func(b *testing.B) {
		var times, mib []float64
		for range max(b.N, 3) {
			floor := measure(b, []int{0}, bare, manifests)
			c := measure(b, []int{0, 1}, schedlint, "lint", manifests)
			times, mib = append(times, c.cpu/floor.cpu), append(mib, c.mib)
		}
		within(b, times, mib, 4, 160)
	})
	for _, row := range scaleRows {
		b.Run(row.name, func(b *testing.B) {
			var times, mib []float64
			for range max(b.N, 9) { // the bare parse is short, so single ratios vary by a fifth
				floor := measure(b, []int{0}, bare, tree)
				c := measure(b, []int{0, 1}, schedlint, append(row.args, "--topology", nodes, manifests)...)
				times, mib = append(times, c.cpu/floor.cpu), append(mib, c.mib)
			}
			within(b, times, mib, row.times, row.mib)
		})
	}
}

// within reports the measurements, and fails beyond the limits.
func within(b *testing.B, times, mib []float64, mostTimes, mostMiB float64) {
	b.Helper()
	b.ReportMetric(median(times), "times-bare")
	b.ReportMetric(median(mib), "peak-MiB")
	if t, m := median(times), median(mib); t > mostTimes || m > mostMiB {
		b.Errorf("%.1f times the bare parse and %.0f MiB, of at most %.1f and %.0f", t, m, mostTimes, mostMiB)
	}
}

// mixRows has the limits on the CPU time of scaleRows for each mix at 1,000 nodes and 2,000
// workloads, as a multiple of the bare parse. They are twice the result of a quiet machine. Taints
// are slow (6, 7 and 6 times) because each set of tolerations is checked against every node. Place
// is slow in the crowded mix (13 times) because it settles workloads one by one. The last limit is
// for both formats of place.
var mixRows = map[string][3]float64{
	"spread":    {8, 12, 14},
	"stateful":  {6, 11, 5},
	"crowded":   {3, 4, 26},
	"taints":    {12, 13, 12},
	"running":   {9, 9, 9},
	"always":    {3, 4, 4},
	"sometimes": {3, 4, 4},
	"never":     {3, 4, 4},
	"unknown":   {4, 4, 3},
}

// BenchmarkScaleMixes measures processes on each mix, if SCHEDLINT_SCALE is all, and fails
// beyond the limits.
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
		for k, row := range scaleRows {
			b.Run(x.name+"/"+row.name, func(b *testing.B) {
				var times, mib []float64
				for range b.N {
					floor := measure(b, []int{0}, bare, tree)
					args := append(slices.Clone(row.args), "--topology", filepath.Join(dir, x.name, "nodes.yaml"), filepath.Join(dir, x.name, "manifests"))
					c := measure(b, []int{0, 1}, schedlint, args...)
					times, mib = append(times, c.cpu/floor.cpu), append(mib, c.mib)
				}
				within(b, times, mib, mixRows[x.name][min(k, 2)], row.mib)
			})
		}
	}
}
