package certificate

import (
	"github.com/schedlint/schedlint/lint/sched/model"
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/workload"
)

// proofKind is how a verdict of never or always is proved.
type ProofKind uint8

const (
	// unproved is for order-dependent verdicts, which two runs prove.
	Unproved ProofKind = iota
	// shape: the component is one kind of pod whose maximal placements are known
	// from its rules alone (T1, T3, T5).
	Shape
	// limit: one of the members cannot have room for all its pods, whatever the
	// others do.
	Limit
	// exclusive: members that all keep one another out of the domains of a key are
	// more than there are domains.
	Exclusive
	// outweighed: the same, counting pods by weights.
	Outweighed
	// crammed: members ask for more of a resource than the nodes have that they
	// may use, less what they may take elsewhere.
	Crammed
	// uncolourable: no choice of nodes keeps apart what has to be apart.
	Uncolourable
	// roomy: no state closes all nodes to any pod (T2, T6, T8, T9).
	Roomy
	// explored: all states were tried.
	Explored
)

// proof says why a verdict holds, in terms that the checker can look up in the
// model.
type Proof struct {
	Kind ProofKind
	// about are units that the proof is about, in order.
	About   []int
	Key     string
	Weights []int
	// resource and nodes are those that are crammed; keys goes with about: the key
	// on which pods of a unit are counted by domain, or "".
	Resource corev1.ResourceName
	Nodes    []int
	Keys     []string
	// open are nodes of a unit that cannot all be closed, if not any will do.
	Open map[int][]int
	// company is set if units were shown to be placed since others are there.
	Company bool
}

// keep notes the nodes of a unit that cannot all be closed.
func (p *Proof) Keep(unit int, nodes []int) {
	if p.Open == nil {
		p.Open = map[int][]int{}
	}
	p.Open[unit] = nodes
}

// member is pods of a component as the checker knows them: those of one
// workload, or the one of a DaemonSet on one node.
type Member struct {
	G    *model.Group
	Pods int
	// node is the index of the only node, or -1.
	Node int
	// open are those of its nodes that cannot all be closed.
	Open []int
}

// assertion is a verdict on a component with its proof, for the checker.
type Assertion struct {
	Members []Member
	Never   bool
	Proof   Proof
	About   []Member
}

// called are the workloads of members, for errors.
func Called(members []Member) []*workload.Workload {
	var ws []*workload.Workload
	for _, m := range members {
		ws = append(ws, m.G.Workload)
	}
	return ws
}
