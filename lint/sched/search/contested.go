package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// decideContested adds workloads whose pods all exist or not, depending on which pods of their
// namespace are created first (R-P10). If they are first, and find nodes when no other pod to be
// placed exists, they are all placed. If they are not, some are never created.
func decideContested(m *model.Model, d *certificate.Decision, o Options) {
	found := false
	for _, w := range m.Workloads {
		if w.Contested == nil || m.Groups[w].Unknown.Cause != model.ByAdmission || o.AtOnce || m.Topology.Empty() || len(o.Only) > 0 && !slices.Contains(o.Only, w) {
			continue
		}
		guest := *w
		guest.Admission, guest.Contested = "", nil
		leave := m.Guest(&guest)
		alone := Decide(m.Beside(append(m.RunningOnes(), &guest)), Options{Steps: o.Steps})
		leave()
		fits := func(v certificate.WorkloadDecision) bool {
			return v.Workload == &guest && (v.Verdict == diag.Always || v.Verdict == diag.Sometimes)
		}
		if !slices.ContainsFunc(alone.Workloads, fits) {
			continue
		}
		if err := certificate.CheckerOf(m).Contest(m, w); err != nil {
			if err != certificate.ErrTooLong {
				m.Run().Refuse([]*workload.Workload{w}, err)
			}
			continue
		}
		found = true
		d.Workloads = append(d.Workloads, certificate.WorkloadDecision{Workload: w, Pods: w.Count.N, Verdict: diag.Sometimes, RulesVerdict: diag.Sometimes, MaxPlaced: w.Count.N, Contested: w.Contested})
	}
	if found {
		inOrder(m, d)
	}
}
