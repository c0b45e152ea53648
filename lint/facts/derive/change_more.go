package derive

import (
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// budget adds a fact about a disruption budget that allows no disruptions, that is not the only one
// of a pod, or that selects no pods.
func (b changes) budget(x *disruption.Budget) {
	if x.Idle {
		s := Subject{Location: x.SelectorSpan()}
		b.addBudget(x, "idle", nil, s.fix("%s", message.SelectOrRemoveBudget))
		return
	}
	rivals := b.rivals(x)
	if len(rivals) > 0 && x.Unknown == "" {
		rivals = rivals[:min(len(rivals), maxOthers)]
		s := Subject{Location: x.SelectorSpan()}
		for _, o := range rivals {
			s = s.related(o.budget.SelectorSpan(), "%s", message.AlsoSelects(o.budget.String(), o.of))
		}
		b.addBudget(x, "several", rivals, s.fix("%s", message.OneBudgetEach))
		return
	}
	if x.Evicts && (x.AllowedMax == 0 || x.WhileSmall) {
		s := Subject{Location: x.Span()}
		for _, w := range x.Workloads[:min(len(x.Workloads), maxOthers)] {
			pods := model.Certain(w)
			if w.Kind.PerNode() && b.topo {
				pods = b.m.Eligible(w).Count
			}
			s = s.related(w.CountSpan(), "%s", message.PodsOf(pods, w))
		}
		problem := "no-eviction"
		if x.WhileSmall {
			problem = "no-eviction-while-small"
		}
		allowed, _ := x.Budget.Allowed(x.Pods + 1)
		oneMore := allowed > 0 && x.Known && x.Unscaled == nil && len(x.Workloads) == 1 && x.Amount.Of == x.Pods && b.advisor().holds(x.Workloads[0], disruption.Replicas(x.Pods+1), 0)
		b.addBudget(x, problem, nil, s.fix("%s", message.AllowDisruptions(x, oneMore)))
		return
	}
	if b.whole("budgets") {
		problem := "none"
		if x.AllowedMin == 0 {
			problem = "unknown"
		}
		b.addBudget(x, problem, nil, Subject{Location: x.Span()})
	}
}

func (b changes) addBudget(x *disruption.Budget, problem string, rivals []rival, s Subject) {
	var of *workload.Workload
	if len(x.Workloads) > 0 {
		of = x.Workloads[0]
	}
	fact := facts.Budget{
		Problem: problem, Object: x.String(), Namespace: x.Object.Namespace, Selector: x.SelectorText(), Pods: x.Pods, Amount: amountOf(&x.Amount),
		AllowedMin: x.AllowedMin, AllowedMax: x.AllowedMax, UpTo: x.UpTo, Selects: []int{}, Others: []string{},
	}
	if x.Unscaled != nil {
		fact.Unscaled = x.Unscaled.String()
	}
	for _, w := range x.Workloads[:min(len(x.Workloads), maxOthers)] {
		fact.Selects = append(fact.Selects, b.row(w))
	}
	for _, o := range rivals {
		fact.Others = append(fact.Others, o.budget.String())
	}
	fact.W = b.row(of)
	fact.ID = b.subject(s.in(x.Object.ID()).withAccount(of, func(e *Explainer) diag.Account { return e.guarded(x) }))
	b.Budgets = append(b.Budgets, fact)
}

// maxOthers bounds the workloads and the other budgets that a fact about a budget names.
const maxOthers = 20

// rival is another budget that selects pods of a workload.
type rival struct {
	budget *workload.Budget
	of     *workload.Workload
}

// rivals returns the other budgets that select pods of a budget, each once.
func (b changes) rivals(x *disruption.Budget) (all []rival) {
	seen := map[*source.Object]bool{x.Object: true}
	for _, w := range x.Workloads {
		if w.Repeated {
			continue
		}
		budgets := b.j.BudgetsOf(w)
		b.m.Run().Spend(len(budgets) / 4)
		for _, o := range budgets {
			if !seen[o.Object] && x.Shares(&o, w) {
				seen[o.Object] = true
				all = append(all, rival{o.Budget, w})
			}
		}
	}
	return all
}

// migration adds a fact about whether machines can migrate (R-W25 to R-W29).
func (b changes) migration(w *workload.Workload) {
	m := b.j.Migration(w)
	ending := m.Answer
	if ending == diag.Unknown {
		b.markUnknown(w, m.Why)
	}
	if ending == diag.None || !b.wanted("migrations", "outcome", ending) {
		return
	}
	fact := facts.Migration{
		Outcome: ending, Cause: cause(ending, m.Why), Machines: m.Machines, Evicts: m.Evicts, Rules: []facts.Rule{}, Limit: limitOf(-1, nil),
	}
	t := &coreRules{rules: fact.Rules}
	if m.Core != nil {
		t = b.core(w, m.CoreModel, m.Core)
		fact.Rules = t.rules
	}
	s := b.atOwn(w, t.s, t.others)
	if ending == diag.Never || ending == diag.Sometimes {
		if len(fact.Rules) == 0 {
			fact.Rules = b.ownRules(w)
		}
		fact.Limit = limitOf(b.row(w), b.j.Limit(w, m.Machines+1))
		if _, at := w.EvictionStrategy(); m.Evicts {
			s = s.related(at, "%s", message.EvictionWaits)
		}
		for _, remedy := range b.j.MigrationRemedies(w) {
			s = s.fix("%s", remedyText(b.m, w, workload.NoRollout, remedy))
		}
	}
	fact.ID, fact.W = b.subject(s.withAccount(w, func(x *Explainer) diag.Account { return x.moving(w) })), b.row(w)
	b.Migrations = append(b.Migrations, fact)
}

// autoscaler adds a fact about whether the maximum of an autoscaler fits (R-W18).
func (b changes) autoscaler(w *workload.Workload) {
	s := b.j.Scaling(w)
	outcome := s.Answer
	if outcome == diag.Sometimes { // at some size of the pools
		outcome = diag.Unknown
	}
	if outcome == diag.Unknown {
		b.markUnknown(w, s.Why)
	}
	if s.Pool != "" {
		b.notes = append(b.notes, message.ScalesOnceGrown(w, s.Pool, s.Size))
	}
	if outcome == diag.None || !b.wanted("autoscalers", "outcome", outcome) {
		return
	}
	fact := facts.Autoscaler{
		Outcome: outcome, Cause: string(s.Why.Cause), Object: scalerName(w),
		Min: w.Scale.Min, Max: w.Scale.Max, Default: w.Scale.MaxDefault, Fit: s.Most,
		Limit: limitOf(b.row(w), s.Limit), Growth: []facts.GrownPool{}, Begins: []facts.PoolSize{},
	}
	if s.Pool != "" {
		fact.Begins = append(fact.Begins, facts.PoolSize{Pool: s.Pool, Nodes: s.Size})
	}
	subject := Subject{Location: w.Scale.MaxSpan}.in(w.Scale.Object.ID()).withAccount(w, func(x *Explainer) diag.Account { return x.scaled(w) })
	if l := s.Limit; l != nil {
		fact.Growth = message.GrownPools(l.Growth)
		for _, t := range l.Terms {
			subject = subject.related(w.File().ItemSpan(t.Node), "%s", message.Term(t))
		}
	}
	if outcome == diag.Never {
		fact.Pending = w.Scale.Max - s.Most
		subject = subject.related(w.Object.NameSpan(), "%s", message.IsScaled(w))
		if n, ok := b.advisor().largest(w, s.Most); ok {
			subject = subject.fix("%s", message.LowerMaximum(n))
		}
		subject = subject.fix("%s", message.AddNodesOrPool)
	}
	fact.ID, fact.W = b.subject(subject), b.row(w)
	b.Autoscalers = append(b.Autoscalers, fact)
}

// scalerName returns the name of a workload's autoscaler, such as HorizontalPodAutoscaler shop/web.
func scalerName(w *workload.Workload) string {
	return w.Scale.Kind + " " + strings.TrimPrefix(w.Object.Namespace+"/"+w.Scale.Object.Name, "/")
}

// outerLabels adds facts about labels that a machine has only outside its template although
// selectors ask its pods for them (R-W21).
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
			Label: key + "=" + outer[key].Value, AskedBy: termRule(b.row(asked), at),
			Inside: strings.Join(append(slices.Clone(w.Kind.Template), "metadata.labels"), "."),
		}
		s := about(w, outer[key].Span)
		s = s.related(asked.File().ItemSpan(at.Node), "%s", message.SelectsLabel(message.Asker(b.Facts, &fact.AskedBy), fact.Label))
		fact.ID, fact.W = b.subject(s.fix("%s", message.AddLabelTo(fact.Inside))), b.row(w)
		b.OuterLabels = append(b.OuterLabels, fact)
	}
}
