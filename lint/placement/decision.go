package placement

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/workload"
)

// Decision is what was decided about workloads together.
type Decision struct {
	// Verdict is that with declared resources, RulesVerdict the one where pods
	// do not contend for resources and each only has to fit an empty node.
	Verdict, RulesVerdict Verdict
	// Total is how many pods there are to be; between MinPlaced and MaxPlaced of
	// them are placed when nothing can be placed any more. Exact is unset where
	// these are bounds.
	Total, MaxPlaced, MinPlaced int
	Exact                       bool
	Workloads                   []WorkloadDecision
	// Witness is a run that places as many pods as possible; it is complete
	// unless the verdict is never or undetermined.
	Witness []Placed
	// Stuck is a run that ends with pods left over, if there is one.
	Stuck *Stuck

	// Doubts are what the input leaves open; Over are the components that were too
	// large. Without either the verdict is not undetermined.
	Doubts []Doubt
	Over   []Overrun

	// groups are the workloads of each one's component.
	groups map[*workload.Workload][]*workload.Workload
	// each is the part of a component's budget that one of its workloads has, by the
	// first of them.
	each map[*workload.Workload]int
	// brief are workloads of which the proof that they are always placed holds
	// for states that are reached by placing alone.
	brief map[*workload.Workload]bool
}

// Lasting reports of a workload that is always placed whether its missing pods
// find nodes in every state, also in those in which pods were taken away: a
// count shows that, while a look at all that placing leads to does not.
func (d *Decision) Lasting(w *workload.Workload) bool { return !d.brief[w] }

// Doubt is a hard term that leaves an answer open. Either nobody can tell whether
// it selects the pods of the target: that depends on a label, Key, whose value
// only the cluster knows. Or Key is empty and it may count on pods of the target
// that take no part in a decision: because they end by themselves or, if Why is
// set, because that is not known of them.
type Doubt struct {
	Workload *workload.Workload
	Term     *Term
	Target   *workload.Workload
	Key, Why string
	// Variable is set if the value of the label holds a variable.
	Variable bool
	// Resource is set instead for a request of an extended resource that no node
	// lists; Term and Target are nil then.
	Resource corev1.ResourceName
}

// Overrun is a component that was too large: for the budget, or for any.
type Overrun struct {
	Workloads []*workload.Workload
	Pods      int
	Cause     Cause
}

// WorkloadDecision is the same for one workload among the others.
type WorkloadDecision struct {
	Workload              *workload.Workload
	Pods                  int
	Verdict, RulesVerdict Verdict
	MaxPlaced, MinPlaced  int
	// Cause says who gave up where the verdict is Undetermined, and Why the same in
	// words for ByResource and ByGrowth; else they are "".
	Cause Cause
	Why   string
}

// Cause is why a verdict is Undetermined.
type Cause string

// The causes.
const (
	// Waits: the pods end by themselves, and those that do not fit beside all
	// others at once wait for room.
	Waits Cause = "waits"
	// ByLabel: a rule asks for a label whose value only the cluster knows, and
	// ByVariable for one whose value holds a variable of a later tool.
	ByLabel    Cause = "label-value"
	ByVariable Cause = "variable"
	// ByFinite: a rule counts on pods that end by themselves.
	ByFinite Cause = "finite-pods"
	// ByUnknown: a rule counts on declared pods of which too little is known.
	ByUnknown Cause = "unknown-pods"
	// ByResource: the pods, or others that may take their room, request a resource
	// that no node lists.
	ByResource Cause = "unlisted-resource"
	// ByGrowth: some size of the cluster refutes the verdict.
	ByGrowth Cause = "pool-growth"
	// ByBudget: the budget was over; BySize: no proof applies, and there are too
	// many pods or nodes to try everything, or to check that.
	ByBudget Cause = "budget"
	BySize   Cause = "size"
	// ByFault: a certificate did not hold, which is a fault of the program.
	ByFault Cause = "internal"
)

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
