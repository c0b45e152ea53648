package derive

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/storage"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// losses adds facts about the worst loss of a domain, for each requested topology key and each
// meaning.
func (b changes) losses(w *workload.Workload) {
	if w.Bare() { // everyone expects a bare pod to be gone with its node
		return
	}
	for _, key := range b.lost(w) {
		required := b.required(w, key)
		if !b.wanted("losses", "key", key, "required", required) {
			continue // workloads.answers has it for the rules that ask
		}
		all := b.j.AppendSurvives(b.losing[:0], w, key)
		b.losing = all
		gone, unreachable := b.loss(w, all, certificate.Gone), b.loss(w, all, certificate.Unreachable)
		if gone != nil && unreachable != nil && gone.Outcome == unreachable.Outcome && gone.PendingMax == unreachable.PendingMax && gone.Value == unreachable.Value {
			gone.Meaning, unreachable = "both", nil
		}
		for _, fact := range []*facts.Loss{gone, unreachable} {
			if fact != nil && fact.Outcome == diag.Unknown {
				var why model.Reason // ByBudget if any loss has it, or else the first reason
				for i := range all {
					if s := &all[i]; s.Verdict == diag.Unknown && (!why.Given() || s.Why.Cause == model.ByBudget) {
						why = s.Why
					}
				}
				b.markUnknown(w, why)
			}
			if fact == nil || !b.wanted("losses", "key", key, "required", required, "outcome", fact.Outcome) {
				continue
			}
			account := func(x *Explainer) diag.Account {
				of := slices.DeleteFunc(x.judge().Survives(w, key), func(s disruption.Survival) bool { return fact.Meaning != "both" && string(s.Meaning) != fact.Meaning })
				worst, _ := disruption.Worst(of)
				return x.lost(w, of, worst)
			}
			s := about(w, holding(b.m, w)).withAccount(w, account)
			worst, _ := disruption.Worst(all)
			s = counted(s, w, fact.Pods, worst)
			fact.Required = required
			s = b.withVolumes(s, w, fact.Waits)
			switch { // only the built-in rule gives advice, and it skips losses that are not required
			case !required:
			case fact.Waits != "":
				s = s.fix("%s", message.VolumesElsewhere(fact.Waits))
			case !fact.Recreated && w.Attached == diag.Always:
				s = s.fix("%s", message.DetachVolumes)
			case !fact.Recreated:
				s = s.fix("%s", message.DeleteNodes)
			case fact.Meaning == string(certificate.Unreachable) && b.j.Honored(w, fact.Key): // it was tried
				s = s.fix("%s", message.HonorUnreachable)
			default:
				s = s.fix("%s", message.AfterLoss(len(b.ownRules(w)) > 0))
			}
			fact.ID, fact.W = b.subject(s), b.row(w)
			b.Losses = append(b.Losses, *fact)
		}
	}
}

// loss returns a fact about the worst loss with the given meaning. It also counts the other losses
// with the same result. It returns nil if there are no losses.
func (b changes) loss(w *workload.Workload, all []disruption.Survival, meaning certificate.Meaning) *facts.Loss {
	some := b.meant[:0]
	for i := range all {
		if all[i].Meaning == meaning {
			some = append(some, all[i])
		}
	}
	b.meant, all = some, some
	if len(all) == 0 {
		return nil
	}
	worst, like := disruption.Worst(all)
	if worst == nil {
		worst, like = &all[0], len(all)-1
	}
	fact := &facts.Loss{
		Outcome: worst.Verdict, Cause: cause(worst.Verdict, worst.Why), Key: worst.Key, Value: worst.Value, Like: like,
		Meaning: string(meaning), Pods: worst.Pods(w), Recreated: certificate.Loss{Meaning: meaning}.Returns(w),
		Waits: message.WaitsFor(worst.Waits),
	}
	fact.PendingMin, fact.PendingMax = pendingOf(worst)
	if n := disruption.Certain(all, meaning); n > 0 && fact.Outcome != diag.Never {
		fact.Outcome, fact.Cause, fact.WhereItRuns = diag.Never, "", true
		fact.PendingMin, fact.PendingMax = n, max(n, fact.PendingMax)
	}
	return fact
}

// pendingOf returns how many pods are Pending after a loss. At least least pods are Pending. In the
// worst known scheduling order, most pods are Pending.
func pendingOf(s *disruption.Survival) (least, most int) {
	if s.Verdict == diag.Never {
		return s.Pending, s.Pending
	}
	return 0, s.Pending
}

// drain adds a fact about pods that fit on no other node when their node is drained. With a single
// node this is expected. There is then no fact.
func (b changes) drain(w *workload.Workload) {
	d := b.j.Drain(w)
	b.settle(w, func(of *progress) { of.drains = d.Answer })
	if len(b.m.Topology.Nodes) < 2 {
		return
	}
	if d.Worst != nil && d.Worst.Beside && b.j.Overfull(w) { // a finding says already that pods wait for room
		d = disruption.Drain{Answer: diag.Unknown, Why: model.Reason{Cause: model.ByPending}}
	}
	if d.Answer == diag.Unknown {
		b.markUnknown(w, d.Why)
	}
	if d.Why.Cause == model.Returns {
		s := about(w, tolerating(w)).fix("%s", message.NoCordonToleration)
		b.Drains = append(b.Drains, facts.Drain{ID: b.subject(s), W: b.row(w), Outcome: d.Answer, Pods: model.Certain(w), BlockedBy: "toleration"})
		return
	}
	if d.Worst == nil {
		if d.Answer != diag.None && b.whole("drains") {
			fact := facts.Drain{ID: b.at(w, w.CountSpan()), W: b.row(w), Outcome: d.Answer, Cause: cause(d.Answer, d.Why), Pods: model.Certain(w)}
			switch {
			case len(d.Budgets) > 0:
				fact.BlockedBy = "budget"
			case d.Evicts:
				fact.BlockedBy = "eviction-strategy"
			}
			b.Drains = append(b.Drains, fact)
		}
		return
	}
	fact := facts.Drain{Outcome: d.Worst.Verdict, Pods: d.Worst.Pods(w), Node: d.Worst.Value, Like: d.Like, Waits: message.WaitsFor(d.Worst.Waits)}
	fact.PendingMin, fact.PendingMax = pendingOf(d.Worst)
	if d.Certain > 0 {
		fact.Outcome, fact.WhereItRuns = diag.Never, true
		fact.PendingMin, fact.PendingMax = d.Certain, max(d.Certain, fact.PendingMax)
	}
	if b.whole("drains.pool") {
		b.m.Run().Spend(len(b.m.Topology.Nodes) / 4)
		if i := slices.IndexFunc(b.m.Topology.Nodes, func(n *topology.Node) bool { return n.Name == fact.Node }); i >= 0 {
			fact.Pool, _ = poolOf(b.m.Topology.Nodes[i])
		}
	}
	s := about(w, holding(b.m, w)).withAccount(w, func(x *Explainer) diag.Account { return x.lost(w, x.judge().Drains(w), d.Worst) })
	s = counted(s, w, fact.Pods, d.Worst)
	if d.Next != nil {
		fact.Blocks, fact.Amount = true, amountOf(&d.Next.Amount)
		s = s.related(d.Next.Span(), "%s", message.NoFurtherDisruptions(d.Next.String()))
	}
	if s = b.withVolumes(s, w, fact.Waits); fact.Waits != "" {
		s = s.fix("%s", message.VolumesElsewhere(fact.Waits))
	} else {
		s = s.fix("%s", message.ForDrain(b.ownRules(w), b.domainOf(w, fact.Node)))
	}
	fact.ID, fact.W = b.subject(s), b.row(w)
	b.Drains = append(b.Drains, fact)
}

// tolerating returns the location of the toleration of the taint on a cordoned node.
func tolerating(w *workload.Workload) diag.Span {
	for i, n := range w.SpecNode.Get("tolerations").Items() {
		if i < len(w.Spec.Tolerations) && (certificate.Loss{Meaning: certificate.Drained}).Tolerated(w.Spec.Tolerations[i:i+1]) {
			return w.File().ItemSpan(n)
		}
	}
	return w.Object.NameSpan()
}

// counted adds where the numbers of pods come from at which a loss has its outcome: that of the workload,
// and those of others that an autoscaler changes.
func counted(s Subject, w *workload.Workload, pods int, loss *disruption.Survival) Subject {
	if at, scaler := scaleOf(w, pods); at != "" && pods != w.Count.N {
		s = s.related(w.Scale.MaxSpan, "%s", message.Scale(at, scaler, pods))
	} else if at := w.CountSpan(); at != s.Location {
		s = s.related(at, "%s", message.PodsOf(pods, w))
	}
	if loss == nil {
		return s
	}
	for _, o := range loss.Sizes {
		if o.Workload != w && o.Pods != o.Workload.Count.N {
			s = s.related(o.Workload.Scale.MaxSpan, "%s", message.PodsOf(o.Pods, o.Workload))
		}
	}
	return s
}

// withVolumes adds the claim whose volume keeps pods in a domain. If they wait for that domain, the
// claim is the location of the subject.
func (b changes) withVolumes(s Subject, w *workload.Workload, waits string) Subject {
	if waits != "" {
		s.Location = volumeSpan(w)
		return s
	}
	if p := b.m.PinOf(w); p.Key != "" && p.Open == "" {
		s = s.related(volumeSpan(w), "%s", message.StaysWithVolume(p.Key))
	}
	return s
}

// domainOf returns the domain, such as "zone a", in which a pod's volumes are if it ran on a node. It
// returns "" if they are not in one zone or region.
func (b changes) domainOf(w *workload.Workload, node string) string {
	key := b.m.PinOf(w).Key
	for _, r := range w.AllReaches() {
		if only := r.Only(); key == "" && only != nil && only.Operator == corev1.NodeSelectorOpIn && len(only.Values) == 1 {
			key = cmp.Or(storage.TopologyKey(only.Key), only.Key)
		}
	}
	i := slices.IndexFunc(b.m.Topology.Nodes, func(n *topology.Node) bool { return n.Name == node })
	if i < 0 || key != corev1.LabelTopologyZone && key != corev1.LabelTopologyRegion || b.m.Topology.Nodes[i].Labels[key] == "" {
		return ""
	}
	return message.WaitsFor(key) + " " + b.m.Topology.Nodes[i].Labels[key]
}

// volumeSpan returns the location of the first claim whose volume can be used only in the domain where
// its pod ran.
func volumeSpan(w *workload.Workload) diag.Span {
	bound := func(c *workload.Claim) bool {
		return slices.ContainsFunc(w.AllReaches(), func(r workload.Reach) bool {
			return r.Claim == c.Name || c.Template && strings.HasPrefix(r.Claim, c.Name+"-")
		})
	}
	for _, c := range w.Claims {
		if !c.Bound && !c.Ephemeral && c.Pinned != storage.PinFree || c.Bound && bound(c) {
			return c.Span
		}
	}
	return w.CountSpan()
}

// holding returns the span of the rule that keeps pods off other nodes. It prefers a term or a port
// to a node rule.
func holding(m *model.Model, w *workload.Workload) diag.Span {
	at := blockingTerm(m, w, func(t *model.Term) bool { return len(m.Others(t, w, false)) > 0 },
		func(t *model.Term) bool { return m.Peer(t, w, w) == model.Yes })
	if at != w.CountSpan() || m.Eligible(w).Count == len(m.Topology.Nodes) {
		return at
	}
	if rule := nodeRule(m, w); !rule.IsZero() {
		return rule
	}
	return at
}
