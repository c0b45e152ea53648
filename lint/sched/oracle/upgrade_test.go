package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/upgrade"
	"github.com/schedlint/schedlint/lint/workload"
)

// upgradeCase is a random cluster whose pool p is upgraded.
type upgradeCase struct {
	focus     int   // what most workloads have: mostly anything, anti-affinity by zone, or spread constraints
	zones     []int // nodes of pool p by zone
	others    int   // nodes of pool o, in the first zone
	cpu       int
	manifests string // without budgets
	budgets   []testBudget
	pinned    map[string]bool // workloads whose pods keep their zones, as their volumes are there
	s         upgrade.Settings
}

// testBudget is a PodDisruptionBudget of some workloads.
type testBudget struct {
	apps  []string
	least bool // minAvailable
	n     int
}

func newUpgradeCase(r *rand.Rand) *upgradeCase {
	c := &upgradeCase{cpu: 2 + r.IntN(3), focus: max(0, r.IntN(5)-2), pinned: map[string]bool{}}
	n := 1 + r.IntN(3)
	c.zones = make([]int, 1+r.IntN(2))
	if c.focus > 0 {
		n, c.zones = 2+r.IntN(1+c.focus), make([]int, 2)
	}
	for range n {
		c.zones[r.IntN(len(c.zones))]++
	}
	c.others = r.IntN(min(2, 4-n) + 1)
	c.s = upgrade.Settings{Surge: r.IntN(3), AnyZone: r.IntN(4) == 0, CordonAll: r.IntN(5) == 0}
	if c.s.Unavailable = r.IntN(3 - c.s.Surge); c.s.Surge+c.s.Unavailable == 0 {
		c.s.Surge = 1
	}
	var b strings.Builder
	pods := 0
	for i := range 1 + r.IntN(3) {
		most := 3
		if c.focus == 2 { // fewer do not get stuck by a spread over two zones
			most = 4
		}
		replicas := 1 + r.IntN(min(most, 6-pods))
		pods += replicas
		c.workload(r, &b, i, replicas)
		if pods == 6 {
			break
		}
	}
	c.manifests = b.String()
	return c
}

// workload writes a random workload, perhaps with a budget.
func (c *upgradeCase) workload(r *rand.Rand, b *strings.Builder, i, replicas int) {
	name := fmt.Sprintf("w%d", i)
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	kind := pick("Deployment", "Deployment", "StatefulSet")
	spec := ""
	switch r.IntN(4) {
	case 0:
		spec += "      nodeSelector: {pool: p}\n"
	case 1:
		if c.others > 0 && r.IntN(2) == 0 {
			spec += "      nodeSelector: {pool: o}\n"
		}
	case 2:
		if r.IntN(3) == 0 {
			spec += "      nodeSelector: {topology.kubernetes.io/zone: z0}\n"
		}
	}
	self := fmt.Sprintf("{matchLabels: {app: %s}}", name)
	key := pick("kubernetes.io/hostname", "kubernetes.io/hostname", "topology.kubernetes.io/zone")
	anti := func(sel string) string {
		return fmt.Sprintf("      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: %s}]}}\n", key, sel)
	}
	rule := r.IntN(9)
	switch {
	case c.focus == 1:
		key, rule = "topology.kubernetes.io/zone", r.IntN(4)
	case c.focus == 2 && r.IntN(2) == 0:
		rule = 4
	}
	switch {
	case rule <= 1:
		spec += anti(self)
	case rule == 2 && i > 0:
		spec += anti(fmt.Sprintf("{matchLabels: {app: w%d}}", r.IntN(i)))
	case rule == 3 && i > 0:
		spec += anti(fmt.Sprintf("{matchExpressions: [{key: app, operator: In, values: [%s, w%d]}]}", name, r.IntN(i)))
	case rule == 4 && (c.focus == 2 || r.IntN(3) == 0):
		spec += fmt.Sprintf("      topologySpreadConstraints: [{maxSkew: 1, topologyKey: %s, whenUnsatisfiable: DoNotSchedule, labelSelector: %s}]\n", key, self)
	}
	fmt.Fprintf(b, "---\napiVersion: apps/v1\nkind: %s\nmetadata: {name: %s, namespace: default}\nspec:\n  replicas: %d\n  selector: %s\n  template:\n    metadata: {labels: {app: %s}}\n    spec:\n%s      containers: [{name: c, image: i, resources: {requests: {cpu: %q}}}]\n",
		kind, name, replicas, self, name, spec, pick("250m", "500m", "1", "1", "1500m", "2"))
	c.pinned[name] = kind == "StatefulSet" && r.IntN(2) == 0
	if r.IntN(2) == 0 && (c.focus == 0 || r.IntN(2) == 0) {
		return
	}
	one := testBudget{apps: []string{name}, least: r.IntN(2) == 0}
	if one.n = 1; r.IntN(4) == 0 {
		one.n = r.IntN(3)
	}
	if one.least {
		one.n = max(0, replicas-one.n)
	}
	if i > 0 && r.IntN(5) == 0 {
		one.apps = append(one.apps, fmt.Sprintf("w%d", r.IntN(i)))
		one.least = false
	}
	c.budgets = append(c.budgets, one)
}

func (c *upgradeCase) topology() string {
	var zones []string
	for z, n := range c.zones {
		zones = append(zones, fmt.Sprintf("z%d: %d", z, n))
	}
	pools := "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n"
	pools += fmt.Sprintf("- {name: p, zones: {%s}, labels: {pool: p}, allocatable: {cpu: %d, pods: 10}}\n", strings.Join(zones, ", "), c.cpu)
	if c.others > 0 {
		pools += fmt.Sprintf("- {name: o, zones: {z0: %d}, labels: {pool: o}, allocatable: {cpu: 2, pods: 10}}\n", c.others)
	}
	return pools + "---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: zonal}\nprovisioner: ebs.csi.aws.com\nvolumeBindingMode: WaitForFirstConsumer\n"
}

func (c *upgradeCase) withBudgets() string {
	var b strings.Builder
	for one := range strings.SplitSeq(c.manifests, "---\n") {
		_, name, _ := strings.Cut(one, "{name: ")
		b.WriteString("---\n" + one)
		if name, _, _ = strings.Cut(name, ","); c.pinned[name] {
			b.WriteString("  volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], storageClassName: zonal, resources: {requests: {storage: 1Gi}}}}]\n")
		}
	}
	for i, x := range c.budgets {
		field := "maxUnavailable"
		if x.least {
			field = "minAvailable"
		}
		fmt.Fprintf(&b, "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: b%d, namespace: default}\nspec: {%s: %d, selector: {matchExpressions: [{key: app, operator: In, values: [%s]}]}}\n", i, field, x.n, strings.Join(x.apps, ", "))
	}
	return b.String()
}

// ours is the answer of schedlint.
func (c *upgradeCase) ours(t *testing.T) *diag.Upgrade {
	t.Helper()
	nodes, err := parse(c.topology())
	if err != nil {
		t.Fatal(err)
	}
	objects, err := parse(c.withBudgets())
	if err != nil {
		t.Fatal(err)
	}
	topo, err := topology.Load(nodes)
	if err != nil {
		t.Fatal(err)
	}
	topo.Extended.Complete = true
	cluster := &upgrade.Cluster{Topology: topo, Set: workload.Load(workload.NewTable(), objects), Factor: 100, Scale: func(m *model.Model) {
		m.Scale(1000, 1)
		m.Run().OnRefusal = func(err error) { panic(err) }
	}}
	return upgrade.Of(cluster, topo.Pools[slices.IndexFunc(topo.Pools, func(p *topology.Pool) bool { return p.Name == "p" })], c.s)
}

// upgrading walks all states of an upgrade.
type upgrading struct {
	c       *upgradeCase
	world   *World
	classes []*Class
	apps    []string // by class
	zone    []int    // by node; the zone of a node of pool p, or -1
	fresh   []bool   // by node
	status  []byte   // by node: present, draining or gone; new nodes begin as absent
	counts  [][]int8 // by class and node
	left    []int
	waits   [][]int8 // Pending pods by class and zone that they must return to
	begun   bool
	seen    map[string]struct{}
	// done and stuck are set if some run completes, or gets stuck. starts is set if all pods can run
	// before the upgrade.
	done, stuck, starts bool
	example             string
}

const (
	present = iota
	draining
	gone
	absent
)

const mostUpgradeStates = 60_000

func (c *upgradeCase) explore(t *testing.T, world *World) *upgrading {
	t.Helper()
	u := &upgrading{c: c, world: world, seen: map[string]struct{}{}}
	var text strings.Builder
	node := func(name, pool string, zone, cpu int, fresh bool) {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/hostname: %s, kubernetes.io/os: linux, kubernetes.io/arch: amd64, topology.kubernetes.io/zone: z%d, pool: %s}}\nstatus: {allocatable: {cpu: %d, pods: 10}}\n", name, name, zone, pool, cpu)
	}
	total := 0
	for z, n := range c.zones {
		total += n
		for i := range n {
			node(fmt.Sprintf("p%d-%d", z, i), "p", z, c.cpu, false)
		}
	}
	for z, n := range c.zones {
		if c.s.AnyZone {
			n = total
		}
		for i := range n {
			node(fmt.Sprintf("q%d-%d", z, i), "p", z, c.cpu, true)
		}
	}
	for i := range c.others {
		node(fmt.Sprintf("x%d", i), "o", 0, 2, false)
	}
	cluster, err := NewCluster(text.String(), c.manifests)
	if err != nil {
		t.Fatal(err)
	}
	if err := world.Load(cluster); err != nil {
		t.Fatal(err)
	}
	for _, n := range cluster.Nodes {
		zone, status := -1, byte(present)
		if n.Name[0] != 'x' {
			zone, _ = strconv.Atoi(n.Name[1:2])
		}
		if n.Name[0] == 'q' {
			status = absent
		}
		u.zone, u.fresh, u.status = append(u.zone, zone), append(u.fresh, n.Name[0] == 'q'), append(u.status, status)
	}
	for _, class := range cluster.Classes() {
		u.classes, u.left = append(u.classes, class), append(u.left, class.Count)
		u.apps = append(u.apps, class.Pod.Labels["app"])
		u.counts, u.waits = append(u.counts, make([]int8, len(u.zone))), append(u.waits, make([]int8, len(c.zones)))
	}
	u.visit(t.Context())
	return u
}

// key is the same for states that differ only in which of equal nodes hold what.
func (u *upgrading) key() string {
	rows := make([]string, len(u.zone))
	for n := range u.zone {
		row := []byte{byte(u.zone[n] + 2), u.status[n]}
		if u.fresh[n] {
			row[1] += 8
		}
		for c := range u.classes {
			row = append(row, byte(u.counts[c][n]))
		}
		rows[n] = string(row)
	}
	slices.Sort(rows)
	return fmt.Sprint(u.begun, u.waits) + strings.Join(rows, "")
}

// numbers returns the old nodes that are not present, and the new ones, by zone, and the numbers of
// nodes that are drained and gone.
func (u *upgrading) numbers() (out, fresh []int, drained, left int) {
	out, fresh = make([]int, len(u.c.zones)), make([]int, len(u.c.zones))
	for n, z := range u.zone {
		switch {
		case z < 0:
		case u.fresh[n] && u.status[n] == present:
			fresh[z]++
		case u.status[n] == draining:
			drained++
			out[z]++
		case u.status[n] == gone:
			left++
			out[z]++
		}
	}
	return out, fresh, drained, left
}

func sum(all []int) (n int) {
	for _, x := range all {
		n += x
	}
	return n
}

// unavailable returns how many old nodes have neither room for pods nor a new node in their place.
func (u *upgrading) unavailable(out, fresh []int) (n int) {
	if u.c.s.AnyZone {
		return max(0, sum(out)-sum(fresh))
	}
	for z := range out {
		n += max(0, out[z]-fresh[z])
	}
	return n
}

func (u *upgrading) visit(ctx context.Context) {
	key := u.key()
	if _, ok := u.seen[key]; ok || len(u.seen) > mostUpgradeStates || u.done && u.stuck {
		return
	}
	u.seen[key] = struct{}{}
	moved := u.place(ctx)
	if u.begun {
		moved = u.evict(ctx) || moved
		moved = u.replace(ctx) || moved
	} else if sum(u.left) == 0 {
		u.begun, u.starts = true, true
		u.visit(ctx)
		u.begun = false
		return
	}
	if moved || !u.begun {
		return
	}
	if _, fresh, _, left := u.numbers(); left == sum(u.c.zones) && sum(fresh) == left && sum(u.left) == 0 {
		u.done = true
		return
	}
	u.stuck = true
	if u.example == "" {
		u.example = u.describe()
	}
}

func (u *upgrading) describe() string {
	var b strings.Builder
	for n, info := range u.world.nodes {
		fmt.Fprintf(&b, "%s %s:", info.Node().Name, []string{"present", "draining", "gone", "absent"}[u.status[n]])
		for c := range u.classes {
			fmt.Fprintf(&b, " %s %d", u.apps[c], u.counts[c][n])
		}
		b.WriteString("; ")
	}
	return b.String() + fmt.Sprint("left ", u.left)
}

// place puts each Pending pod on each node that takes it.
func (u *upgrading) place(ctx context.Context) (moved bool) {
	for i, class := range u.classes {
		if u.left[i] == 0 || class.Series.Ordered && class != class.Series.Classes[0] && u.left[i-1] > 0 {
			continue
		}
		for _, n := range u.takes(ctx, class) {
			moved = true
			u.put(i, n, 1)
			u.visit(ctx)
			u.put(i, n, -1)
		}
	}
	return moved
}

// put adds a pod to a node, or takes one away.
func (u *upgrading) put(class, node int, by int8) {
	u.world.move(u.classes[class], node, by)
	u.counts[class][node] += by
	u.left[class] -= int(by)
	if u.begun && u.c.pinned[u.apps[class]] {
		u.waits[class][max(0, u.zone[node])] -= by
	}
}

// move adds a pod of a class to a node if by is 1, or removes one if it is -1. Pods have no volumes.
func (w *World) move(c *Class, node int, by int8) {
	p := w.placed(c, node)
	if by > 0 {
		w.nodes[node].AddPodInfo(p.info)
	} else if err := w.nodes[node].RemovePod(klog.Background(), p.pod); err != nil {
		panic(err)
	}
}

// takes returns the nodes that take a pod. Drained nodes exist and take none.
func (u *upgrading) takes(ctx context.Context, class *Class) (all []int) {
	exists := func(n int) bool { return u.status[n] == present || u.status[n] == draining }
	return slices.DeleteFunc(u.world.takers(ctx, class, exists), func(n int) bool {
		away := u.begun && u.c.pinned[class.Pod.Labels["app"]] && u.waits[slices.Index(u.classes, class)][max(0, u.zone[n])] == 0
		return away || u.status[n] == draining || u.begun && u.c.s.CordonAll && !u.fresh[n] && u.zone[n] >= 0
	})
}

// takers returns those of the nodes that exist that take a pod.
func (w *World) takers(ctx context.Context, class *Class, exists func(n int) bool) (all []int) {
	w.lister.all = nil
	var nodes []int
	for n, info := range w.nodes {
		if exists(n) {
			w.lister.all, nodes = append(w.lister.all, info), append(nodes, n)
		}
	}
	state := framework.NewCycleState()
	result, status, _ := w.framework.RunPreFilterPlugins(ctx, state, class.Pod)
	if !status.IsSuccess() {
		return nil
	}
	for _, n := range nodes {
		info := w.nodes[n]
		if (result.AllNodes() || result.NodeNames.Has(info.Node().Name)) && w.framework.RunFilterPlugins(ctx, state, class.Pod, info).IsSuccess() {
			all = append(all, n)
		}
	}
	return all
}

// evict evicts pods from drained nodes if their budgets allow it.
func (u *upgrading) evict(ctx context.Context) (moved bool) {
	for n := range u.zone {
		for i := range u.classes {
			if u.status[n] == draining && u.counts[i][n] > 0 && u.allowed(u.apps[i]) {
				moved = true
				u.put(i, n, -1)
				u.visit(ctx)
				u.put(i, n, 1)
			}
		}
	}
	return moved
}

// allowed reports whether budgets allow an eviction of a pod with a label.
func (u *upgrading) allowed(app string) bool {
	found := 0
	for _, b := range u.c.budgets {
		if !slices.Contains(b.apps, app) {
			continue
		}
		healthy, expected := 0, 0
		for i, a := range u.apps {
			if slices.Contains(b.apps, a) {
				expected += u.classes[i].Count
				healthy += u.classes[i].Count - u.left[i]
			}
		}
		desired := b.n
		if !b.least {
			desired = max(0, expected-b.n)
		}
		if found++; healthy <= desired {
			return false
		}
	}
	return found < 2 // the API server evicts no pod of two budgets
}

// replace does what the platform may do next.
func (u *upgrading) replace(ctx context.Context) (moved bool) {
	out, fresh, drained, left := u.numbers()
	total := sum(u.c.zones)
	step := func(n int, to byte) {
		moved = true
		was := u.status[n]
		u.status[n] = to
		u.visit(ctx)
		u.status[n] = was
	}
	added := map[int]bool{} // absent nodes of a zone are alike
	for n, z := range u.zone {
		switch {
		case z < 0:
		case u.status[n] == draining:
			empty := true
			for i := range u.classes {
				empty = empty && u.counts[i][n] == 0
			}
			if empty {
				step(n, gone)
			}
		case u.status[n] == absent && !added[z] && total-left+sum(fresh) < total+u.c.s.Surge && sum(fresh) < total && (u.c.s.AnyZone || fresh[z] < u.c.zones[z]):
			added[z] = true
			step(n, present)
		case u.status[n] == present && !u.fresh[n] && drained < u.c.s.Surge+u.c.s.Unavailable:
			out[z]++
			if u.unavailable(out, fresh) <= u.c.s.Unavailable {
				step(n, draining)
			}
			out[z]--
		}
	}
	return moved
}

// TestUpgrades compares answers about upgrades with all runs of upgrades of random small pools, by the
// scheduler's filters. Clusters whose pods do not all fit before the upgrade do not count.
func TestUpgrades(t *testing.T) {
	cases := trials.AtLeast(t, 150, 60)
	world, err := NewWorld(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	counts, reasons := map[string]int{}, map[string]int{}
	for seed, compared := trials.First(t), 0; compared < cases; seed++ {
		c := newUpgradeCase(rand.New(rand.NewPCG(uint64(seed), 14)))
		got := c.ours(t)
		u := c.explore(t, world)
		if len(u.seen) > mostUpgradeStates {
			counts["too large"]++
			continue
		}
		truth := "mixed"
		switch {
		case !u.starts:
			counts["no start"]++
			continue
		case !u.stuck:
			truth = "always"
		case !u.done:
			truth = "never"
		}
		compared++
		counts[truth+" "+got.Verdict]++
		if got.Verdict == string(diag.Unknown) {
			reasons[truth+": "+got.Why[0].Text]++
		}
		wrong := got.Verdict == string(diag.Always) && u.stuck || got.Verdict == string(diag.Never) && u.done
		if wrong {
			t.Errorf("seed %d: %s, but %s: %s\n%+v\n%+v\n%s\n%s", seed, got.Verdict, truth, u.example, c.s, got.Why, c.topology(), c.withBudgets())
		}
	}
	for _, text := range slices.Sorted(func(yield func(string) bool) {
		for k, n := range counts {
			if !yield(fmt.Sprintf("%-20s %d", k, n)) {
				return
			}
		}
	}) {
		t.Log(text)
	}
	if testing.Verbose() {
		for k, n := range reasons {
			t.Logf("%4d %s", n, k)
		}
	}
	yes, no := counts["always always"], counts["never never"]
	if yes*5 < cases*2 || no*30 < cases {
		t.Errorf("%d yes, %d no: too few of one kind", yes, no)
	}
}
