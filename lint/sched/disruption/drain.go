package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Drain is whether the nodes of a workload's pods can be drained one at a time.
type Drain struct {
	Answer diag.Outcome
	// Budgets are those that refuse evictions: one that allows none, at some sizes
	// (Sometimes) or at all, or several of one pod.
	Budgets []Budget
	// Evicts is set if machines refuse to be evicted and cannot migrate.
	Evicts bool
	// Worst is the node of which the drain leaves pods Pending, if there is one,
	// Like the number of others of which the same is true, and Next the budget
	// that refuses the drain after it.
	Worst *Survival
	Like  int
	Next  *Budget
	// Certain is how many pods are Pending at least, if the answer is Never as a drain of
	// whichever node has a pod leaves some Pending, though that of Worst may do no harm where
	// none is there.
	Certain int
	Why     model.Reason
}

// severity orders verdicts from the worst on.
func severity(v diag.Outcome) int {
	switch v {
	case diag.Never:
		return 3
	case diag.Sometimes:
		return 2
	case diag.Unknown:
		return 1
	}
	return 0
}

// Drain judges a workload: whether its pods may be evicted (R-W19, R-W29), and
// whether they find other nodes then. DaemonSets stay where they are, and a bare
// pod is nobody's to create again.
func (e evictions) Drain(w *workload.Workload) Drain {
	if w.Kind.PerNode() || w.Finite() || w.Running || w.Bare() || model.Certain(w) == 0 {
		return Drain{Answer: diag.None}
	}
	if why := e.unknown(w); why.Given() {
		return Drain{Answer: diag.Unknown, Why: why}
	}
	allowed, budgets, why := e.evictable(w)
	if allowed == diag.Never {
		return Drain{Answer: diag.Never, Budgets: budgets}
	}
	if m := migrations(e).Migration(w); m.Evicts && m.Answer != diag.None {
		return Drain{Answer: m.Answer, Evicts: m.Answer != diag.Always, Why: m.Why}
	}
	d := e.replaced(w)
	if allowed == diag.Always && d.Answer != diag.Never {
		why = e.hindered(w)
	}
	switch {
	case allowed == diag.Always && why.Given():
		return Drain{Answer: diag.Unknown, Why: why}
	case allowed == diag.Unknown && d.Answer != diag.Never:
		return Drain{Answer: diag.Unknown, Why: why}
	case allowed == diag.Sometimes && d.Answer != diag.Unknown: // it refuses the fewest pods, which d is about
		if d.Answer == diag.Always {
			d.Answer = diag.Sometimes
		}
		return Drain{Answer: d.Answer, Budgets: budgets}
	case d.Answer == diag.Always && e.retriedLate(w):
		d.Why = by(model.LateRetry)
	}
	return d
}

// hindered is why a budget of a workload may refuse its pods while those of another workload
// are Pending that the budget selects as well.
func (e evictions) hindered(w *workload.Workload) model.Reason {
	for _, b := range e.BudgetsOf(w) {
		for _, o := range b.Workloads {
			if o != w && !o.Kind.PerNode() && !o.Finite() && !o.Bare() && e.replaced(o).Answer != diag.Always {
				return model.Reason{Cause: model.ByEviction, Name: b.String(), Workload: o}
			}
		}
	}
	return model.Reason{}
}

// retriedLate reports whether pods may wait for those that are evicted with them, or that they
// replace: they are created while these terminate, and have to join them (R-Q7).
func (e evictions) retriedLate(w *workload.Workload) bool {
	drained := certificate.Loss{Meaning: certificate.Drained}
	return (model.Certain(w) > 1 || drained.Overlaps(e.m.Group(w))) && slices.ContainsFunc(e.m.Group(w).HardAffinity(), func(t *model.Term) bool {
		return e.m.Self(t, w) != model.No
	})
}

// replaced decides whether evicted pods find other nodes.
func (e evictions) replaced(w *workload.Workload) Drain {
	out := Drain{Answer: diag.Always}
	all := e.losses(e.drained[:0], w, hostname, certificate.Drained)
	e.drained = all
	if len(all) == 0 && e.grows(w, model.Certain(w)) { // no node is there yet
		return Drain{Answer: diag.Unknown, Why: by(model.ByGrowth)}
	}
	if out.Worst, out.Like = Worst(all); out.Worst == nil {
		return out
	}
	worst := *out.Worst // the list is for the next one
	out.Worst = &worst
	if n := Certain(all, certificate.Drained); n > 0 && worst.Verdict != diag.Never {
		out.Certain = n
		worst.Verdict = diag.Sometimes // of this node, where that is not known
		out.Answer, out.Next = diag.Never, e.next(w, out.Certain)
		return out
	}
	if i := slices.IndexFunc(all, func(s Survival) bool { return s.Verdict == diag.Unknown }); i >= 0 && out.Worst.Verdict != diag.Never {
		return Drain{Answer: diag.Unknown, Why: all[i].Why} // it may be no for one of the nodes
	}
	out.Answer, out.Why = out.Worst.Verdict, out.Worst.Why
	if out.Answer == diag.Unknown {
		out.Worst = nil
		return out
	}
	out.Next = e.next(w, out.Worst.Pending)
	return out
}

// next is a budget that refuses further evictions with so many pods missing, if there is one.
func (e evictions) next(w *workload.Workload, missing int) *Budget {
	var next *Budget
	for _, b := range e.BudgetsOf(w) {
		if b.Known && b.AllowedMin <= missing {
			next = &b
		}
	}
	return next
}

// Worst is the worst outcome of losses by one key and of one meaning, and how
// many other nodes, or domains, there are of which the same is true; nil if all
// is well with all of them.
func Worst(all []Survival) (worst *Survival, like int) {
	for i := range all {
		if s := &all[i]; severity(s.Verdict) > 0 && (worst == nil || s.Worse(worst)) {
			worst = s
		}
	}
	if worst == nil {
		return nil, 0
	}
	for _, s := range all {
		switch {
		case s.Verdict != worst.Verdict || s.Pending != worst.Pending:
		case s.Key == hostname:
			like += s.Like()
		default:
			like++
		}
	}
	return worst, like - 1
}
