package certificate

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Decision is the result of deciding about workloads together.
type Decision struct {
	// Verdict considers declared resources; RulesVerdict assumes that pods do not
	// contend for resources and each only has to fit an empty node.
	Verdict, RulesVerdict diag.Outcome
	// Total is the required number of pods; between MinPlaced and MaxPlaced of
	// them are placed when nothing more can be placed. Exact is unset if
	// these are only bounds.
	Total, MaxPlaced, MinPlaced int
	Exact                       bool
	Workloads                   []WorkloadDecision
	// Witness is a run that places as many pods as possible; it is complete
	// unless the verdict is never or unknown.
	Witness []Placed
	// Stuck is a run that leaves pods Pending, if there is one.
	Stuck *Stuck

	// Doubts are left open by the input; Over lists the components that were too
	// large. The verdict is unknown only if there is one of either.
	Doubts []model.Doubt
	Over   []Overrun

	// Groups maps each workload to the workloads of its component.
	Groups map[*workload.Workload][]*workload.Workload
	// Each is the share of a component's budget that each of its workloads gets, by the
	// first workload of the component.
	Each map[*workload.Workload]int
	// Brief marks workloads whose proof of always holds only for states that are
	// reached by placing pods.
	Brief map[*workload.Workload]bool
}

// Lasting reports whether the missing pods of a workload that is always placed find nodes
// in every state, even after pods were removed: a count proves that, while
// exploring all states that placing reaches does not.
func (d *Decision) Lasting(w *workload.Workload) bool { return !d.Brief[w] }

// Overrun is a component that was too large to decide, for the reason in Cause.
type Overrun struct {
	Workloads []*workload.Workload
	Pods      int
	Cause     model.Cause
}

// WorkloadDecision is the decision about one workload among the others.
type WorkloadDecision struct {
	Workload              *workload.Workload
	Pods                  int
	Verdict, RulesVerdict diag.Outcome
	MaxPlaced, MinPlaced  int
	// Why is the reason if Verdict is Unknown.
	Why model.Reason
}

// Stuck is a run after which no pending pod fits anywhere.
type Stuck struct {
	Placements []Placed
	Pending    []Pending
}

// Pending is the number of pods of one workload that are left Pending; Reasons counts the
// nodes that refuse them, by filter.
type Pending struct {
	Workload *workload.Workload
	Count    int
	Reasons  map[Reason]int
}
