package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// shape describes a workload of a cluster that loses nodes.
type shape struct {
	kind, name string
	replicas   int
	spec       string
}

func (s shape) String() string {
	text := strings.ReplaceAll(strings.ReplaceAll(deployment(s.replicas, s.spec), "name: web,", "name: "+s.name+","), "{app: web}", "{app: "+s.name+", all: x}")
	if s.kind == "DaemonSet" {
		text = strings.Replace(text, fmt.Sprintf("  replicas: %d\n", s.replicas), "", 1)
	}
	return "---\n" + strings.Replace(text, "kind: Deployment", "kind: "+s.kind, 1)
}

// terminating returns a terminating pod of the workload.
func (s shape) terminating() string {
	text := fmt.Sprintf("---\napiVersion: v1\nkind: Pod\nmetadata: {name: terminating-%s, namespace: d, labels: {app: %s, all: x}, deletionTimestamp: \"2026-01-01T00:00:00Z\"}\nspec:\n", s.name, s.name)
	if !strings.Contains(s.spec, "containers:") {
		text += "  containers: [{name: c, image: c}]\n"
	}
	for line := range strings.Lines(s.spec) {
		text += "  " + strings.TrimRight(line, "\n") + "\n"
	}
	return text
}

// setting is a cluster and the nodes that it loses.
type setting struct {
	nodes   []string // each may be followed by a line of taints
	shapes  []shape
	lost    []bool
	meaning certificate.Meaning
}

func (s setting) String() string {
	return fmt.Sprint(s.meaning, s.lost, "\n", s.before(), s.manifests())
}

func (s setting) before() string { return strings.Join(s.nodes, "") }

// after returns the nodes after the loss.
func (s setting) after() string {
	text := ""
	for i, n := range s.nodes {
		switch {
		case !s.lost[i]:
			text += n
		case s.meaning == certificate.Unreachable:
			text += n + "spec: {taints: [{key: node.kubernetes.io/unreachable, effect: NoSchedule}, {key: node.kubernetes.io/unreachable, effect: NoExecute}]}\n"
		case s.meaning == certificate.Drained:
			text += n + "spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}\n"
		}
	}
	return text
}

func (s setting) manifests() string {
	text := ""
	for _, w := range s.shapes {
		text += w.String()
	}
	return text
}

// walk reaches all states from one state by the filters alone, like finals. A DaemonSet has at most
// one pod on a node.
func walk(m *model.Model, ws []*workload.Workload, counts [][]int, want []int, seen map[string]bool, each func()) {
	key := fmt.Sprint(counts, want)
	if seen[key] {
		return
	}
	seen[key] = true
	state, moved := populated(m, ws, counts), false
	for i, w := range ws {
		if sum(counts[i]) == want[i] {
			continue
		}
		for n, node := range m.Topology.Nodes {
			if w.Kind.PerNode() && counts[i][n] > 0 || state.Filter(w, node) != certificate.Takes {
				continue
			}
			moved = true
			counts[i][n]++
			walk(m, ws, counts, want, seen, each)
			counts[i][n]--
		}
	}
	if !moved {
		each()
	}
}

// fate holds the smallest and largest number of pods of a workload that are missing in the end,
// over all runs.
type fate struct {
	seen         bool
	fewest, most int
}

func (f fate) verdict() diag.Outcome {
	switch {
	case !f.seen:
		return diag.Unknown
	case f.most == 0:
		return diag.Always
	case f.fewest > 0:
		return diag.Never
	}
	return diag.Sometimes
}

// fates tries all placements, losses and repairs. A workload counts where all of its pods run before.
func (s setting) fates(t *testing.T) (map[string]fate, *model.Model) {
	t.Helper()
	m, set := modelOf(t, s.before(), s.manifests())
	terminating := ""
	for _, w := range s.shapes {
		terminating += w.terminating()
	}
	left, rest := modelOf(t, s.after(), s.manifests()+terminating)
	want, counts := make([]int, len(s.shapes)), grid(len(s.shapes), len(s.nodes))
	for i, w := range set.Workloads {
		if want[i] = w.Count.N; w.Kind.PerNode() {
			want[i] = m.Eligible(w).Count
		}
	}
	all, seen := map[string]fate{}, map[string]map[string]bool{}
	walk(m, set.Workloads, counts, want, map[string]bool{}, func() {
		began := make([]bool, len(counts))
		for i := range counts {
			if began[i] = sum(counts[i]) == want[i]; !began[i] && set.Workloads[i].Kind.PerNode() {
				return // DaemonSet pods come first
			}
		}
		key := fmt.Sprint(began)
		if seen[key] == nil {
			seen[key] = map[string]bool{}
		}
		now, wanted := s.strike(counts, want)
		walk(left, rest.Workloads, now, wanted, seen[key], func() {
			for i, w := range s.shapes {
				if !began[i] {
					continue
				}
				missing := want[i] - sum(now[i])
				if w.kind == "DaemonSet" {
					missing = 0
				}
				f := all[w.name]
				if !f.seen {
					f = fate{true, missing, missing}
				}
				all[w.name] = fate{true, min(f.fewest, missing), max(f.most, missing)}
			}
		})
	})
	return all, m
}

func grid(rows, columns int) [][]int {
	g := make([][]int, rows)
	for i := range g {
		g[i] = make([]int, columns)
	}
	return g
}

// strike returns the pods that remain of a placement after a loss, with terminating pods after the
// others, and the numbers of pods that are wanted then.
func (s setting) strike(counts [][]int, want []int) (now [][]int, wanted []int) {
	kept := func(row []int) []int {
		var some []int
		for n, c := range row {
			if !s.lost[n] || s.meaning != certificate.Gone {
				some = append(some, c)
			}
		}
		return some
	}
	var terminating [][]int
	var terminatingWant []int
	for i, w := range s.shapes {
		row, stays, target := append([]int(nil), counts[i]...), make([]int, len(counts[i])), want[i]
		for n, c := range row {
			switch {
			case !s.lost[n]:
			case w.kind == "DaemonSet" && s.meaning == certificate.Gone:
				target -= c
			case w.kind == "DaemonSet":
			case s.meaning == certificate.Unreachable:
				if stays[n], row[n] = c, 0; w.kind == "StatefulSet" {
					target -= c
				}
			default:
				row[n] = 0
			}
		}
		now, wanted = append(now, kept(row)), append(wanted, target)
		terminating, terminatingWant = append(terminating, kept(stays)), append(terminatingWant, sum(stays))
	}
	return append(now, terminating...), append(wanted, terminatingWant...)
}

var meanings = []certificate.Meaning{certificate.Gone, certificate.Unreachable, certificate.Drained}

// losing returns a small random cluster that loses nodes.
func (g generator) losing() setting {
	s := setting{meaning: meanings[g.IntN(3)]}
	size := 3 + g.IntN(3)
	for i := range size {
		labels := fmt.Sprintf("%s=n%d,rack=%s", hostKey, i, g.pick("x", "y", "z"))
		if !g.chance(8) {
			labels += "," + zoneKey + "=" + g.pick("a", "b", "c")
		}
		s.nodes = append(s.nodes, room(i, labels, 1+g.IntN(3)))
	}
	s.lost = make([]bool, size)
	s.lost[g.IntN(size)] = true
	if key := g.pick(zoneKey, "rack", ""); key != "" {
		for i, n := range s.nodes {
			value := strings.SplitN(strings.SplitN(n+key+": \"\"", key+": \"", 2)[1], "\"", 2)[0]
			s.lost[i] = value == g.pick("a", "x") || s.lost[i]
		}
	}
	names := []string{"web", "db", "cache"}[:1+g.IntN(3)]
	for _, name := range names {
		kind := g.pick("Deployment", "Deployment", "Deployment", "Deployment", "StatefulSet")
		if g.chance(6) {
			kind = "DaemonSet"
		}
		s.shapes = append(s.shapes, shape{kind, name, 1 + g.IntN(5-len(names)), g.lostSpec(name, names)})
	}
	return s
}

// lostSpec returns a random spec with a few hard rules about the workload's own pods and those of
// other workloads.
func (g generator) lostSpec(own string, names []string) string {
	var antis, affs, spreads []string
	target := func() string {
		return g.pick(sel("app="+own), sel("app="+own), sel("app="+g.pick(names...)), sel("all=x"))
	}
	key := func() string { return g.pick(hostKey, zoneKey, "rack") }
	switch g.IntN(5) {
	case 0:
		antis = append(antis, term(key(), target()))
	case 1:
		antis = append(antis, term(key(), target()), term(key(), target()))
	case 2:
		affs = append(affs, term(key(), target()))
	}
	if g.chance(45) {
		more := g.pick("", "", ", nodeTaintsPolicy: Honor", ", nodeTaintsPolicy: Honor", ", minDomains: 2")
		spreads = append(spreads, strings.Replace(tsc(key(), target(), more), "maxSkew: 1", "maxSkew: "+g.pick("1", "1", "2"), 1))
	}
	return strings.TrimPrefix(ruled(antis, affs, spreads), map[bool]string{true: "affinity:\n"}[len(antis)+len(affs) == 0])
}

// TestLose compares verdicts on losses with all placements and repairs.
func TestLose(t *testing.T) {
	cases := trials.Of(t, 1500)
	count := map[string]int{}
	for seed := range trials.Seeds(t, cases) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 401))}
		s := g.losing()
		want, m := s.fates(t)
		for _, got := range search.NewHistory(m, []map[string]bool{s.names()}, nil, search.Options{}).Lose(certificate.Loss{Nodes: s.names(), Meaning: s.meaning}, search.Options{}) {
			f := want[got.Workload.Object.Name]
			count[fmt.Sprint(s.meaning, " ", f.verdict())]++
			switch v := f.verdict(); {
			case got.Verdict != v:
				t.Fatalf("seed %d: %s is %s, want %s %+v\n%s", seed, got.Workload, got.Verdict, v, f, s)
			case v == diag.Never && got.Pending != f.fewest, v == diag.Sometimes && (got.Pending < 1 || got.Pending > f.most):
				t.Fatalf("seed %d: %s has %d pending, want %+v\n%s", seed, got.Workload, got.Pending, f, s)
			}
		}
	}
	t.Log(count)
	for _, meaning := range meanings {
		for _, v := range []diag.Outcome{diag.Always, diag.Sometimes, diag.Never} {
			if count[fmt.Sprint(meaning, " ", v)] < cases/100 {
				t.Errorf("the generator is too tame: %v", count)
			}
		}
	}
}

func (s setting) names() map[string]bool {
	all := map[string]bool{}
	for i, lost := range s.lost {
		if lost {
			all[fmt.Sprintf("n%d", i)] = true
		}
	}
	return all
}
