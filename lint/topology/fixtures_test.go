package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// describe is a topology in short: every node with what is not usual.
func describe(topo *Topology) string {
	var lines []string
	for _, n := range topo.Nodes {
		lines = append(lines, describeNode(n))
	}
	for _, g := range topo.Growth {
		lines = append(lines, fmt.Sprintf("%d more like %s", g.Extra, describeNode(g.Node)))
	}
	return strings.Join(lines, "\n")
}

func describeNode(n *Node) string {
	words := []string{n.Name}
	if n.Pool != nil {
		words = append(words, fmt.Sprintf("of %s %d..%d", n.Pool.Name, n.Pool.Min, n.Pool.Max))
	}
	if h := n.Labels[corev1.LabelHostname]; h != n.Name {
		words = append(words, "hostname "+h)
	}
	words = append(words, n.Labels[corev1.LabelOSStable]+"/"+n.Labels[corev1.LabelArchStable])
	for _, key := range []string{corev1.LabelTopologyZone, "tier"} {
		if v, ok := n.Labels[key]; ok {
			words = append(words, v)
		}
	}
	for _, t := range n.Taints {
		words = append(words, t.ToString())
	}
	if n.Unschedulable {
		words = append(words, "cordoned")
	}
	if cpu, ok := n.Allocatable[corev1.ResourceCPU]; ok {
		words = append(words, cpu.String())
	}
	return strings.Join(words, " ")
}

var fixtures = map[string]string{
	"node.yaml": `worker-a linux/arm64 north 3920m
worker-b hostname worker-b.example.com linux/amd64 south node.kubernetes.io/unschedulable:NoSchedule cordoned 8`,
	"nodetopology.yaml": `control-0 of control 1..1 linux/amd64 node-role.kubernetes.io/control-plane:NoSchedule
general-north-0 of general 3..5 linux/amd64 north general 4
general-north-1 of general 3..5 linux/amd64 north general 4
general-south-0 of general 3..5 linux/amd64 south general 4
spare-0 of spare 2..2 linux/amd64 cordoned
spare-1 of spare 2..2 linux/amd64 cordoned
10 more like burst-0 of burst 0..10 linux/arm64
2 more like general-north-2 of general 3..5 linux/amd64 north general 4
2 more like general-south-1 of general 3..5 linux/amd64 south general 4`,
}

// TestFixtures reads the example of every source of nodes; every source has one.
func TestFixtures(t *testing.T) {
	for row := range readers() {
		if _, ok := fixtures[strings.ToLower(row[1])+".yaml"]; !ok {
			t.Errorf("%s has no fixture", row[1])
		}
	}
	for name, want := range fixtures {
		text, err := os.ReadFile(filepath.Join("..", "..", "fixtures", "topology", name))
		if err != nil {
			t.Fatal(err)
		}
		if got := describe(must(t, string(text))); got != want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", name, got, want)
		}
	}
}

// shared is topologies beside the project; tests that read them skip without.
const shared = "../../../shared/topologies"

// TestForeignTopologies holds topologies against what the comments at their
// heads say of them.
func TestForeignTopologies(t *testing.T) {
	for name, want := range map[string]string{
		"bare-metal-no-zone-labels.yaml": "9 nodes, 3 usable in 0 zones, 3 control, 1 cordoned, 5 tainted NoSchedule, 0 deprecated zones; bm-worker-3 is called otherwise",
		"eks-3az.yaml":                   "8 nodes, 6 usable in 3 zones, 0 control, 0 cordoned, 2 tainted NoSchedule, 8 deprecated zones",
		"kind-3-workers.yaml":            "4 nodes, 3 usable in 0 zones, 1 control, 0 cordoned, 1 tainted NoSchedule, 0 deprecated zones",
		"six-nodes-three-zones.yaml":     "7 nodes, 6 usable in 3 zones, 1 control, 0 cordoned, 1 tainted NoSchedule, 0 deprecated zones",
	} {
		text, err := os.ReadFile(filepath.Join(shared, name))
		if os.IsNotExist(err) {
			t.Skipf("%s is not at hand", shared)
		} else if err != nil {
			t.Fatal(err)
		}
		if got := census(must(t, string(text))); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

// census counts what the comments of topologies speak of.
func census(topo *Topology) string {
	usable, control, cordoned, tainted, old, zones, odd := 0, 0, 0, 0, 0, map[string]bool{}, ""
	for _, n := range topo.Nodes {
		hard := slices.ContainsFunc(n.Taints, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoSchedule })
		for key := range n.Labels {
			switch key {
			case "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master":
				control++
			case corev1.LabelFailureDomainBetaZone:
				old++
			}
		}
		switch {
		case n.Unschedulable:
			cordoned++
		case hard:
			tainted++
		default:
			usable++
			if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" {
				zones[zone] = true
			}
		}
		if n.Labels[corev1.LabelHostname] != n.Name {
			odd += "; " + n.Name + " is called otherwise"
		}
	}
	return fmt.Sprintf("%d nodes, %d usable in %d zones, %d control, %d cordoned, %d tainted NoSchedule, %d deprecated zones%s",
		len(topo.Nodes), usable, len(zones), control, cordoned, tainted, old, odd)
}
