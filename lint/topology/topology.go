package topology

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/source"
)

// Node is one node with the properties that the scheduler reads (R-S1).
type Node struct {
	Name          string
	Labels        map[string]string
	Taints        []corev1.Taint
	Unschedulable bool
	// Allocatable is the capacity that pods may use; nil if the node declares neither allocatable
	// nor capacity.
	Allocatable corev1.ResourceList
	// Whole is set if Allocatable names every native resource of the node.
	Whole bool
	// Extended is that of the topology.
	Extended *Extended
	// Pool is the pool that the node belongs to, or nil.
	Pool *Pool
	// Span is the location of the declaration of the node or its pool.
	Span diag.Span
	// Declaration is the v1 Node, or the entry of the pool in its NodeTopology.
	Declaration Declaration
}

// Declaration is the object or list item that declares a node or a pool.
type Declaration struct {
	File *source.File
	Node *source.Node
}

// Taints returns the taints as written, or nil.
func (d *Declaration) Taints() *source.Node {
	if spec := d.Node.Get("spec"); spec != nil {
		return spec.Get("taints")
	}
	return d.Node.Get("taints")
}

// Pool is a set of equal nodes whose number may change.
type Pool struct {
	Name            string
	Count, Min, Max int
	Span            diag.Span
	Declaration     Declaration
}

// Growth is the room that a pool has in one of its zones: up to Extra more nodes like Node. The
// zones of a pool share its Extra.
type Growth struct {
	Node  *Node
	Extra int
}

// Topology has all nodes of one cluster.
type Topology struct {
	Nodes  []*Node
	Growth []Growth
	// Extended has the extended resources that are listed; all nodes share it.
	Extended *Extended
	// Notes are irregularities that the user should know, as complete sentences.
	Notes []string

	keys []string // of the labels, sorted; nil if not yet known
}

// Empty reports whether no node is declared and no pool can grow.
func (t *Topology) Empty() bool { return t == nil || len(t.Nodes) == 0 && len(t.Growth) == 0 }

// Elastic reports whether some pool may grow.
func (t *Topology) Elastic() bool { return t != nil && len(t.Growth) > 0 }

// AllNodeLabels returns the labels of every node and of every pool that may grow.
func (t *Topology) AllNodeLabels() []map[string]string {
	var all []map[string]string
	for _, n := range t.Nodes {
		all = append(all, n.Labels)
	}
	for _, g := range t.Growth {
		all = append(all, g.Node.Labels)
	}
	return all
}
