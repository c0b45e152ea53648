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
	// Budgets are those that refuse every eviction: one that allows none, or
	// several of one pod.
	Budgets []Budget
	// Evicts is set if machines refuse to be evicted and cannot migrate.
	Evicts bool
	// Worst is the node of which the drain leaves pods Pending, if there is one,
	// Like the number of others of which the same is true, and Next the budget
	// that refuses the drain after it.
	Worst *Survival
	Like  int
	Next  *Budget
	Why   model.Reason
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
	if d, blocked := e.evicted(w); blocked {
		return d
	}
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
	if i := slices.IndexFunc(all, func(s Survival) bool { return s.Verdict == diag.Unknown }); i >= 0 && out.Worst.Verdict != diag.Never {
		return Drain{Answer: diag.Unknown, Why: all[i].Why} // it may be no for one of the nodes
	}
	out.Answer, out.Why = out.Worst.Verdict, out.Worst.Why
	if out.Answer == diag.Unknown {
		out.Worst = nil
		return out
	}
	for _, b := range e.BudgetsOf(w) {
		if b.Known && b.Allowed <= out.Worst.Pending {
			out.Next = &b
		}
	}
	return out
}

// evicted tells whether evictions are refused, or whether that is not known.
func (e evictions) evicted(w *workload.Workload) (d Drain, blocked bool) {
	budgets := e.BudgetsOf(w)
	sure := true
	for _, b := range budgets {
		sure = sure && b.Unknown == "" && !b.Repeated
	}
	switch {
	case len(budgets) > 1 && sure && !w.Repeated:
		return Drain{Answer: diag.Never, Budgets: budgets}, true
	case len(budgets) == 1 && budgets[0].Known && budgets[0].Allowed == 0:
		return Drain{Answer: diag.Never, Budgets: budgets}, true
	}
	m := migrations(e).Migration(w)
	if !m.Evicts || m.Answer == diag.None {
		return Drain{}, false
	}
	return Drain{Answer: m.Answer, Evicts: m.Answer != diag.Always, Why: m.Why}, true
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
