package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// describe returns a short description of a topology, which lists every node with its unusual
// properties.
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
	if len(n.Volumes) > 0 {
		words = append(words, fmt.Sprint(n.Volumes))
	}
	if cpu, ok := n.Allocatable[corev1.ResourceCPU]; ok {
		words = append(words, cpu.String())
	}
	return strings.Join(words, " ")
}

var fixtures = map[string]string{
	"node.yaml": `worker-a linux/arm64 north 3920m
worker-b hostname worker-b.example.com linux/amd64 south node.kubernetes.io/unschedulable:NoSchedule cordoned 8`,
	"cluster.yaml": `dev-control-plane linux/ node-role.kubernetes.io/control-plane:NoSchedule
dev-control-plane2 linux/ node-role.kubernetes.io/control-plane:NoSchedule dedicated=db:NoSchedule
dev-worker linux/ a front dedicated=db:NoSchedule
dev-worker2 linux/ b back
dev-worker3 linux/ json a:NoExecute`,
	"clusterconfig.yaml": `general-eu-west-1a-0 of general 1..5 linux/arm64 eu-west-1a
general-eu-west-1b-0 of general 1..5 linux/arm64 eu-west-1b
odd-0 of odd 1..1 linux/ dedicated=db:NoSchedule
own-eu-west-1a-0 of own 2..2 linux/amd64 eu-west-1a own dedicated=db:NoSchedule spare:NoExecute
own-eu-west-1a-1 of own 2..2 linux/amd64 eu-west-1a own dedicated=db:NoSchedule spare:NoExecute
3 more like general-eu-west-1a-1 of general 1..5 linux/arm64 eu-west-1a
3 more like general-eu-west-1b-1 of general 1..5 linux/arm64 eu-west-1b`,
	"nodepool.yaml": `fixed-0 of fixed 1..1 linux/arm64
20 more like general-north-0 of general 0..20 linux/ north dedicated=db:NoSchedule
20 more like general-south-0 of general 0..20 linux/ south dedicated=db:NoSchedule`,
	"talconfig.yaml": `control linux/arm64 node-role.kubernetes.io/control-plane:NoSchedule spare:NoExecute
node-a linux/ front
node-b linux/ back dedicated=db:NoSchedule
node-c linux/`,
	"machineconfig.yaml": `node-a linux/ front dedicated=db:NoSchedule`,
	"machinedeployment.yaml": `md-0-0 of md-0 1..4 linux/ front dedicated=db:NoSchedule
md-0-1 of md-0 1..4 linux/ front dedicated=db:NoSchedule
prod-control-0 of prod-control 3..3 linux/ node-role.kubernetes.io/control-plane:NoSchedule
prod-control-1 of prod-control 3..3 linux/ node-role.kubernetes.io/control-plane:NoSchedule
prod-control-2 of prod-control 3..3 linux/ node-role.kubernetes.io/control-plane:NoSchedule
2 more like md-0-2 of md-0 1..4 linux/ front dedicated=db:NoSchedule`,
	"machineset.yaml": `ms-0-0 of ms-0 1..1 / dedicated=db:NoSchedule
prod-worker-eu-west-1a-0 of prod-worker-eu-west-1a 0..6 linux/ eu-west-1a front dedicated=db:NoSchedule
prod-worker-eu-west-1a-1 of prod-worker-eu-west-1a 0..6 linux/ eu-west-1a front dedicated=db:NoSchedule
4 more like prod-worker-eu-west-1a-2 of prod-worker-eu-west-1a 0..6 linux/ eu-west-1a front dedicated=db:NoSchedule`,
	"machinepool.yaml": `mp-0-0 of mp-0 2..2 linux/
mp-0-1 of mp-0 2..2 linux/`,
	"kubeadmcontrolplane.yaml": `prod-control-plane-0 of prod-control-plane 1..1 linux/
prod-md-0-0 of prod-md-0 2..2 / front
prod-md-0-1 of prod-md-0 2..2 / front`,
	"csinode.yaml": `worker-a / map[volumes of ebs.csi.aws.com:25]
worker-b /`,
	"nodetopology.yaml": `control-0 of control 1..1 linux/amd64 node-role.kubernetes.io/control-plane:NoSchedule
general-north-0 of general 3..5 linux/amd64 north general 4
general-north-1 of general 3..5 linux/amd64 north general 4
general-south-0 of general 3..5 linux/amd64 south general 4
spare-0 of spare 2..2 linux/amd64 node.kubernetes.io/unschedulable:NoSchedule cordoned
spare-1 of spare 2..2 linux/amd64 node.kubernetes.io/unschedulable:NoSchedule cordoned
10 more like burst-0 of burst 0..10 linux/arm64
2 more like general-north-2 of general 3..5 linux/amd64 north general 4
2 more like general-south-1 of general 3..5 linux/amd64 south general 4`,
}

// TestFixtures reads an example of every source of nodes, and checks that every source has an
// example.
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
