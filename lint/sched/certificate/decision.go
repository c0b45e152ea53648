package certificate

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Decision is what was decided about workloads together.
type Decision struct {
	// Verdict is that with declared resources, RulesVerdict the one where pods
	// do not contend for resources and each only has to fit an empty node.
	Verdict, RulesVerdict diag.Outcome
	// Total is how many pods there are to be; between MinPlaced and MaxPlaced of
	// them are placed when nothing can be placed any more. Exact is unset where
	// these are bounds.
	Total, MaxPlaced, MinPlaced int
	Exact                       bool
	Workloads                   []WorkloadDecision
	// Witness is a run that places as many pods as possible; it is complete
	// unless the verdict is never or unknown.
	Witness []Placed
	// Stuck is a run that ends with pods left over, if there is one.
	Stuck *Stuck

	// Doubts are what the input leaves open; Over are the components that were too
	// large. Without either the verdict is not unknown.
	Doubts []model.Doubt
	Over   []Overrun

	// Groups are the workloads of each one's component.
	Groups map[*workload.Workload][]*workload.Workload
	// Each is the part of a component's budget that one of its workloads has, by the
	// first of them.
	Each map[*workload.Workload]int
	// Brief are workloads of which the proof that they are always placed holds
	// for states that are reached by placing alone.
	Brief map[*workload.Workload]bool
}

// Lasting reports of a workload that is always placed whether its missing pods
// find nodes in every state, also in those in which pods were taken away: a
// count shows that, while a look at all that placing leads to does not.
func (d *Decision) Lasting(w *workload.Workload) bool { return !d.Brief[w] }

// Overrun is a component that was too large: for the budget, or for any.
type Overrun struct {
	Workloads []*workload.Workload
	Pods      int
	Cause     model.Cause
}

// WorkloadDecision is the same for one workload among the others.
type WorkloadDecision struct {
	Workload              *workload.Workload
	Pods                  int
	Verdict, RulesVerdict diag.Outcome
	MaxPlaced, MinPlaced  int
	// Why is who gave up where the verdict is Unknown.
	Why model.Reason
}

// Stuck is a run after which no pending pod fits anywhere.
type Stuck struct {
	Placements []Placed
	Pending    []Pending
}

// Pending is pods of one workload that are left over, and which filters refuse
// them on how many nodes.
type Pending struct {
	Workload *workload.Workload
	Count    int
	Reasons  map[Reason]int
}
