package lint_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
)

// liveNodes are nodes as the dump of a live cluster has them: three sizes in three zones,
// each node with some MiB more or less of memory, a serial number and the label of its
// rack.
func liveNodes(r *rand.Rand, n int) string {
	var b strings.Builder
	for i := range n {
		cpu := 16 << (i % 3)
		fmt.Fprintf(&b, `---
apiVersion: v1
kind: Node
metadata:
  name: n%d
  labels: {kubernetes.io/hostname: n%d, topology.kubernetes.io/zone: z%d, example.com/rack: r%d, example.com/serial: "%08x"}
status:
  allocatable: {cpu: "%d", memory: %dKi, pods: "110"}
`, i, i, i/3%3, i/40, r.Uint32(), cpu, cpu*4<<20-r.IntN(400<<10))
	}
	return b.String()
}

// liveWorkloads are Deployments with requests, half of them with a hard rule of their own.
func liveWorkloads(r *rand.Rand, n int) string {
	rules := []string{
		"", "",
		"      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %[1]s}}}]}}\n",
		"      topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: %[1]s}}}]\n",
	}
	var b strings.Builder
	for i := range n {
		app := fmt.Sprintf("app-%d", i)
		rule := rules[r.IntN(len(rules))]
		if rule != "" {
			rule = fmt.Sprintf(rule, app)
		}
		fmt.Fprintf(&b, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: live}
spec:
  replicas: %[2]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec:
%[3]s      containers: [{name: main, image: "example.com/%[1]s:1", resources: {requests: {cpu: %[4]dm, memory: %[5]dMi}}}]
`, app, 1+r.IntN(20), rule, []int{50, 100, 250, 500}[r.IntN(4)], []int{64, 128, 256, 512}[r.IntN(4)])
	}
	return b.String()
}

// TestLiveNodesAreDecided: that all nodes of a live cluster differ leaves no question
// about its workloads open for want of steps (T19).
func TestLiveNodesAreDecided(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(16, 1))
	dir := t.TempDir()
	put(t, filepath.Join(dir, "nodes.yaml"), liveNodes(r, trials.AtLeast(t, 400, 120)))
	put(t, filepath.Join(dir, "apps.yaml"), liveWorkloads(r, trials.AtLeast(t, 400, 60)))
	report, err := runFor(t, "", []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}, dir, []string{"nodes.yaml"}, "apps.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if open := report.Summary.Unknown; len(open) > 0 {
		t.Errorf("open: %v", open)
	}
	if diag.Unsettled(report.Summary.Unknown, "budget") {
		t.Error("a budget was not enough")
	}
}
