package simulate

import (
	"testing"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/models"
)

func TestSmoke(t *testing.T) {
	for i := range 10 {
		m, _ := models.Of(t, first(clusters.Everyday(19, uint64(i)).Text()), second(clusters.Everyday(19, uint64(i)).Text()))
		m.Scale(1, 1)
		before := m.Run().Spent()
		r := Runs(m, 200)
		for _, c := range r.Components {
			t.Log(i, len(c.nodesForTest()), len(c.Workloads), c.Why, c.Runs, c.Complete, c.Preempts)
		}
		t.Log(m.Run().Spent() - before)
	}
}
func (c *Component) nodesForTest() []int { return nil }
func first(a, b string) string           { return a }
func second(a, b string) string          { return b }
func BenchmarkRuns(b *testing.B) {
	nodes, manifests := clusters.Everyday(19, 3).Text()
	m, _ := models.Of(b, nodes, manifests)
	b.Logf("%d nodes %d", len(m.Topology.Nodes), len(m.Workloads))
	for b.Loop() {
		Runs(m, 200)
	}
}
