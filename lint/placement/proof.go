package placement

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/workload"
)

// proofKind is how a verdict of never or always is proved.
type proofKind uint8

const (
	// unproved is for order-dependent verdicts, which two runs prove.
	unproved proofKind = iota
	// shape: the component is one kind of pod whose maximal placements are known
	// from its rules alone (T1, T3, T5).
	shape
	// limit: one of the members cannot have room for all its pods, whatever the
	// others do.
	limit
	// exclusive: members that all keep one another out of the domains of a key are
	// more than there are domains (T10).
	exclusive
	// outweighed: the same, counting pods by weights (T11).
	outweighed
	// crammed: members ask for more of a resource than the nodes have that they
	// may use, less what they may take elsewhere (T12).
	crammed
	// uncolourable: no choice of nodes keeps apart what has to be apart (T13).
	uncolourable
	// roomy: no state closes all nodes to any pod (T2, T6, T8, T9).
	roomy
	// explored: all states were tried (T15).
	explored
)

// proof says why a verdict holds, in terms that the checker can look up in the
// model.
type proof struct {
	kind proofKind
	// about are units that the proof is about, in order.
	about   []int
	key     string
	weights []int
	// resource and nodes are those that are crammed; keys goes with about: the key
	// on which pods of a unit are counted by domain, or "".
	resource corev1.ResourceName
	nodes    []int
	keys     []string
	// open are nodes of a unit that cannot all be closed, if not any will do.
	open map[int][]int
	// company is set if units were shown to be placed since others are there (T14).
	company bool
}

// keep notes the nodes of a unit that cannot all be closed.
func (p *proof) keep(unit int, nodes []int) {
	if p.open == nil {
		p.open = map[int][]int{}
	}
	p.open[unit] = nodes
}

// member is pods of a component as the checker knows them: those of one
// workload, or the one of a DaemonSet on one node.
type member struct {
	g    *Group
	pods int
	// node is the index of the only node, or -1.
	node int
	// open are those of its nodes that cannot all be closed.
	open []int
}

// assertion is a verdict on a component with its proof, for the checker.
type assertion struct {
	members []member
	never   bool
	proof   proof
	about   []member
}

// assertion translates the outcome of a component.
func (a *arena) assertion(o *outcome) *assertion {
	claim := &assertion{never: o.never, proof: o.proof}
	as := func(i int) member {
		u := a.units[i]
		m := member{g: u.g, pods: u.pods, node: -1}
		if u.g.Kind.PerNode() {
			m.node = u.pinned
		}
		m.open = o.proof.open[i]
		return m
	}
	for _, i := range o.units {
		claim.members = append(claim.members, as(i))
	}
	for _, i := range o.proof.about {
		claim.about = append(claim.about, as(i))
	}
	return claim
}

// called are the workloads of members, for errors.
func called(members []member) []*workload.Workload {
	var ws []*workload.Workload
	for _, m := range members {
		ws = append(ws, m.g.Workload)
	}
	return ws
}
