package build

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// bound tells whether pods name their node, and whether that is declared: pods
// are deleted that are bound to a node which is not there (R-N1;
// pkg/controller/podgc/gc_controller.go, gcOrphaned), and a kubelet rejects what
// it cannot take. Neither is ever Pending for the scheduler.
func (b limits) bound(w *workload.Workload) string {
	switch {
	case w.Spec.NodeName == "":
		return ""
	case declared(b.m, w.Spec.NodeName):
		return "declared"
	}
	return "undeclared"
}

// declared reports whether there is a node of a name.
func declared(m *model.Model, node string) bool {
	return slices.ContainsFunc(m.Topology.Nodes, func(n *topology.Node) bool { return n.Name == node })
}
