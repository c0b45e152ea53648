package build

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// changes tells what becomes of workloads when something changes.
type changes struct{ *builder }

// change tells what becomes of workloads when something changes. Those of which
// pods stay Pending anyway are passed over.
func (b changes) change() {
	for i := range b.j.Budgets() {
		b.settled[b.j.Budgets()[i].Object.ID()] = &settled{budget: true}
	}
	b.askAll(askBudgets, func() {
		for i := range b.j.Budgets() {
			x := &b.j.Budgets()[i]
			b.budget(x)
			d := b.settled[x.Object.ID()]
			d.judged, d.guards = x.Unknown == "", x.Unknown == ""
		}
	})
	if !b.prepared {
		return
	}
	for _, w := range b.m.Workloads {
		if w.Copy || w.Superseded {
			continue
		}
		b.outerLabels(w)
		if b.faulty[w] || b.orderDependent[w] || !b.j.Judged(w) || b.told(w) {
			continue
		}
		b.settle(w, func(d *settled) { d.changed = d.placed; d.lost = d.placed && b.Survive != nil && len(b.Survive(w)) > 0 })
		b.asks(w, b.rollout, b.drain, b.losses, b.migration, b.autoscaler)
		b.answer(w)
	}
}

// asks asks questions about a change, each of which may be given up.
func (b changes) asks(w *workload.Workload, questions ...func(*workload.Workload)) {
	given := !b.m.Run().Within(b.m.Part([]*workload.Workload{w}), func() {
		for _, ask := range questions {
			sound := false
			if !b.j.Ask(w, func() { sound = b.m.Run().Guard([]*source.Object{w.Object}, func() { ask(w) }) }) || !sound {
				b.unsure(w, model.Reason{Cause: model.ByBudget})
			}
		}
	})
	if given {
		b.unsure(w, model.Reason{Cause: model.ByBudget})
	}
}

// rollout tells whether an update of a workload completes: never if it does at
// none of the numbers of pods that an autoscaler keeps to.
func (b changes) rollout(w *workload.Workload) {
	all := begun(b.j.Rollouts(w))
	if len(all) == 0 {
		return
	}
	r := worst(all)
	ending := r.Verdict
	if ending == diag.Never && !allNever(all) {
		ending = diag.Sometimes
	}
	if ending == diag.Unknown {
		b.unsure(w, r.Why)
	}
	if ending == diag.Always {
		b.skew(w, r)
	}
	if b.spare(ending == diag.Always || ending == diag.Unknown) {
		return
	}
	fact := facts.Rollout{
		Workload: w.String(), Outcome: ending, Way: string(r.Way), Surge: r.Surge, Unavailable: r.Unavailable, Arithmetic: message.Arithmetic(&r.Arithmetic),
		Replicas: r.Replicas, At: scaleText(w, r.Replicas), Reasons: []string{}, Others: []string{},
	}
	s := b.rolloutSubject(w, r, &fact).because(w, func(x *Explainer) diag.Account { return x.updated(w, r) })
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Rollouts = append(b.Rollouts, fact)
}

// unsure notes that the answer to some question about a change is not known.
func (b changes) unsure(w *workload.Workload, why model.Reason) {
	if why.Cause == model.ByBudget {
		b.m.Run().GiveUp([]*workload.Workload{w}, askChange)
	}
	b.settle(w, func(d *settled) { d.changed, d.lost = false, false })
}

// begun are the rollouts of pods that fit before.
func begun(all []disruption.Rollout) []disruption.Rollout {
	return slices.DeleteFunc(slices.Clone(all), func(r disruption.Rollout) bool { return r.Verdict == "" })
}

// allNever reports whether none of the rollouts ever completes: at another number
// of pods one might.
func allNever(all []disruption.Rollout) bool {
	return !slices.ContainsFunc(all, func(r disruption.Rollout) bool { return r.Verdict != diag.Never })
}

// worst is the rollout to tell of: the first that is bad, and of these one that
// never completes first.
func worst(all []disruption.Rollout) *disruption.Rollout {
	for _, v := range []diag.Outcome{diag.Never, diag.Sometimes, diag.Unknown} {
		for i := range all {
			if all[i].Verdict == v {
				return &all[i]
			}
		}
	}
	return &all[0]
}

// scaleText says at which number of pods something is so, if an autoscaler
// moves it.
func scaleText(w *workload.Workload, pods int) string {
	switch {
	case w.Scale == nil:
		return ""
	case pods == w.Scale.Max:
		return fmt.Sprintf("at the maximum of its %s: %s", w.Scale.Kind, plural(pods, "replica"))
	}
	return fmt.Sprintf("at the minimum of its %s: %s", w.Scale.Kind, plural(pods, "replica"))
}

// rolloutSubject is where the blocking term or port stands, what else has a
// part in it, and the ways out that were tried.
func (b changes) rolloutSubject(w *workload.Workload, r *disruption.Rollout, fact *facts.Rollout) Subject {
	s := Subject{}
	if r.Core != nil {
		s, fact.Reasons, fact.Others = coreSubject(b.m, w, r.CoreModel, r.Core)
	}
	s = b.atOwn(w, s, fact.Others)
	if fact.Outcome == diag.Always || fact.Outcome == diag.Unknown {
		return s
	}
	if len(fact.Reasons) == 0 && len(fact.Others) == 0 {
		fact.Reasons = ownReasons(b.m, w)
	}
	if !r.Span.IsZero() && r.Span != s.Location {
		s = s.related(r.Span, "%s", message.Arithmetic(&r.Arithmetic))
	}
	if at := w.CountSpan(); at != s.Location {
		s = s.related(at, "%s of %s", plural(r.Replicas, "pod"), w)
	}
	fact.Room = roomText(b.j.Limit(w, r.Replicas+1))
	if fact.Outcome == diag.Sometimes && len(r.Stuck) > 0 {
		fact.State, fact.Refused = state(r), reason(r.Reasons)
	}
	for _, remedy := range b.j.Remedies(w, r) {
		s = s.fix("%s", b.remedyText(w, r.Way, remedy))
	}
	return s
}

// coreSubject starts a subject at the first term, port or request of a core, own
// ones first, and gives the reasons in words and the other workloads in it.
func coreSubject(declared *model.Model, w *workload.Workload, m *model.Model, core *search.Core) (s Subject, reasons, others []string) {
	t := &coreText{declared: declared, m: m, seen: map[diag.Span]bool{}, reasons: []string{}, others: []string{}}
	for _, pass := range []struct{ own, term bool }{{true, true}, {false, true}, {true, false}, {false, false}} {
		for _, atom := range core.Atoms {
			if (atom.Workload.String() == w.String()) == pass.own && (atom.Term != nil) == pass.term && atom.Part != "replicas" {
				t.add(atom, pass.own)
			}
		}
	}
	if len(t.reasons) == 0 {
		t.reasons = t.fewer
	}
	return t.s, t.reasons, t.others
}

// coreText is a core as a finding tells it.
type coreText struct {
	declared, m     *model.Model // as declared, and of the core
	s               Subject
	reasons, others []string
	fewer           []string // why not all nodes count
	seen            map[diag.Span]bool
}

// add takes in an atom; old and new pods have theirs from one place.
func (t *coreText) add(atom search.Atom, own bool) {
	reason := reasonText(t.m, atom)
	if atom.Part == "taints" || atom.Part == "selector" {
		if t.s, _ = excluded(t.declared, t.s, original(t.declared, atom.Workload), false); own && !slices.Contains(t.fewer, reason) {
			t.fewer = append(t.fewer, reason)
		}
		return
	}
	at, _, text := atomAt(t.m, atom)
	if t.seen[at] {
		return
	}
	t.seen[at] = true
	if name := atom.Workload.String(); !own {
		reason += " of " + name
		if !slices.Contains(t.others, name) {
			t.others = append(t.others, name)
		}
	}
	t.reasons = append(t.reasons, reason)
	if t.s.Location.IsZero() && (atom.Term != nil || atom.Part == "ports" || own && atom.Part == "requests") {
		t.s.Location = at
		t.s = t.s.of(atom.Workload)
	} else {
		t.s = t.s.related(at, "%s", text)
	}
}

// original is the workload of the model that a copy stands for.
func original(m *model.Model, w *workload.Workload) *workload.Workload {
	for _, o := range m.Workloads {
		if o.String() == w.String() && o.Kind == w.Kind {
			return o
		}
	}
	return w
}

// atOwn moves a subject to a rule of the workload itself, if it has one that
// looks at the others: which of two that keep one another apart a contradiction
// names is chance. Without any place it is at what has to do with anybody.
func (b changes) atOwn(w *workload.Workload, s Subject, others []string) Subject {
	if s.Location.IsZero() {
		s.Location = holding(b.m, w)
		return s.of(w)
	}
	if *s.Object == w.Object.ID() {
		return s
	}
	for _, t := range b.m.Group(w).Terms {
		for _, o := range b.m.Workloads {
			if t.Hard && slices.Contains(others, o.String()) && b.m.Peer(t, w, o) == model.Yes {
				s = s.related(s.Location, "this term belongs to another workload")
				s.Location = w.File().ItemSpan(t.Node)
				return s.of(w)
			}
		}
	}
	return s
}

// reasonText is an atom in a few words, without whose it is.
func reasonText(m *model.Model, a search.Atom) string {
	switch {
	case a.Term != nil:
		return message.Term(a.Term)
	case a.Part == "ports":
		text, _ := portSpan(a.Workload, m.Group(a.Workload).HostPorts)
		return "host port " + text
	case a.Part == "slots":
		return "the pod limit of the nodes"
	case a.Part == "requests":
		return "resource requests"
	}
	return map[search.Part]string{"selector": "node selection", "taints": "untolerated taints"}[a.Part]
}

// ownReasons are the hard rules of a workload about its own pods.
func ownReasons(m *model.Model, w *workload.Workload) []string {
	reasons := []string{}
	for _, t := range m.Group(w).Terms {
		if text := fmt.Sprintf("required %s on %s", t.Use, t.Key); t.Hard && m.Peer(t, w, w) == model.Yes && !slices.Contains(reasons, text) {
			reasons = append(reasons, text)
		}
	}
	return reasons
}

// roomText is a limit in a few words, or "".
func roomText(l *bound.Limit) string {
	switch {
	case l == nil:
		return ""
	case l.By == bound.ByAntiAffinity && len(l.Terms) == 1 && l.Domains == l.Most:
		if key := l.Terms[0].Key; key != corev1.LabelHostname {
			return fmt.Sprintf("%s on %s", fits(l.Most), plural(l.Domains, key+" value"))
		}
		return fmt.Sprintf("%s on %s", fits(l.Most), plural(l.Domains, "node"))
	case l.By == bound.ByHostPort:
		return fmt.Sprintf("%s on %s", fits(l.Most), plural(l.Eligible, "node"))
	}
	return fits(l.Most)
}

// fits says how many pods do.
func fits(pods int) string {
	if pods == 1 {
		return "1 pod fits"
	}
	return fmt.Sprintf("%d pods fit", pods)
}

// state says where the pods are when a rollout is stuck.
func state(r *disruption.Rollout) string {
	old, fresh := r.Left()
	var parts []string
	if len(old) > 0 {
		parts = append(parts, fmt.Sprintf("%s on %s", plural(len(old), "old pod"), nodeNames(old)))
	}
	if len(fresh) > 0 {
		parts = append(parts, fmt.Sprintf("%s on %s", plural(len(fresh), "new pod"), nodeNames(fresh)))
	}
	if len(parts) == 0 {
		return "no pods running"
	}
	return strings.Join(parts, " and ")
}

// remedyText says what to write.
func (b changes) remedyText(w *workload.Workload, way workload.Way, remedy disruption.Remedy) string {
	switch remedy {
	case disruption.MatchLabelKeys:
		return fmt.Sprintf("add matchLabelKeys: [%s] to the required anti-affinity so that it applies within one revision only", w.Kind.Shared[0])
	case disruption.MaxUnavailable:
		if way == workload.PerNode {
			return "set maxSurge: 0 and maxUnavailable: 1 so the old pod is removed before its replacement is created"
		}
		return "set maxUnavailable: 1 and maxSurge: 0 so an old pod is removed before its replacement is created"
	case disruption.CountRevisions:
		return fmt.Sprintf("remove matchLabelKeys: [%s] from the constraint so that old pods count (the new pods can then end up unevenly spread)", w.Kind.Shared[0])
	case disruption.MismatchLabelKeys:
		return "add mismatchLabelKeys: [kubevirt.io/created-by] to the required anti-affinity so that a machine does not conflict with its own migration target"
	}
	if key := apartOn(b.m, w); key != "" {
		return addNodes(1, key)
	}
	return "add an eligible node"
}

// apartOn is the first key on which a hard rule keeps pods of a workload apart, or
// "".
func apartOn(m *model.Model, w *workload.Workload) string {
	for _, t := range m.Group(w).Terms {
		if t.Hard && t.Use == model.AntiAffinity {
			return t.Key
		}
	}
	return ""
}

// skew tells whether a rollout that completes can leave the new pods unevenly spread,
// and which constraint they then exceed.
func (b changes) skew(w *workload.Workload, r *disruption.Rollout) {
	if b.Asked == nil || !b.Asked("skews") {
		return
	}
	fact := facts.Skew{Outcome: diag.Always, Replicas: r.Replicas}
	skewed := b.j.Skews(w, r.Replicas)
	if b.spare(!skewed) {
		return
	}
	s := about(w, diag.Span{}).because(w, func(x *Explainer) diag.Account { return x.updated(w, r) })
	for _, t := range b.m.Group(w).Terms {
		if t.Hard && t.Use == model.Spread {
			fact.Key, fact.MaxSkew = t.Key, int(t.Constraint.MaxSkew)
			s.Location = w.File().ItemSpan(t.Node)
			break
		}
	}
	if skewed {
		fact.Outcome = diag.Sometimes
		text := fmt.Sprintf("add matchLabelKeys: [%s] to the constraint so that old pods do not count", w.Kind.Shared[0])
		if b.j.Tighter(w, r.Replicas) {
			text += " (on these nodes the rollout can then get stuck because old pods still use the capacity)"
		}
		s = s.fix("%s", text)
	}
	fact.At, fact.Scaler = scaleOf(w, r.Replicas)
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Skews = append(b.Skews, fact)
}

// scaleOf says which end of an autoscaler's range a number of pods is, and the kind of
// the autoscaler; "" for both without one.
func scaleOf(w *workload.Workload, pods int) (at, scaler string) {
	switch {
	case w.Scale == nil:
		return "", ""
	case pods == w.Scale.Max:
		return "maximum", w.Scale.Kind
	}
	return "minimum", w.Scale.Kind
}
