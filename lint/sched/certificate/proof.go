package certificate

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// ProofKind is the method by which a verdict of never or always is proved.
type ProofKind uint8

const (
	// Unproved is for sometimes verdicts, which two runs prove.
	Unproved ProofKind = iota
	// Shape: the component is one kind of pod whose maximal placements follow
	// from its rules alone (T1, T3, T5).
	Shape
	// LimitProof: one of the members cannot have room for all its pods, whatever the
	// others do.
	LimitProof
	// Exclusive: members that all exclude each other from the domains of a key are
	// more than there are domains (T10).
	Exclusive
	// Outweighed: the same, counting pods by weights (T11).
	Outweighed
	// Overcommitted: members request more of a resource than the nodes have that they
	// may use, less what they may take elsewhere (T12).
	Overcommitted
	// Uncolourable: no choice of nodes separates the pods that exclude each other (T13).
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
	// About lists the pod groups that the proof is about, in order.
	About   []int
	Key     string
	Weights []int
	// Resource and Nodes are those that are overcommitted. Keys has, for each of About, the key
	// on which the pods of the group are counted by domain, or "".
	Resource corev1.ResourceName
	Nodes    []int
	Keys     []string
	// Open holds the nodes of a pod group that cannot all be closed; without an entry, all its nodes.
	Open map[int][]int
	// NeedsPeers is set if pod groups are proved to be placed because others are there (T14).
	NeedsPeers bool
}

// Keep records the nodes of a pod group that cannot all be closed.
func (p *Proof) Keep(unit int, nodes []int) {
	if p.Open == nil {
		p.Open = map[int][]int{}
	}
	p.Open[unit] = nodes
}

// Member is a set of pods of a component as the checker sees them: those of one
// workload, or the pod of a DaemonSet on one node.
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

// Called returns the workloads of members, for errors.
func Called(members []Member) []*workload.Workload {
	var ws []*workload.Workload
	for _, m := range members {
		ws = append(ws, m.G.Workload)
	}
	return ws
}
