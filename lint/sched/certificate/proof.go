package certificate

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// ProofKind is how a verdict of never or always is proved.
type ProofKind uint8

const (
	// Unproved is for sometimes verdicts, which two runs prove.
	Unproved ProofKind = iota
	// Shape: the component is one kind of pod whose maximal placements are known
	// from its rules alone (T1, T3, T5).
	Shape
	// LimitProof: one of the members cannot have room for all its pods, whatever the
	// others do.
	LimitProof
	// Exclusive: members that all keep one another out of the domains of a key are
	// more than there are domains (T10).
	Exclusive
	// Outweighed: the same, counting pods by weights (T11).
	Outweighed
	// Overcommitted: members ask for more of a resource than the nodes have that they
	// may use, less what they may take elsewhere (T12).
	Overcommitted
	// Uncolourable: no choice of nodes keeps apart what has to be apart (T13).
	Uncolourable
	// Headroom: no state closes all nodes to any pod (T2, T6, T8, T9).
	Headroom
	// Explored: all states were tried (T15).
	Explored
)

// Proof says why a verdict holds, in terms that the checker can look up in the
// model.
type Proof struct {
	Kind ProofKind
	// About are pod groups that the proof is about, in order.
	About   []int
	Key     string
	Weights []int
	// Resource and nodes are those that are overcommitted; keys goes with about: the key
	// on which pods of a pod group are counted by domain, or "".
	Resource corev1.ResourceName
	Nodes    []int
	Keys     []string
	// Open are nodes of a pod group that cannot all be closed, if not any will do.
	Open map[int][]int
	// Company is set if pod groups were shown to be placed since others are there (T14).
	Company bool
}

// Keep notes the nodes of a pod group that cannot all be closed.
func (p *Proof) Keep(unit int, nodes []int) {
	if p.Open == nil {
		p.Open = map[int][]int{}
	}
	p.Open[unit] = nodes
}

// Member is pods of a component as the checker knows them: those of one
// workload, or the one of a DaemonSet on one node.
type Member struct {
	G    *model.Group
	Pods int
	// Node is the index of the only node, or -1.
	Node int
	// Open are those of its nodes that cannot all be closed.
	Open []int
}

// Assertion is a verdict on a component with its proof, for the checker.
type Assertion struct {
	Members []Member
	Never   bool
	Proof   Proof
	About   []Member
}

// Called are the workloads of members, for errors.
func Called(members []Member) []*workload.Workload {
	var ws []*workload.Workload
	for _, m := range members {
		ws = append(ws, m.G.Workload)
	}
	return ws
}
