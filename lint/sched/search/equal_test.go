package search_test

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// equals returns bare pods of one or two sizes without rules, a workload with a rule and perhaps
// one without, on small nodes.
func (g generator) equals() (nodes, manifests string) {
	for n := range 2 + g.IntN(2) {
		nodes += node(fmt.Sprintf("n%d", n), fmt.Sprintf("%s=n%d,%s=z%d", hostKey, n, zoneKey, n%2)) +
			fmt.Sprintf("status:\n  allocatable: {cpu: %q, pods: %q}\n", g.pick("2", "3"), g.pick("2", "5"))
	}
	request := func() string {
		return fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %q}}}]\n", g.pick("1", "1", "500m"))
	}
	for i := range 2 + g.IntN(3) {
		manifests += pod(fmt.Sprintf("p%d", i), "d", "", "", request())
	}
	rule := ruled([]string{term(hostKey, sel("app=ruled"))}, nil, nil)
	if g.chance(50) {
		rule = ruled(nil, nil, []string{tsc(zoneKey, sel("app=ruled"), ""), tsc(hostKey, sel("app=ruled"), "")})
	}
	manifests += named("ruled", 1+g.IntN(2), rule+request())
	if g.chance(50) {
		manifests += named("plain", 2, request())
	}
	return nodes, manifests
}

// TestEqualPodsAreOneClass checks that indistinguishable pods are decided as one class, and that
// each workload gets the numbers found by enumeration.
func TestEqualPodsAreOneClass(t *testing.T) {
	t.Parallel()
	count := hold(t, 200, 89, func(g generator) sample {
		nodes, manifests := g.equals()
		return sample{nodes, manifests, func(m *model.Model, _ truth, d *certificate.Decision) string {
			most, least := make([]int, len(m.Workloads)), make([]int, len(m.Workloads))
			for i, w := range m.Workloads {
				least[i] = w.Count.N
			}
			finals(m, m.Workloads, func(counts [][]int) {
				for i := range counts {
					most[i], least[i] = max(most[i], sum(counts[i])), min(least[i], sum(counts[i]))
				}
			})
			for i, w := range d.Workloads {
				if w.Workload != m.Workloads[i] || w.MaxPlaced != most[i] || w.MinPlaced != least[i] {
					return fmt.Sprintf("%s: %d to %d, want %d to %d", w.Workload, w.MinPlaced, w.MaxPlaced, least[i], most[i])
				}
			}
			return ""
		}}
	})
	count.vary(t, 10, diag.Always, diag.Sometimes, diag.Never)
}
