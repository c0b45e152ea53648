package derive

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// bound returns "declared" or "undeclared" for pods that name their node, and "" for others. Pods
// bound to a missing node are deleted (R-N1; pkg/controller/podgc/gc_controller.go, gcOrphaned),
// and a kubelet rejects pods that do not fit its node. The scheduler never sees either as Pending.
func (b limits) bound(w *workload.Workload) string {
	switch {
	case w.Spec.NodeName == "":
		return ""
	case declared(b.m, w.Spec.NodeName):
		return "declared"
	}
	return "undeclared"
}

// declared reports whether a node with that name is declared.
func declared(m *model.Model, node string) bool {
	return slices.ContainsFunc(m.Topology.Nodes, func(n *topology.Node) bool { return n.Name == node })
}
