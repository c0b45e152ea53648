package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// most returns the largest number of equal pods that any order and any choice of nodes can place.
// It tries all of them. Because the pods are equal, a state is the number of pods on each node.
func most(m *model.Model, w *workload.Workload, pods int) int {
	nodes := m.Topology.Nodes
	seen := map[string]bool{}
	best := 0
	var try func(counts []int, placed int)
	try = func(counts []int, placed int) {
		key := fmt.Sprint(counts)
		if seen[key] || best == pods {
			return
		}
		seen[key] = true
		best = max(best, placed)
		if placed == pods {
			return
		}
		state := check.NewState(m)
		for i, n := range counts {
			for range n {
				state.Place(w, nodes[i])
			}
		}
		for i, n := range nodes {
			if state.Filter(w, n) == certificate.Takes {
				counts[i]++
				try(counts, placed+1)
				counts[i]--
			}
		}
	}
	try(make([]int, len(nodes)), 0)
	return best
}

// generator builds small random clusters and workloads.
type generator struct{ *rand.Rand }

func (g generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

// node returns a random node in a zone. Sometimes the node lacks a label, is tainted or is small.
func (g generator) node(i int) string {
	var labels []string
	if !g.chance(12) {
		labels = append(labels, fmt.Sprintf("%s=n%d", hostKey, i))
	}
	if !g.chance(15) {
		labels = append(labels, zoneKey+"="+g.pick("a", "b", "c"))
	}
	if !g.chance(30) {
		labels = append(labels, "rack="+g.pick("x", "y", "z"))
	}
	if g.chance(60) {
		labels = append(labels, "pool="+g.pick("p", "q"))
	}
	var taints []string
	if g.chance(15) {
		taints = append(taints, "t=v:"+g.pick("NoSchedule", "NoExecute", "PreferNoSchedule"))
	}
	text := node(fmt.Sprintf("n%d", i), strings.Join(labels, ","), taints...)
	if g.chance(50) {
		text += fmt.Sprintf("status:\n  allocatable: {cpu: %q, pods: %q}\n", g.pick("0", "1", "2", "4"), g.pick("1", "2", "10"))
	}
	return text
}

// key returns a topology key, usually one that nodes have.
func (g generator) key() string {
	return g.pick(hostKey, hostKey, zoneKey, zoneKey, "rack", "missing")
}

// spec returns a random pod spec with a few hard rules over its own pods.
func (g generator) spec() string {
	web := sel("app=web")
	var antis, affs, spreads []string
	for range g.IntN(3) {
		antis = append(antis, term(g.key(), web))
	}
	if g.chance(25) {
		affs = append(affs, term(g.key(), web))
	}
	seen := map[string]bool{}
	for range g.IntN(3) {
		key := g.key()
		if seen[key] {
			continue
		}
		seen[key] = true
		more := g.pick("", "", ", nodeTaintsPolicy: Honor", ", nodeAffinityPolicy: Ignore", ", minDomains: 3")
		spreads = append(spreads, strings.Replace(tsc(key, web, more), "maxSkew: 1", "maxSkew: "+g.pick("1", "1", "2"), 1))
	}
	selector := ""
	if g.chance(25) {
		selector = "nodeSelector: {pool: " + g.pick("p", "q") + "}\n"
	}
	return ruled(antis, affs, spreads) + selector + g.rest(15)
}

// ruled returns the YAML of a pod's terms and constraints.
func ruled(antis, affs, spreads []string) string {
	var b strings.Builder
	b.WriteString("affinity:\n")
	if len(antis) > 0 {
		b.WriteString("  podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + strings.Join(antis, ", ") + "]}\n")
	}
	if len(affs) > 0 {
		b.WriteString("  podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [" + strings.Join(affs, ", ") + "]}\n")
	}
	if len(spreads) > 0 {
		b.WriteString(spread(spreads...) + "\n")
	}
	return b.String()
}

// rest returns, at random, a toleration, a host port and a request.
func (g generator) rest(port int) string {
	var b strings.Builder
	if g.chance(30) {
		b.WriteString("tolerations: [{key: t, operator: Exists}]\n")
	}
	ports, cpu := "", ""
	if g.chance(port) {
		ports = ", ports: [{containerPort: 80, hostPort: 80}]"
	}
	if g.chance(40) {
		cpu = ", resources: {requests: {cpu: " + fmt.Sprintf("%q", g.pick("1", "2")) + "}}"
	}
	b.WriteString("containers: [{name: c, image: c" + ports + cpu + "}]\n")
	return b.String()
}

func (g generator) nodes(n int) string {
	text := ""
	for i := range n {
		text += g.node(i)
	}
	return text
}

// TestNoFalseInfeasible compares every limit with all orders and choices on small random clusters.
// A limit must never call a possible placement impossible, and it must be exact for a single rule.
func TestNoFalseInfeasible(t *testing.T) {
	cases := trials.Of(t, 4000)
	exceeded, exact := 0, 0
	for seed := range trials.Seeds(t, cases) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 7))}
		nodes := g.nodes(2 + g.IntN(4))
		pods := 1 + g.IntN(5)
		manifest := deployment(pods, g.spec())
		m, set := modelOf(t, nodes, manifest)
		w := set.Workloads[0]
		if !m.Judged(w) || m.Eligible(w).Count == 0 {
			continue
		}
		reached := most(m, w, pods)
		limits := bound.Capacity(m, w)
		said := ""
		for _, l := range limits {
			if l.Exceeded {
				said = string(l.By)
				exceeded++
				if l.Most < reached {
					t.Fatalf("seed %d: %s lets %d be placed, but %d can be\n%s%s", seed, l.By, l.Most, reached, nodes, manifest)
				}
			}
		}
		if said != "" && reached == pods {
			t.Fatalf("seed %d: infeasible by %s, but all %d can be placed\n%s%s", seed, said, pods, nodes, manifest)
		}
		rules := 0
		for _, l := range limits {
			if l.By != bound.ByRoom {
				rules++
			}
		}
		keys := len(m.Group(w).HardAffinity())
		if rules <= 1 && keys == 0 && len(m.Group(w).Terms) <= 1 {
			exact++
			if said == "" && reached < pods && bound.RequestFits(m, w).Fitting > 0 {
				t.Fatalf("seed %d: only %d of %d can be placed, and nothing says so\n%s%s", seed, reached, pods, nodes, manifest)
			}
		}
	}
	t.Logf("%d limits exceeded, %d decided exactly", exceeded, exact)
	if exceeded < cases/20 || exact < cases/20 {
		t.Errorf("the generator is too tame: %d limits exceeded, %d decided exactly", exceeded, exact)
	}
}

// TestGrowthIsNeverUnderestimated tries every way in which a pool may grow.
func TestGrowthIsNeverUnderestimated(t *testing.T) {
	grows := 0
	for seed := range trials.Seeds(t, trials.Of(t, 600)) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 11))}
		a, b, extra, other := g.IntN(2), g.IntN(2), 1+g.IntN(2), g.IntN(2)
		taint := ""
		if g.chance(30) {
			taint = "  taints: [{key: t, value: v, effect: NoSchedule}]\n"
		}
		pools := fmt.Sprintf("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- name: p\n  zones: {a: %d, b: %d}\n  max: %d\n  labels: {pool: p}\n%s- name: q\n  count: %d\n  max: 2\n", a, b, a+b+extra, taint, other)
		pods := 1 + g.IntN(5)
		manifest := deployment(pods, g.spec())
		m, set := modelOf(t, pools, manifest)
		w := set.Workloads[0]
		if !m.Judged(w) || m.Eligible(w).Count+m.Eligible(w).Growable == 0 {
			continue
		}
		impossible := ""
		for _, l := range bound.Capacity(m, w) {
			if l.Exceeded {
				impossible = string(l.By)
			}
			if l.Grows {
				grows++
			}
		}
		if impossible == "" {
			continue
		}
		for inA := range extra + 1 {
			for inB := range extra - inA + 1 {
				for inQ := range 3 - other {
					grown := fmt.Sprintf("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- name: p\n  zones: {a: %d, b: %d}\n  labels: {pool: p}\n%s- name: q\n  count: %d\n", a+inA, b+inB, taint, other+inQ)
					m, set := modelOf(t, grown, manifest)
					if len(m.Topology.Nodes) > 0 && most(m, set.Workloads[0], pods) == pods {
						t.Fatalf("seed %d: infeasible by %s, but with %d more in a, %d in b, %d in q all %d fit\n%s%s", seed, impossible, inA, inB, inQ, pods, pools, manifest)
					}
				}
			}
		}
	}
	if grows < trials.Share(t, 10) {
		t.Error("no case needs growth")
	}
}
