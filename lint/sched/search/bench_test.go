package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// largeNodes returns n nodes in ten zones and in racks of twenty nodes, with two sizes, eight pools
// and a few tainted nodes.
func largeNodes(n int) string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: NodeList\nitems:\n")
	for i := range n {
		zone := (i / 2) % 10
		cpu, memory := 4, 16
		if i%20 >= 12 {
			cpu, memory = 8, 32
		}
		fmt.Fprintf(&b, "- apiVersion: v1\n  kind: Node\n  metadata:\n    name: node-%05d\n    labels: {%s: node-%05d, %s: z%d, rack: z%d-r%d, pool: p%d}\n", i, hostKey, i, zoneKey, zone, zone, i/20%25, i%8)
		if i%50 == 49 {
			b.WriteString("  spec:\n    taints: [{key: dedicated, value: team, effect: NoSchedule}]\n")
		}
		fmt.Fprintf(&b, "  status:\n    allocatable: {cpu: %q, memory: %dGi, pods: \"110\"}\n", fmt.Sprint(cpu), memory)
	}
	return b.String()
}

// largeWorkloads returns n Deployments with 15 replicas on average that together request the given
// share of all CPUs. Of every ten, three keep their pods apart by host, two have a hard spread over
// zones, one keeps away from a neighbor by host, one uses a single pool, one has anti-affinity and
// a spread, and two have no rules.
func largeWorkloads(n, nodes int, share float64) string {
	g := rand.New(rand.NewPCG(1, uint64(n)))
	milli := int(share * float64(nodes) * 5600 / float64(n) / 15)
	var b strings.Builder
	for i := range n {
		name := fmt.Sprintf("w%05d", i)
		spec := fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %dm, memory: %dMi}}}]\n", max(1, milli/2+g.IntN(milli+1)), 32+g.IntN(64))
		own := sel("app=" + name)
		switch i % 10 {
		case 0, 1, 2:
			spec += anti(term(hostKey, own))
		case 3, 4:
			spec += spread(tsc(zoneKey, own, ""))
		case 5:
			spec += anti(term(hostKey, sel(fmt.Sprintf("app=w%05d", i+1))))
		case 7:
			spec += fmt.Sprintf("nodeSelector: {pool: p%d}", i/10%8)
		case 8:
			spec += spread(tsc(zoneKey, own, "")) + "\n" + anti(term(hostKey, own))
		}
		text := deployment(1+g.IntN(29), spec)
		b.WriteString("---\n" + strings.ReplaceAll(strings.ReplaceAll(text, "name: web,", "name: "+name+","), "{app: web}", "{app: "+name+"}"))
	}
	return b.String()
}
