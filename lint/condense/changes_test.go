package condense_test

import (
	"strings"
	"testing"

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
