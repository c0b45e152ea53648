package disruption

import (
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// by is a reason that names nothing.
func by(cause model.Cause) model.Reason { return model.Reason{Cause: cause} }

// undecided is why a question about a workload was given up: a doubt about a
// rule, which no budget settles, or the budget.
func (j *shared) undecided(w *workload.Workload) model.Reason {
	if all := j.doubts(w).all; len(all) > 0 {
		return by(all[0].Cause())
	}
	if j.m.Run().Stops == j.stops {
		return by(model.BySize)
	}
	return by(model.ByBudget)
}
