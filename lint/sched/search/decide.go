package search

import (
	"errors"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Options limit a decision. The zero value is the default.
type Options struct {
	// Steps is the maximum number of filters that each search and each check of a result may apply.
	// The budget of model.Run applies as well. If Steps is 0, only that budget applies.
	Steps int
	// AtOnce asks what the scheduler does when all pods are present at the same time. It treats
	// pods that run to completion as permanent, and ignores pods that take no part in decisions.
	AtOnce bool
	// Each settles every workload by itself where the decision about all of them does not.
	Each bool
	// Only lists the workloads whose verdicts are asked for. No effort is made for others, except to
	// decide all together. If it is empty, all verdicts are.
	Only []*workload.Workload
}

// asks reports whether the verdict on a workload, or on one that is merged into it, is asked for.
func (o Options) asks(m *model.Model, w *workload.Workload) bool {
	return len(o.Only) == 0 || slices.ContainsFunc(unmerge(m, []*workload.Workload{w}), func(w *workload.Workload) bool { return slices.Contains(o.Only, w) })
}

// budget returns the step limits for one question and for checking its answer. An answer is dropped
// if checking it needs more steps.
func budget(m *model.Model, o Options) (steps, check int) {
	steps = m.Run().Left()
	if o.Steps > 0 {
		steps = min(steps, m.Run().Times(o.Steps))
	}
	return steps, min(steps, m.Run().Times(certificate.CheckSteps))
}

// Decide decides all workloads in a model together. Pods that run to completion do not occupy nodes
// permanently, so the joint decision covers only the other pods. Each workload whose pods run to
// completion gets a separate verdict. If volumes are made before their pods are scheduled, verdicts
// cover every choice of where (see choices.go).
func Decide(m *model.Model, o Options) *certificate.Decision {
	var d *certificate.Decision
	if all := m.Choices(); len(all) > 0 {
		d = (&choosing{m: m, o: o, all: all}).decide()
	} else {
		d = decideOne(m, o)
	}
	decideContested(m, d, o)
	return d
}

// decideOne is Decide for a model in which it is known where volumes can be used.
func decideOne(m *model.Model, o Options) *certificate.Decision {
	if o.AtOnce {
		return decide(m, o)
	}
	d := decide(m.Permanent(), o)
	decideFinite(m, d, o)
	withdrawForNotModeled(d, m)
	return d
}

// withdrawForNotModeled withdraws results that pods outside the model may refute. These are the
// result that all pods are placed, and always verdicts on workloads that such pods may block. Never
// verdicts stay, because additional pods cannot make anything fit. Rules that depend on pods
// outside the model already count as doubts.
func withdrawForNotModeled(d *certificate.Decision, m *model.Model) {
	if len(m.NotModeled()) == 0 {
		return
	}
	open := func(v *diag.Outcome) {
		if *v == diag.Always || *v == diag.Sometimes {
			*v = diag.Unknown
		}
	}
	open(&d.Verdict)
	open(&d.RulesVerdict)
	for i := range d.Workloads {
		w := &d.Workloads[i]
		why := ByNeighbour(m, w.Workload, w.Pods, certificate.Loss{}, "", "")
		if !why.Given() {
			continue
		}
		if !w.Workload.Finite() {
			d.MinPlaced -= w.MinPlaced
		}
		w.MinPlaced, d.Exact = 0, false
		if w.RulesVerdict == diag.Always {
			w.RulesVerdict = diag.Unknown
		}
		if w.Verdict == diag.Always {
			w.Verdict, w.Why = diag.Unknown, why
		}
	}
}

// decide decides all workloads in a model together. Each component has its own budget. The work
// that all components share has a separate, large budget.
func decide(m *model.Model, o Options) (d *certificate.Decision) {
	steps := m.Altogether()
	if o.Each {
		steps += m.Run().Times(2 * coarseSteps)
	}
	if !m.Run().Within(steps, func() {
		parts := m.Split()
		merged := merge(parts)
		a := newState(merged, true, nil)
		contend := (interactions{a}).binds()
		alone := o // no workload is settled twice
		alone.Each = o.Each && !contend
		rules := decideInstance(newState(merged, false, nil), alone, false)
		hold(merged, rules, alone)
		full := rules
		if contend {
			full = decideInstance(a, o, false)
			hold(merged, full, o)
		}
		rules.withhold()
		if full != rules {
			full.withhold()
		}
		d = full.decision(m, rules)
		confirm(parts, d)
		if parts != m {
			join(d, parts)
		}
		// Unknown verdicts may depend on a resource that no node lists.
		first := map[*workload.Workload]model.Reason{} // keyed by a component's first workload
		for i := range d.Workloads {
			w := &d.Workloads[i]
			if w.Verdict != diag.Unknown {
				continue
			}
			if names := Unlisted(m, w.Workload); len(names) > 0 {
				w.Why = model.Reason{Cause: model.ByResource, Name: string(names[0])}
				continue
			}
			group := d.Groups[w.Workload]
			if len(group) == 0 {
				continue
			}
			if why := lazy.Cached(first, group[0], func() model.Reason { return firstUnlisted(m, group) }); why.Workload != nil {
				w.Why = why
			}
		}
		lonely := map[*workload.Workload]bool{}
		for i, never := range rules.a.unplaceable {
			for _, w := range unmerge(merged, []*workload.Workload{rules.a.units[i].g.Origin()}) {
				lonely[w] = lonely[w] || never
			}
		}
		overSizes(d, m, o, lonely)
	}) {
		return undecided(m)
	}
	return d
}

// undecided returns a decision in which every verdict is unknown. It is used when the work that all
// components share exceeds the budget.
func undecided(m *model.Model) *certificate.Decision {
	d := &certificate.Decision{Verdict: diag.Unknown, RulesVerdict: diag.Unknown, Groups: map[*workload.Workload][]*workload.Workload{}, Brief: map[*workload.Workload]bool{}}
	for g := range m.Placeable() {
		w, pods := g.Workload, g.Count.N
		if w.Kind.PerNode() {
			pods = 0 // its nodes have not been counted
		}
		d.Total, d.MaxPlaced = d.Total+pods, d.MaxPlaced+pods
		d.Workloads = append(d.Workloads, certificate.WorkloadDecision{Workload: w, Pods: pods, Verdict: diag.Unknown, RulesVerdict: diag.Unknown, MaxPlaced: pods, Why: model.Reason{Cause: model.ByBudget}})
		d.Over = append(d.Over, certificate.Overrun{Workloads: []*workload.Workload{w}, Pods: pods, Cause: model.ByBudget})
	}
	return d
}

// decided holds the outcomes of all components in an instance.
type decided struct {
	a        *state
	outcomes []outcome
	proofs   certificate.Proofs // set by hold
}

// decideInstance decides an instance's components. If finite is set, it decides only those whose
// pods run to completion.
func decideInstance(a *state, o Options, finite bool) *decided {
	d := &decided{a: a}
	for _, c := range (interactions{a}).components() {
		if !finite || slices.ContainsFunc(c.owners, (*workload.Workload).Finite) {
			d.outcomes = append(d.outcomes, decider{a}.bounded(c, o))
		}
	}
	return d
}

type decider struct{ *state }

// pricedSize is the maximum number of workloads times nodes of a component in which prices are
// tried and single workloads are settled. Up to coarseSize, only their verdicts are settled, and
// only if Options.Each asks for them. The check of what was proved may take sureShare times the
// component's budget.
const (
	pricedSize  = 5_000
	coarseSize  = 1_000_000
	coarseSteps = 20_000_000
	sureShare   = 2
)

// settleShare is the number of times that all workloads of a component may take the component's budget together
// to be settled one by one.
const settleShare = 4

func (d decider) bounded(c component, o Options) (out outcome) {
	size := len(c.owners) * len(d.nodes)
	h := newHeadroom(d.state, c, size > pricedSize)
	h.options = o
	if !d.m.Run().Within(d.m.Bounds(unmerge(d.m, c.owners)), func() { out = d.decide(h, o) }) {
		d.m.Run().Stops++
		d.restore(c)
		out = openOutcome(c)
		out.spent = true
	}
	settled := out.always || out.exact
	if !settled && o.Each && size <= coarseSize && !c.unsure && !out.refuted && h.result != nil {
		steps := settleShare * d.m.Bounds(unmerge(d.m, c.owners))
		if h.coarse {
			steps = d.m.Run().Times(coarseSteps)
		}
		if !d.m.Run().Within(steps, func() { h.settle(&out) }) {
			d.restore(c)
		}
	}
	if !out.always && !out.exact {
		out.sure = h.sure()
	}
	out.proof.Prices = h.prices
	return out
}

// decide settles a component with the cheapest method that succeeds.
func (d decider) decide(h *headroom, o Options) outcome {
	c := h.c
	if c.unsure {
		if !model.Off("T21") {
			h.proveDespiteDoubts()
		}
		return d.unsure(c)
	}
	forms := closedForms(d)
	if c.pods > 0 && len(c.units) == 1 && d.unplaceable[c.units[0]] {
		return settled(c, nil)
	}
	if out, ok := forms.orderless(c); ok && !model.Off("T3") {
		return out
	}
	out := estimates(d).estimate(c, h)
	if !(out.decided && out.exact) && c.pods <= mediumPods && (!out.decided || len(d.nodes) <= smallNodes) {
		if exact, ok := d.trySearch(c, o, out.decided); ok {
			// If a proof has already settled the verdict, the search must agree with it. The proof
			// is then checked instead of the search.
			if out.decided && out.verdict() != exact.verdict() {
				d.m.Run().Refuse(unmerge(d.m, c.owners), fmt.Errorf("%s by proof and %s by search", out.verdict(), exact.verdict()))
				open := openOutcome(c)
				open.refuted = true
				return open
			}
			if out.decided && exact.proof.Kind != certificate.Unproved {
				exact.proof = out.proof
			}
			return exact
		}
		out.spent = true
	}
	out.large = c.pods > mediumPods
	return out
}

// openOutcome returns the initial outcome of a component, before anything is known.
func openOutcome(c component) outcome {
	return outcome{component: c, most: c.pods, ownMost: slices.Clone(c.declared), ownLeast: make([]int, len(c.owners))}
}

// unsure returns the outcome of a component in which it is unknown whether some rule selects
// certain pods. Only the cluster knows the answer. Pods that no node accepts, or whose rules need a
// label that none of their nodes has, are never placed anyway.
func (d decider) unsure(c component) outcome {
	o := openOutcome(c)
	for k, i := range c.units {
		if u := d.units[i]; u.pods > 0 && d.neverPlaced(i) {
			o.most -= u.pods
			o.ownMost[c.owner[k]] -= u.pods
			o.never, o.decided = true, true
			o.proof = certificate.Proof{Kind: certificate.LimitProof, About: []int{i}}
		}
	}
	return o
}

// A component with up to mediumPods pods is searched if proofs fail. If proofs have settled the
// verdict, the search only determines exact pod counts, and it is limited to smallNodes nodes and
// numberSteps steps.
const (
	smallNodes  = 40
	mediumPods  = 80
	numberSteps = 300_000
)

// trySearch searches with part of the remaining budget, and returns false if that was not enough.
// If the verdict is known, the search only determines pod counts.
func (d decider) trySearch(c component, o Options, known bool) (out outcome, ok bool) {
	steps, _ := budget(d.m, o)
	part := d.m.Run().Left() / 2
	if known {
		steps, part = min(steps, numberSteps), part/8
	}
	done := d.m.Run().Within(part, func() {
		s := newSearch(d.state, c, &steps)
		defer s.close()
		s.out.decided = s.visit(c.pods)
		s.out.exact = s.out.decided
		if s.out.always || s.out.never {
			s.out.proof.Kind = certificate.Explored
		}
		out = s.out
	})
	if !done {
		d.restore(c)
	}
	if done = done && out.decided; !done && !known {
		d.m.Run().Stops++
	}
	return out, done
}

func (o *outcome) verdict() diag.Outcome {
	switch {
	case !o.decided:
		return diag.Unknown
	case o.always:
		return diag.Always
	case o.never:
		return diag.Never
	}
	return diag.Sometimes
}

// whole combines the verdicts of all components, which do not interact.
func (d *decided) whole() diag.Outcome {
	all := diag.Always
	for i := range d.outcomes {
		switch v := d.outcomes[i].verdict(); {
		case v == diag.Never:
			return diag.Never
		case v == diag.Unknown || all == diag.Unknown:
			all = diag.Unknown // a never verdict in a later component outranks it
		case v == diag.Sometimes:
			all = diag.Sometimes
		}
	}
	return all
}

// tally sums up the outcomes for one workload. A DaemonSet has one pod group per node.
type tally struct {
	pods, most, least int
	// best and worst count the workload's pods in the best and worst runs of all components.
	best, worst int
	unclear     bool
	// unsure, large and refuted say why the verdict is unclear: because a rule is uncertain, a
	// component is too large, or a certificate failed.
	unsure, large, refuted bool
}

func (t tally) verdict() diag.Outcome {
	switch {
	case t.most < t.pods:
		return diag.Never
	case t.least == t.pods:
		return diag.Always
	case t.unclear && !(t.best == t.pods && t.worst < t.pods):
		return diag.Unknown
	}
	return diag.Sometimes
}

// counts returns how many pods of each owner a run places.
func (o *outcome) counts(run []step) []int {
	at, placed := map[int]int{}, make([]int, len(o.owners))
	for k, i := range o.units {
		at[i] = o.owner[k]
	}
	for _, s := range run {
		placed[at[s.unit]]++
	}
	return placed
}

func (d *decided) tallies() map[*workload.Workload]tally {
	all := map[*workload.Workload]tally{}
	for _, o := range d.outcomes {
		for k, w := range o.owners {
			t := all[w]
			t.most += o.ownMost[k]
			t.least += o.ownLeast[k]
			t.unclear, t.unsure, t.large, t.refuted = t.unclear || !o.exact, t.unsure || o.unsure, t.large || o.large, t.refuted || o.refuted
			all[w] = t
		}
		best, worst := o.counts(o.best), o.counts(o.worst)
		for k, s := range o.shown {
			if s.full != nil {
				best[k] = o.declared[k]
			}
			if s.short != nil {
				worst[k] = min(worst[k], s.fewest)
			}
		}
		for k, w := range o.owners {
			t := all[w]
			t.best, t.worst = t.best+best[k], t.worst+worst[k]
			all[w] = t
		}
		for _, i := range o.units {
			w := d.a.units[i].g.Origin()
			t := all[w]
			t.pods += d.a.units[i].pods
			all[w] = t
		}
	}
	share(d.a.m, all)
	return all
}

// decideFinite adds the workloads whose pods run to completion. Their verdict is always if all of
// their pods find nodes while all other pods are present, and never if not even one pod finds a
// node in an empty cluster. In all other cases, the pods may have to wait, and the verdict is
// unknown.
func decideFinite(m *model.Model, d *certificate.Decision, o Options) {
	if !slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool { return ends(m, w) }) {
		return
	}
	parts := m.Split()
	rules := decideInstance(newState(parts, false, nil), o, true)
	hold(parts, rules, o)
	full := decideInstance(newState(parts, true, nil), o, true)
	hold(parts, full, o)
	all := full.decision(m, rules)
	if parts != m {
		join(all, parts)
	}
	hopeless := neverPlaced(parts, rules.a)
	for _, w := range all.Workloads {
		if !ends(m, w.Workload) {
			continue
		}
		// Turn the verdict about all pods at once into a verdict about pods that run to completion.
		if hopeless[w.Workload] {
			w.Verdict, w.RulesVerdict, w.Why, w.MaxPlaced, w.MinPlaced = diag.Never, diag.Never, model.Reason{}, 0, 0
		} else {
			if w.Verdict == diag.Never || w.Verdict == diag.Sometimes {
				w.Verdict, w.Why = diag.Unknown, model.Reason{Cause: model.Waits}
			}
			if w.RulesVerdict == diag.Never || w.RulesVerdict == diag.Sometimes {
				w.RulesVerdict = diag.Unknown
			}
		}
		d.Workloads = append(d.Workloads, w)
	}
	inOrder(m, d)
}

// inOrder sorts the workloads of a decision as the model does.
func inOrder(m *model.Model, d *certificate.Decision) {
	order := map[*workload.Workload]int{}
	for i, w := range m.Workloads {
		order[w] = i
	}
	slices.SortStableFunc(d.Workloads, func(x, y certificate.WorkloadDecision) int { return order[x.Workload] - order[y.Workload] })
}

// ends reports whether a workload has pods still to be placed that run to completion.
func ends(m *model.Model, w *workload.Workload) bool {
	return w.Finite() && m.Groups[w].Placeable()
}

// neverPlaced returns the workloads whose pods would run to completion but are never placed. Other
// pods and waiting make no difference. The checker confirms each result.
func neverPlaced(m *model.Model, a *state) map[*workload.Workload]bool {
	none := map[*workload.Workload]bool{}
	prove := func(g *model.Group, with []*workload.Workload) {
		if err := certificate.CheckerOf(m).NeverPlaced(m, g, with); err == nil {
			none[g.Origin()] = true
		} else if !errors.Is(err, certificate.ErrTooLong) {
			m.Run().Refuse([]*workload.Workload{g.Origin()}, err)
		}
	}
	for i, u := range a.units {
		if !u.g.Finite() || u.g.Running || u.pods == 0 {
			continue
		}
		if a.neverPlaced(i) {
			prove(u.g, nil)
		} else if a.peersElsewhere(u) {
			peers := lists.Of(u.peers, func(j located) *workload.Workload { return a.units[j.unit].g.Workload })
			prove(u.g, peers)
		}
	}
	for _, c := range bound.Circles(m) {
		if g := m.Groups[c.Workload]; g.Finite() && model.Modelled(g) {
			prove(g, c.Path)
		}
	}
	return none
}

// peersElsewhere reports whether no pod that the pod group requires nearby may use a node of a domain in
// which the group's own pods may be, and none of them may use a node that a pool adds.
func (a *instance) peersElsewhere(u *podGroup) bool {
	if len(u.affinityKeys) != 1 || u.first || u.open || len(u.unsure) > 0 || a.mayGrow(u.g) {
		return false
	}
	domain, near := a.domain[u.affinityKeys[0]], map[int32]bool{}
	for _, j := range u.peers {
		if a.mayGrow(a.units[j.unit].g) {
			return false
		}
		nodes := a.units[j.unit].nodes.list
		a.m.Run().Spend(1 + len(nodes)/model.PerStep)
		for _, n := range nodes {
			near[domain[n]] = true
		}
	}
	return !slices.ContainsFunc(u.nodes.list, func(n int32) bool { return a.carries(int(n), u.affinityKeys) && near[domain[n]] })
}

// neverPlaced reports whether no node ever accepts one of the pod group's pods. In the first case,
// every node fails a filter, is too small or lacks a key. In the second case, the pods require a
// peer and there is no possible peer.
func (a *instance) neverPlaced(i int) bool {
	u := a.units[i]
	lonely := len(u.affinityKeys) > 0 && !u.first && len(u.peers) == 0 && len(u.unsure) == 0 && !u.open
	return lonely || !a.mayGrow(u.g) && !slices.ContainsFunc(u.nodes.list, func(n int32) bool { return a.carries(int(n), u.keys) && a.carries(int(n), u.affinityKeys) })
}

// mayGrow reports whether a pool may add a node that a group's pods may use, that is large enough for one
// of them and that has the labels that their rules need.
func (a *instance) mayGrow(g *model.Group) bool {
	if a.m.Eligible(g.Workload).Growable == 0 {
		return false
	}
	for n := range a.m.Usable(g.Workload) {
		lacks := func(t *model.Term) bool {
			_, has := n.Labels[t.Key]
			return t.Hard && t.Use != model.AntiAffinity && !has
		}
		exceeds := func(r model.Request) bool {
			has, judged := model.Offered(n, &r)
			return judged && has < r.Amount
		}
		if !slices.ContainsFunc(g.Terms, lacks) && !slices.ContainsFunc(g.Requests, exceeds) {
			return true
		}
	}
	return false
}
