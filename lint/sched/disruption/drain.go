package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Drain is the verdict on draining a workload's nodes, one at a time.
type Drain struct {
	Answer diag.Outcome
	// Budgets lists the budgets that forbid evictions. A single budget forbids every eviction, at
	// all sizes or at some. Several budgets forbid evictions because they select the same pod.
	Budgets []Budget
	// Evicts is set if machines reject evictions but cannot migrate.
	Evicts bool
	// Worst describes a node whose drain leaves pods Pending, or is nil. Like is the number of
	// other nodes with the same outcome. Next is a budget that forbids further evictions after the
	// drain of the node. Next may be nil.
	Worst *Survival
	Like  int
	Next  *Budget
	// Certain is set if every drain that evicts a pod leaves some pods Pending. It is the smallest
	// number of these pods, and Answer is Never. The drain of the node in Worst may still be
	// harmless, because the node may have no pods.
	Certain int
	Why     model.Reason
}

// severity ranks verdicts from harmless to worst.
func severity(v diag.Outcome) int {
	return slices.Index([]diag.Outcome{diag.Unknown, diag.Sometimes, diag.Never}, v) + 1
}

// Drain judges whether a workload's pods can be evicted (R-W19, R-W29), and whether the evicted
// pods find other nodes and stay there: pods that tolerate the taint of the cordon may return to the
// drained node. It does not judge DaemonSet pods, because a drain leaves them in place. It
// does not judge bare pods, because nothing recreates them.
func (e evictions) Drain(w *workload.Workload) Drain {
	if w.Kind.PerNode() || w.Finite() || w.Running || w.Bare() || most(w) == 0 {
		return Drain{Answer: diag.None}
	}
	if why := e.unknown(w); why.Given() {
		return Drain{Answer: diag.Unknown, Why: why}
	}
	allowed, budgets, why := e.evictable(w)
	if allowed == diag.Never {
		return Drain{Answer: diag.Never, Budgets: budgets}
	}
	switch m := migrations(e).Migration(w); {
	case m.Evicts && m.Answer == diag.None:
		return Drain{Answer: diag.Unknown, Why: by(model.ByPending)}
	case m.Evicts:
		return Drain{Answer: m.Answer, Evicts: m.Answer != diag.Always, Why: m.Why}
	}
	if drained := (certificate.Loss{Meaning: certificate.Drained}); w.Spec.NodeName == "" && drained.Tolerates(w) {
		d := Drain{Answer: diag.Sometimes, Why: by(model.Returns)}
		if eligible := e.m.Eligible(w); eligible.Count == 1 && eligible.Growable == 0 {
			d.Answer = diag.Never
		}
		return d
	}
	d := e.replaced(w)
	if allowed == diag.Always && d.Answer != diag.Never {
		why = e.reasonSharedBudget(w)
	}
	switch {
	case allowed == diag.Always && why.Given():
		return Drain{Answer: diag.Unknown, Why: why}
	case allowed == diag.Unknown && d.Answer != diag.Never:
		return Drain{Answer: diag.Unknown, Why: why}
	case allowed == diag.Sometimes && d.Answer != diag.Unknown: // d concerns the smallest pod count, where the budget forbids eviction
		if d.Answer == diag.Always {
			d.Answer = diag.Sometimes
		}
		return Drain{Answer: d.Answer, Budgets: budgets}
	case d.Answer == diag.Always && e.retriedLate(w, map[*workload.Workload]bool{}):
		d.Why = by(model.LateRetry)
	}
	return d
}

// Overfull reports whether the pods of a workload and of those that contend for its nodes never all fit.
func (e evictions) Overfull(w *workload.Workload) bool {
	return e.placed != nil && slices.ContainsFunc(e.everyone(w, model.Certain(w)), func(o *workload.Workload) bool {
		return verdict(e.placed, o) == diag.Never || slices.ContainsFunc(e.placed.Short, func(s certificate.Short) bool { return slices.Contains(s.Workloads, o) })
	})
}

// reasonSharedBudget returns a reason if one of the workload's budgets may forbid evictions because
// it also selects another workload. The pods of that workload may be Pending. Otherwise the reason
// is empty.
func (e evictions) reasonSharedBudget(w *workload.Workload) model.Reason {
	for _, b := range e.BudgetsOf(w) {
		for _, o := range b.Workloads {
			if o != w && !o.Kind.PerNode() && !o.Finite() && !o.Bare() && e.replaced(o).Answer != diag.Always {
				return model.Reason{Cause: model.ByEviction, Name: b.String(), Workload: o}
			}
		}
	}
	return model.Reason{}
}

// retriedLate reports whether a replacement pod may have to wait for terminating pods. The
// replacement is created while the evicted pods still terminate. Required affinity may tie the
// replacement to the node of those pods (R-Q7), or to pods that wait for this reason.
func (e evictions) retriedLate(w *workload.Workload, seen map[*workload.Workload]bool) bool {
	drained := certificate.Loss{Meaning: certificate.Drained}
	several := most(w) > 1 || drained.Overlaps(e.m.Group(w))
	seen[w] = true
	return slices.ContainsFunc(e.m.Group(w).HardAffinity(), func(t *model.Term) bool {
		return several && e.m.Self(t, w) != model.No || slices.ContainsFunc(e.group(w, false), func(o *workload.Workload) bool {
			return !seen[o] && e.m.Peer(t, w, o) != model.No && e.retriedLate(o, seen)
		})
	})
}

// replaced decides whether evicted pods find other nodes.
func (e evictions) replaced(w *workload.Workload) Drain {
	out := Drain{Answer: diag.Always}
	all := e.losses(e.drained[:0], w, hostname, certificate.Drained)
	e.drained = all
	if len(all) == 0 && e.grows(w, model.Certain(w)) { // no node exists yet
		return Drain{Answer: diag.Unknown, Why: by(model.ByGrowth)}
	}
	if out.Worst, out.Like = Worst(all); out.Worst == nil {
		return out
	}
	worst := *out.Worst // the next drain reuses the list
	out.Worst = &worst
	if n := Certain(all, certificate.Drained); n > 0 && worst.Verdict != diag.Never {
		out.Certain = n
		worst.Verdict = diag.Sometimes // the verdict on this one node may be unknown
		out.Answer, out.Next = diag.Never, e.next(w, out.Certain)
		out.stopAt(out.Next)
		return out
	}
	if i := slices.IndexFunc(all, func(s Survival) bool { return s.Verdict == diag.Unknown }); i >= 0 && out.Worst.Verdict != diag.Never {
		return Drain{Answer: diag.Unknown, Why: all[i].Why} // a loss with an unknown outcome may be Never
	}
	out.Answer, out.Why = out.Worst.Verdict, out.Worst.Why
	if out.Answer == diag.Unknown {
		out.Worst = nil
		return out
	}
	out.Next = e.next(w, out.Worst.Pending)
	out.stopAt(out.Next)
	return out
}

// stopAt limits the numbers of Pending pods to what a budget lets go before it stops the drain.
func (d *Drain) stopAt(b *Budget) {
	if b != nil {
		d.Worst.Pending, d.Certain = min(d.Worst.Pending, max(1, b.AllowedMax)), min(d.Certain, max(1, b.AllowedMax))
	}
}

// next returns a budget that forbids further evictions once `missing` pods are missing. It returns
// nil if there is no such budget.
func (e evictions) next(w *workload.Workload, missing int) *Budget {
	var next *Budget
	for _, b := range e.BudgetsOf(w) {
		if b.Known && b.AllowedMin <= missing {
			next = &b
		}
	}
	return next
}

// Worst returns the worst outcome among losses with the same key and meaning. The number like
// counts the other nodes or domains with the same outcome. If every loss is harmless, worst is nil.
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
