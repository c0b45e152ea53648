package derive

import (
	"hash/maphash"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// changed answers the questions about changes to a workload. Pods that do not fit now do not fit on
// fewer nodes either, and there is nothing to drain.
func (b decision) changed(d *certificate.WorkloadDecision) diag.PlacementChange {
	w := d.Workload
	budget, unfit := message.Reason(model.Reason{Cause: model.ByBudget}), message.Reason(model.Reason{Cause: model.Unplaced})
	open := diag.PlacementJudgement{Verdict: string(diag.Unknown), Reason: budget}
	out := diag.PlacementChange{Drain: open, Migrate: open, Autoscale: open}
	out.Rollout = diag.PlacementRollout{Verdict: string(diag.Unknown), Reason: budget}
	out.Survives = []diag.PlacementSurvival{}
	for _, key := range b.lost(w) {
		out.Survives = append(out.Survives, diag.PlacementSurvival{Key: key, Meaning: string(certificate.Gone), Verdict: string(diag.Unknown), Reason: budget})
	}
	if b.prepared {
		b.changes().asks(w,
			func(w *workload.Workload) { out.Rollout = b.rolls(w) }, func(w *workload.Workload) { out.Survives = b.survives(w) },
			func(w *workload.Workload) { out.Drain = b.drains(w) }, func(w *workload.Workload) { out.Migrate = b.migrates(w) },
			func(w *workload.Workload) { out.Autoscale = b.scales(w) })
	}
	if d.Verdict != diag.Never {
		return out
	}
	out.Survives = slices.Clone(out.Survives)
	for i := range out.Survives {
		s := &out.Survives[i]
		s.Verdict, s.Pending, s.Reason = string(diag.Never), max(s.Pending, d.Pods-d.MaxPlaced), unfit
	}
	out.Drain = diag.PlacementJudgement{Verdict: string(diag.None), Reason: unfit}
	return out
}

// stepsPerRow is the cost of a row of the document, which has to be kept and written.
const stepsPerRow = 50

// survivals caches the answers about losses. Most workloads have the same answers as some other,
// and share one list with it.
type survivals struct {
	seed  maphash.Seed
	known map[uint64][]diag.PlacementSurvival
	// asked is a buffer for the answers about one workload and key, rows for the workload's rows.
	asked []disruption.Survival
	rows  []diag.PlacementSurvival
}

func newSurvivals() *survivals {
	return &survivals{seed: maphash.MakeSeed(), known: map[uint64][]diag.PlacementSurvival{}}
}

// list returns the current rows as a list that workloads with equal rows share.
func (s *survivals) list() []diag.PlacementSurvival {
	hash := uint64(len(s.rows))
	for i := range s.rows {
		hash = hash*31 + maphash.Comparable(s.seed, s.rows[i])
	}
	if known, ok := s.known[hash]; ok && slices.Equal(known, s.rows) {
		return known
	}
	list := append(make([]diag.PlacementSurvival, 0, len(s.rows)), s.rows...)
	s.known[hash] = list
	return list
}

// survives answers what happens to a workload after the loss of a domain of each key that is asked
// for. Other workloads may share the list.
func (b decision) survives(w *workload.Workload) []diag.PlacementSurvival {
	rows := b.survivals.rows[:0]
	for _, key := range b.lost(w) {
		b.survivals.asked = b.j.AppendSurvives(b.survivals.asked[:0], w, key)
		gone, unreachable := disruption.Certain(b.survivals.asked, certificate.Gone), disruption.Certain(b.survivals.asked, certificate.Unreachable)
		for i := range b.survivals.asked {
			s := &b.survivals.asked[i]
			b.m.Run().Spend(stepsPerRow)
			b.noteTooLarge(w, s.Verdict, s.Why)
			out := diag.PlacementSurvival{Key: key, Value: s.Value, Meaning: string(s.Meaning), Verdict: string(s.Verdict), Pending: s.Pending, Reason: message.Reason(s.Why)}
			if n := map[certificate.Meaning]int{certificate.Gone: gone, certificate.Unreachable: unreachable}[s.Meaning]; n > 0 && s.Hits() && s.Verdict != diag.Never {
				out.WhereItRuns, out.Verdict, out.Pending = true, string(diag.Sometimes), max(out.Pending, n)
			}
			if key == corev1.LabelHostname {
				out.Like = s.Like() - 1
			}
			rows = append(rows, out)
		}
	}
	b.survivals.rows = rows
	return b.survivals.list()
}

func (b decision) drains(w *workload.Workload) diag.PlacementJudgement {
	d := b.j.Drain(w)
	b.noteTooLarge(w, d.Answer, d.Why)
	out := diag.PlacementJudgement{Verdict: string(d.Answer), Reason: message.Reason(d.Why)}
	switch {
	case len(d.Budgets) > 1:
		out.Reason = message.ManyBudgets(len(d.Budgets))
	case len(d.Budgets) == 1:
		out.Reason = message.NoDisruptions(&d.Budgets[0])
	case d.Evicts && !d.Why.Given():
		out.Reason = message.StrategyRefuses
	case d.Worst != nil:
		out.Reason = message.Drained(&d, model.Certain(w))
		if d.Next != nil {
			out.Reason += message.ThenNoDisruptions(d.Next.String(), message.Budget(d.Next))
		}
	}
	return out
}

// rolls describes the rollout at the number of pods where it has the worst outcome.
func (b decision) rolls(w *workload.Workload) diag.PlacementRollout {
	all := b.j.Rollouts(w)
	if some := filterStarted(all); len(some) > 0 {
		all = some
	}
	if len(all) == 0 {
		return diag.PlacementRollout{Verdict: "none"}
	}
	r, outcome := worst(all)
	out := diag.PlacementRollout{Verdict: string(outcome), Surge: r.Surge, Unavailable: r.Unavailable}
	switch r.Verdict {
	case "":
		if r.Way != workload.NoRollout {
			out.Reason = message.Reason(model.Reason{Cause: model.Unplaced})
		}
	case diag.Unknown:
		b.noteTooLarge(w, r.Verdict, r.Why)
		out.Reason = message.Reason(r.Why)
	case diag.Never, diag.Sometimes:
		out.Reason = b.rolloutReason(w, r)
	}
	return out
}

// rolloutReason describes why a rollout does not always complete.
func (b decision) rolloutReason(w *workload.Workload, r *disruption.Rollout) string {
	at, scaler := scaleOf(w, r.Replicas)
	parts := []string{message.Scale(at, scaler, r.Replicas), message.Arithmetic(&r.Arithmetic)}
	if r.Core != nil {
		parts = append(parts, b.coreText(w, r.CoreModel, r.Core))
	}
	limit := limitOf(b.row(w), b.j.Limit(w, r.Replicas+1))
	parts = append(parts, message.AtMost(&limit))
	if len(r.Stuck) > 0 {
		parts = append(parts, message.Stuck(runningAt(b.row(w), r), refusedNodes(r.Reasons)))
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

// coreText names the rules of a core.
func (b decision) coreText(w *workload.Workload, m *model.Model, core *search.Core) string {
	t := b.changes().core(w, m, core)
	return strings.Join(message.Rules(b.Facts, b.row(w), t.rules), ", ")
}

func (b decision) migrates(w *workload.Workload) diag.PlacementJudgement {
	m := b.j.Migration(w)
	b.noteTooLarge(w, m.Answer, m.Why)
	out := diag.PlacementJudgement{Verdict: string(m.Answer), Reason: message.Reason(m.Why)}
	if m.Core != nil {
		out.Reason = message.NoTarget(b.coreText(w, m.CoreModel, m.Core))
	}
	if m.Answer == diag.Sometimes {
		out.Reason = message.DependsOnMachines
	}
	return out
}

func (b decision) scales(w *workload.Workload) diag.PlacementJudgement {
	s := b.j.Scaling(w)
	b.noteTooLarge(w, s.Answer, s.Why)
	out := diag.PlacementJudgement{Verdict: string(s.Answer), Reason: message.Reason(s.Why)}
	if s.Limit != nil {
		limit := limitOf(b.row(w), s.Limit)
		out.Reason = message.ScalesBeyond(s.Most, w.Scale.Max, &limit)
	}
	return out
}
