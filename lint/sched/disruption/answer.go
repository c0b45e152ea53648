package disruption

import (
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Why the judge gives up.
const (
	// WhySteps: the steps of the question were over.
	WhySteps = "more steps than the budget"
	whySize  = "too many pods or nodes to search"
)

// whyDoubt is what a doubt about a rule says of a question.
var whyDoubt = map[model.Cause]string{
	model.ByLabel:    "depends on a label value that is set at run time",
	model.ByVariable: "depends on a label value that contains a variable",
	model.ByFinite:   "depends on pods that run to completion",
	model.ByUnknown:  "depends on pods that are not modeled",
}

// leans says why a question about a workload cannot be asked of the pods that
// are there for good: a rule of its group counts on others. Else it is "".
func (j *shared) leans(w *workload.Workload) string {
	for _, d := range j.m.Permanent().Doubts(j.group(w, false)) {
		if d.Key == "" {
			return whyDoubt[d.Cause()]
		}
	}
	return ""
}

// undecided says why a question about a workload was given up: a doubt about a
// rule, which no budget settles, or the budget.
func (j *shared) undecided(w *workload.Workload) string {
	for _, d := range j.m.Permanent().Doubts(j.group(w, false)) {
		return whyDoubt[d.Cause()]
	}
	if j.m.Run().Stops == j.stops {
		return whySize
	}
	return WhySteps
}
