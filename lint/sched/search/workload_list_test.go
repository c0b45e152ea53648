package search_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// crowd returns a random cluster with more workloads than a roster scans one by one.
func (g generator) crowd() setting {
	s := setting{}
	for i := range 30 + g.IntN(30) {
		labels := fmt.Sprintf("%s=n%d,rack=%s,%s=%s", hostKey, i, g.pick("x", "y", "z"), zoneKey, g.pick("a", "b", "c"))
		s.nodes = append(s.nodes, sized(i, labels, fmt.Sprintf("pods: %q, cpu: %q", fmt.Sprint(4+g.IntN(20)), fmt.Sprint(4+g.IntN(20)))))
	}
	most := g.IntN(6)
	for i := range 42 + g.IntN(10) {
		name := fmt.Sprintf("w%d", i)
		var antis, spreads []string
		if g.chance(30) {
			antis = append(antis, term(g.pick(hostKey, hostKey, hostKey, zoneKey, "rack"), sel(g.pick("app="+name, "app=w0", "app=w1", "pod-template-hash=6c9f7d8b5"))))
		}
		if g.chance(most) {
			spreads = append(spreads, tsc(g.pick(hostKey, zoneKey), sel("app="+g.pick(name, "w1")), ""))
		}
		spec := ""
		if len(antis)+len(spreads) > 0 {
			spec = ruled(antis, nil, spreads)
		}
		asks := fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]\n", g.pick("0", "100m", "500m", "1"))
		kind := "Deployment"
		if g.chance(1) && g.chance(20) {
			kind = "DaemonSet"
		}
		s.shapes = append(s.shapes, shape{kind, name, 1 + g.IntN(3), spec + asks})
	}
	return s
}

// TestRosterOfMany compares a roster of many workloads, which uses sums and an index of the
// workloads that rules may select, with scanning each workload.
func TestRosterOfMany(t *testing.T) {
	t.Parallel()
	count := map[bool]int{}
	for seed := range trials.Seeds(t, trials.Of(t, 200)) {
		g := generator{rand.New(rand.NewPCG(88, uint64(seed)))}
		s := g.crowd()
		m, _ := modelOf(t, s.before(), s.manifests())
		many := search.NewRoster(m, m.Workloads, nil)
		few := many.Few()
		for _, w := range m.Workloads {
			edited := *w
			edited.Count.N = w.Count.N + 1
			leave := m.Guest(&edited)
			for _, meaning := range meanings {
				l := certificate.Loss{Meaning: meaning}
				for _, b := range []*search.DomainLoss{search.NoLoss, search.AnyNode} {
					got, want := search.AlwaysFits(w, many, many, b, l, model.Certain(w)), search.AlwaysFits(w, few, few, b, l, model.Certain(w))
					if count[got]++; got != want {
						t.Errorf("seed %d: %s: %v, want %v%s", seed, w, got, want, s)
					}
					if got := search.AlwaysFits(&edited, many, many, b, l, w.Count.N); got != want {
						t.Errorf("seed %d: %s as an edited one: %v, want %v", seed, w, got, want)
					}
				}
			}
			leave()
		}
	}
	t.Log(count)
	for _, fits := range []bool{false, true} {
		if count[fits] < trials.Share(t, 2000) {
			t.Errorf("the generator is too tame: %v", count)
		}
	}
}
