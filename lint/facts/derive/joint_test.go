package derive

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/topology"
)

// TestPlaced checks that all nodes are counted, and all pods on the first of them, in any order.
func TestPlaced(t *testing.T) {
	nodes := make([]*topology.Node, 9)
	for i := range nodes {
		nodes[i] = &topology.Node{Name: string(rune('a' + i))}
	}
	run := append(append(nodes[:len(nodes):len(nodes)], nodes[8], nodes[0]), nodes[6])
	p := placed(0, "", run)
	want := []facts.NodePods{{Node: "a", Pods: 2}, {Node: "b", Pods: 1}, {Node: "c", Pods: 1}, {Node: "d", Pods: 1}, {Node: "e", Pods: 1}, {Node: "f", Pods: 1}, {Node: "g", Pods: 2}}
	if diff := cmp.Diff(want, p.On); diff != "" || p.Nodes != 9 {
		t.Errorf("%d nodes\n%s", p.Nodes, diff)
	}
}

// TestRefusedNodes checks that filters are sorted by their number of nodes, then by name.
func TestRefusedNodes(t *testing.T) {
	got := refusedNodes(map[certificate.Reason]int{certificate.RefusedByTaint: 1, certificate.RefusedByPort: 2, certificate.RefusedByCordon: 1})
	want := []facts.FilterNodes{{Filter: "NodePorts", Nodes: 2}, {Filter: "NodeUnschedulable", Nodes: 1}, {Filter: "TaintToleration", Nodes: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
