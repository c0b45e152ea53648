package disruption

import (
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// by returns a reason that names nothing.
func by(cause model.Cause) model.Reason { return model.Reason{Cause: cause} }

// undecided returns why a question about a workload stays open: a doubt about a
// rule, which no budget settles, or else the size of the question or its budget.
func (j *shared) undecided(w *workload.Workload) model.Reason {
	if all := j.doubts(w).all; len(all) > 0 {
		return by(all[0].Cause())
	}
	if j.m.Run().Stops == j.stops {
		return by(model.BySize)
	}
	return by(model.ByBudget)
}
