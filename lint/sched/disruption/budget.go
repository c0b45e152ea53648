package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Budget is what a PodDisruptionBudget means for the workloads that it selects.
type Budget struct {
	*workload.Budget
	// Workloads are those of which it selects the pods, in the order of their
	// names; it may select others that are not declared.
	Workloads []*workload.Workload
	// Pods is how many pods are certain, and Allowed how many of them may be
	// evicted while all are healthy, by Amount. They mean nothing unless Known.
	Pods, Allowed int
	Amount        workload.Amount
	Known         bool
	// Idle is set if it certainly selects no pod.
	Idle bool
}

// Budgets judges all disruption budgets of the set (R-W19).
func (j *shared) Budgets() []Budget {
	if j.budgets == nil {
		all := []Budget{}
		for _, b := range j.set.Budgets {
			all = append(all, j.budget(b))
		}
		j.budgets = all // once they are whole
	}
	return j.budgets
}

func (j *shared) budget(b *workload.Budget) Budget {
	out := Budget{Budget: b, Known: b.Unknown == ""}
	neighbours, doubt := 0, false
	j.m.Run().Spend(len(j.m.Workloads)/4 + len(j.m.Elsewhere())/4)
	for _, w := range j.m.Workloads {
		if w.Object.Namespace != b.Object.Namespace || w.Copy || w.Superseded {
			continue
		}
		neighbours++
		j.m.Run().Spend(4)
		switch selects(b, w) {
		case model.Maybe:
			doubt = true
		case model.Yes:
			out.Workloads = append(out.Workloads, w)
		}
	}
	for _, w := range j.m.Elsewhere() { // which may be there
		doubt = doubt || w.Object.Namespace == b.Object.Namespace && selects(b, w) != model.No
	}
	for _, w := range out.Workloads {
		out.Known = out.Known && counts(w)
		out.Pods += model.Certain(w)
	}
	if out.Known = out.Known && !doubt && out.Pods > 0; out.Known {
		out.Allowed, out.Amount = b.Allowed(out.Pods)
	}
	out.Idle = b.Unknown == "" && len(out.Workloads) == 0 && !doubt && neighbours > 0 && !j.set.Operates(b.Object.Namespace)
	return out
}

// counts reports whether the disruption controller knows the number of a
// workload's pods by its scale: a DaemonSet has none, pods of their own and
// Jobs are counted otherwise, and KubeVirt guards machines by budgets that it
// makes itself.
func counts(w *workload.Workload) bool {
	return w.Count.Known && !w.Refused() && !w.Kind.PerNode() && !w.Finite() && !w.Kind.VM && w.Kind.Kind != "Pod"
}

// selects tells whether a budget selects the pods of a workload of its
// namespace. Labels that controllers add are not known by value.
func selects(b *workload.Budget, w *workload.Workload) model.Answer {
	keys := make([]string, 0, len(b.Selector.MatchLabels)+len(b.Selector.MatchExpressions))
	for k := range b.Selector.MatchLabels {
		keys = append(keys, k)
	}
	for _, e := range b.Selector.MatchExpressions {
		keys = append(keys, e.Key)
	}
	open := slices.ContainsFunc(keys, func(k string) bool {
		value, set := w.Labels[k]
		added, _ := w.Added(k)
		return !set && added || set && model.Placeholder(value)
	})
	switch {
	case b.Unknown != "" || open:
		return model.Maybe
	case b.Matches(w.Labels):
		return model.Yes
	}
	return model.No
}

// BudgetsOf are the budgets that select the pods of a workload.
func (j *shared) BudgetsOf(w *workload.Workload) []Budget {
	budgets := j.Budgets()
	if j.selecting == nil {
		by := map[*workload.Workload][]int{}
		for i, b := range budgets {
			for _, w := range b.Workloads {
				by[w] = append(by[w], i)
			}
		}
		j.selecting = by
	}
	var all []Budget
	for _, i := range j.selecting[w] {
		all = append(all, budgets[i])
	}
	return all
}
