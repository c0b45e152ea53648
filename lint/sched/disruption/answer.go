package disruption

import (
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// by is a reason that names nothing.
func by(cause model.Cause) model.Reason { return model.Reason{Cause: cause} }

// leans is why a question about a workload cannot be asked of the pods that are
// there for good, if it cannot: a rule of its group counts on others.
func (j *shared) leans(w *workload.Workload) model.Reason {
	for _, d := range j.m.Permanent().Doubts(j.group(w, false)) {
		if d.Key == "" {
			return by(d.Cause())
		}
	}
	return model.Reason{}
}

// undecided is why a question about a workload was given up: a doubt about a
// rule, which no budget settles, or the budget.
func (j *shared) undecided(w *workload.Workload) model.Reason {
	for _, d := range j.m.Permanent().Doubts(j.group(w, false)) {
		return by(d.Cause())
	}
	if j.m.Run().Stops == j.stops {
		return by(model.BySize)
	}
	return by(model.ByBudget)
}
