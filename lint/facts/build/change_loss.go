package build

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// losses tells what becomes of a workload when a domain is lost of every key
// that is asked for: for each key and meaning the worst of all.
func (b changes) losses(w *workload.Workload) {
	if b.Survive == nil || w.Bare() { // a bare pod is gone with its node, and nobody expects otherwise
		return
	}
	for _, key := range b.Survive(w) {
		all := b.j.Survives(w, key)
		gone, ghost := b.loss(w, all, certificate.Gone), b.loss(w, all, certificate.Unreachable)
		if gone != nil && ghost != nil && gone.Outcome == ghost.Outcome && gone.Pending == ghost.Pending && gone.Value == ghost.Value {
			gone.Meaning, ghost = "both", nil
		}
		for _, fact := range []*facts.Loss{gone, ghost} {
			if fact != nil && fact.Outcome == diag.Unknown {
				b.unsure(w, whyOpen(all))
			}
			if fact == nil || b.spare(fact.Outcome == diag.Always || fact.Outcome == diag.Unknown) {
				continue
			}
			account := func(x *Explainer) diag.Account {
				of := slices.DeleteFunc(slices.Clone(all), func(s disruption.Survival) bool { return fact.Meaning != "both" && string(s.Meaning) != fact.Meaning })
				worst, _ := disruption.Worst(of)
				return x.lost(w, of, worst)
			}
			s := about(w, holding(b.m, w)).because(w, account)
			if at := w.CountSpan(); at != s.Location {
				s = s.related(at, "%s of %s", plural(fact.Pods, "pod"), w)
			}
			fact.ID, fact.W = b.subject(s.fix("%s", b.lossHelp(w, fact))), b.row(w)
			b.Losses = append(b.Losses, *fact)
		}
	}
}

// whyOpen is why the outcome of some losses is not known: the budget, if that is one of
// the reasons.
func whyOpen(all []disruption.Survival) model.Reason {
	if slices.ContainsFunc(all, func(s disruption.Survival) bool {
		return s.Verdict == diag.Unknown && s.Why.Cause == model.ByBudget
	}) {
		return model.Reason{Cause: model.ByBudget}
	}
	return model.Reason{}
}

// lossHelp is what helps against a loss; honouring the taint of unreachable nodes was tried.
func (b changes) lossHelp(w *workload.Workload, fact *facts.Loss) string {
	switch {
	case !fact.Recreated:
		return "delete the Node objects once the nodes are confirmed down so that their pods are recreated"
	case fact.Meaning == string(certificate.Unreachable) && b.j.Honored(w, fact.Key):
		return "set nodeTaintsPolicy: Honor so that unreachable nodes do not count as empty domains"
	case len(ownReasons(b.m, w)) > 0:
		return "add nodes, run fewer pods, or make the rule preferred"
	}
	return "add nodes or run fewer pods"
}

// loss is the worst loss of one meaning, and how many are like it; nil if there
// is none.
func (b changes) loss(w *workload.Workload, all []disruption.Survival, meaning certificate.Meaning) *facts.Loss {
	all = slices.DeleteFunc(slices.Clone(all), func(s disruption.Survival) bool { return s.Meaning != meaning })
	if len(all) == 0 {
		return nil
	}
	worst, like := disruption.Worst(all)
	if worst == nil {
		worst, like = &all[0], len(all)-1
	}
	return &facts.Loss{
		Workload: w.String(), Outcome: worst.Verdict, Key: worst.Key, Value: worst.Value, Like: like,
		Meaning: string(meaning), Pods: model.Certain(w), Pending: worst.Pending, Recreated: certificate.Loss{Meaning: meaning}.Recreated(w),
	}
}

// drain tells of pods that have no other node when theirs is drained. Where
// there is but one node nobody expects that.
func (b changes) drain(w *workload.Workload) {
	if len(b.m.Topology.Nodes) < 2 {
		return
	}
	d := b.j.Drain(w)
	if d.Answer == diag.Unknown {
		b.unsure(w, d.Why)
	}
	if d.Worst == nil {
		return
	}
	fact := facts.Drain{
		Workload: w.String(), Outcome: d.Worst.Verdict, Pods: model.Certain(w), Node: d.Worst.Value, Like: d.Like, Pending: d.Worst.Pending,
	}
	s := about(w, holding(b.m, w)).because(w, func(x *Explainer) diag.Account { return x.lost(w, x.judge().Drains(w), d.Worst) })
	if at := w.CountSpan(); at != s.Location {
		s = s.related(at, "%s of %s", plural(fact.Pods, "pod"), w)
	}
	if d.Next != nil {
		fact.Limit = message.Budget(d.Next)
		s = s.related(d.Next.Span(), "%s allows no further disruptions", budgetName(d.Next.Budget))
	}
	help := "add an eligible node"
	if len(ownReasons(b.m, w)) > 0 {
		help += " or make the rule preferred"
	}
	fact.ID, fact.W = b.subject(s.fix("%s", help)), b.row(w)
	b.Drains = append(b.Drains, fact)
}

// holding is the rule that keeps pods off other nodes: a term, a port, or else
// the node rules.
func holding(m *model.Model, w *workload.Workload) diag.Span {
	at := blocking(m, w, m.Workloads)
	if at != w.CountSpan() || m.Eligible(w).Count == len(m.Topology.Nodes) {
		return at
	}
	if rule := nodeRule(m, w); !rule.IsZero() {
		return rule
	}
	return at
}
