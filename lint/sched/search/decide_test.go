package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// truth is the result of trying every run.
type truth struct {
	total, most, least int
	complete, stuck    bool
}

// enumerate reaches every state by the filters alone, in any order, except that pods of a
// StatefulSet may have to be created in their own order. Pods of one workload are equal. Pods of a
// DaemonSet are pinned, one per node.
func enumerate(m *model.Model, limit int) (truth, bool) { return enumerateEach(m, limit, nil) }

// enumerateEach is enumerate, and calls each with how many pods of a workload every maximal state
// places.
func enumerateEach(m *model.Model, limit int, each func(placed map[*workload.Workload]int)) (truth, bool) {
	m = m.Split()
	nodes := m.Topology.Nodes
	var ws []*workload.Workload
	var want [][]int // pods of a workload by the node it is pinned to; -1 for any
	var t truth
	for _, w := range m.Workloads {
		if w.Running || !model.Modelled(m.Group(w)) {
			continue
		}
		if w.Kind.PerNode() {
			for i, p := range m.Eligible(w).Nodes {
				if p.All() {
					ws, want = append(ws, w), append(want, []int{i, 1})
					t.total++
				}
			}
			continue
		}
		ws, want = append(ws, w), append(want, []int{-1, w.Count.N})
		t.total += w.Count.N
	}
	seen := map[string]bool{}
	counts := make([][]int, len(ws))
	for i := range counts {
		counts[i] = make([]int, len(nodes))
	}
	first, ok := true, true
	var visit func(placed int)
	visit = func(placed int) {
		key := fmt.Sprint(counts)
		if seen[key] || !ok {
			return
		}
		seen[key] = true
		if len(seen) > limit {
			ok = false
			return
		}
		state := check.NewState(m)
		for i, w := range ws {
			for n, c := range counts[i] {
				for range c {
					state.Place(w, nodes[n])
				}
			}
		}
		maximal := true
		for i, w := range ws {
			sum := 0
			for _, c := range counts[i] {
				sum += c
			}
			if sum == want[i][1] || !created(m, w, ws, counts) {
				continue
			}
			for n, node := range nodes {
				if (want[i][0] < 0 || want[i][0] == n) && state.Filter(w, node) == certificate.Takes {
					maximal = false
					counts[i][n]++
					visit(placed + 1)
					counts[i][n]--
				}
			}
		}
		if !maximal {
			return
		}
		if each != nil {
			own := map[*workload.Workload]int{}
			for i, w := range ws {
				for _, c := range counts[i] {
					own[w] += c
				}
			}
			each(own)
		}
		if first || placed > t.most {
			t.most = placed
		}
		if first || placed < t.least {
			t.least = placed
		}
		first = false
		t.complete = t.complete || placed == t.total
		t.stuck = t.stuck || placed < t.total
	}
	visit(0)
	return t, ok
}

// created reports whether the pod after which w is created is placed.
func created(m *model.Model, w *workload.Workload, ws []*workload.Workload, counts [][]int) bool {
	before := m.Group(w).After
	return before == nil || slices.ContainsFunc(counts[slices.Index(ws, before)], func(c int) bool { return c > 0 })
}

func (t truth) verdict() diag.Outcome {
	switch {
	case !t.stuck:
		return diag.Always
	case !t.complete:
		return diag.Never
	}
	return diag.Sometimes
}

// several returns a few workloads that select each other.
func (g generator) several() string {
	var b strings.Builder
	names := []string{"web", "db", "cache"}[:1+g.IntN(3)]
	for _, name := range names {
		pods := 1 + g.IntN(3)
		text := deployment(pods, g.crossSpec(name))
		if g.chance(10) {
			text = strings.Replace(text, "kind: Deployment", "kind: DaemonSet", 1)
			text = strings.Replace(text, fmt.Sprintf("  replicas: %d\n", pods), "", 1)
		}
		text = strings.ReplaceAll(text, "name: web,", "name: "+name+",")
		text = strings.ReplaceAll(text, "{app: web}", "{app: "+name+", tier: "+g.pick("s", "t")+"}")
		b.WriteString("---\n" + text)
	}
	if g.chance(20) {
		b.WriteString(pod("old", "d", "app="+g.pick(names...), "n0", ""))
	}
	return b.String()
}

func (g generator) target(own string) string {
	switch g.IntN(5) {
	case 0:
		return sel("tier=" + g.pick("s", "t"))
	case 1:
		return ", labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [" + own + "]}]}"
	case 2:
		return sel("app=" + own)
	}
	return sel("app=" + g.pick("web", "db", "cache"))
}

func (g generator) crossSpec(name string) string {
	var antis, affs, spreads []string
	for range g.IntN(2) + g.IntN(2) {
		antis = append(antis, term(g.key(), g.target(name)))
	}
	if g.chance(25) {
		affs = append(affs, term(g.key(), g.target(name)))
	}
	if g.chance(30) {
		spreads = append(spreads, tsc(g.key(), g.target(name), g.pick("", "", ", nodeTaintsPolicy: Honor", ", minDomains: 2")))
	}
	return ruled(antis, affs, spreads) + g.rest(10)
}

// enumerated returns a random cluster with the result of enumeration, or a nil model if enumeration
// takes too long.
func enumerated(t *testing.T, seed int, stream uint64) (string, *model.Model, truth) {
	g := generator{rand.New(rand.NewPCG(uint64(seed), stream))}
	nodes := g.nodes(2 + g.IntN(3))
	manifests := g.several()
	m, _ := modelOf(t, nodes, manifests)
	want, ok := enumerate(m, 20000)
	if !ok {
		return "", nil, truth{}
	}
	return nodes + manifests, m, want
}

// TestDecisionAgainstEnumeration compares decisions with every run of the filters on
// small random clusters, and replays witnesses and stuck runs.
func TestDecisionAgainstEnumeration(t *testing.T) {
	cases := trials.Of(t, 3000)
	count := map[diag.Outcome]int{}
	for seed := range trials.Seeds(t, cases) {
		text, m, want := enumerated(t, seed, 23)
		if m == nil {
			continue
		}
		d := search.Decide(m, search.Options{})
		count[d.Verdict]++
		if d.Verdict != want.verdict() || d.Total != want.total || d.MaxPlaced != want.most || d.MinPlaced != want.least {
			t.Fatalf("seed %d: %s %d of %d to %d, want %s %d of %d to %d\n%s", seed, d.Verdict, d.MinPlaced, d.Total, d.MaxPlaced,
				want.verdict(), want.least, want.total, want.most, text)
		}
		replay(t, m, d.Witness, d.MaxPlaced)
		if d.Stuck != nil {
			replay(t, m, d.Stuck.Placements, d.MinPlaced)
		}
	}
	t.Log(count)
	for _, v := range []diag.Outcome{diag.Always, diag.Sometimes, diag.Never} {
		if count[v] < cases/50 {
			t.Errorf("the generator is too tame: %v", count)
		}
	}
}

// replay places pods one by one, applying the filters each time.
func replay(t *testing.T, m *model.Model, run []certificate.Placed, want int) {
	t.Helper()
	if len(run) != want {
		t.Errorf("the run places %d, want %d", len(run), want)
	}
	state := check.NewState(m)
	for i, p := range run {
		if r := state.Filter(p.Workload, p.Node); r != certificate.Takes {
			t.Fatalf("step %d: %s refuses %s on %s", i, r, p.Workload, p.Node.Name)
		}
		state.Place(p.Workload, p.Node)
	}
}

// TestProofsAgainstEnumeration compares proofs without search with every run. A verdict must be
// right or unknown, and bounds must hold.
func TestProofsAgainstEnumeration(t *testing.T) {
	cases := trials.Of(t, 3000)
	count := map[diag.Outcome]int{}
	open := 0
	for seed := range trials.Seeds(t, cases) {
		text, m, want := enumerated(t, seed, 29)
		if m == nil {
			continue
		}
		d := search.DecideWithoutSearch(m)
		count[d.Verdict]++
		if d.Verdict == diag.Unknown {
			open++
		} else if d.Verdict != want.verdict() {
			t.Fatalf("seed %d: %s, want %s\n%s", seed, d.Verdict, want.verdict(), text)
		}
		if d.MaxPlaced < want.most || d.MinPlaced > want.least {
			t.Fatalf("seed %d: from %d to %d, want %d to %d within\n%s", seed, d.MinPlaced, d.MaxPlaced, want.least, want.most, text)
		}
		replay(t, m, d.Witness, len(d.Witness))
		if d.Stuck != nil {
			replay(t, m, d.Stuck.Placements, len(d.Stuck.Placements))
		}
	}
	t.Log(count)
	if open > cases/2 {
		t.Errorf("proofs leave too much open: %v", count)
	}
}

// TestHostileSizes decides inputs that no search could finish. Each decision must end within the
// budget, with a verdict or with bounds.
func TestHostileSizes(t *testing.T) {
	t.Parallel()
	inputs := hostileInputs()
	if trials.Few(t) {
		inputs = inputs[1:2] // the first one takes half a second
	}
	for _, v := range inputs {
		t.Run(v.name, func(t *testing.T) {
			m, _ := modelOf(t, v.nodes, v.manifests)
			d := search.Decide(m, search.Options{})
			if d.Verdict != v.verdict || d.MaxPlaced != v.most {
				t.Errorf("%s, at most %d, want %s, %d", d.Verdict, d.MaxPlaced, v.verdict, v.most)
			}
			replay(t, m, d.Witness[:min(len(d.Witness), 50)], min(len(d.Witness), 50))
		})
	}
}
