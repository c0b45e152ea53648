package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// canJudge reports whether a loss can be judged in a model: no workload tolerates its taint.
func canJudge(l certificate.Loss, m *model.Model) bool {
	return !slices.ContainsFunc(m.Workloads, func(w *workload.Workload) bool {
		return model.Modelled(m.Groups[w]) && !w.Running && l.Tolerates(w)
	})
}

// unknownLosses returns the answer where nothing is known.
func unknownLosses(l certificate.Loss, m *model.Model) []certificate.Lost {
	var all []certificate.Lost
	for _, w := range m.Workloads {
		if g := m.Groups[w]; model.Modelled(g) && !w.Running {
			all = append(all, certificate.Lost{Workload: w, Verdict: diag.Unknown})
		}
	}
	return all
}
