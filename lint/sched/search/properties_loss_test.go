package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// TestPropertyT7 covers the loss of a node. If the pods are proved to always fit on the other
// nodes, every repair of every placement completes, because every state on the way is a state of
// the smaller cluster.
func TestPropertyT7(t *testing.T) {
	pairs, repairs := 0, 0
	for seed := range trials.Seeds(t, trials.Of(t, 120)) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 207))}
		nodes := strings.SplitAfter(g.places(3+g.IntN(3), func() string { return fmt.Sprintf("pods: \"%d\", cpu: \"%d\"", 2+g.IntN(8), 2+g.IntN(4)) }), "}}\n")
		nodes = slices.DeleteFunc(nodes, func(n string) bool { return n == "" })
		manifests := g.mixed(func() string {
			return fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: \"%d\"}}}]\n", g.IntN(2))
		})
		whole, set := modelOf(t, strings.Join(nodes, ""), manifests)
		for lost := range nodes {
			left, survivors := modelOf(t, strings.Join(slices.Delete(slices.Clone(nodes), lost, lost+1), ""), manifests)
			if search.DecideWithoutSearch(left).Verdict != diag.Always {
				continue
			}
			finals(whole, set.Workloads, func(counts [][]int) {
				pairs++
				rest := make([][]int, len(counts))
				for i := range counts {
					rest[i] = slices.Delete(slices.Clone(counts[i]), lost, lost+1)
				}
				finalsFrom(left, survivors.Workloads, rest, func(end [][]int) {
					repairs++
					for i, w := range survivors.Workloads {
						if sum(end[i]) != w.Count.N {
							t.Fatalf("seed %d: without node %d of %v only %d of %d pods of %s are there after %v", seed, lost, counts, sum(end[i]), w.Count.N, w, end)
						}
					}
				})
			})
		}
	}
	t.Logf("%d placements and lost nodes, %d repairs", pairs, repairs)
	if pairs < trials.Share(t, 1000) {
		t.Errorf("the generator is too tame: %d placements and lost nodes", pairs)
	}
}
