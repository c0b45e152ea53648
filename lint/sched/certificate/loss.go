package certificate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	schedulinghelpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/klog/v2"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Meaning is what it means that nodes are lost.
type Meaning string

// The meanings of a loss.
const (
	// Gone nodes are deleted: they vanish with all their pods, also as domains
	// of a spread (R-T10).
	Gone Meaning = "gone"
	// Unreachable nodes stay, unreachable and tainted as such. Their pods are evicted
	// but never vanish: (anti-)affinity counts them still (R-A1), a spread does
	// not (R-T4), but the nodes remain its domains unless nodeTaintsPolicy is
	// Honor (R-T9). Pods of DaemonSets are not evicted (R-N30).
	Unreachable Meaning = "unreachable"
	// Drained nodes stay, cordoned, and all pods but those of DaemonSets are
	// evicted from them.
	Drained Meaning = "drained"
)

// Loss is a question: what becomes of the pods when nodes are lost.
type Loss struct {
	Nodes   map[string]bool // by name
	Meaning Meaning
	// Stepwise is set if pods are evicted from drained nodes one at a time, in any order, and
	// others are placed meanwhile; else all are lost at once. A pod whose successor is created
	// while it terminates goes before the successor looks for a node, or after it has found one.
	Stepwise bool
	// Guards are the budgets that evictions heed then.
	Guards []Guard
}

// Guard is a disruption budget that selects all pods of one workload, and how many of them
// it allows to be missing (R-W19).
type Guard struct {
	Workload *workload.Workload
	Allowed  int
}

// Evicts reports whether the guards let one more pod of a group go while some are missing.
func (l Loss) Evicts(g *model.Group, missing func(*workload.Workload) int) bool {
	return !slices.ContainsFunc(l.Guards, func(x Guard) bool { return x.Workload == g.Origin() && missing(x.Workload) >= x.Allowed })
}

// Overlaps reports whether the successor of an evicted pod is created while the pod
// terminates: that of a StatefulSet is once it is gone.
func (l Loss) Overlaps(g *model.Group) bool { return l.CreatedAgain(g) && g.Kind.Kind != "StatefulSet" }

// Lost is what becomes of one workload, over all placements of all pods that
// can be reached, and all orders and choices in which pods that were lost are
// placed again: Always if it ends up complete, Never if it never does,
// OrderDependent if either happens, and Undetermined if that is not known, be
// it because there is no placement of all pods to start from.
type Lost struct {
	Workload *workload.Workload
	Verdict  diag.Outcome
	// Pending is how many pods are missing in the end: the fewest if the verdict
	// is Never; if it is OrderDependent, as many as in some run that was found.
	Pending int
	// Stuck is that run, if the verdict is OrderDependent and pods are lost at once: pods
	// placed, those that are lost with their nodes as Gone, and those that found a place again.
	Stuck []Move
	// Hit is how many pods are missing at least in runs in which it lost one, if the verdict
	// is OrderDependent and that is known; 0 is no promise.
	Hit int
}

// CreatedAgain reports whether a controller creates pods of a group again that
// were lost: a bare one is nobody's, and as long as its node may come back no
// pod of a StatefulSet and no machine is started a second time.
func (l Loss) CreatedAgain(g *model.Group) bool {
	switch {
	case len(g.Kind.Template) == 0:
		return false
	case l.Meaning == Unreachable:
		return g.Kind.Kind != "StatefulSet" && !g.Kind.VM
	}
	return true
}

// Recreated reports whether pods of a workload that are lost are created again.
func (l Loss) Recreated(w *workload.Workload) bool { return l.CreatedAgain(&model.Group{Workload: w}) }

// Tolerates reports whether a workload does not mind the taint of lost nodes, so
// that it may stay on them or come back: then nothing is said of it. Its pods
// do not mind if they tolerate the taint, or if they are bound by name.
func (l Loss) Tolerates(w *workload.Workload) bool {
	if w.Kind.PerNode() || l.Meaning == Gone {
		return false // those of a DaemonSet stay in any case
	}
	taint := corev1.Taint{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoSchedule}
	if l.Meaning == Drained {
		taint.Key = corev1.TaintNodeUnschedulable
	}
	return w.Spec.NodeName != "" && !w.Running || schedulinghelpers.TolerationsTolerateTaint(klog.Logger{}, w.Spec.Tolerations, &taint, false)
}
