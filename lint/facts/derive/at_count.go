package derive

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
)

func unknown(verdict string) bool { return verdict == string(diag.Unknown) }

// Open reports whether some answer in a document is unknown.
func Open(doc *diag.Placement) bool {
	return unknown(doc.Verdict) || slices.ContainsFunc(doc.Workloads, func(w diag.PlacementWorkload) bool {
		c := &w.Change
		return unknown(w.Verdict) || unknown(c.Rollout.Verdict) || unknown(c.Drain.Verdict) || unknown(c.Migrate.Verdict) || unknown(c.Autoscale.Verdict) ||
			slices.ContainsFunc(c.Survives, func(s diag.PlacementSurvival) bool { return unknown(s.Verdict) })
	})
}

// AddAtCount adds to the unknown answers in a document those for the declared number of nodes. The
// argument count is the document about these nodes. It has the same workloads unless a label that
// only a growing pool leaves open decides whether a workload is modeled. Then nothing is added.
func AddAtCount(doc, count *diag.Placement) {
	if len(doc.Workloads) != len(count.Workloads) {
		return
	}
	settles := func(verdict, atCount string) bool { return unknown(verdict) && !unknown(atCount) }
	if settles(doc.Verdict, count.Verdict) {
		doc.AtCount = &diag.PlacementVerdict{Verdict: count.Verdict, DaemonSetsFirst: count.DaemonSetsFirst}
		doc.Pods, doc.Witness, doc.Stuck = count.Pods, count.Witness, count.Stuck
	}
	for i := range doc.Workloads {
		w, at := &doc.Workloads[i], &count.Workloads[i]
		if settles(w.Verdict, at.Verdict) {
			w.AtCount = &diag.PlacementVerdict{Verdict: at.Verdict, DaemonSetsFirst: at.DaemonSetsFirst}
			w.MaxPlaced, w.MinPlaced, w.Preempts = at.MaxPlaced, at.MinPlaced, at.Preempts
		}
		if settles(w.Change.Rollout.Verdict, at.Change.Rollout.Verdict) {
			w.Change.Rollout.AtCount = &at.Change.Rollout
		}
		for _, pair := range [][2]*diag.PlacementJudgement{
			{&w.Change.Drain, &at.Change.Drain}, {&w.Change.Migrate, &at.Change.Migrate}, {&w.Change.Autoscale, &at.Change.Autoscale},
		} {
			if settles(pair[0].Verdict, pair[1].Verdict) {
				pair[0].AtCount = pair[1]
			}
		}
		w.Change.Survives = slices.Clone(w.Change.Survives) // other workloads may share the list
		for j := range w.Change.Survives {
			s := &w.Change.Survives[j]
			same := func(o diag.PlacementSurvival) bool {
				return o.Key == s.Key && o.Value == s.Value && o.Meaning == s.Meaning
			}
			if k := slices.IndexFunc(at.Change.Survives, same); k >= 0 && settles(s.Verdict, at.Change.Survives[k].Verdict) {
				s.AtCount = &at.Change.Survives[k]
			}
		}
	}
}
