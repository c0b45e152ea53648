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

// Decision is the result of deciding about workloads together.
type Decision struct {
	// Verdict considers declared resources; RulesVerdict assumes that pods do not
	// contend for resources and each only has to fit an empty node.
	Verdict, RulesVerdict diag.Outcome
	// Total is the required number of pods; between MinPlaced and MaxPlaced of
	// them are placed when nothing more can be placed. Exact is unset if
	// these are only bounds.
	Total, MaxPlaced, MinPlaced int
	Exact                       bool
	Workloads                   []WorkloadDecision
	// Witness is a run that places as many pods as possible; it is complete
	// unless the verdict is never or unknown.
	Witness []Placed
	// Stuck is a run that leaves pods Pending, if there is one.
	Stuck *Stuck

	// Doubts are left open by the input; Over lists the components that were too
	// large. The verdict is unknown only if there is one of either.
	Doubts []model.Doubt
	Over   []Overrun

	// Groups maps each workload to the workloads of its component.
	Groups map[*workload.Workload][]*workload.Workload
	// Each is the share of a component's budget that each of its workloads gets, by the
	// first workload of the component.
	Each map[*workload.Workload]int
	// Brief marks workloads whose proof of always holds only for states that are
	// reached by placing pods.
	Brief map[*workload.Workload]bool
}

// Lasting reports whether the missing pods of a workload that is always placed find nodes
// in every state, even after pods were removed: a count proves that, while
// exploring all states that placing reaches does not.
func (d *Decision) Lasting(w *workload.Workload) bool { return !d.Brief[w] }

// Overrun is a component that was too large to decide, for the reason in Cause.
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

// Pending is the number of pods of one workload that are left Pending; Reasons counts the
// nodes that refuse them, by filter.
type Pending struct {
	Workload *workload.Workload
	Count    int
	Reasons  map[Reason]int
}

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

// Checker confirms the results of a search by independent reasoning. An error says what does
// not hold, which is a fault of the search; ErrTooLong means that the steps do not suffice.
type Checker interface {
	// Verify replays the runs of a decision and fills in why the pods that a run
	// leaves Pending fit nowhere.
	Verify(m *model.Model, d *Decision) error
	// Replay replays a run: each node has to take its pod at that time.
	Replay(m *model.Model, run []Placed) error
	// Certify replays a run that has to be stuck, and fills in why.
	Certify(m *model.Model, s *Stuck) error
	// Blocks reports whether a run is valid and leaves no node for a pod of a group.
	Blocks(m *model.Model, run []Placed, g *model.Group) bool
	// Prepare does the work that all checks of a model share.
	Prepare(m *model.Model)
	// Proofs returns the checks of proofs on a model; contend says whether pods contend for resources.
	Proofs(m *model.Model, contend bool) Proofs
	// NeverPlaced checks that no pod of a group ever finds a node, with at most one
	// pod of each of the others present.
	NeverPlaced(m *model.Model, g *model.Group, with []*workload.Workload) error
	// Lose checks the outcomes of workloads after a loss, and Roll the outcome of a
	// rollout; Roll fills in why no new pod fits.
	Lose(m *model.Model, l Loss, out []Lost, steps int) error
	Roll(m *model.Model, r Rollout, out *Rolled, steps int) error
}

// Proofs checks one proof after another, each within a number of steps.
type Proofs interface {
	Check(a *Assertion, steps int) error
}

// confirming holds the checker of a run.
type confirming struct{ Checker }

// Confirm sets the checker for a model and all models derived from it.
func Confirm(m *model.Model, c Checker) {
	model.KeepInRun(m.Run(), func() *confirming { return &confirming{c} })
}

// CheckerOf returns the checker of a model.
func CheckerOf(m *model.Model) Checker {
	return model.KeepInRun(m.Run(), func() *confirming { panic("nobody confirms what is said about this model") }).Checker
}

// ErrTooLong is returned if a check exceeds its budget; a result that cannot
// be checked is not reported.
var ErrTooLong = errors.New("the check takes too long")

// CheckSteps is the checker's budget for one component that was explored,
// in filters applied.
const CheckSteps = 400_000

// Meaning says what happens to lost nodes.
type Meaning string

// The meanings of a loss.
const (
	// Gone nodes are deleted: they vanish with all their pods, also as domains
	// of a spread (R-T10).
	Gone Meaning = "gone"
	// Unreachable nodes remain, with the unreachable taint. Their pods are evicted
	// but never vanish: (anti-)affinity still counts them (R-A1), a spread does
	// not (R-T4), but the nodes remain its domains unless nodeTaintsPolicy is
	// Honor (R-T9). Pods of DaemonSets are not evicted (R-N30).
	Unreachable Meaning = "unreachable"
	// Drained nodes remain, cordoned, and all pods except those of DaemonSets are
	// evicted from them.
	Drained Meaning = "drained"
)

// Loss is the question what happens to pods when nodes are lost.
type Loss struct {
	Nodes   map[string]bool // by name
	Meaning Meaning
	// Stepwise is set if pods are evicted from drained nodes one at a time, in any order, and
	// others are placed in between; otherwise all are lost at once. A pod whose successor is created
	// while it terminates goes before the successor looks for a node, or after it has found one.
	Stepwise bool
	// Guards are the budgets that stepwise evictions respect.
	Guards []Guard
}

// Guard is a disruption budget that selects all pods of one workload; Allowed is the number of
// pods that it allows to be missing (R-W19).
type Guard struct {
	Workload *workload.Workload
	Allowed  int
}

// Evicts reports whether the guards allow evicting one more pod of a group while some are missing.
func (l Loss) Evicts(g *model.Group, missing func(*workload.Workload) int) bool {
	return !slices.ContainsFunc(l.Guards, func(x Guard) bool { return x.Workload == g.Origin() && missing(x.Workload) >= x.Allowed })
}

// Overlaps reports whether the successor of an evicted pod is created while the pod
// terminates; a StatefulSet creates it only once the pod is gone.
func (l Loss) Overlaps(g *model.Group) bool { return l.CreatedAgain(g) && g.Kind.Kind != "StatefulSet" }

// Lost is the outcome for one workload, over all placements of all pods that
// can be reached, and all orders and choices in which lost pods are
// placed again: Always if it ends up complete, Never if it never does,
// Sometimes if both occur, and Unknown if that is not known or there is no
// placement of all pods to start from.
type Lost struct {
	Workload *workload.Workload
	Verdict  diag.Outcome
	// Pending is the number of pods that are missing in the end: the fewest if the verdict
	// is Never; if it is Sometimes, as many as in some run that was found.
	Pending int
	// Stuck is that run, if the verdict is Sometimes and pods are lost at once: pods
	// placed, pods lost with their nodes as Gone, and pods that found a node again.
	Stuck []Move
	// Hit is a lower bound of the missing pods in runs that lose a pod of the workload, if the
	// verdict is Sometimes and that is known; 0 promises nothing.
	Hit int
}

// CreatedAgain reports whether a controller recreates lost pods of a group: a bare pod has
// no controller, and no pod of a StatefulSet and no machine is started a second time as long
// as its node may come back.
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

// Tolerates reports whether pods of a workload tolerate the taint of lost nodes, or are bound
// to a node by their manifest, so that they may stay or return there. The loss is
// then not judged.
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

// Rollout is the question whether new pods can replace old ones, which are
// the pods of two workloads of one model. All other pods are in place and stay.
type Rollout struct {
	Old, Fresh *workload.Workload
	// Surge is the number of pods that may exist beyond the old ones, and
	// Unavailable the number of these that may be missing (R-W5, R-W6).
	Surge, Unavailable int
	// Whole is set if no old pod goes before all new ones are in place (R-W31),
	// Empty if no new one comes before all old ones are gone (R-W8).
	Whole, Empty bool
}

// Rolled is the outcome of a rollout over all placements that it may start
// from, all choices of the scheduler and all choices of the old pod to remove:
// Always if it completes, Never if it never does, Sometimes if it may get
// stuck, and Unknown if that is not known or there is no placement of
// all pods to start from.
type Rolled struct {
	Verdict diag.Outcome
	// Skewed is set if the new pods may end up more uneven than
	// their hard spread constraints allow.
	Skewed bool
	// Stuck lists moves, starting without pods, after which nothing can move, and
	// Reasons counts the nodes that then refuse a new pod, by reason.
	Stuck   []Move
	Reasons map[Reason]int
}

// Move is the placement of a pod, or the removal of one if Gone is set.
type Move struct {
	Workload *workload.Workload
	Node     *topology.Node
	Gone     bool
}

// Reason names the plugin of kube-scheduler that is the first to refuse a pod on a node, in the order of its default profile.
type Reason string

// The reasons; Takes means that the node takes the pod.
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
