package build

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// changed is what becomes of a workload when something changes. Pods that do not
// fit as it is do not with fewer nodes, and there is nothing to drain.
func (b decision) changed(d *certificate.WorkloadDecision) diag.PlacementChange {
	w := d.Workload
	budget, unfit := message.Reason(model.Reason{Cause: model.ByBudget}), message.Reason(model.Reason{Cause: model.Unplaced})
	open := diag.PlacementJudgement{Verdict: string(diag.Unknown), Reason: budget}
	out := diag.PlacementChange{Drain: open, Migrate: open, Autoscale: open}
	out.Rollout = diag.PlacementRollout{Verdict: string(diag.Unknown), Reason: budget}
	out.Survives = b.unasked(w)
	if b.prepared {
		changes{b.builder}.asks(w,
			func(w *workload.Workload) { out.Rollout = b.rolls(w) }, func(w *workload.Workload) { out.Survives = b.survives(w) },
			func(w *workload.Workload) { out.Drain = b.drains(w) }, func(w *workload.Workload) { out.Migrate = b.migrates(w) },
			func(w *workload.Workload) { out.Autoscale = b.scales(w) })
	}
	if d.Verdict != diag.Never {
		return out
	}
	for i := range out.Survives {
		s := &out.Survives[i]
		s.Verdict, s.Pending, s.Reason = string(diag.Never), max(s.Pending, d.Pods-d.MaxPlaced), unfit
	}
	out.Drain = diag.PlacementJudgement{Verdict: string(diag.None), Reason: unfit}
	return out
}

// unasked is survives where the steps do not suffice.
func (b decision) unasked(w *workload.Workload) []diag.PlacementSurvival {
	list := []diag.PlacementSurvival{}
	if b.Survive == nil {
		return list
	}
	for _, key := range b.Survive(w) {
		list = append(list, diag.PlacementSurvival{Key: key, Meaning: string(certificate.Gone), Verdict: string(diag.Unknown), Reason: message.Reason(model.Reason{Cause: model.ByBudget})})
	}
	return list
}

// stepsPerRow is for a row of the document, which has to be kept and written.
const stepsPerRow = 50

// survives is what becomes of it when a domain of each key that is asked for is
// lost.
func (b decision) survives(w *workload.Workload) []diag.PlacementSurvival {
	list := []diag.PlacementSurvival{}
	if b.Survive == nil {
		return list
	}
	for _, key := range b.Survive(w) {
		for _, s := range b.j.Survives(w, key) {
			b.m.Run().Spend(stepsPerRow)
			out := diag.PlacementSurvival{Key: key, Value: s.Value, Meaning: string(s.Meaning), Verdict: string(s.Verdict), Pending: s.Pending, Reason: message.Reason(s.Why)}
			if key == corev1.LabelHostname {
				out.Like = len(s.Nodes) - 1
			}
			list = append(list, out)
		}
	}
	return list
}

func (b decision) drains(w *workload.Workload) diag.PlacementJudgement {
	d := b.j.Drain(w)
	out := diag.PlacementJudgement{Verdict: string(d.Answer), Reason: message.Reason(d.Why)}
	switch {
	case len(d.Budgets) > 1:
		out.Reason = fmt.Sprintf("%d PodDisruptionBudgets select its pods, so every eviction is refused", len(d.Budgets))
	case len(d.Budgets) == 1:
		out.Reason = fmt.Sprintf("%s allows no disruptions (%s)", budgetName(d.Budgets[0].Budget), message.Budget(&d.Budgets[0]))
	case d.Evicts && !d.Why.Given():
		out.Reason = "its evictionStrategy refuses eviction until the machine has migrated"
	case d.Worst != nil:
		out.Reason = drainText(d, model.Certain(w))
	}
	return out
}

// drainText says what the worst drain leaves behind.
func drainText(d disruption.Drain, pods int) string {
	text, may := "draining "+d.Worst.Value, "leaves"
	switch {
	case d.Like == 1:
		text += " (or an equivalent node)"
	case d.Like > 1:
		text += fmt.Sprintf(" (or any of %s)", plural(d.Like, "equivalent node"))
	}
	if d.Answer == diag.Sometimes {
		may = "can leave"
	}
	text += fmt.Sprintf(" %s %d of %s Pending", may, d.Worst.Pending, plural(pods, "pod"))
	if d.Next != nil {
		text += fmt.Sprintf("; then %s allows no further disruptions (%s)", budgetName(d.Next.Budget), message.Budget(d.Next))
	}
	return text
}

// rolls is the rollout at the number of pods where it goes worst.
func (b decision) rolls(w *workload.Workload) diag.PlacementRollout {
	all := b.j.Rollouts(w)
	if some := begun(all); len(some) > 0 {
		all = some
	}
	if len(all) == 0 {
		return diag.PlacementRollout{Verdict: "none"}
	}
	r := worst(all)
	out := diag.PlacementRollout{Verdict: string(cmp.Or(r.Verdict, diag.None)), Surge: r.Surge, Unavailable: r.Unavailable}
	if r.Verdict == diag.Never && !allNever(all) {
		out.Verdict = string(diag.Sometimes)
	}
	var parts []string
	switch r.Verdict {
	case "":
		if r.Way != workload.NoRollout {
			out.Reason = message.Reason(model.Reason{Cause: model.Unplaced})
		}
	case diag.Unknown:
		out.Reason = message.Reason(r.Why)
	case diag.Never, diag.Sometimes:
		if at := scaleText(w, r.Replicas); at != "" {
			parts = append(parts, at)
		}
		parts = append(parts, message.Arithmetic(&r.Arithmetic))
		if r.Core != nil {
			_, reasons, _ := coreSubject(b.m, w, r.CoreModel, r.Core)
			parts = append(parts, strings.Join(reasons, ", "))
		}
		if room := roomText(b.j.Limit(w, r.Replicas+1)); room != "" {
			parts = append(parts, "at most "+room)
		}
		if len(r.Stuck) > 0 {
			parts = append(parts, fmt.Sprintf("with %s, no node can take a new pod (%s)", state(r), reason(r.Reasons)))
		}
		out.Reason = strings.Join(parts, "; ")
	}
	return out
}

func (b decision) migrates(w *workload.Workload) diag.PlacementJudgement {
	m := b.j.Migration(w)
	out := diag.PlacementJudgement{Verdict: string(m.Answer), Reason: message.Reason(m.Why)}
	if m.Core != nil {
		_, reasons, _ := coreSubject(b.m, w, m.CoreModel, m.Core)
		out.Reason = "no node can take the migration target while the machine runs: " + strings.Join(reasons, ", ")
	}
	if m.Answer == diag.Sometimes {
		out.Reason = "depends on where the other machines are"
	}
	return out
}

func (b decision) scales(w *workload.Workload) diag.PlacementJudgement {
	s := b.j.Scaling(w)
	out := diag.PlacementJudgement{Verdict: string(s.Answer), Reason: message.Reason(s.Why)}
	if s.Limit != nil {
		out.Reason = fmt.Sprintf("only %d of up to %d pods fit: %s", s.Most, w.Scale.Max, limitReason(s.Limit))
	}
	return out
}
