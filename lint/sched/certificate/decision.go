package certificate

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Decision is the result of deciding workloads together.
type Decision struct {
	// Verdict considers declared resources. RulesVerdict assumes that pods do not compete for
	// resources and each only has to fit an empty node.
	Verdict, RulesVerdict diag.Outcome
	// Total is the required number of pods. Between MinPlaced and MaxPlaced of them are placed when
	// nothing more can be placed. Exact is false if these numbers are only bounds.
	Total, MaxPlaced, MinPlaced int
	Exact                       bool
	Workloads                   []WorkloadDecision
	// Witness is a run that places as many pods as possible. It is complete unless the verdict is
	// never or unknown.
	Witness []Placed
	// Stuck is a run that leaves pods Pending, or nil.
	Stuck *Stuck

	// Doubts lists the questions that the input leaves open. Over lists the components that were
	// not decided. The verdict is unknown only if one of the two lists is not empty.
	Doubts []model.Doubt
	Over   []Overrun

	// Groups maps each workload to the workloads of its component.
	Groups map[*workload.Workload][]*workload.Workload
	// Each holds the share of a component's budget that each of its workloads gets, by the first
	// workload of the component.
	Each map[*workload.Workload]int
	// Brief marks workloads whose proof of an always verdict holds only for states that are reached
	// by placing pods.
	Brief map[*workload.Workload]bool
}

// Lasting reports whether the missing pods of a workload that is always placed find nodes in every
// state, even after pods were removed. A proof by counting shows this, whereas exploring all states
// that are reached by placing pods does not.
func (d *Decision) Lasting(w *workload.Workload) bool { return !d.Brief[w] }

// Overrun is a component that was not decided, for the reason in Cause.
type Overrun struct {
	Workloads []*workload.Workload
	Pods      int
	Cause     model.Cause
}

// WorkloadDecision is the decision about one workload among the others.
type WorkloadDecision struct {
	Workload              *workload.Workload
	Pods                  int
	Verdict, RulesVerdict diag.Outcome
	MaxPlaced, MinPlaced  int
	// Why is the reason if Verdict is Unknown.
	Why model.Reason
}

// Stuck is a run after which no pending pod fits anywhere.
type Stuck struct {
	Placements []Placed
	Pending    []Pending
}

// Pending is the number of pods of one workload that are left Pending. Reasons counts the nodes
// that refuse them, by reason.
type Pending struct {
	Workload *workload.Workload
	Count    int
	Reasons  map[Reason]int
}

// ProofKind is the method by which a never or always verdict is proved.
type ProofKind uint8

const (
	// Unproved is for sometimes verdicts, which two runs prove.
	Unproved ProofKind = iota
	// Shape means that the component is one kind of pod whose maximal placements follow from its
	// rules alone (T1, T3, T5).
	Shape
	// LimitProof means that one of the members cannot have all its pods placed, whatever the others
	// do.
	LimitProof
	// Exclusive means that there are more members that exclude each other on a key than the key has
	// domains for them (T10).
	Exclusive
	// Outweighed is like Exclusive, but counts pods by weights (T11).
	Outweighed
	// Overcommitted means that members request more of a resource than a set of nodes has, even
	// after subtracting the part that they may take from other nodes (T12).
	Overcommitted
	// Uncolourable means that no choice of nodes separates the pods that exclude each other (T13).
	Uncolourable
	// Headroom means that no state closes all nodes to any pod (T2, T6, T8, T9).
	Headroom
	// Explored means that all states were tried (T15).
	Explored
)

// Proof explains a verdict in terms that the checker can look up in the model.
type Proof struct {
	Kind ProofKind
	// About lists the pod groups that the proof is about, in order.
	About   []int
	Key     string
	Weights []int
	// Resource is overcommitted on Nodes. Keys has an entry for each of About: the key by whose
	// domains the group's pods are counted, or "".
	Resource corev1.ResourceName
	Nodes    []int
	Keys     []string
	// Open holds, by pod group, nodes that other pods cannot all close to it. If there is no entry,
	// these are all nodes of the pod group.
	Open map[int][]int
	// NeedsPeers is set if the proof shows that pod groups are placed because other pods are there
	// (T14).
	NeedsPeers bool
}

// Keep records the nodes of a pod group that cannot all be closed.
func (p *Proof) Keep(unit int, nodes []int) {
	if p.Open == nil {
		p.Open = map[int][]int{}
	}
	p.Open[unit] = nodes
}

// Member is a set of pods of a component in the form that the checker uses: the pods of one
// workload, or the pod of a DaemonSet on one node.
type Member struct {
	G    *model.Group
	Pods int
	// Node is the index of the only node, or -1.
	Node int
	// Open lists the nodes that cannot all be closed.
	Open []int
}

// Assertion is a verdict on a component with its proof, for the checker.
type Assertion struct {
	Members []Member
	Never   bool
	Proof   Proof
	About   []Member
}

// Called returns the workloads of members, for error messages.
func Called(members []Member) []*workload.Workload {
	var ws []*workload.Workload
	for _, m := range members {
		ws = append(ws, m.G.Workload)
	}
	return ws
}

// Checker confirms the results of a search by independent reasoning. An error describes a claim
// that does not hold, which is a bug in the search. ErrTooLong means that the step limit was too
// small.
type Checker interface {
	// Verify replays the runs of a decision and fills in why the pods that a run leaves Pending fit
	// nowhere.
	Verify(m *model.Model, d *Decision) error
	// Replay replays a run: each node has to take its pod at that time.
	Replay(m *model.Model, run []Placed) error
	// Certify replays a run that has to be stuck, and fills in the reasons.
	Certify(m *model.Model, s *Stuck) error
	// Blocks reports whether a run is valid and leaves no node for a pod of a group.
	Blocks(m *model.Model, run []Placed, g *model.Group) bool
	// Prepare does the work that all checks of a model share.
	Prepare(m *model.Model)
	// Proofs returns a checker of proofs for a model. contend is set if pods compete for resources.
	Proofs(m *model.Model, contend bool) Proofs
	// NeverPlaced checks that no pod of a group ever finds a node, with at most one pod of each
	// workload in with present.
	NeverPlaced(m *model.Model, g *model.Group, with []*workload.Workload) error
	// Lose checks the outcomes of workloads after a loss, and Roll the outcome of a rollout. Roll
	// also fills in why no new pod fits.
	Lose(m *model.Model, l Loss, out []Lost, steps int) error
	Roll(m *model.Model, r Rollout, out *Rolled, steps int) error
}

// Proofs checks one proof after another, each within a number of steps.
type Proofs interface {
	Check(a *Assertion, steps int) error
}

type confirming struct{ Checker }

// Confirm sets the checker for a model and all models derived from it.
func Confirm(m *model.Model, c Checker) {
	model.KeepInRun(m.Run(), func() *confirming { return &confirming{c} })
}

// CheckerOf returns the checker of a model.
func CheckerOf(m *model.Model) Checker {
	return model.KeepInRun(m.Run(), func() *confirming { panic("nobody confirms what is said about this model") }).Checker
}

// ErrTooLong is returned if a check exceeds its budget. A result that cannot be checked is not
// reported.
var ErrTooLong = errors.New("the check takes too long")

// CheckSteps is the checker's budget for one component that was explored. The unit is one filter
// applied.
const CheckSteps = 400_000

// Meaning is the way in which nodes are lost.
type Meaning string

// The meanings of a loss.
const (
	// Gone nodes are deleted. They vanish with all their pods, and also as domains of a spread
	// (R-T10).
	Gone Meaning = "gone"
	// Unreachable nodes remain, with the unreachable taint. Their pods are evicted but never
	// vanish. Affinity and anti-affinity still count them (R-A1), but a spread does not (R-T4). The
	// nodes remain domains of the spread unless nodeTaintsPolicy is Honor (R-T9). Pods of
	// DaemonSets are not evicted (R-N30).
	Unreachable Meaning = "unreachable"
	// Drained nodes remain, cordoned, and all pods except those of DaemonSets are evicted from
	// them.
	Drained Meaning = "drained"
)

// Loss describes a loss of nodes. The question is which pods find a node again.
type Loss struct {
	Nodes   map[string]bool // by name
	Meaning Meaning
	// Stepwise is set if pods are evicted from drained nodes one at a time, in any order, and other
	// pods are placed in between. Otherwise all pods are lost at once. If the replacement of a pod
	// is created while the pod terminates, the pod may be gone before the replacement looks for a
	// node, or only after it has found one.
	Stepwise bool
	// Guards lists the disruption budgets that stepwise evictions respect.
	Guards []Guard
}

// Guard is a disruption budget that selects all pods of one workload. Allowed is the number of pods
// that may be missing (R-W19).
type Guard struct {
	Workload *workload.Workload
	Allowed  int
}

// Evicts reports whether the guards allow the eviction of one more pod of a group. missing returns
// the number of missing pods of a workload.
func (l Loss) Evicts(g *model.Group, missing func(*workload.Workload) int) bool {
	return !slices.ContainsFunc(l.Guards, func(x Guard) bool { return x.Workload == g.Origin() && missing(x.Workload) >= x.Allowed })
}

// Overlaps reports whether the replacement of an evicted pod is created while the pod terminates. A
// StatefulSet creates it only after the pod is gone.
func (l Loss) Overlaps(g *model.Group) bool { return l.CreatedAgain(g) && g.Kind.Kind != "StatefulSet" }

// Lost is the outcome for one workload, over all placements of all pods that can be reached, and
// all orders and choices in which lost pods are placed again. Verdict is Always if the workload
// ends up complete, Never if it never does, and Sometimes if both occur. It is Unknown if that is
// not known or there is no placement of all pods to start from.
type Lost struct {
	Workload *workload.Workload
	Verdict  diag.Outcome
	// Pending is the number of pods that are missing in the end. If the verdict is Never, it is the
	// smallest such number. If the verdict is Sometimes, it is the number in some run that was
	// found.
	Pending int
	// Stuck is a run with Pending missing pods, if the verdict is Sometimes and pods are lost at
	// once. It lists the placements of all pods, then the pods lost with their nodes (marked Gone),
	// and then the pods that found a node again.
	Stuck []Move
	// Hit is a lower bound on the missing pods in runs that lose a pod of the workload, if the
	// verdict is Sometimes and the bound is known. 0 means that nothing is proved.
	Hit int
}

// CreatedAgain reports whether a controller recreates lost pods of a group. A bare pod has no
// controller. A pod of a StatefulSet or a virtual machine is not started a second time as long as
// its node may come back.
func (l Loss) CreatedAgain(g *model.Group) bool {
	switch {
	case len(g.Kind.Template) == 0:
		return false
	case l.Meaning == Unreachable:
		return g.Kind.Kind != "StatefulSet" && !g.Kind.VM
	}
	return true
}

// Recreated reports whether lost pods of a workload are recreated.
func (l Loss) Recreated(w *workload.Workload) bool { return l.CreatedAgain(&model.Group{Workload: w}) }

// Tolerates reports whether pods of a workload may stay on lost nodes or return there, because they
// tolerate the taint of lost nodes or their manifest names a node. The loss is then not judged.
func (l Loss) Tolerates(w *workload.Workload) bool {
	if w.Kind.PerNode() || l.Meaning == Gone {
		return false // pods of a DaemonSet stay in any case
	}
	taint := corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule}
	if l.Meaning == Drained {
		taint.Key = corev1.TaintNodeUnschedulable
	}
	return w.Spec.NodeName != "" && !w.Running || schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, w.Spec.Tolerations, &taint, false)
}

// Rollout describes the replacement of old pods by new ones, for the question whether it completes.
// The old and new pods belong to two workloads of one model. All other pods are placed and stay.
type Rollout struct {
	Old, Fresh *workload.Workload
	// Surge is the number of pods that may exist in addition to the desired ones, and Unavailable
	// the number of desired pods that may be missing (R-W5, R-W6).
	Surge, Unavailable int
	// Whole is set if no old pod goes before all new ones are placed (R-W31). Empty is set if no
	// new pod comes before all old ones are gone (R-W8).
	Whole, Empty bool
}

// Rolled is the outcome of a rollout over all placements that it may start from, all choices of the
// scheduler and all choices of the old pod to remove. Verdict is Always if the rollout completes,
// Never if it never does, and Sometimes if it may get stuck. It is Unknown if that is not known or
// there is no placement of all pods to start from.
type Rolled struct {
	Verdict diag.Outcome
	// Skewed is set if the new pods may end up less even than their hard spread constraints allow.
	Skewed bool
	// Stuck lists moves, starting without pods, after which no pod can move. Reasons counts the
	// nodes that then refuse a new pod, by reason.
	Stuck   []Move
	Reasons map[Reason]int
}

// Move is the placement of a pod, or its removal if Gone is set.
type Move struct {
	Workload *workload.Workload
	Node     *topology.Node
	Gone     bool
}

// Reason is the name of the kube-scheduler plugin that is the first to refuse a pod on a node, in
// the order of the default profile.
type Reason string

// The reasons. Takes means that the node accepts the pod.
const (
	Takes              Reason = ""
	RefusedByName      Reason = "NodeName"
	RefusedByTaint     Reason = "TaintToleration"
	RefusedBySelector  Reason = "NodeAffinity"
	RefusedByCordon    Reason = "NodeUnschedulable"
	RefusedByPort      Reason = "NodePorts"
	RefusedByResources Reason = "NodeResourcesFit"
	RefusedBySpread    Reason = "PodTopologySpread"
	RefusedByAffinity  Reason = "InterPodAffinity"
)

// Placed is one pod on one node.
type Placed struct {
	Workload *workload.Workload
	Node     *topology.Node
}
