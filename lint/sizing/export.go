package sizing

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// ZonesMatter reports whether it may matter to workloads in which zones a pool has its nodes. The
// model must have a node of the pool in each of its zones.
func ZonesMatter(m *model.Model, pool *topology.Pool, ws []*workload.Workload) bool {
	z := &sizing{o: &Options{}, base: m, of: [][]int{nil}}
	for n, node := range m.Topology.Nodes {
		if node.Pool != nil && node.Pool.Name == pool.Name {
			z.of[0] = append(z.of[0], n)
		}
	}
	return len(z.of[0]) > 0 && z.zonal(0, ws)
}

// NodeKeys returns the keys of the node labels that the pods of a workload select.
func NodeKeys(w *workload.Workload) []string { return slices.Clip(nodeKeys(w)) }
