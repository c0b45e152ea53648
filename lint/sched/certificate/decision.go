package certificate

import (
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Decision holds the verdicts on all workloads, which are decided together.
type Decision struct {
	// Verdict takes declared resources into account. RulesVerdict assumes that pods do not compete
	// for resources: each pod only has to fit on an empty node.
	Verdict, RulesVerdict diag.Outcome
	// Total is the required number of pods. Once no more pods can be placed, between MinPlaced and
	// MaxPlaced of them have been placed. If Exact is false, these two numbers are only bounds.
	Total, MaxPlaced, MinPlaced int
	Exact                       bool
	Workloads                   []WorkloadDecision
	// DaemonSetsFirst is the verdict if each DaemonSet pod is placed before other pods on its node.
	// It is "" if the question was not asked or if there is no other verdict than Verdict.
	DaemonSetsFirst diag.Outcome
	// Witness is a run that places as many pods as possible. It places all pods unless the verdict
	// is never or unknown.
	Witness []Placed
	// Stuck is a run that leaves pods Pending, or nil.
	Stuck *Stuck

	// Doubts lists the questions that the input leaves open. Over lists the components that were
	// not decided. The verdict is unknown only if at least one of these lists is not empty.
	Doubts []model.Doubt
	Over   []Overrun

	// Short lists the components whose pods can never all be placed.
	Short []Short
	// Groups maps each workload to all workloads in its component.
	Groups map[*workload.Workload][]*workload.Workload
	// Chosen holds decisions for one choice each of where volumes are made before their pods are
	// scheduled (R-N35). It is nil if nothing is chosen. Each decision is about some of the workloads,
	// and no other choice places more of their pods.
	Chosen []*Chosen
	// Each is the share of a component's budget that each of its workloads gets. The map is keyed
	// by the component's first workload.
	Each map[*workload.Workload]int
	// Brief marks workloads whose always verdict is proved only for states that can be reached by
	// placing pods without removing any.
	Brief map[*workload.Workload]bool
	// proofs checks that pods find room on some of the nodes only, as the seeker proves. It is nil after a
	// check that ran out of steps.
	proofs Proofs
	seeker Seeker
	// contend is set if the proofs take into account that pods compete for resources.
	contend bool
}

// Seeker proves that a given set of nodes always has room for another pod of a workload.
type Seeker interface {
	// Seeks reports whether the seeker covers a workload.
	Seeks(w *workload.Workload) bool
	// Seek tries to prove it for the given nodes, or for all nodes if nodes is nil, with `more` pods
	// beyond the declared ones. It returns the member that the checker needs to confirm the proof.
	// found is false if there is no proof within the step budget.
	Seek(w *workload.Workload, nodes []int, more int) (m Member, found bool)
}

// Describe keeps what Keeps needs to know about workloads. If contend is not set, all pods of the
// decision together fill no node.
func (d *Decision) Describe(proofs Proofs, seeker Seeker, contend bool) {
	d.proofs, d.seeker, d.contend = proofs, seeker, contend
}

// Describes reports whether Keeps may prove something about w.
func (d *Decision) Describes(w *workload.Workload) bool {
	return d != nil && d.proofs != nil && d.seeker.Seeks(w)
}

// Keeps reports whether a proof shows that one of the given nodes is always open to another pod of
// w, wherever all other pods are and in whichever order they came and went. If nodes is nil, any
// node counts. The argument more is the number of pods that w has beyond those in the decision. A
// result of false proves nothing. A proof of the seeker that the checker refuses is a fault.
func (d *Decision) Keeps(run *model.Run, w *workload.Workload, nodes []int, more int) (keeps bool) {
	if !d.Describes(w) || more > 0 && !d.contend { // more pods may fill a node
		return false
	}
	m, found := d.seeker.Seek(w, nodes, more)
	if !found {
		return false
	}
	var err error
	if !run.Within(run.Left()/2, func() {
		err = d.proofs.Check(&Assertion{Proof: Proof{Kind: Headroom}, Members: []Member{m}}, CheckSteps)
	}) {
		d.proofs = nil // it was stopped in the middle
		return false
	}
	if err != nil && !errors.Is(err, ErrTooLong) {
		run.Refuse([]*workload.Workload{w}, err)
	}
	return err == nil
}

// Lasting reports whether a workload that is always placed also recovers from removals. Its missing
// pods then find nodes in every state, even after pods were removed. A counting proof shows this. A
// search through the states that placing pods can reach does not.
func (d *Decision) Lasting(w *workload.Workload) bool { return !d.Brief[w] }

// Chosen is a decision for one choice of where volumes are made. Of maps workloads of its model to
// those that they stand for.
type Chosen struct {
	*Decision
	Model *model.Model
	Of    map[*workload.Workload]*workload.Workload
}

// Stands returns the chosen decision about a workload, and the workload in its model. It returns nil
// if there is none.
func (d *Decision) Stands(w *workload.Workload) (*Chosen, *workload.Workload) {
	for _, c := range d.Chosen {
		for _, o := range c.Model.Workloads {
			if (o == w || c.Of[o] == w) && model.Modelled(c.Model.Group(o)) {
				return c, o
			}
		}
	}
	return nil, nil
}

// Short describes workloads whose pods can never all be placed. At most Most of their Pods fit at the same
// time.
type Short struct {
	Workloads  []*workload.Workload
	Pods, Most int
}

// Overrun describes a component that was not decided. Cause gives the reason.
type Overrun struct {
	Workloads []*workload.Workload
	Pods      int
	Cause     model.Cause
}

// WorkloadDecision holds the decision about one workload in the presence of all others.
type WorkloadDecision struct {
	Workload              *workload.Workload
	Pods                  int
	Verdict, RulesVerdict diag.Outcome
	MaxPlaced, MinPlaced  int
	// DaemonSetsFirst is as in Decision.
	DaemonSetsFirst diag.Outcome
	// Preempts is set if the verdict is always because the pods preempt pods of lower priority (T34).
	Preempts bool
	// Why is the reason for the verdict if Verdict is Unknown.
	Why model.Reason
	// Contested is set if the verdict depends on which pods are created first (R-P10).
	Contested *workload.Contested
	// Early is set if the verdict depends on where a volume is made before the pods are scheduled.
	Early *Early
}

// Early says for which values of a node label the pods are placed if the volume of a claim is made
// there: always, sometimes or unknown, and never. If the pods have several such volumes, it has no
// values.
type Early struct {
	*workload.Early
	Always, Maybe, Never []string
}

// Stuck is a run after which no pending pod fits anywhere.
type Stuck struct {
	Placements []Placed
	Pending    []Pending
}

// Pending counts the pods of one workload that are left Pending. Reasons counts the nodes that
// reject these pods, by reason.
type Pending struct {
	Workload *workload.Workload
	Count    int
	Reasons  map[Reason]int
}

// ProofKind names the method that proves a never or always verdict.
type ProofKind uint8

const (
	// Unproved is the kind for sometimes verdicts, which are demonstrated by two runs instead.
	Unproved ProofKind = iota
	// Shape means that the component has a single kind of pod, whose maximal placements follow from
	// its rules alone (T1, T3).
	Shape
	// LimitProof means that one member's pods cannot all be placed, no matter what the others do.
	LimitProof
	// Outweighed means that members exclude each other on a key, and together weigh more than its domains
	// can hold (T11).
	Outweighed
	// Overcommitted means that members can use only a set of nodes and request more of a resource than these offer
	// (T12).
	Overcommitted
	// Headroom means that no state closes all nodes to a pod, so some node always accepts it (T6, T9).
	Headroom
	// Explored means that the search tried all states (T15).
	Explored
)

// Proof justifies a verdict in terms that the checker can look up in the model.
type Proof struct {
	Kind ProofKind
	// About lists the pod groups that the proof concerns, in order.
	About   []int
	Key     string
	Weights []int
	// Resource is overcommitted on Nodes. It is counted in whole pieces of Unit.
	Resource corev1.ResourceName
	Unit     int64
	Nodes    []int
	// Open maps a pod group to a list of nodes, at least one of which always stays open to the
	// group. If a group has no entry, the list is all of the group's nodes.
	Open map[int][]int
	// Prices holds, by pod group, the prices by which a part of its nodes cannot be filled (T24).
	Prices map[int][]Prices
	// NeedsPeers is set if the proof relies on the presence of other pods to show that pod groups
	// are placed (T14).
	NeedsPeers bool
}

// Keep records nodes of a pod group, at least one of which always stays open to the group.
func (p *Proof) Keep(unit int, nodes []int) {
	if p.Open == nil {
		p.Open = map[int][]int{}
	}
	p.Open[unit] = nodes
}

// Prices assigns a price to each pod of the groups that may fill nodes. Any prices are valid. If
// Fit is set, only pods count that also fit on the node in a second resource. They are meant for a
// part with so many nodes, while so many of the workload's own pods are in place.
type Prices struct {
	Of         map[*model.Group]int64
	Fit        bool
	Nodes, Own int
}

// Member describes a set of pods in a component for the checker: one workload's pods, or a
// DaemonSet's pod on one node.
type Member struct {
	G    *model.Group
	Pods int
	// Node is the index of the only node that the pods may use, or -1.
	Node int
	// Open lists nodes, at least one of which always stays open to the pods.
	Open []int
	// Left lists the nodes that remain after a loss. One of them always has room for another pod. It is
	// nil if no node is lost.
	Left []int
	// Prices lists prices by which others cannot fill a part of the nodes (T24).
	Prices []Prices
}

// Assertion is a claim for the checker: a verdict about a component, together with its proof.
type Assertion struct {
	Members []Member
	Never   bool
	Proof   Proof
	About   []Member
}

// Called returns the workloads to which the members belong, for error messages.
func Called(members []Member) []*workload.Workload {
	return lists.Of(members, func(m Member) *workload.Workload { return m.G.Workload })
}

// Grown says which pods of a workload may be Pending in a cluster whose pools grow.
type Grown struct {
	// Pods is the maximum number of the workload's pods at a time.
	Pods int
	// Spare is the number of nodes that are lost or drained, wherever they are.
	Spare int
	// Lost is the key and the value of a label of nodes that are lost and that pools do not add, or
	// empty.
	Lost [2]string
}

// Checker confirms search results by independent reasoning. An error describes a false claim, which
// is a bug in the search. The exception is ErrTooLong, which means that the step limit was too low.
type Checker interface {
	// Verify replays a decision's runs. For pods that a run leaves Pending, it fills in why they
	// fit nowhere.
	Verify(m *model.Model, d *Decision) error
	// Replay replays a run and checks that each placement passes the filters at that point.
	Replay(m *model.Model, run []Placed) error
	// Certify replays a run, checks that it ends in a stuck state, and fills in the reasons.
	Certify(m *model.Model, s *Stuck) error
	// Blocks reports whether a run is valid and leaves no node that accepts one of the group's
	// pods.
	Blocks(m *model.Model, run []Placed, g *model.Group) bool
	// Prepare does the work that all checks of a model share.
	Prepare(m *model.Model)
	// Proofs returns a proof checker for a model. contend is set if pods compete for resources.
	Proofs(m *model.Model, contend bool) Proofs
	// NeverPlaced checks that a group's pods never find a node when at most one pod of each
	// workload in with is present.
	NeverPlaced(m *model.Model, g *model.Group, with []*workload.Workload) error
	// Contest checks that ResourceQuotas admit all pods of w or not, as Workload.Contested says.
	Contest(m *model.Model, w *workload.Workload) error
	// Room checks that a ResourceQuota rejects pods of w beyond q.Most.
	Room(m *model.Model, w *workload.Workload, q *workload.QuotaRoom) error
	// History checks the outcomes of losses. They are losses of all nodes of a domain, or of any one node
	// if domains is nil. The outcome always must also hold after losses in `again`, each of any one node
	// that then returns.
	History(m *model.Model, domains []map[string]bool, again []Loss) History
	// Roll checks the outcome of a rollout and fills in why no new pod fits.
	Roll(m *model.Model, r Rollout, out *Rolled, steps int) error
	// Follow replays a run of all pods in which nodes are lost at once. It returns the number of
	// missing pods at its end, by workload, where no more pods can be placed.
	Follow(m *model.Model, l Loss, run []Move) (map[*workload.Workload]int, error)
	// FollowRoll replays a run of a rollout that starts without any pods. It returns whether the rollout
	// is done or stuck at its end, and then why no new pod fits.
	FollowRoll(m *model.Model, r Rollout, run []Move) (done bool, reasons map[Reason]int, err error)
	// Contenders checks claims about one of the given number of w's pods that looks for a node, while
	// its other pods and those of others may be on any nodes.
	Contenders(m *model.Model, w *workload.Workload, pods int, others []*workload.Workload) Contenders
	// Grows checks that a node can be added for each Pending pod of a workload.
	Grows(m *model.Model, w *workload.Workload, c Grown) error
}

// History checks the outcomes of a loss for the workloads, within a step limit.
type History interface {
	Check(l Loss, out []Lost, steps int) error
}

// Proofs checks proofs one by one, each within a step limit.
type Proofs interface {
	Check(a *Assertion, steps int) error
}

// Contenders checks that some node is always open to a pod (T16).
type Contenders interface {
	// LeaveOpen returns an error unless other pods leave a node open.
	LeaveOpen(o Opening) error
}

// Opening says among which nodes one is always open: those that a loss leaves. If Key is not empty,
// only nodes count that share its value with the node whose index is Near.
type Opening struct {
	Key     string
	Near    int32
	Meaning Meaning
	// Lost lists the lost nodes by index. If One is set, any one of them is lost, or any one of all
	// nodes if the list is empty.
	Lost []int32
	One  bool
}

type confirming struct{ Checker }

// Confirm sets the checker for a model and all models derived from it.
func Confirm(m *model.Model, c Checker) {
	model.KeepInRun(m.Run(), func() *confirming { return &confirming{c} })
}

// CheckerOf returns a model's checker.
func CheckerOf(m *model.Model) Checker {
	return model.KeepInRun(m.Run(), func() *confirming { panic("nobody confirms what is said about this model") }).Checker
}

// ErrTooLong is returned when a check exceeds its budget. A result that cannot be checked is not
// reported.
var ErrTooLong = errors.New("the check takes too long")

// CheckSteps is the checker's budget for exploring one component. Applying one filter costs one
// step.
const CheckSteps = 400_000

// Meaning says how nodes are lost.
type Meaning string

// The ways in which nodes can be lost.
const (
	// Gone nodes are deleted. All of their pods disappear, and the nodes no longer count as domains
	// of a spread constraint (R-T10).
	Gone Meaning = "gone"
	// Unreachable nodes remain, with the unreachable taint. Their pods are evicted but never finish
	// terminating. Affinity and anti-affinity still count these pods (R-A1), but spread constraints
	// do not (R-T4). The nodes remain domains of a spread constraint unless its nodeTaintsPolicy is
	// Honor (R-T9). DaemonSet pods are not evicted (R-N30), nor are pods that Stays is about.
	Unreachable Meaning = "unreachable"
	// Drained nodes remain but are cordoned. All of their pods except DaemonSet pods are evicted.
	Drained Meaning = "drained"
)

// Loss describes a loss of nodes. The question is which of the lost pods find a node again.
type Loss struct {
	Nodes   map[string]bool // by name
	Meaning Meaning
	// Stepwise is set if pods are evicted from drained nodes one at a time, in any order, while
	// other pods are placed in between. Otherwise all pods are lost at once. If a pod's replacement
	// is created while the pod terminates, the pod may disappear before or after the replacement is
	// scheduled.
	Stepwise bool
	// Guards lists the disruption budgets that stepwise evictions respect.
	Guards []Guard
}

// Guard is a disruption budget that selects all pods of one workload. Allowed is the number of
// these pods that may be missing (R-W19).
type Guard struct {
	Workload *workload.Workload
	Allowed  int
}

// Evicts reports whether the guards allow one more of the group's pods to be evicted. missing
// returns how many of a workload's pods are missing.
func (l Loss) Evicts(g *model.Group, missing func(*workload.Workload) int) bool {
	return !slices.ContainsFunc(l.Guards, func(x Guard) bool { return x.Workload == g.Origin() && missing(x.Workload) >= x.Allowed })
}

// Overlaps reports whether the replacement for an evicted pod is created while the pod terminates.
// A StatefulSet creates it only after the pod is gone.
func (l Loss) Overlaps(g *model.Group) bool { return l.CreatedAgain(g) && g.Kind.Kind != "StatefulSet" }

// Lost is the outcome of a loss for one workload. It covers all states in which no more pods can be
// placed and all pods of the workload run, and every order and node choice for placing the lost pods again.
// Verdict says whether the workload ends up complete in all of these cases (Always), also after other losses, in
// some (Sometimes) or in none that begins as placing pods leads to (Never). It is Unknown if the outcome could
// not be determined, or if there is no such state.
type Lost struct {
	Workload *workload.Workload
	Verdict  diag.Outcome
	// Pending is the number of pods that are missing in the end. If the verdict is Never, it is the
	// minimum over all runs. If the verdict is Sometimes, it is the number in one run.
	Pending int
	// Hit is a lower bound on how many pods are missing in runs in which the workload loses a pod.
	// It is set if the verdict is Sometimes and such a bound is known, for losses without others before. 0 means
	// that nothing is proved.
	Hit int
	// Later is set if the verdict is Sometimes only because other losses may come before.
	Later bool
}

// CreatedAgain reports whether a controller recreates a group's lost pods. A bare pod has no
// controller. A StatefulSet pod or a virtual machine is not started a second time while its node
// may come back, and a pod that is not evicted has no replacement.
func (l Loss) CreatedAgain(g *model.Group) bool {
	switch {
	case len(g.Kind.Template) == 0:
		return false
	case l.Meaning == Unreachable:
		return g.Kind.Kind != "StatefulSet" && !g.Kind.VM && !l.Stays(g.Workload)
	}
	return true
}

// Stays reports whether a workload's pods tolerate the taint of an unreachable node without
// tolerationSeconds, so they are not evicted. The first toleration that matches counts (R-N16).
func (l Loss) Stays(w *workload.Workload) bool {
	taint := corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute}
	i := slices.IndexFunc(w.Spec.Tolerations, func(t corev1.Toleration) bool { return t.ToleratesTaint(klog.Logger{}, &taint, false) })
	return l.Meaning == Unreachable && i >= 0 && w.Spec.Tolerations[i].TolerationSeconds == nil
}

// Recreated reports whether a workload's lost pods are recreated.
func (l Loss) Recreated(w *workload.Workload) bool { return l.CreatedAgain(&model.Group{Workload: w}) }

// Hangs reports whether the new pods of a workload are bound to nodes but cannot start there. Their
// volume stays attached to the unreachable node as long as the old pod exists (R-N44).
func (l Loss) Hangs(w *workload.Workload) bool {
	return l.Meaning == Unreachable && w.Attached == diag.Always && l.Recreated(w)
}

// Returns reports whether a workload's lost pods run again once nodes take them.
func (l Loss) Returns(w *workload.Workload) bool { return l.Recreated(w) && !l.Hangs(w) }

// Tolerates reports whether a workload's pods may stay on lost nodes or return to them. The pods
// may tolerate the taint on lost nodes, or their manifest may name a node. The loss is then not
// judged.
func (l Loss) Tolerates(w *workload.Workload) bool {
	if w.Kind.PerNode() || l.Meaning == Gone {
		return false // DaemonSet pods always stay
	}
	return w.Spec.NodeName != "" && !w.Running || l.Tolerated(w.Spec.Tolerations)
}

// Tolerated reports whether some of the tolerations tolerate the taint that lost nodes get.
func (l Loss) Tolerated(all []corev1.Toleration) bool {
	taint := corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule}
	if l.Meaning == Drained {
		taint.Key = corev1.TaintNodeUnschedulable
	}
	return schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, all, &taint, false)
}

// Rollout describes the replacement of old pods with new ones. The question is whether it
// completes. The old and new pods belong to two workloads in one model. All other pods are already
// placed and stay.
type Rollout struct {
	Old, Fresh *workload.Workload
	// Surge is the number of pods that may exist beyond the desired number. Unavailable is the
	// number of desired pods that may be missing (R-W5, R-W6).
	Surge, Unavailable int
	// If the pods of Fresh have a SharedPin, a new pod can only use nodes with the value of an old
	// pod's node, so no old pod may be removed before the new pods run. If Fresh is Attached, new pods
	// on other nodes than the old ones never become ready, and the old ones start on one node.
	// Whole is set if old pods are removed only after all new ones are placed (R-W31). Empty is set
	// if new pods are created only after all old ones are gone (R-W8).
	Whole, Empty bool
	// Waits is set if pods of other workloads may wait: it begins in every state in which no pod can be
	// placed and all old pods run. The others take room as soon as it is free.
	Waits bool
}

// Rolled is the outcome of a rollout. It covers every placement that the rollout may start from,
// all the scheduler can choose, and any order of removing old pods. Verdict says whether the
// rollout completes in all of these cases (Always), in some (Sometimes) or in none (Never). It is
// Unknown if the outcome could not be determined, or if there is no placement of all pods to start
// from.
type Rolled struct {
	Verdict diag.Outcome
	// Skewed is set if the new pods may end up distributed less evenly than their hard spread
	// constraints allow.
	Skewed bool
	// Stuck lists moves that start without any pods and end in a state in which no further move is
	// possible. Reasons counts the nodes that then reject a new pod, by reason.
	Stuck   []Move
	Reasons map[Reason]int
}

// Move places a pod, or removes it if Gone is set.
type Move struct {
	Workload *workload.Workload
	Node     *topology.Node
	Gone     bool
}

// Reason names the first kube-scheduler plugin that rejects a pod on a node, in the order of the
// default profile.
type Reason string

// The possible reasons. Takes means that the node accepts the pod.
const (
	Takes              Reason = ""
	RefusedByName      Reason = "NodeName"
	RefusedByTaint     Reason = "TaintToleration"
	RefusedBySelector  Reason = "NodeAffinity"
	RefusedByCordon    Reason = "NodeUnschedulable"
	RefusedByPort      Reason = "NodePorts"
	RefusedByResources Reason = "NodeResourcesFit"
	// RefusedByRestrictions means that another pod uses a claim that one pod can use at a time.
	RefusedByRestrictions Reason = "VolumeRestrictions"
	RefusedByLimits       Reason = "NodeVolumeLimits"
	RefusedByVolume       Reason = "VolumeBinding"
	RefusedByZone         Reason = "VolumeZone"
	RefusedBySpread       Reason = "PodTopologySpread"
	RefusedByAffinity     Reason = "InterPodAffinity"
)

// Placed is a pod that has been placed on a node.
type Placed struct {
	Workload *workload.Workload
	Node     *topology.Node
}
