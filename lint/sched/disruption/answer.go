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
	model.ByLabel:    "a rule selects by a label whose value the cluster sets",
	model.ByVariable: "a rule selects by a label whose value holds a variable",
	model.ByFinite:   "a rule counts on pods that end by themselves",
	model.ByUnknown:  "a rule counts on pods that are not modelled",
}

// leans says why a question about a workload cannot be asked of the pods that
// are there for good: a rule of its group counts on others. Else it is "".
func (j *Judge) leans(w *workload.Workload) string {
	for _, d := range j.m.Permanent().Doubts(j.group(w, false)) {
		if d.Key == "" {
			return whyDoubt[d.Cause()]
		}
	}
	return ""
}

// undecided says why a question about a workload was given up: a doubt about a
// rule, which no budget settles, or the budget.
func (j *Judge) undecided(w *workload.Workload) string {
	for _, d := range j.m.Permanent().Doubts(j.group(w, false)) {
		return whyDoubt[d.Cause()]
	}
	if j.m.Run().Stops == j.stops {
		return whySize
	}
	return WhySteps
}
