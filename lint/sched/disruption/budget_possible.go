package disruption

import (
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Possible is a budget whose allowance is unknown, and which may or may not select the pods
// of a workload.
type Possible struct {
	*workload.Budget
	// Selects is set if it certainly selects them.
	Selects bool
	// Elsewhere is set if it need not be deployed together with the workload.
	Elsewhere bool
}

// PossibleBudgets returns the budgets beyond BudgetsOf that may select pods of a workload:
// budgets with a variable, in a namespace that is left open, or in files that need not be
// deployed together with the workload.
func (j *shared) PossibleBudgets(w *workload.Workload) (all []Possible) {
	for i, list := range [][]*workload.Budget{j.set.Budgets, j.set.BudgetsElsewhere} {
		j.m.Run().Spend(4 * len(list))
		for _, b := range list {
			home := b.Object.Namespace == w.Object.Namespace
			if !home && !openNamespace(b.Object.Namespace) && !openNamespace(w.Object.Namespace) {
				continue
			}
			certain := home && i == 0
			if _, answer := j.selects(b, w); answer == model.Maybe || answer == model.Yes && (!certain || b.Unknown != "") {
				all = append(all, Possible{b, certain && answer == model.Yes, i == 1})
			}
		}
	}
	return all
}

// openNamespace reports whether the namespace is left to a later tool.
func openNamespace(name string) bool { return name == "" || source.Placeholder(name) }
