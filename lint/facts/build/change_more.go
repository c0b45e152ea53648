package build

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// budget tells of a disruption budget that lets no pod go, that is not the only
// one of a pod, or that selects none.
func (b changes) budget(x *disruption.Budget) {
	var of *workload.Workload
	if len(x.Workloads) > 0 {
		of = x.Workloads[0]
	}
	fact := facts.Budget{Budget: budgetName(x.Budget), Selector: x.SelectorText(), Pods: x.Pods, Selects: texts(x.Workloads[:min(len(x.Workloads), maxOthers)]), Others: []string{}}
	add := func(problem string, s Subject) {
		fact.Problem = problem
		fact.ID = b.subject(s.in(x.Object.ID()).because(of, func(e *Explainer) diag.Account { return e.guarded(x) }))
		b.Budgets = append(b.Budgets, fact)
	}
	if x.Idle {
		s := Subject{Location: x.SelectorSpan()}
		add("idle", s.fix("select labels that the pods have, or remove the PodDisruptionBudget"))
		return
	}
	others := b.rivals(x)
	for _, o := range others[:min(len(others), maxOthers)] {
		fact.Others = append(fact.Others, budgetName(o.budget))
	}
	if len(fact.Others) > 0 && x.Unknown == "" {
		s := Subject{Location: x.SelectorSpan()}
		for _, o := range others[:min(len(others), maxOthers)] {
			s = s.related(o.budget.SelectorSpan(), "%s also selects pods of %s", budgetName(o.budget), o.of)
		}
		add("several", s.fix("change the selectors so that each pod matches only one PodDisruptionBudget"))
		return
	}
	if fact.Limit = message.Budget(x); x.Known && x.Allowed == 0 {
		s := Subject{Location: x.Span()}
		for _, w := range x.Workloads[:min(len(x.Workloads), maxOthers)] {
			s = s.related(w.CountSpan(), "%s", plural(model.Certain(w), "pod")+" of "+w.String())
		}
		more := ""
		if allowed, _ := x.Budget.Allowed(x.Pods + 1); allowed > 0 && len(x.Workloads) == 1 && b.advisor().holds(of, disruption.Replicas(x.Pods+1), 0) {
			more = " or add a replica"
		}
		add("no-eviction", s.fix("set maxUnavailable: 1 instead%s", more))
	}
}

// maxOthers bounds the workloads and the other budgets that the fact of one names.
const maxOthers = 20

// rival is another budget of pods of a workload.
type rival struct {
	budget *workload.Budget
	of     *workload.Workload
}

// rivals are the other budgets of the pods of one, each once.
func (b changes) rivals(x *disruption.Budget) (all []rival) {
	seen := map[*source.Object]bool{x.Object: true}
	for _, w := range x.Workloads {
		if w.Repeated {
			continue
		}
		budgets := b.j.BudgetsOf(w)
		b.m.Run().Spend(len(budgets) / 4)
		for _, o := range budgets {
			if !seen[o.Object] {
				seen[o.Object] = true
				all = append(all, rival{o.Budget, w})
			}
		}
	}
	return all
}

func budgetName(b *workload.Budget) string {
	return "PodDisruptionBudget " + strings.TrimPrefix(b.Object.Namespace+"/"+b.Object.Name, "/")
}

// migration tells whether machines can migrate (R-W25 to R-W29).
func (b changes) migration(w *workload.Workload) {
	m := b.j.Migration(w)
	ending := m.Answer
	if ending == diag.Unknown {
		b.unsure(w, m.Why)
	}
	if ending == diag.None || b.spare(ending == diag.Always || ending == diag.Unknown) {
		return
	}
	fact := facts.Migration{Workload: w.String(), Outcome: ending, Machines: m.Machines, Evicts: m.Evicts, Reasons: []string{}}
	s, others := Subject{}, []string{}
	if m.Core != nil {
		s, fact.Reasons, others = coreSubject(b.m, w, m.CoreModel, m.Core)
	}
	s = b.atOwn(w, s, others)
	if ending == diag.Never || ending == diag.Sometimes {
		if len(fact.Reasons) == 0 {
			fact.Reasons = ownReasons(b.m, w)
		}
		fact.Room = roomText(b.j.Limit(w, m.Machines+1))
		if _, at := w.EvictionStrategy(); m.Evicts {
			s = s.related(at, "eviction is refused until the machine has migrated")
		}
		for _, remedy := range b.j.MigrationRemedies(w) {
			s = s.fix("%s", b.remedyText(w, workload.NoRollout, remedy))
		}
	}
	fact.ID, fact.W = b.subject(s.because(w, func(x *Explainer) diag.Account { return x.moving(w) })), b.row(w)
	b.Migrations = append(b.Migrations, fact)
}

// autoscaler tells whether the maximum of an autoscaler fits (R-W18).
func (b changes) autoscaler(w *workload.Workload) {
	s := b.j.Scaling(w)
	verdict := s.Answer
	if verdict == diag.Sometimes { // at some size of the pools
		verdict = diag.Unknown
	}
	if verdict == diag.Unknown {
		b.unsure(w, s.Why)
	}
	if s.Pool != "" {
		b.notes = append(b.notes, fmt.Sprintf("%s can scale to %s by %s: they fit once pool %s has %s",
			w, plural(w.Scale.Max, "replica"), w.Scale.Kind+" "+w.Scale.Object.Name, s.Pool, plural(s.Size, "node")))
	}
	if verdict == diag.None || b.spare(verdict != diag.Never) {
		return
	}
	fact := facts.Autoscaler{
		Workload: w.String(), Outcome: verdict, Scaler: w.Scale.Kind + " " + strings.TrimPrefix(w.Object.Namespace+"/"+w.Scale.Object.Name, "/"),
		Min: w.Scale.Min, Max: w.Scale.Max, Default: w.Scale.MaxDefault, Most: s.Most, Reason: message.Reason(s.Why),
	}
	if s.Pool != "" {
		fact.Begins = fmt.Sprintf("all pods fit once pool %s has %s", s.Pool, plural(s.Size, "node"))
	}
	subject := Subject{Location: w.Scale.MaxSpan}.in(w.Scale.Object.ID()).because(w, func(x *Explainer) diag.Account { return x.scaled(w) })
	if l := s.Limit; l != nil {
		fact.Reason, fact.Growth = limitReason(l), growth(l)
		for _, t := range l.Terms {
			subject = subject.related(w.File().ItemSpan(t.Node), "required %s on %s", t.Use, t.Key)
		}
	}
	if fact.Outcome == diag.Never {
		fact.Pending = w.Scale.Max - s.Most
		subject = subject.related(w.Object.NameSpan(), "%s is scaled", w)
		if n, ok := b.advisor().largest(w, s.Most); ok {
			subject = subject.fix("lower the maximum to %d", n)
		}
		subject = subject.fix("add nodes or an autoscaled node pool")
	}
	fact.ID, fact.W = b.subject(subject), b.row(w)
	b.Autoscalers = append(b.Autoscalers, fact)
}

// limitReason is the rule of a limit in words.
func limitReason(l *bound.Limit) string {
	switch {
	case len(l.Terms) > 0:
		var rules []string
		for _, t := range l.Terms {
			if text := fmt.Sprintf("required %s on %s", t.Use, t.Key); !slices.Contains(rules, text) {
				rules = append(rules, text)
			}
		}
		if l.By == bound.ByAntiAffinity {
			return fmt.Sprintf("%s (%s)", strings.Join(rules, " and "), plural(l.Domains, "value"))
		}
		return strings.Join(rules, " and ")
	case l.By == bound.ByHostPort:
		return fmt.Sprintf("a host port on %s", plural(l.Eligible, "node"))
	}
	return fmt.Sprintf("%s capacity", l.Binding)
}

// termText is what a term is for, and whether it filters.
func termText(t *model.Term) string {
	hard := map[bool]string{true: "required", false: "preferred"}
	if t.Use == model.Spread {
		hard = map[bool]string{true: "hard", false: "soft"}
	}
	return hard[t.Hard] + " " + string(t.Use)
}

// outerLabels tells of labels of a machine that selectors ask its pods for
// (R-W21).
func (b changes) outerLabels(w *workload.Workload) {
	outer := w.OuterLabels()
	if len(outer) == 0 {
		return
	}
	for _, key := range sortedKeys(outer) {
		asked, at := b.j.Asks(w, key)
		if asked == nil {
			continue
		}
		fact := facts.OuterLabel{
			Workload: w.String(), Label: key + "=" + outer[key].Value, Asked: fmt.Sprintf("the %s of %s", termText(at), asked),
			Inside: strings.Join(append(slices.Clone(w.Kind.Template), "metadata.labels"), "."),
		}
		s := about(w, outer[key].Span)
		s = s.related(asked.File().ItemSpan(at.Node), "%s selects %s", fact.Asked, fact.Label)
		fact.ID, fact.W = b.subject(s.fix("add the label to %s", fact.Inside)), b.row(w)
		b.OuterLabels = append(b.OuterLabels, fact)
	}
}
