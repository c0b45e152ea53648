package search

import (
	"maps"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// atomKind is a part of a workload, other than its terms, that a contradiction may rest
// on.
type atomKind uint8

const (
	atomSelector atomKind = iota // nodeSelector and required node affinity
	atomTaints                   // taints that are not tolerated, and cordons
	atomRequests                 // resource requests
	atomSlots                    // the node slot that a pod takes
	atomPorts                    // host ports
	atomReplicas                 // the number of pods
)

// relaxation leaves parts of the input out, to see what a verdict rests on. The nil
// relaxation leaves out nothing.
type relaxation struct {
	terms map[*model.Term]bool
	parts map[*workload.Workload]map[atomKind]bool
	count map[*workload.Workload]int
	// extra is the number of pods in addition to the one that a DaemonSet has on a node.
	extra map[*workload.Workload]int
	// only, if not nil, is the set of workloads that take part.
	only map[*workload.Workload]bool
	// nodes are additional nodes.
	nodes []*topology.Node
	// keys are topology keys that replace those of terms.
	keys map[*model.Term]string
}

func (r *relaxation) clone() *relaxation {
	more := *r
	more.terms, more.parts, more.count = maps.Clone(r.terms), maps.Clone(r.parts), maps.Clone(r.count)
	return &more
}

// key returns the topology key of a term.
func (r *relaxation) key(t *model.Term) string {
	if r == nil || r.keys == nil {
		return t.Key
	}
	for _, of := range []*model.Term{t, t.Origin} {
		if key, ok := r.keys[of]; ok {
			return key
		}
	}
	return t.Key
}

func (r *relaxation) dropped(t *model.Term) bool {
	return r != nil && (r.terms[t] || t.Origin != nil && r.terms[t.Origin])
}

func (r *relaxation) without(g *model.Group, kind atomKind) bool {
	return r != nil && r.parts[g.Origin()][kind]
}

// gone reports whether a group has no pods left.
func (r *relaxation) gone(g *model.Group) bool {
	if r == nil {
		return false
	}
	n, ok := r.count[g.Origin()]
	return ok && n == 0
}

// treats reports whether the relaxation leaves out parts of a group.
func (r *relaxation) treats(g *model.Group) bool { return r != nil && len(r.parts[g.Origin()]) > 0 }

// pods returns the number of pods of a group under the relaxation.
func (r *relaxation) pods(g *model.Group) int {
	if r == nil {
		return g.Count.N
	}
	n, ok := r.count[g.Origin()]
	switch {
	case !ok:
		return g.Count.N
	case g.Whole == nil:
		return n
	case g.Position < n:
		return 1
	}
	return 0
}

// beside returns the number of pods in addition to the one that a DaemonSet has on a
// node.
func (r *relaxation) beside(g *model.Group) int {
	if r == nil {
		return 0
	}
	return r.extra[g.Origin()]
}
