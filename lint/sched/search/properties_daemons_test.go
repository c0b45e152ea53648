package search_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// daemons returns a few nodes and workloads with one or two DaemonSets. Some DaemonSets have rules,
// use a host port, are selected by another workload's rule, or run in one zone only.
func (g generator) daemons() (nodes, manifests string) {
	nodes, manifests = g.filling()
	if strings.Contains(manifests, "kind: DaemonSet") && g.chance(50) {
		return nodes, manifests
	}
	daemon := func(name, spec string) {
		spec += fmt.Sprintf("containers: [{name: c, image: c, %sresources: {requests: {cpu: \"%d\", memory: \"%d\"}}}]\n", g.pick("", "", "ports: [{hostPort: 80, containerPort: 80}], "), g.IntN(3), g.IntN(3))
		manifests += strings.Replace(strings.Replace(named(name, 1, spec), "kind: Deployment", "kind: DaemonSet", 1), "  replicas: 1\n", "", 1)
	}
	daemon("log", g.pick("", "", "nodeSelector: {"+zoneKey+": z0}\n"))
	switch g.IntN(8) {
	case 0:
		daemon("proxy", ruled([]string{term(hostKey, sel("app=w0"))}, nil, nil))
	case 1:
		manifests += named("near", 1, ruled(nil, []string{term(hostKey, sel("app=log"))}, nil)+"containers: [{name: c, image: c, resources: {requests: {cpu: \"1\"}}}]\n")
	case 2:
		manifests += named("far", 1, ruled([]string{term(hostKey, sel("app=log"))}, nil, nil)+"containers: [{name: c, image: c}]\n")
	case 3:
		manifests += named("port", 1, "containers: [{name: c, image: c, ports: [{hostPort: 80, containerPort: 80}]}]\n")
	}
	return nodes, manifests
}

// TestPropertyT26 compares the verdicts under the assumption that DaemonSets start first with the
// maximal states in which each of their pods is placed.
func TestPropertyT26(t *testing.T) {
	count, changed, shown := verdicts{}, 0, 0
	for seed := range trials.Seeds(t, trials.AtLeast(t, 1500, 100)) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 226))}
		nodes, manifests := g.daemons()
		m, _ := modelOf(t, nodes, manifests)
		first := m.DaemonSetsFirst()
		if first == nil {
			continue
		}
		spans, all, whole := map[*workload.Workload]span{}, map[*workload.Workload]span{}, verdicts{}
		truth, ok := enumerateEach(m, 8000, func(placed map[*workload.Workload]int) {
			widen(all, placed)
			for _, w := range first.LeftOut {
				if placed[w] < m.Eligible(w).Count {
					return
				}
			}
			widen(spans, placed)
			verdict := diag.Always
			for w, n := range placed {
				if n < podsOf(m, w) {
					verdict = diag.Never
				}
			}
			whole[verdict]++
		})
		if !ok {
			continue
		}
		d := search.Decide(m, search.Options{Each: true})
		if seed%2 == 0 { // as if nothing were known for every order
			d.Verdict, d.MaxPlaced, d.Stuck = diag.Unknown, d.Total, nil
			for i := range d.Workloads {
				d.Workloads[i].Verdict = diag.Unknown
			}
		}
		search.DaemonSetsFirst(m, d, search.Options{Each: true})
		if d.Stuck != nil {
			shown++
		}
		fail := func(about any, said, want diag.Outcome) {
			t.Fatalf("seed %d: %v is %s if DaemonSets start first, but it is %s\n%s%s", seed, about, said, want, nodes, manifests)
		}
		for _, w := range d.Workloads {
			want := spans[w.Workload].verdict(w.Pods)
			count[want]++
			if said := w.DaemonSetsFirst; said != "" {
				if changed++; said != want {
					fail(w.Workload, said, want)
				}
			}
			if any := all[w.Workload].verdict(w.Pods); w.Verdict != diag.Unknown && w.Verdict != any {
				fail(w.Workload, w.Verdict, any)
			}
		}
		want := diag.Sometimes
		if whole[diag.Never] == 0 {
			want = diag.Always
		} else if whole[diag.Always] == 0 {
			want = diag.Never
		}
		if said := d.DaemonSetsFirst; said != "" && said != want {
			fail("the whole", said, want)
		}
		if d.Verdict != diag.Unknown && d.Verdict != truth.verdict() || d.MaxPlaced < truth.most {
			fail("the whole in any order", d.Verdict, truth.verdict())
		}
	}
	t.Logf("%d verdicts differ, %d stuck runs: %v", changed, shown, count)
	if changed < trials.Share(t, 500) || shown < trials.Share(t, 200) {
		t.Errorf("only %d verdicts differ, with %d stuck runs", changed, shown)
	}
	count.vary(t, 3, diag.Always, diag.Sometimes)
}

func podsOf(m *model.Model, w *workload.Workload) int {
	if w.Kind.PerNode() {
		return m.Eligible(w).Count
	}
	return w.Count.N
}
