package certificate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

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
