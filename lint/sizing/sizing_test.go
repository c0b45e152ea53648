package sizing_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sizing"
	"github.com/schedlint/schedlint/lint/workload"
)

// testPool is a random pool.
type testPool struct {
	name       string
	zones, max int
	cpu, cost  int
	tainted    bool
}

// testCase is a random cluster with a question.
type testCase struct {
	pools     []testPool
	manifests string
	o         sizing.Options
	// factor multiplies the steps of the engine.
	factor float64
	// known are the outcomes of layouts, by the numbers of nodes in each zone whatever its name is.
	known map[string]diag.Outcome
}

func newCase(r *rand.Rand, pools, most int) *testCase {
	c := &testCase{}
	for i := range pools {
		c.pools = append(c.pools, testPool{
			name: string(rune('a' + i)), zones: []int{1, 1, 2, 2, 3}[r.IntN(5)], max: 1 + r.IntN(most), cpu: 2 + r.IntN(3), cost: 1 + r.IntN(3), tainted: r.IntN(4) == 0,
		})
	}
	var b strings.Builder
	for i := range 1 + r.IntN(4) {
		c.workload(r, &b, i)
	}
	c.manifests = b.String()
	c.o = sizing.Options{Rolls: r.IntN(2) == 0, Drains: r.IntN(2) == 0}
	switch r.IntN(4) {
	case 0:
		c.o.Survives = []string{"kubernetes.io/hostname"}
	case 1:
		c.o.Survives = []string{"topology.kubernetes.io/zone"}
	}
	return c
}

// workload writes a random workload.
func (c *testCase) workload(r *rand.Rand, b *strings.Builder, i int) {
	name := fmt.Sprintf("w%d", i)
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	kind := pick("Deployment", "Deployment", "Deployment", "StatefulSet", "DaemonSet")
	spec := ""
	if r.IntN(3) == 0 {
		spec += fmt.Sprintf("      nodeSelector: {pool: %s}\n", c.pools[r.IntN(len(c.pools))].name)
	}
	if r.IntN(3) == 0 {
		spec += "      tolerations: [{key: t, operator: Exists}]\n"
	}
	self := fmt.Sprintf("{matchLabels: {app: %s}}", name)
	key := pick("kubernetes.io/hostname", "topology.kubernetes.io/zone")
	switch rule := r.IntN(7); {
	case kind == "DaemonSet":
	case rule == 0:
		spec += fmt.Sprintf("      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: %s}]}}\n", key, self)
	case rule == 1:
		spec += fmt.Sprintf("      topologySpreadConstraints: [{maxSkew: 1, topologyKey: %s, whenUnsatisfiable: DoNotSchedule, labelSelector: %s%s}]\n", key, self, pick("", "", ", nodeTaintsPolicy: Honor", ", minDomains: 2"))
	case rule == 2 && i > 0:
		spec += fmt.Sprintf("      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: {matchLabels: {app: w%d}}}]}}\n", key, r.IntN(i))
	case rule == 3 && i > 0:
		spec += fmt.Sprintf("      affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: {matchLabels: {app: w%d}}}]}}\n", key, r.IntN(i))
	}
	count, strategy := fmt.Sprintf("  replicas: %d\n", 1+r.IntN(4)), ""
	switch kind {
	case "DaemonSet":
		count = ""
	case "Deployment":
		strategy = pick("", "", "  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n", "  strategy: {type: Recreate}\n")
	}
	fmt.Fprintf(b, "---\napiVersion: apps/v1\nkind: %s\nmetadata: {name: %s}\nspec:\n%s%s  selector: %s\n  template:\n    metadata: {labels: {app: %s}}\n    spec:\n%s      containers: [{name: c, image: i, resources: {requests: {cpu: %q}}}]\n",
		kind, name, count, strategy, self, name, spec, pick("250m", "500m", "1", "1500m"))
	if r.IntN(6) == 0 && kind != "DaemonSet" {
		fmt.Fprintf(b, "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %s}\nspec: {%s, selector: %s}\n", name, pick("maxUnavailable: 1", "minAvailable: 1", "maxUnavailable: 0"), self)
	}
}

// nodes writes the pools with the given numbers of nodes by zone.
func (c *testCase) nodes(at [][]int, limits bool) string {
	var b strings.Builder
	b.WriteString("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n")
	for i, p := range c.pools {
		var zones []string
		for z, n := range at[i] {
			zones = append(zones, fmt.Sprintf("z%d: %d", z, n))
		}
		fmt.Fprintf(&b, "- name: %s\n  zones: {%s}\n  labels: {pool: %s}\n  allocatable: {cpu: \"%d\", pods: \"10\"}\n", p.name, strings.Join(zones, ", "), p.name, p.cpu)
		if limits {
			fmt.Fprintf(&b, "  min: 0\n  max: %d\n  cost: %d\n", p.max, p.cost)
		}
		if p.tainted {
			b.WriteString("  taints: [{key: t, effect: NoSchedule}]\n")
		}
	}
	return b.String()
}

// spread yields the numbers of nodes by zone for n nodes: every way in which zones differ by one at
// most.
func spread(n, zones int) (all [][]int) {
	for mask := range 1 << zones {
		at, sum := make([]int, zones), 0
		for z := range at {
			at[z] = n/zones + mask>>z&1
			sum += at[z]
		}
		if sum == n {
			all = append(all, at)
		}
	}
	return all
}

// outcome decides a layout with the answers of place.
func (c *testCase) outcome(t *testing.T, at [][]int) diag.Outcome {
	m, set := models.Of(t, c.nodes(at, false), c.manifests)
	m.Scale(c.factor, 1)
	if m.Topology.Empty() {
		for g := range m.Placeable() {
			if !g.Kind.PerNode() {
				return diag.Never
			}
		}
		return diag.Always
	}
	d := search.Decide(m, search.Options{Each: true})
	search.DaemonSetsFirst(m, d, search.Options{Each: true})
	doc := derive.Decision(m, d, disruption.New(m, set, search.Options{}), func(*workload.Workload) []string { return c.o.Survives })
	all := diag.Always
	add := func(verdict string) {
		switch diag.Outcome(verdict) {
		case diag.Never, diag.Sometimes:
			all = diag.Never
		case diag.Unknown:
			if all == diag.Always {
				all = diag.Unknown
			}
		}
	}
	if doc.DaemonSetsFirst != string(diag.Always) {
		add(doc.Verdict)
	}
	for _, w := range doc.Workloads {
		if w.DaemonSetsFirst != string(diag.Always) {
			add(w.Verdict)
		}
		if c.o.Rolls {
			add(w.Change.Rollout.Verdict)
		}
		if c.o.Drains {
			add(w.Change.Drain.Verdict)
		}
		for _, s := range w.Change.Survives {
			if s.Meaning == "gone" {
				add(s.Verdict)
			}
		}
	}
	return all
}

// size decides a size by all its layouts.
func (c *testCase) size(t *testing.T, size []int) diag.Outcome {
	layouts := [][][]int{{}}
	for i, n := range size {
		var next [][][]int
		for _, at := range layouts {
			for _, zones := range spread(n, c.pools[i].zones) {
				next = append(next, append(slices.Clone(at), zones))
			}
		}
		layouts = next
	}
	all := diag.Always
	for _, at := range layouts {
		zones := make([]string, 3)
		for z := range zones {
			for i := range at {
				n := 0
				if z < len(at[i]) {
					n = at[i][z]
				}
				zones[z] += fmt.Sprint(n, " ")
			}
		}
		slices.Sort(zones)
		key := strings.Join(zones, "/")
		if _, ok := c.known[key]; !ok {
			c.known[key] = c.outcome(t, at)
		}
		switch c.known[key] {
		case diag.Never:
			return diag.Never
		case diag.Unknown:
			all = diag.Unknown
		}
	}
	return all
}

// best decides all sizes by cost, up to the first that holds.
func (c *testCase) best(t *testing.T) (best []int, undecided int) {
	type one struct {
		size []int
		cost int
	}
	all := []one{{}}
	for _, p := range c.pools {
		var next []one
		for _, o := range all {
			for n := range p.max + 1 {
				next = append(next, one{append(slices.Clone(o.size), n), o.cost + n*p.cost})
			}
		}
		all = next
	}
	slices.SortStableFunc(all, func(a, b one) int { return cmp.Or(cmp.Compare(a.cost, b.cost), slices.Compare(a.size, b.size)) })
	for _, o := range all {
		switch c.size(t, o.size) {
		case diag.Always:
			return o.size, undecided
		case diag.Unknown:
			undecided++
		}
	}
	return nil, undecided
}

// compareSizes compares sizes with the enumeration of all sizes of random clusters. It returns how
// many could not be compared because an answer is unknown.
func compareSizes(t *testing.T, cases, pools, most int) {
	t.Helper()
	found, none, open := 0, 0, 0
	for seed := range trials.Seeds(t, cases) {
		r := rand.New(rand.NewPCG(uint64(seed), uint64(pools)))
		c := newCase(r, pools, most)
		start := make([][]int, pools)
		for i, p := range c.pools {
			start[i] = make([]int, p.zones)
		}
		var got *diag.Sizing
		var best []int
		undecided := 0
		for _, c.factor = range []float64{1, 8} { // as with --steps
			m, set := models.Of(t, c.nodes(start, true), c.manifests)
			var err error
			got, err = sizing.Of(&c.o, m.Topology, set, 1000, func(m *model.Model) {
				m.Scale(c.factor, 1)
				m.Run().OnRefusal = func(err error) { panic(err) }
			})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got.Verdict != diag.SizeUnknown && got.Verdict != diag.SizeFound {
				c.known = map[string]diag.Outcome{}
				best, undecided = c.best(t)
				break
			}
		}
		sizes := []int{}
		for _, p := range got.Pools {
			sizes = append(sizes, p.Nodes)
		}
		want := diag.SizeMinimal
		switch {
		case best == nil && undecided > 0:
			want = diag.SizeUnknown
		case best == nil:
			want = diag.SizeNone
		case undecided > 0:
			want = diag.SizeFound
		}
		if best == nil {
			best = make([]int, pools)
		}
		switch equal := slices.Equal(sizes, best); {
		case got.Verdict == diag.SizeUnknown || got.Verdict == diag.SizeFound: // it says so
			open++
		case undecided > 0 && equal: // bounds refute what the engine leaves open
			found++
		case !equal || got.Verdict != want:
			t.Errorf("seed %d: %s %v (%d undecided), want %s %v (%d undecided)\n%+v\n%s%s", seed, got.Verdict, sizes, got.Undecided, want, best, undecided, c.o, c.nodes(start, true), c.manifests)
		case want == diag.SizeNone:
			none++
		default:
			found++
		}
		if c.known = map[string]diag.Outcome{}; got.Verdict == diag.SizeFound && c.size(t, sizes) != diag.Always {
			t.Errorf("seed %d: %v is said to be enough", seed, sizes)
		}
	}
	t.Logf("%d found, %d impossible, %d undecided", found, none, open)
	if open*50 > max(cases, 100) || found*3 < cases || none*20 < cases {
		t.Errorf("%d found, %d impossible, %d undecided: too few or too many of one kind", found, none, open)
	}
}

// TestSizesByEnumeration compares sizes of two pools of up to five nodes with the enumeration of all
// sizes. SCHEDLINT_SIZES is a number of cases with three pools of up to six nodes to compare instead.
func TestSizesByEnumeration(t *testing.T) {
	if cases, err := strconv.Atoi(os.Getenv("SCHEDLINT_SIZES")); err == nil {
		compareSizes(t, cases, 3, 6)
		return
	}
	compareSizes(t, trials.AtLeast(t, 150, 16), 2, 5)
}

// TestSizingSays checks what is said if no size is known, and about pools that cannot be sized.
func TestSizingSays(t *testing.T) {
	const (
		pool  = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: a, count: 1, min: 0, max: 4, allocatable: {cpu: \"4\", memory: 16Gi, pods: \"110\"}}\n"
		node  = "---\napiVersion: v1\nkind: Node\nmetadata: {name: w-1, labels: {kubernetes.io/hostname: w-1}}\nstatus: {allocatable: {cpu: \"4\", memory: 16Gi, pods: \"110\"}}\n"
		quota = "---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: shop}\nspec: {hard: {pods: \"3\"}}\n"
		old   = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: old, namespace: shop, uid: \"1\"}\nspec: {nodeName: w-1, containers: [{name: c, image: c, resources: {requests: {cpu: \"3\"}}}]}\nstatus: {phase: Running}\n"
	)
	two := strings.Replace(pool, "count: 1, min: 0", "count: 2, min: 2", 1)
	web := func(name, replicas string) string {
		return fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %[1]s, namespace: shop}\nspec: {replicas: %[2]s, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: c, image: c, resources: {requests: {cpu: \"3\"}}}]}}}\n", name, replicas)
	}
	for _, c := range []struct {
		name, nodes, manifests string
		o                      sizing.Options
		want                   string // the verdict with the numbers of nodes, or the error, and why
	}{
		{"three nodes", pool, web("web", "3"), sizing.Options{}, "minimal 3"},
		{"more than the pool may have", pool, web("web", "5"), sizing.Options{}, "none"},
		{"a variable number of pods", pool, web("web", "'${N}'"), sizing.Options{}, "unknown: the number of pods is unknown"},
		{"a pod that runs on another node", pool + node, web("web", "2") + old, sizing.Options{}, "minimal 2"},
		{"room beside the pool", pool + node, web("web", "2"), sizing.Options{}, "minimal 1"},
		{"a quota of two workloads", pool, quota + web("web", "1") + web("api", "2"), sizing.Options{}, "minimal 3"},
		{"a greatest number at the least", two, web("web", "1"), sizing.Options{Max: map[string]int{"a": 2}}, "minimal 2"},
		{"a greatest number below the least", two, web("web", "1"), sizing.Options{Max: map[string]int{"a": 1}}, "--max a=1: the pool has at least 2 nodes"},
		{"nodes without a pool", node, web("web", "1"), sizing.Options{}, "no pool is declared: only pools have a size that can be chosen"},
		{"a file without pools", pool, web("web", "1"), sizing.Options{Candidates: []string{"spare.yaml"}}, "--candidates spare.yaml: the file declares no pool"},
	} {
		m, set := models.Of(t, c.nodes, c.manifests)
		got := ""
		switch out, err := sizing.Of(&c.o, m.Topology, set, 1, func(m *model.Model) { m.Scale(1000, 1) }); {
		case err != nil:
			got = err.Error()
		default:
			got = string(out.Verdict)
			if out.Verdict == diag.SizeMinimal {
				got += fmt.Sprint(" ", out.Nodes)
			}
			if out.Why != nil && out.Why.Text != "" {
				got += ": " + out.Why.Text
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
