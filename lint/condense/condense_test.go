package condense_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/condense"
	"github.com/schedlint/schedlint/lint/topology"
)

// condensed condenses the nodes in a text.
func condensed(t *testing.T, text string) (string, *topology.Topology) {
	t.Helper()
	objects := models.Objects(t, text)
	topo, err := topology.Load(objects)
	if err != nil {
		t.Fatal(err)
	}
	out, again, err := condense.Of(topo, objects).Text()
	if err != nil {
		t.Fatal(err)
	}
	return string(out), again
}

// node returns a Node with a name, further labels and resources.
func node(name, labels, allocatable string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, uid: %s, labels: {kubernetes.io/hostname: %s%s}}\nstatus: {allocatable: {%s}}\n", name, name, name, labels, allocatable)
}

func nodes(n int, labels func(i int) string, allocatable func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(node(fmt.Sprint("n", i), labels(i), allocatable(i)))
	}
	return b.String()
}

func none(int) string { return "" }

// pools describes the pools and single nodes of a topology.
func pools(topo *topology.Topology) string {
	var all []string
	for _, p := range topo.Pools {
		all = append(all, fmt.Sprintf("%s %d", p.Name, p.Count))
	}
	for _, n := range topo.Nodes {
		if n.Pool == nil {
			all = append(all, n.Name)
		}
	}
	return strings.Join(all, ", ")
}

// TestPools checks which nodes share a pool.
func TestPools(t *testing.T) {
	four := func(labels func(i int) string) string { return nodes(4, labels, none) }
	for _, c := range []struct{ what, text, want string }{
		{"equal", four(none), "nodes 4"},
		{"a serial number", four(func(i int) string { return fmt.Sprintf(", serial: s%d", i) }), "nodes 4"},
		{"few racks", nodes(3, func(i int) string { return fmt.Sprintf(", rack: r%d", i) }, none), "nodes 1, nodes-2 1, nodes-3 1"},
		{"shared racks", four(func(i int) string { return fmt.Sprintf(", rack: r%d", i/2) }), "nodes 2, nodes-2 2"},
		{"racks in zones", four(func(i int) string { return fmt.Sprintf(", topology.kubernetes.io/zone: z%d, rack: r%d", i/2, i/2) }), "nodes 4"},
		{"racks across zones", four(func(i int) string { return fmt.Sprintf(", topology.kubernetes.io/zone: z%d, rack: r%d", i/2, i%2) }), "nodes 2, nodes-2 2"},
		{"some have a label", four(func(i int) string { return []string{"", ", a: b"}[i%2] }), "nodes 2, nodes-2 2"},
		{"groups by zone", four(func(i int) string { return fmt.Sprintf(", topology.kubernetes.io/zone: z%d, pool: P_%d", i/2, i/2) }), "p-0 2, p-1 2"},
		{"roles", four(func(i int) string { return []string{"", ", node-role.kubernetes.io/control-plane: ''"}[i%2] }), "control-plane 2, nodes 2"},
		{"names of other nodes' pools", four(func(i int) string {
			return []string{", pool: a, topology.kubernetes.io/zone: b", ", pool: a-b"}[i%2]
		}), "a 2, a-b-2 2"},
		{"names of nodes", node("nodes-0", ", example.com/a: b", "") + node("nodes-1", ", example.com/a: b", "") + "---\napiVersion: v1\nkind: Node\nmetadata: {name: nodes-2}\n", "nodes-2 2, nodes-2"},
		{"one hostname for two", node("a", "", "") + node("b", "", "") + strings.Replace(node("c", "", ""), "hostname: c", "hostname: b", 1), "nodes 1, b, c"},
		{"near", nodes(3, none, func(i int) string { return fmt.Sprintf("memory: %dKi", 1_000_000+i*499) }), "nodes 3"},
		{"not near", nodes(3, none, func(i int) string { return fmt.Sprintf("memory: %dKi", 1_000_000+i*501) }), "nodes 2, nodes-2 1"},
		{"some or nothing", nodes(2, none, func(i int) string { return fmt.Sprintf("example.com/gpu: '%d'", i) }), "nodes 1, nodes-2 1"},
		{"a resource that some list", nodes(2, none, func(i int) string { return []string{"cpu: 4", "cpu: 4, example.com/gpu: 1"}[i] }), "nodes 1, nodes-2 1"},
	} {
		if text, topo := condensed(t, c.text); pools(topo) != c.want {
			t.Errorf("%s: got %s, want %s\n%s", c.what, pools(topo), c.want, text)
		}
	}
}

// TestLeast checks that a pool is not better than any of its nodes.
func TestLeast(t *testing.T) {
	text, topo := condensed(t, node("a", "", "cpu: 3919m, memory: 8001Mi")+node("b", "", "cpu: 3920m, memory: 8000Mi"))
	list := topo.Nodes[0].Allocatable
	if got := fmt.Sprint(list.Cpu(), list.Memory()); pools(topo) != "nodes 2" || got != "3919m 8000Mi" || !strings.Contains(text, "# cpu: the least of its nodes, the most is 3920m\n") {
		t.Errorf("%s\n%s", got, text)
	}
}

// TestReserved checks that a pool leaves no more than any of its nodes, and which nodes share one.
func TestReserved(t *testing.T) {
	pod := func(node, cpu string) string {
		return fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: p-%s}\nspec: {nodeName: %s, containers: [{name: c, resources: {requests: {cpu: %s, example.com/gpu: 1}}}]}\n", node, node, cpu)
	}
	text, topo := condensed(t, node("a", "", "cpu: 4000m")+node("b", "", "cpu: 3999m")+node("c", "", "cpu: 4000m")+node("d", "", "")+pod("a", "1000m")+pod("b", "1001m")+pod("c", "1010m")+pod("d", "1"))
	if got := pools(topo); got != "nodes 1, nodes-2 2, nodes-3 1" && got != "nodes 2, nodes-2 1, nodes-3 1" {
		t.Errorf("got %s\n%s", got, text)
	}
	for _, want := range []string{"    cpu: 3999m\n  reserved:\n    cpu: 1001m\n", "# reserved cpu: the most of its nodes, the least is 1\n", "    cpu: \"4\"\n  reserved:\n    cpu: 1010m\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant\n%s", text, want)
		}
	}
}

// TestDeclaredPool checks that a pool that is declared keeps its fields.
func TestDeclaredPool(t *testing.T) {
	text, _ := condensed(t, "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: w, count: 2, max: any, cost: 0.192, upgrade: {surge: 25%}, complete: true}, {name: x, count: 1, cost: 0, upgrade: {surge: 0, unavailable: 1}, complete: true}]\n")
	for _, want := range []string{"- name: w\n  count: 2\n  max: any\n  cost: 0.192\n  upgrade:\n    surge: 25%\n  complete: true\n", "- name: x\n  count: 1\n  cost: 0\n  upgrade:\n    unavailable: 1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("got\n%s\nwant\n%s", text, want)
		}
	}
}

// TestDifferences compares a pool with others.
func TestDifferences(t *testing.T) {
	const head = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n"
	base := "- {name: w, zones: {a: 2, b: 1}, labels: {x: v}, taints: [{key: k, effect: NoSchedule}], allocatable: {cpu: 4, memory: 8000Mi}, volumes: {d.example.com: 5}}"
	elastic := strings.Replace(base, "zones:", "min: 1, max: 9, zones:", 1)
	for _, c := range []struct{ was, now, want string }{
		{base, base, ""},
		{base, strings.Replace(base, "name: w", "name: v", 1), ""},
		{base, strings.Replace(base, "8000Mi", "8004Mi", 1), ""},
		{base, strings.Replace(base, "8000Mi}", "8000Mi}, reserved: {cpu: 1}", 1), ""},
		{strings.Replace(base, "b: 1", "b: 0", 1) + "\n" + strings.NewReplacer("name: w", "name: w-2", "a: 2", "a: 0", "8000Mi}", "8004Mi}, reserved: {cpu: 1}").Replace(base), base, ""},
		{base + "\n" + strings.NewReplacer("name: w", "name: w-2", "8000Mi}", "8000Mi}, reserved: {cpu: 1}").Replace(base), base, "pool w: has 3 nodes now, not 6; pool w: zone a has 2 nodes now, not 4; pool w: zone b has 1 node now, not 2"},
		{base, strings.Replace(base, "8000Mi", "8200Mi", 1), `pool w: allocatable memory is "8200Mi" now, not "8000Mi"`},
		{base, strings.Replace(base, ", memory: 8000Mi", "", 1), "pool w: allocatable memory is gone"},
		{base, strings.Replace(base, "b: 1", "b: 2", 1), "pool w: has 4 nodes now, not 3; pool w: zone b has 2 nodes now, not 1"},
		{elastic, strings.Replace(base, "b: 1", "b: 2", 1), ""},
		{elastic, strings.Replace(base, "a: 2, b: 1", "a: 3", 1), ""},
		{elastic, strings.Replace(base, "b: 1", "c: 1", 1), "pool w: zone c has 1 node now, not 0"},
		{elastic, strings.Replace(base, "a: 2", "a: 20", 1), "pool w: has 21 nodes now, not 1 to 9"},
		{base, strings.Replace(base, "x: v", "x: z, u: w", 1), `pool w: label u is new, "w"; pool w: label x is "z" now, not "v"`},
		{base, strings.Replace(base, "effect: NoSchedule", "effect: NoExecute", 1), "pool w: taint k:NoExecute is new; pool w: taint k:NoSchedule is gone"},
		{base, strings.Replace(base, "name: w", "name: w, unschedulable: true", 1), "pool w: unschedulable is new"},
		{base, strings.Replace(base, "com: 5", "com: 6", 1), `pool w: volumes of d.example.com is "6" now, not "5"`},
		{base, strings.Replace(base, "name: w", "name: w, unknownLabels: [z]", 1), "unknown labels: z is new"},
		{base + "\n- {name: v, count: 2}", base, "pool v: has no nodes now"},
		{base + "\n- {name: v, count: 0, min: 0, max: 3}", base, ""},
		{base, base + "\n- {name: v, count: 2}", "pool v: new, 2 nodes"},
		{"- {name: w, zones: {a: 2}}", "- {name: w, count: 2}", "pool w: zone a has 0 nodes now, not 2; pool w: label topology.kubernetes.io/zone differs; unknown labels: failure-domain.beta.kubernetes.io/zone is gone"},
		{"- {name: w, zones: {a: 1}}", "- {name: w, count: 1}", "pool w: zone a has 0 nodes now, not 1; pool w: label topology.kubernetes.io/zone differs; unknown labels: failure-domain.beta.kubernetes.io/zone is gone"},
	} {
		_, was := condensed(t, head+c.was)
		_, now := condensed(t, head+c.now)
		if got := condense.Differences(was, now); strings.Join(got, "; ") != c.want {
			t.Errorf("%s\n%s\n got %q\nwant %q", c.was, c.now, got, c.want)
		}
	}
}

// TestSameText checks that the text depends neither on the order of the nodes nor on chance.
func TestSameText(t *testing.T) {
	docs := strings.SplitAfter(nodes(9, func(i int) string { return fmt.Sprintf(", rack: r%d, a: b%d", i%2, i%3) }, func(i int) string { return fmt.Sprintf("cpu: %d", 4+i%2) }), "}}\n---\n")
	want, _ := condensed(t, strings.Join(docs, ""))
	last := len(docs) - 1
	docs[last] += "---\n"
	slices.Reverse(docs)
	if got, _ := condensed(t, strings.Join(docs, "")); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
