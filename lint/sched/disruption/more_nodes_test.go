package disruption_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// TestMoreNodesSettle checks that an unknown answer about a loss that names a number of further nodes
// is yes with so many, whichever eligible nodes they are like.
func TestMoreNodesSettle(t *testing.T) {
	const steps = 2_000 // more would settle more answers without further nodes
	settled, zonal := 0, 0
	for i := range trials.Seeds(t, trials.Of(t, 100)) {
		nodes, manifests := clusters.Everyday(67, uint64(i)).Text()
		m, set := models.Of(t, nodes, manifests)
		j := disruption.New(m, set, search.Options{Steps: steps})
		r, left := rand.New(rand.NewPCG(uint64(i), 67)), 3
		for _, w := range m.Workloads {
			for _, key := range []string{keys[host], keys[zone]} {
				ask := func(j *disruption.Judge) []disruption.Survival {
					all := j.Survives(w, key)
					if key == keys[host] {
						all = slices.Concat(all, j.Drains(w))
					}
					return all
				}
				for _, s := range ask(j) {
					if s.Verdict != diag.Unknown || s.Why.Count == 0 || left == 0 || r.IntN(3) > 0 {
						continue
					}
					left--
					more := furtherNodes(m, w, &s, r)
					v := m.Variant(m.Workloads, slices.Concat(m.Topology.Nodes, more), m.Apart...)
					again := ask(disruption.New(v, &workload.Set{Workloads: v.Workloads, Namespaces: v.Namespaces}, search.Options{Steps: steps}))
					at := slices.IndexFunc(again, func(o disruption.Survival) bool {
						return o.Meaning == s.Meaning && o.Value == s.Value && slices.Contains(o.Nodes(), s.Nodes()[0])
					})
					if at < 0 || again[at].Verdict != diag.Always {
						t.Fatalf("case %d: %s without %s %v (%s): %+v, but %+v with %d more\n%s%s", i, w, key, s.Nodes(), s.Meaning, s.Why, again[max(0, at)].Why, len(more), nodes, manifests)
					}
					if settled++; s.Why.Name != "" {
						zonal++
					}
				}
			}
		}
	}
	if t.Log(settled, zonal); settled < trials.Share(t, 120) || zonal < trials.Share(t, 15) {
		t.Error("too few answers are settled")
	}
}

// furtherNodes returns as many further nodes as a reason names, each like one that a workload can use
// and that is not lost.
func furtherNodes(m *model.Model, w *workload.Workload, s *disruption.Survival, r *rand.Rand) (more []*topology.Node) {
	like, why := map[string][]*topology.Node{}, s.Why
	for n := range m.Usable(w) {
		if model.Holds(n, m.Groups[w]) && (s.Key == keys[host] || n.Labels[s.Key] != s.Value) {
			value := ""
			if why.Name != "" {
				value = n.Labels[why.Name]
			}
			like[value] = append(like[value], n)
		}
	}
	for _, list := range like {
		for k := range why.Count {
			n := *list[r.IntN(len(list))]
			n.Name, n.Labels = fmt.Sprintf("more-%d-%d", len(more), k), maps.Clone(n.Labels)
			n.Labels[keys[host]] = n.Name
			more = append(more, &n)
		}
	}
	return more
}
