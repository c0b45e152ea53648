package derive

import (
	"cmp"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/simulate"
	"github.com/schedlint/schedlint/lint/workload"
)

// uncertain reports whether pods may stay Pending, but need not. Only then do simulated runs add to a
// verdict.
func uncertain(verdict string) bool { return verdict == string(diag.Sometimes) || unknown(verdict) }

// Typical reports whether simulated runs would add to the verdicts in a document.
func Typical(doc *diag.Placement) bool {
	return uncertain(doc.Verdict) || slices.ContainsFunc(doc.Workloads, func(w diag.PlacementWorkload) bool { return uncertain(w.Verdict) })
}

// AddTypical adds to uncertain verdicts what simulated runs of the scheduler do. They change no
// verdict.
func AddTypical(doc *diag.Placement, r *simulate.Result) {
	why := r.Why
	of := map[string]*diag.PlacementTypical{}
	whole := &diag.PlacementTypical{}
	for _, c := range r.Components {
		if !why.Given() {
			why = c.Why
		}
		for _, t := range c.Tallies {
			o := t.Workload.Object
			of[Reference(t.Workload)] = &diag.PlacementTypical{Runs: c.Runs, Complete: c.Runs - c.Preempts - t.LeftOut, Preempts: c.Preempts}
			if t.LeftOut > 0 {
				whole.LeftOut = append(whole.LeftOut, diag.PlacementLeftOut{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Runs: t.LeftOut, Pods: t.Missing})
			}
		}
	}
	for i := range doc.Workloads {
		if w := &doc.Workloads[i]; uncertain(w.Verdict) {
			w.Typical = of[strings.Join([]string{w.APIVersion, w.Kind, workload.Space(w.Namespace), w.Name}, "/")]
		}
	}
	slices.SortStableFunc(whole.LeftOut, func(a, b diag.PlacementLeftOut) int {
		return cmp.Or(cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	whole.Runs, whole.Complete, whole.Preempts = r.Together()
	if why.Given() {
		whole.Reason = message.Reason(why)
	}
	if uncertain(doc.Verdict) && (whole.Runs > 0 || why.Given()) {
		doc.Typical = whole
	}
}
