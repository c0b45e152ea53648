package derive

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/workload"
)

// updated explains a workload during an update.
func (x *Explainer) updated(w *workload.Workload, r *disruption.Rollout) diag.Account {
	if r.Verdict != diag.Never && r.Verdict != diag.Sometimes {
		return x.still(w, message.NothingBlocks)
	}
	s := x.judge().Updated(w, r)
	if s == nil {
		return x.still(w, message.NotShown)
	}
	s.Call(s.Old, message.OldRevision(w))
	s.Call(s.Next, message.NewRevision(w))
	old, _ := s.Count(s.Old)
	fresh, missing := s.Count(s.Next)
	switch {
	case old == 0:
		return x.still(w, message.NoOldPods)
	case missing == 0:
		return x.still(w, message.NotShown)
	}
	a := diag.Account{Tables: []diag.NodeTable{x.table(w, message.NextNewPod(w, old, fresh), s.Answers(s.Next))}}
	if len(x.b.j.Remedies(w, r)) > 0 {
		a.Tried = message.RolloutTried
	}
	return a
}

// moving explains a machine that migrates.
func (x *Explainer) moving(w *workload.Workload) diag.Account {
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
}

// scaled explains a workload at the maximum of its autoscaler.
func (x *Explainer) scaled(w *workload.Workload) diag.Account {
	s := x.judge().Scaled(w)
	placed, missing := s.Count(s.Next)
	if missing == 0 {
		return x.still(w, message.NotShown)
	}
	return diag.Account{Tables: []diag.NodeTable{x.table(w, message.NextPodAtMaximum(w, placed, missing), s.Answers(s.Next))}}
}

// lost explains a workload after a loss of nodes, or a drain.
func (x *Explainer) lost(w *workload.Workload, all []disruption.Survival, worst *disruption.Survival) diag.Account {
	if worst == nil {
		return x.still(w)
	}
	if !(certificate.Loss{Meaning: worst.Meaning}).Recreated(w) {
		return x.still(w, message.NotRecreated)
	}
	s, loss := x.judge().Lost(w, all, worst)
	if s == nil {
		return x.still(w, message.NotShown)
	}
	_, missing := s.Count(s.Next)
	if missing == 0 {
		return x.still(w, message.NotShown)
	}
	a := diag.Account{Tables: []diag.NodeTable{x.table(w, message.ReplacementPod(w, loss, missing), s.Answers(s.Next))}}
	if missing != worst.Pending {
		a.Notes = append(a.Notes, message.OtherPending(missing, worst.Pending))
	}
	return a
}

// guarded explains pods that a disruption budget protects from eviction.
func (x *Explainer) guarded(b *disruption.Budget) diag.Account {
	if len(b.Workloads) == 0 {
		return diag.Account{Notes: []string{message.NoSelectedPods}}
	}
	return x.still(b.Workloads[0], message.EvictionFirst)
}
