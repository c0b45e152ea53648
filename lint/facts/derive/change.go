package derive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// changes builds the facts about changes to workloads, such as rollouts, drains and losses.
type changes struct{ *builder }

// change adds the facts about changes. It skips workloads whose pods already stay Pending.
func (b changes) change() {
	for i := range b.j.Budgets() {
		b.settled[b.j.Budgets()[i].Object.ID()] = &progress{budget: true}
	}
	b.askAll(askBudgets, func() {
		for i := range b.j.Budgets() {
			x := &b.j.Budgets()[i]
			b.budget(x)
			d := b.settled[x.Object.ID()]
			d.judged, d.guards = x.Unknown == "", x.Unknown == ""
		}
	})
	for _, w := range b.m.Workloads {
		if len(w.Rivals) > 0 && !w.Copy && !w.Superseded && b.wanted("autoscalers", "outcome", diag.None) {
			// Several autoscalers of one workload.
			fact := facts.Autoscaler{Outcome: diag.None, Limit: limitOf(-1, nil), Growth: []facts.GrownPool{}, Begins: []facts.PoolSize{}}
			s := Subject{Location: w.Rivals[0].Object.NameSpan()}.in(w.Rivals[0].Object.ID())
			for i, r := range w.Rivals {
				name := r.Kind + " " + strings.TrimPrefix(w.Object.Namespace+"/"+r.Object.Name, "/")
				if i == 0 {
					fact.Object = name
					continue
				}
				fact.Rivals = append(fact.Rivals, name)
				s = s.related(r.Object.NameSpan(), "%s", name)
			}
			s = s.related(w.CountSpan(), "%s", message.PodsOf(w.Count.N, w)).fix("%s", message.OneAutoscaler)
			fact.ID, fact.W = b.subject(s), b.row(w)
			b.Autoscalers = append(b.Autoscalers, fact)
		}
	}
	if !b.prepared {
		return
	}
	for _, w := range b.m.Workloads {
		if w.Copy || w.Superseded {
			continue
		}
		b.outerLabels(w)
		if b.faulty[w] || b.orderDependent[w] || !b.j.Judged(w) {
			continue
		}
		// An earlier context may already have the answers. Custom rules may combine answers with
		// other rows of this context. If there are custom rules, no question is skipped.
		shared := b.Answered != nil && !b.complete
		if shared {
			if known, ok := b.Answered.changes[b.j.Question(w)]; ok {
				b.settle(w, func(d *progress) {
					d.changed, d.lost, d.rolls, d.drains, d.fits = known.changed, known.lost, known.rolls, known.drains, known.fits
				})
				continue
			}
		}
		b.settle(w, func(d *progress) { d.changed = d.placed; d.lost = d.placed && len(b.lost(w)) > 0 })
		b.asks(w, b.rollout, b.drain, b.losses, b.migration, b.autoscaler)
		if shared {
			b.Answered.changes[b.j.Question(w)] = *b.settled[w.Object.ID()]
		}
	}
}

// asks runs all the functions that answer questions about a change, even if one question remains
// open.
func (b changes) asks(w *workload.Workload, questions ...func(*workload.Workload)) {
	if b.changing == nil {
		b.changing = b.m.ChangeBudget(model.ObjectsOf(b.m.Workloads))
	}
	given := !b.changing.Within(w.Object, func() {
		for _, ask := range questions {
			sound := false
			if !b.j.Ask(w, func() { sound = b.m.Run().Guard([]*source.Object{w.Object}, func() { ask(w) }) }) || !sound {
				b.markUnknown(w, model.Reason{Cause: model.ByBudget})
			}
		}
	})
	if given {
		b.markUnknown(w, model.Reason{Cause: model.ByBudget})
	}
}

// rollout adds a fact about whether an update of a workload completes. With an autoscaler, it
// checks the smallest and the largest number of pods. The outcome is "never" only if the update
// completes with neither of them.
func (b changes) rollout(w *workload.Workload) {
	all := filterStarted(b.j.Rollouts(w))
	r, ending := worst(all)
	b.settle(w, func(d *progress) {
		d.rolls, d.fits = ending, ending == diag.Always && !slices.ContainsFunc(all, func(r disruption.Rollout) bool { return !r.Placed() })
	})
	if ending == diag.None {
		return
	}
	if ending == diag.Unknown {
		b.markUnknown(w, r.Why)
	}
	if r.Why.Cause != model.ByBudget {
		b.rolled[w] = ending
	}
	if ending == diag.Always || r.Why.Cause == model.ByNeighbour { // it completes, or only a different workload blocks it, so it can end skewed
		b.skew(w, r)
	}
	if r.Crowded() || !b.wanted("rollouts", "outcome", ending) { // another finding says that not all pods fit
		return
	}
	fact := facts.Rollout{
		Outcome: ending, Cause: cause(ending, r.Why), Way: string(r.Way), Surge: r.Surge, Unavailable: r.Unavailable, Arithmetic: arithmeticOf(&r.Arithmetic),
		Replicas: r.Replicas, Rules: []facts.Rule{}, Others: []int{}, Limit: limitOf(-1, nil), Running: []facts.Placed{}, Refused: []facts.FilterNodes{},
	}
	fact.At, fact.Scaler = scaleOf(w, r.Replicas)
	s := b.rolloutSubject(w, r, &fact).withAccount(w, func(x *Explainer) diag.Account { return x.updated(w, r) }).as(w.Object.File, w.Object.Root)
	s.described = updating(w, r.Span)
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Rollouts = append(b.Rollouts, fact)
}

// updating returns where a team's own findings about a rollout are: at the field of the strategy
// that counts, at the strategy, or at the pod count.
func updating(w *workload.Workload, counts diag.Span) diag.Span {
	if !counts.IsZero() {
		return counts
	}
	for _, field := range []string{"strategy", "updateStrategy"} {
		if k, v := w.Object.Root.Get("spec").Field(field); k != nil {
			return w.Object.File.FieldSpan(k, v)
		}
	}
	return w.CountSpan()
}

// markUnknown records that a question about a workload change has no answer.
func (b changes) markUnknown(w *workload.Workload, why model.Reason) {
	if b.noteOpen(w, diag.Unknown, why); why.Cause == model.ByBudget {
		b.m.Run().GiveUp([]*workload.Workload{w}, askChange)
	}
	b.settle(w, func(d *progress) { d.changed, d.lost = false, false })
}

// noteOpen records that an outcome is unknown because the search space is too large, or because
// it is not known where volumes can be used.
func (b *builder) noteOpen(w *workload.Workload, outcome diag.Outcome, why model.Reason) {
	if outcome == diag.Unknown && (why.Cause == model.ByCrowd || why.Cause == model.BySize || why.Cause == model.ByClass) {
		run := b.m.Run()
		if n := len(run.GivenUp); n > 0 {
			if last := run.GivenUp[n-1]; last.Question == askChange && last.Cause == why.Cause && last.Name == why.Name && last.Objects[0] == w.Object {
				return // already noted for the loss of another domain
			}
		}
		run.GivenUp = append(run.GivenUp, model.Unanswered{Objects: []*source.Object{w.Object}, Question: askChange, Cause: why.Cause, Name: why.Name})
	}
}

// filterStarted returns the rollouts whose pods fit before the update.
func filterStarted(all []disruption.Rollout) []disruption.Rollout {
	unbegun := func(r disruption.Rollout) bool { return r.Verdict == "" }
	if !slices.ContainsFunc(all, unbegun) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), unbegun)
}

// worst returns the rollout to report and the combined outcome of all rollouts. The reported
// rollout has the worst outcome. The order is "never", "sometimes", "unknown", "always". Only one
// of the rollouts actually happens. If one never completes and another may complete, the combined
// outcome is "sometimes". Without rollouts, the outcome is "none".
func worst(all []disruption.Rollout) (*disruption.Rollout, diag.Outcome) {
	if len(all) == 0 {
		return nil, diag.None
	}
	for _, v := range []diag.Outcome{diag.Never, diag.Sometimes, diag.Unknown} {
		for i := range all {
			switch {
			case all[i].Verdict != v:
			case v == diag.Never && slices.ContainsFunc(all, func(r disruption.Rollout) bool { return r.Verdict != v }):
				return &all[i], diag.Sometimes
			default:
				return &all[i], v
			}
		}
	}
	return &all[0], cmp.Or(all[0].Verdict, diag.None)
}

// rolloutSubject returns a subject located at the term or the port that blocks the rollout. Other
// blocking rules become related locations. Remedies that worked become fixes.
func (b changes) rolloutSubject(w *workload.Workload, r *disruption.Rollout, fact *facts.Rollout) Subject {
	s := Subject{}
	if r.Core != nil {
		t := b.core(w, r.CoreModel, r.Core)
		s, fact.Rules, fact.Others = t.s, t.rules, t.others
	}
	s = b.atOwn(w, s, fact.Others)
	if fact.Outcome == diag.Always || fact.Outcome == diag.Unknown {
		return s
	}
	if len(fact.Rules) == 0 && len(fact.Others) == 0 {
		fact.Rules = b.ownRules(w)
	}
	if !r.Span.IsZero() && r.Span != s.Location {
		s = s.related(r.Span, "%s", message.Arithmetic(&r.Arithmetic))
	}
	if at := w.CountSpan(); at != s.Location {
		s = s.related(at, "%s", message.PodsOf(r.Replicas, w))
	}
	fact.Limit = limitOf(b.row(w), b.j.Limit(w, r.Replicas+1))
	if r.Why.Cause == model.ByQuota {
		fact.Quota, fact.QuotaPods = r.Why.Name, r.Why.Count
		return s.quota(w, r.Why).fix("%s", message.RaiseQuota).fix("%s", message.RemoveFirst(r.Way))
	}
	if fact.Outcome == diag.Sometimes && len(r.Stuck) > 0 || r.Hangs() {
		fact.Stuck, fact.Running, fact.Refused = true, runningAt(b.row(w), r), refusedNodes(r.Reasons)
	}
	if r.Hangs() {
		fact.Hangs = w.AttachedBy.Name
		s = s.related(w.AttachedBy.Span, message.HeldClaim)
	}
	fact.Shortfall = b.shortfall(w, r, fact)
	remedies := b.j.Remedies(w, r)
	for _, remedy := range remedies {
		s = s.fix("%s", remedyText(b.m, w, r.Way, remedy))
	}
	if len(remedies) == 0 && fact.Shortfall.Resource != "" {
		s = s.fix("%s", message.MoreRoom(&fact.Shortfall))
	}
	return s
}

// coreRules holds the rules of a core and their locations. A finding lists them in this order.
type coreRules struct {
	b *builder
	// m is the model of the core.
	m *model.Model
	// w is the workload that the finding is about. s is its subject.
	w *workload.Workload
	s Subject
	// fewer holds the rules of w that exclude nodes. rules holds the other rules of the core. If
	// there are no other rules, rules holds the same rules as fewer.
	rules, fewer []facts.Rule
	others       []int
	seen         map[diag.Span]bool
}

// core returns the rules of a core. The workload's own rules come first. The subject is located at
// the first term, port or request.
func (b changes) core(w *workload.Workload, m *model.Model, core *search.Core) *coreRules {
	t := &coreRules{b: b.builder, m: m, w: w, seen: map[diag.Span]bool{}, rules: []facts.Rule{}, others: []int{}}
	for _, pass := range []struct{ own, term bool }{{true, true}, {false, true}, {true, false}, {false, false}} {
		for _, atom := range core.Atoms {
			if (atom.Workload.String() == w.String()) == pass.own && (atom.Term != nil) == pass.term && atom.Part != search.PartReplicas {
				t.add(atom, pass.own)
			}
		}
	}
	for _, o := range core.Among {
		if row := b.row(original(b.m, o)); o.String() != w.String() && !slices.Contains(t.others, row) {
			t.others = append(t.others, row)
		}
	}
	if len(t.rules) == 0 {
		t.rules = t.fewer
	}
	return t
}

// add adds one part of the core. Old and new pods of a workload have the same rules. Each location
// is therefore added only once.
func (t *coreRules) add(atom search.Atom, own bool) {
	of := t.w
	if !own {
		of = original(t.b.m, atom.Workload)
	}
	rule := facts.Rule{W: t.b.row(of), Use: string(atom.Part), Hard: true}
	switch {
	case atom.Term != nil:
		rule = termRule(rule.W, atom.Term)
	case atom.Part == search.PartPorts:
		rule.Use = "host-port"
		rule.Key, _ = portSpan(atom.Workload, t.m.Group(atom.Workload).HostPorts)
	}
	if atom.Part == search.PartTaints || atom.Part == search.PartSelector {
		if t.s, _ = excluded(t.b.m, t.s, original(t.b.m, atom.Workload), false); own && !slices.Contains(t.fewer, rule) {
			t.fewer = append(t.fewer, rule)
		}
		return
	}
	at, _, text := atomAt(t.m, atom)
	if t.seen[at] {
		return
	}
	t.seen[at] = true
	if !own && !slices.Contains(t.others, rule.W) {
		t.others = append(t.others, rule.W)
	}
	t.rules = append(t.rules, rule)
	if t.s.Location.IsZero() && (atom.Term != nil || atom.Part == search.PartPorts || own && atom.Part == search.PartRequests) {
		t.s.Location = at
		t.s = t.s.of(atom.Workload)
	} else {
		t.s = t.s.related(at, "%s", text)
	}
}

// original returns the workload in the model from which w was copied.
func original(m *model.Model, w *workload.Workload) *workload.Workload {
	for _, o := range m.Workloads {
		if o.String() == w.String() && o.Kind == w.Kind {
			return o
		}
	}
	return w
}

// atOwn moves a subject to a rule of w that selects one of the other workloads. Otherwise, if two
// workloads exclude each other, a finding about w could be located at the other workload's rule. A
// subject without a location is moved to the rule that keeps the pods off other nodes.
func (b changes) atOwn(w *workload.Workload, s Subject, others []int) Subject {
	if s.Location.IsZero() {
		s.Location = holding(b.m, w)
		return s.of(w)
	}
	if *s.Object == w.Object.ID() {
		return s
	}
	among := func(w *workload.Workload) bool {
		return slices.ContainsFunc(others, func(i int) bool { return b.Workloads[i].Ref == w.String() })
	}
	for _, t := range b.m.Group(w).Terms {
		for _, o := range b.m.Workloads {
			if t.Hard && among(o) && b.m.Peer(t, w, o) == model.Yes {
				s = s.related(s.Location, "%s", message.OfAnother)
				s.Location = w.File().ItemSpan(t.Node)
				return s.of(w)
			}
		}
	}
	return s
}

// cause returns the reason why an outcome is unknown, or "" for any other outcome.
func cause(outcome diag.Outcome, why model.Reason) string {
	if outcome != diag.Unknown {
		return ""
	}
	return string(why.Cause)
}

// ownRules returns the hard rules of a workload that select its own pods.
func (b changes) ownRules(w *workload.Workload) []facts.Rule {
	rules := []facts.Rule{}
	for _, t := range b.m.Group(w).Terms {
		if t.Hard && b.m.Peer(t, w, w) == model.Yes {
			if r := termRule(b.row(w), t); !slices.Contains(rules, r) {
				rules = append(rules, r)
			}
		}
	}
	return rules
}

// remedyText describes how to edit the workload to apply a remedy.
func remedyText(m *model.Model, w *workload.Workload, way workload.Way, remedy search.Kind) string {
	switch remedy {
	case search.MatchLabelKeys:
		return message.MatchLabelKeys(w.Kind.Shared[0])
	case search.OneUnavailable:
		return message.RemoveFirst(way)
	case search.CountRevisions:
		return message.CountRevisions(w.Kind.Shared[0])
	case search.MismatchLabelKeys:
		return message.MismatchLabelKeys
	}
	for _, t := range m.Group(w).Terms {
		if t.Hard && t.Use == model.AntiAffinity && t.Declared() {
			return message.AddNodes(1, t.Key)
		}
	}
	return message.AddEligibleNode
}

// skew adds a fact about whether a completed rollout can leave the new pods unevenly spread.
func (b changes) skew(w *workload.Workload, r *disruption.Rollout) {
	if !b.skews() {
		return
	}
	fact := facts.Skew{Outcome: diag.Always, Replicas: r.Replicas}
	if b.j.Skews(w, r.Replicas) {
		fact.Outcome = diag.Sometimes
	}
	if !b.wanted("skews", "outcome", fact.Outcome) {
		return
	}
	s := about(w, diag.Span{}).withAccount(w, func(x *Explainer) diag.Account { return x.updated(w, r) })
	for _, t := range b.m.Group(w).Terms {
		if t.Hard && t.Use == model.Spread {
			fact.Key, fact.MaxSkew = t.Key, int(t.Constraint.MaxSkew)
			s.Location = w.File().ItemSpan(t.Node)
			break
		}
	}
	if fact.Outcome == diag.Sometimes {
		s = s.fix("%s", message.IgnoreRevisions(w.Kind.Shared[0], b.j.Tighter(w, r.Replicas)))
	}
	fact.At, fact.Scaler = scaleOf(w, r.Replicas)
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Skews = append(b.Skews, fact)
}

// scaleOf returns the kind of the workload's autoscaler. The result at says whether pods is its
// minimum, its maximum or a number between them. Both results are "" if there is no autoscaler.
func scaleOf(w *workload.Workload, pods int) (at, scaler string) {
	switch {
	case w.Scale == nil:
		return "", ""
	case pods == w.Scale.Max:
		return "maximum", w.Scale.Kind
	case pods == w.Scale.Min:
		return "minimum", w.Scale.Kind
	}
	return "between", w.Scale.Kind
}

func (b *builder) changes() changes { return changes{b} }

// budget adds a fact about a defect of a disruption budget. A budget has a defect if it allows no
// disruptions, shares a pod with another budget, or selects no pods. Facts about other budgets are
// added only if a rule reads the complete list.
func (b changes) budget(x *disruption.Budget) {
	if x.Idle {
		s := Subject{Location: x.SelectorSpan()}
		b.addBudget(x, "idle", nil, s.fix("%s", message.SelectOrRemoveBudget))
		return
	}
	var rivals []rival
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
				rivals = append(rivals, rival{o.Budget, w})
			}
		}
	}
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
			at, text := w.CountSpan(), message.PodsOf(pods, w)
			if w.Scale != nil {
				// UpTo is about all workloads, so the others are at their minimum.
				at, text = w.Scale.MinSpan, message.ScaledPods(w, cmp.Or(x.UpTo, x.Pods+w.Scale.Max-pods)-x.Pods+pods)
			}
			s = s.related(at, "%s", text)
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
		AllowedMin: x.AllowedMin, AllowedMax: x.AllowedMax, UpTo: x.UpTo, UnhealthyPolicy: unhealthyPolicy(x.Budget), Selects: []int{}, Others: []string{},
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
	fact.ID = b.subject(s.in(x.Object.ID()).withAccount(of, func(e *Explainer) diag.Account {
		if len(x.Workloads) == 0 {
			return diag.Account{Notes: []string{message.NoSelectedPods}}
		}
		return e.still(x.Workloads[0], message.EvictionFirst)
	}))
	b.Budgets = append(b.Budgets, fact)
}

// maxOthers limits the number of workloads and the number of other budgets in a fact about a
// budget.
const maxOthers = 20

// rival is another budget that selects pods from a workload.
type rival struct {
	budget *workload.Budget
	of     *workload.Workload
}

// migration adds a fact about whether machines can migrate (R-W25 to R-W29, R-W36).
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
	_, at := w.EvictionStrategy()
	switch {
	case m.Device != nil:
		fact.Device = message.KeptBy(m.Device)
		s = about(w, m.Device.Span).related(m.Device.Modes, "%s", message.NotShared).fix("%s", message.Movable(m.Device))
		if m.Evicts {
			s = s.related(at, "%s", message.EvictionWaits)
		}
	case ending == diag.Never || ending == diag.Sometimes:
		if len(fact.Rules) == 0 {
			fact.Rules = b.ownRules(w)
		}
		fact.Limit = limitOf(b.row(w), b.j.Limit(w, m.Machines+1))
		if m.Evicts {
			s = s.related(at, "%s", message.EvictionWaits)
		}
		for _, remedy := range b.j.MigrationRemedies(w) {
			s = s.fix("%s", remedyText(b.m, w, workload.NoRollout, remedy))
		}
	}
	if m.Device == nil {
		s = s.withAccount(w, func(x *Explainer) diag.Account {
			s := x.judge().Moving(w)
			if s == nil {
				return x.still(w, message.TooManyLabels)
			}
			if _, missing := s.Count(s.Next); missing == 0 {
				return x.still(w, message.NotShown)
			}
			s.Call(s.Old, message.Migrating)
			a := diag.Account{Tables: []diag.NodeTable{x.table(w, message.TargetPod(w, s.Pods), s.Answers(s.Next))}}
			if len(x.judge().MigrationRemedies(w)) > 0 {
				a.Tried = message.MigrationTried
			}
			return a
		})
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Migrations = append(b.Migrations, fact)
}

// autoscaler adds a fact about whether all pods fit at the maximum of an autoscaler (R-W18).
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
		Outcome: outcome, Cause: string(s.Why.Cause), Object: scalerName(w), Rivals: []string{},
		Min: w.Scale.Min, Max: w.Scale.Max, Default: w.Scale.MaxDefault, Fit: s.Most,
		Limit: limitOf(b.row(w), s.Limit), Growth: []facts.GrownPool{}, Begins: []facts.PoolSize{},
	}
	if s.Pool != "" {
		fact.Begins = append(fact.Begins, facts.PoolSize{Pool: s.Pool, Nodes: s.Size})
	}
	subject := Subject{Location: w.Scale.MaxSpan}.in(w.Scale.Object.ID()).withAccount(w, func(x *Explainer) diag.Account {
		s := x.judge().Scaled(w)
		placed, missing := s.Count(s.Next)
		if missing == 0 {
			return x.still(w, message.NotShown)
		}
		return diag.Account{Tables: []diag.NodeTable{x.table(w, message.NextPodAtMaximum(w, placed, missing), s.Answers(s.Next))}}
	})
	if l := s.Limit; l != nil {
		fact.Growth = message.GrownPools(l.Growth)
		for _, t := range l.Terms {
			subject = subject.related(w.File().ItemSpan(t.Node), "%s", message.Term(t))
		}
	}
	switch {
	case outcome == diag.Never && s.Why.Cause == model.ByQuota:
		fact.Pending, fact.Quota = w.Scale.Max-s.Most, s.Why.Name
		subject = subject.related(w.Object.NameSpan(), "%s", message.IsScaled(w)).quota(w, s.Why)
		subject = subject.fix("%s", message.RaiseQuotaToScale).fix("%s", message.LowerMaximum(s.Most))
	case outcome == diag.Never:
		fact.Pending = w.Scale.Max - s.Most
		subject = subject.related(w.Object.NameSpan(), "%s", message.IsScaled(w))
		subject = b.advisor().offer(subject, tries{
			search.MoreNodes: func() string {
				if s.Limit != nil && s.Limit.By == bound.ByClaim || s.Why.Cause == model.ByItself { // nodes may not help
					return ""
				}
				return message.AddNodesOrPool
			},
			search.FewerPods: func() string {
				if n, ok := b.advisor().largest(w, s.Most, w.Scale.Max); ok {
					return message.LowerMaximum(n)
				}
				return ""
			},
		})
	}
	fact.ID, fact.W = b.subject(subject), b.row(w)
	b.Autoscalers = append(b.Autoscalers, fact)
}

// scalerName returns the name of a workload's autoscaler, such as HorizontalPodAutoscaler shop/web.
func scalerName(w *workload.Workload) string {
	return w.Scale.Kind + " " + strings.TrimPrefix(w.Object.Namespace+"/"+w.Scale.Object.Name, "/")
}

// outerLabels adds facts about labels that a KubeVirt machine sets only outside its template. Its
// pods do not get these labels, but selectors look for them on the pods (R-W21).
func (b changes) outerLabels(w *workload.Workload) {
	outer := w.OuterLabels()
	if len(outer) == 0 {
		return
	}
	for _, key := range sorting.Keys(outer) {
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
