package condense_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/fixtures/mutate"
	"github.com/schedlint/schedlint/lint/condense"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// revision reads the nodes of a file at a revision.
func revision(t *testing.T, text string) *topology.Topology {
	t.Helper()
	set := source.LoadText(source.Options{}, "nodes.yaml", []byte(text))
	topo, err := topology.Load(set.Objects)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range set.Objects {
		if workload.Stores(o) {
			topo.Stored = append(topo.Stored, o)
		}
	}
	return topo
}

// TestChange compares two revisions of a node file, in both directions.
func TestChange(t *testing.T) {
	const head = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: "
	const pool = "[{name: w, zones: {a: 1, b: 3}, labels: {x: v}, allocatable: {cpu: 4, memory: 8000Mi}}]\n"
	elastic := strings.Replace(pool, "zones:", "min: 1, max: 9, zones:", 1)
	change := func(in, old, to string) string {
		out := strings.Replace(in, old, to, 1)
		if out == in {
			t.Fatalf("%s does not hold %s", in, old)
		}
		return head + out
	}
	node := func(name, zone string) string {
		return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {topology.kubernetes.io/zone: " + zone + "}}\nstatus: {allocatable: {cpu: 4}}\n"
	}
	const class = "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast, resourceVersion: '1'}\nprovisioner: ebs.csi.aws.com\n"
	for _, c := range []struct{ was, now, want, back string }{
		{head + pool, "# more\n" + head + pool, "", ""},
		{head + pool, change(pool, "a: 1", "a: 3"), "4 nodes became 6: pool w, zone a 1 to 3", "6 nodes became 4: pool w, zone a 3 to 1"},
		{head + pool, change(pool, "a: 1, b: 3", "a: 3, b: 1"), "the nodes differ: pool w, zone a 1 to 3; pool w, zone b 3 to 1", "the nodes differ: pool w, zone a 3 to 1; pool w, zone b 1 to 3"},
		{head + pool, change(pool, "b: 3", "b: 3, c: 0"), "", ""},
		{head + elastic, change(elastic, "b: 3", "b: 3, c: 0"), "the nodes differ: pool w, zone c is new", "the nodes differ: pool w, zone c is gone"},
		{head + pool, change(pool, "8000Mi", "8001Mi"), `the nodes differ: pool w: allocatable memory is "8001Mi" now, not "8000Mi"`, `the nodes differ: pool w: allocatable memory is "8000Mi" now, not "8001Mi"`},
		{head + pool, change(pool, "zones:", "unschedulable: true, zones:"), "the nodes differ: pool w: unschedulable is new", "the nodes differ: pool w: unschedulable is gone"},
		{head + pool, change(pool, "name: w", "name: v"), "the nodes differ: pool v, zone a 0 to 1; pool v, zone b 0 to 3; pool w, zone a 1 to 0; pool w, zone b 3 to 0", "the nodes differ: pool v, zone a 1 to 0; pool v, zone b 3 to 0; pool w, zone a 0 to 1; pool w, zone b 0 to 3"},
		{head + pool, head + elastic, `the nodes differ: pool w: min and max is new, "1 to 9"`, "the nodes differ: pool w: min and max is gone"},
		{head + elastic, change(elastic, "max: 9", "max: any"), `the nodes differ: pool w: min and max is "1 to any" now, not "1 to 9"`, `the nodes differ: pool w: min and max is "1 to 9" now, not "1 to any"`},
		{head + pool, change(pool, "zones:", "cost: 2, upgrade: {surge: 1}, complete: true, reserved: {cpu: 1}, zones:"),
			`the nodes differ: pool w: label beta.kubernetes.io/arch is gone; pool w: label beta.kubernetes.io/os is gone; pool w: label kubernetes.io/arch is gone; pool w: label kubernetes.io/os is gone; pool w: complete is new; and 4 more`,
			`the nodes differ: pool w: label beta.kubernetes.io/arch is new, "amd64"; pool w: label beta.kubernetes.io/os is new, "linux"; pool w: label kubernetes.io/arch is new, "amd64"; pool w: label kubernetes.io/os is new, "linux"; pool w: complete is gone; and 4 more`},
		{change(pool, "zones:", "upgrade: {surge: 1}, zones:"), change(pool, "zones:", "upgrade: {surge: 1, zone: any, cordon: all}, zones:"), `the nodes differ: pool w: upgrade is "1 more, 0 fewer, in any zone, all cordoned" now, not "1 more, 0 fewer"`, `the nodes differ: pool w: upgrade is "1 more, 0 fewer" now, not "1 more, 0 fewer, in any zone, all cordoned"`},
		{head + pool, change(pool, "zones:", "cost: 2, upgrade: {surge: 1}, reserved: {cpu: 1}, zones:"), `the nodes differ: pool w: cost is new, "2"; pool w: reserved cpu is new, "1"; pool w: upgrade is new, "1 more, 0 fewer"`, "the nodes differ: pool w: cost is gone; pool w: reserved cpu is gone; pool w: upgrade is gone"},
		{head + pool, change(pool, "zones:", "unknownLabels: [z], zones:"), "the nodes differ: unknown labels: z is new", "the nodes differ: unknown labels: z is gone"},
		{head + pool, head + pool + "storage: {default: fast}\n", "the nodes differ: storage differs", "the nodes differ: storage differs"},
		{head + pool, head + pool + class, "the nodes differ: StorageClass fast is new", "the nodes differ: StorageClass fast is gone"},
		{head + pool + class, head + pool + strings.Replace(class, "'1'", "'2'", 1), "", ""},
		{head + pool + class, head + pool + class + "allowVolumeExpansion: true\n", "the nodes differ: StorageClass fast differs", "the nodes differ: StorageClass fast differs"},
		{node("p", "a") + node("q", "b"), node("q", "b") + node("p", "a"), "", ""},
		{node("p", "a") + node("q", "b"), node("p", "b") + node("q", "a"), `the nodes differ: node p: label topology.kubernetes.io/zone is "b" now, not "a"; node q: label topology.kubernetes.io/zone is "a" now, not "b"`, `the nodes differ: node p: label topology.kubernetes.io/zone is "a" now, not "b"; node q: label topology.kubernetes.io/zone is "b" now, not "a"`},
		{node("p", "a") + node("q", "b"), node("p", "a") + node("r", "b"), "the nodes differ: node q is gone; node r is new", "the nodes differ: node q is new; node r is gone"},
		{node("p", "a"), node("p", "a") + node("q", "a") + node("r", "b"), "1 node became 3: zone a 1 to 2; zone b 0 to 1", "3 nodes became 1: zone a 2 to 1; zone b 1 to 0"},
		{node("p", "a"), strings.Replace(node("p", "a"), "cpu: 4", "cpu: 8", 1), `the nodes differ: node p: allocatable cpu is "8" now, not "4"`, `the nodes differ: node p: allocatable cpu is "4" now, not "8"`},
		{"", node("p", "a"), "0 nodes became 1: node file nodes.yaml is new; zone a 0 to 1", "1 node became 0: node file nodes.yaml is gone; zone a 1 to 0"},
	} {
		was, now := revision(t, c.was), revision(t, c.now)
		if got := condense.Change(was, now); got != c.want {
			t.Errorf("%s\n%s\n got %q\nwant %q", c.was, c.now, got, c.want)
		}
		if got := condense.Change(now, was); got != c.back {
			t.Errorf("%s\n%s\n got %q\nwant %q back", c.was, c.now, got, c.back)
		}
	}
}

// TestChangeMissesNothing changes node files at random. Where Change says nothing, all nodes are the
// same.
func TestChangeMissesNothing(t *testing.T) {
	const text = `apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
storage: {default: fast, classes: {fast: {pinned: zone}}}
pools:
- {name: w, zones: {a: 1, b: 3}, min: 1, max: 9, labels: {x: v, r: s}, zoneLabels: {a: {k: l}}, nameLabels: [h], unknownLabels: [u], taints: [{key: k, value: v, effect: NoSchedule}], allocatable: {cpu: 4, memory: 8000Mi, example.com/gpu: 1}, reserved: {cpu: 1}, volumes: {d.example.com: 5}}
- {name: v, count: 2, cost: 1, upgrade: {surge: 1, unavailable: 1}, complete: true, live: true, unschedulable: true, labels: {x: v}}
---
apiVersion: v1
kind: Node
metadata: {name: p, uid: i, labels: {topology.kubernetes.io/zone: a, x: v}}
spec: {unschedulable: false, taints: [{key: k, effect: NoExecute}]}
status: {allocatable: {cpu: 4, memory: 8Gi, pods: 110}}
---
apiVersion: v1
kind: Node
metadata: {name: q, labels: {topology.kubernetes.io/zone: b, x: v}}
status: {capacity: {cpu: 4}}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: p}
spec: {drivers: [{name: d.example.com, nodeID: p, allocatable: {count: 3}}]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: ebs.csi.aws.com
`
	times, seed, err := mutate.Runs(1000)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	was := revision(t, text)
	silent, reported := 0, 0
	for range times {
		data := make([]byte, 4*(1+r.IntN(2)))
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		mutated := mutate.Mutate([]byte(text), data)
		set := source.LoadText(source.Options{}, "nodes.yaml", mutated)
		now, err := topology.Load(set.Objects)
		if err != nil || len(set.Problems) > 0 {
			continue
		}
		for _, o := range set.Objects {
			if workload.Stores(o) {
				now.Stored = append(now.Stored, o)
			}
		}
		if condense.Change(was, now) != "" {
			reported++
			continue
		}
		silent++
		a, b := strings.Split(seen(was), "\n"), strings.Split(seen(now), "\n")
		for i := range max(len(a), len(b)) {
			if i >= len(a) || i >= len(b) || a[i] != b[i] {
				t.Fatalf("Change does not report\n%s\nwas %q\nnow %q", mutated, a[i:min(i+1, len(a))], b[i:min(i+1, len(b))])
			}
		}
	}
	if silent < times/100 || reported < times/100 {
		t.Errorf("of %[3]d changes, Change reports %[2]d and leaves out %[1]d", silent, reported, times)
	}
}

// seen describes nodes as the scheduler sees them.
func seen(topo *topology.Topology) string {
	var b strings.Builder
	for _, n := range topo.All() {
		fmt.Fprintln(&b, n.Name, n.Labels, taintSet(n), n.Unschedulable, n.Whole, n.Live, amounts(n.Allocatable), amounts(n.Reserved), n.Volumes)
	}
	for _, g := range topo.Growth {
		fmt.Fprintln(&b, g.Node.Name, g.Extra)
	}
	for _, p := range topo.Pools {
		fmt.Fprintln(&b, p.Name, p.Count, p.Min, p.Max, p.MinValues, p.Spec.Cost != nil, p.Spec.Upgrade)
	}
	fmt.Fprintln(&b, topo.Open(), topo.Extended.Names(), topo.Storage)
	return b.String()
}

func taintSet(n *topology.Node) map[string]bool {
	all := map[string]bool{}
	for _, t := range n.Taints {
		all[t.ToString()] = true
	}
	return all
}

func amounts(list corev1.ResourceList) map[string]string {
	all := map[string]string{}
	for name, q := range list {
		all[string(name)] = q.AsDec().String()
	}
	return all
}
