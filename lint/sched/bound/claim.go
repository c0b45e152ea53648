package bound

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// asked returns how much of a resource a pod of a group requests.
func asked(g *model.Group, name corev1.ResourceName) (int64, resource.Format) {
	if name == corev1.ResourcePods {
		return 1, resource.DecimalSI
	}
	for i := range g.Requests {
		if g.Requests[i].Name == name {
			return g.Requests[i].Amount, g.Requests[i].Quantity.Format
		}
	}
	return 0, ""
}

// asks returns how much of a resource a pod of a group requests where it is placed: if a
// manifest names the node, its kubelet drops extended resources that the node does not
// list (pkg/kubelet/lifecycle/predicate.go, removeMissingExtendedResources).
func (b *balance) asks(g *model.Group, name corev1.ResourceName) (int64, resource.Format) {
	each, format := asked(g, name)
	if n, known := b.m.IndexOf(g.Spec.NodeName); each > 0 && known && model.Extended(name) {
		if _, listed := b.m.Topology.Nodes[n].Allocatable[name]; !listed {
			return 0, ""
		}
	}
	return each, format
}

// claim is the demand of one workload for a resource on a set of nodes.
type claim struct {
	w    *workload.Workload
	pods int
	each int64
}
