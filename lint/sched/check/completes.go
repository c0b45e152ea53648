package check

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Completes reports whether a run can be continued until all pods are in place, if
// further ones go only to certain nodes. It goes from pod to pod and never backtracks, so
// true is a witness and false proves nothing.
func Completes(m *model.Model, run []certificate.Placed, on func(*topology.Node) bool) bool {
	if m.Split() != m {
		return false
	}
	v, err := replay(m, run)
	if err != nil {
		return false
	}
	for moved := true; moved; {
		moved = false
		for _, w := range m.Workloads {
			g := m.Groups[w]
			if !model.Modelled(g) || w.Running {
				continue
			}
			for n, node := range m.Topology.Nodes {
				for on(node) && v.placed[w] < v.count(g) && !(w.Kind.PerNode() && v.pods(n, w) > 0) && v.refuses(g, n) == certificate.Takes {
					v.add(g, n)
					moved = true
				}
			}
		}
	}
	return !slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool {
		g := m.Groups[w]
		return model.Modelled(g) && !w.Running && v.placed[w] < v.count(g)
	})
}
