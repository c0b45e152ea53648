package topology

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

// TestSized checks that a topology at the declared size has the declared nodes, and that other sizes
// have the same kinds of nodes.
func TestSized(t *testing.T) {
	const text = `{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [
{name: a, zones: {z2: 2, z1: 1}, max: 9, labels: {x: v}, zoneLabels: {z1: {rack: r}}, nameLabels: [host], taints: [{key: k, effect: NoSchedule}], allocatable: {cpu: "4"}, volumes: {d: 3}},
{name: b, count: 2, unknownLabels: [u]}]}
---
{apiVersion: v1, kind: Node, metadata: {name: own, labels: {l: v}}}
`
	objects := source.LoadText(source.Options{}, "nodes.yaml", []byte(text)).Objects
	topo, err := Load(objects)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(topo.Pools[0].ZoneNames(), topo.Pools[1].ZoneNames()); got != "[z2 z1] []" {
		t.Errorf("zones %s", got)
	}
	describe := func(nodes []*Node) (all []string) {
		for _, n := range nodes {
			all = append(all, fmt.Sprint(n.Name, n.Labels, n.Taints, n.Allocatable, n.Volumes, n.Live, n.Whole, n.Extended == topo.Extended))
		}
		return all
	}
	same, err := topo.Sized(func(p *Pool) []int {
		if p.Name == "a" {
			return []int{2, 1}
		}
		return []int{2}
	})
	if err != nil || !slices.Equal(describe(same.Nodes), describe(topo.Nodes)) || same.Elastic() {
		t.Errorf("at the declared size: %v, %v\n%v", err, describe(same.Nodes), describe(topo.Nodes))
	}
	other, err := topo.Sized(func(p *Pool) []int { return make([]int, len(p.ZoneNames())) })
	if err != nil || len(other.Nodes) != 1 || other.Nodes[0].Name != "own" || len(other.Pools) != 2 || other.Pools[0].Max != 0 {
		t.Errorf("without nodes of pools: %v, %v", err, describe(other.Nodes))
	}
	if samples := topo.Samples(topo.Pools[0]); len(samples) != 2 || samples[0].Labels["topology.kubernetes.io/zone"] != "z2" || samples[1].Labels["rack"] != "r" {
		t.Errorf("samples %v", describe(samples))
	}
	if topo.Pools[0].Count != 3 || len(topo.Growth) != 2 {
		t.Error("the topology itself has changed")
	}
}

// TestSizedNames checks that two nodes never have the same name.
func TestSizedNames(t *testing.T) {
	const text = `{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [{name: w, zones: {a: 0}, max: 2}, {name: w-a, count: 0, max: 2}]}`
	topo, err := Load(source.LoadText(source.Options{}, "nodes.yaml", []byte(text)).Objects)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := topo.Sized(func(*Pool) []int { return []int{1} }); err == nil || !strings.Contains(err.Error(), "two nodes have the name w-a-0") {
		t.Errorf("error %v", err)
	}
}

// TestPercentages checks which numbers of nodes an upgrade may take at a time.
func TestPercentages(t *testing.T) {
	for text, good := range map[string]bool{"0": true, "7": true, `"0%"`: true, `"100%"`: true, `"101%"`: false, "-1": false, `"-1%"`: false, `"x"`: false} {
		var n NumberOrPercentage
		if err := n.UnmarshalJSON([]byte(text)); (err == nil) != good {
			t.Errorf("%s: error %v", text, err)
		}
	}
}
