package disruption_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// largeNodes returns a cluster of n nodes in ten zones, with two sizes, eight pools
// and a few tainted nodes.
func largeNodes(n int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: NodeList\nitems:\n")
	for i := range n {
		cpu, memory := 4, 16
		if i%20 >= 12 {
			cpu, memory = 8, 32
		}
		fmt.Fprintf(&b, "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: node-%05d\n    labels: {%s: node-%05d, %s: z%d, pool: p%d}\n", i, keys[host], i, keys[zone], i/2%10, i%8)
		if i%50 == 49 {
			b.WriteString("  spec:\n    taints: [{key: dedicated, value: team, effect: NoSchedule}]\n")
		}
		fmt.Fprintf(&b, "  status:\n    allocatable: {cpu: %q, memory: %dGi, pods: \"110\"}\n", fmt.Sprint(cpu), memory)
	}
	return b.String()
}

// largeWorkloads returns n Deployments with 15 replicas on average. Out of ten, three keep their
// pods apart by host, two spread them hard over zones, one does both, one keeps away from a
// neighbor, one requires a pool, and two have no rules. One in twenty excludes old pods from its
// spread.
func largeWorkloads(n, nodes int) string {
	g := rand.New(rand.NewPCG(1, uint64(n)))
	milli := max(2, nodes*2800/n/15)
	var b strings.Builder
	for i := range n {
		name := fmt.Sprintf("w%05d", i)
		selector := func(app string) string { return "labelSelector: {matchLabels: {app: " + app + "}}" }
		anti := func(app string) string {
			return fmt.Sprintf("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, %s}]}}", keys[host], selector(app))
		}
		spread := fmt.Sprintf("topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: %s, %s}]", keys[zone], selector(name))
		rules := map[int]string{
			0: anti(name), 1: anti(name), 2: anti(name), 3: spread, 4: spread, 5: anti(fmt.Sprintf("w%05d", i+1)), 7: fmt.Sprintf("nodeSelector: {pool: p%d}", i/10%8), 8: anti(name) + ", " + spread,
		}[i%10]
		if i%20 < 10 && i%10 == 4 {
			rules = strings.Replace(rules, selector(name), selector(name)+", matchLabelKeys: [pod-template-hash]", 1)
		}
		fmt.Fprintf(&b, "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: %d, selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s}}, spec: {%s}}}}\n",
			name, 1+g.IntN(29), name, name, strings.TrimPrefix(fmt.Sprintf("%s, containers: [{name: c, image: c, resources: {requests: {cpu: %dm, memory: %dMi}}}]", rules, max(1, milli/2+g.IntN(milli+1)), 32+g.IntN(64)), ", "))
	}
	return b.String()
}

// BenchmarkRollouts judges the rollouts of 10,000 workloads on 5,000 nodes.
func BenchmarkRollouts(b *testing.B) { rollouts(b, 5000, 10000) }

// BenchmarkRepositoryRollouts judges the rollouts of a repository of typical size.
func BenchmarkRepositoryRollouts(b *testing.B) { rollouts(b, 100, 50) }

func rollouts(b *testing.B, nodes, workloads int) {
	nodesText, manifests := largeNodes(nodes), largeWorkloads(workloads, nodes)
	for b.Loop() {
		b.StopTimer()
		j, m := judge(b, nodesText, manifests)
		b.StartTimer()
		count := map[string]int{}
		for _, w := range m.Workloads {
			for _, r := range j.Rollouts(w) {
				count[string(r.Verdict)]++
			}
		}
		b.Logf("%v", count)
	}
}
