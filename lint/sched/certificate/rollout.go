package certificate

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Rollout is a question: whether new pods take the place of old ones, which are
// the pods of two workloads of one model. All others are in place and stay.
type Rollout struct {
	Old, Fresh *workload.Workload
	// Surge is how many pods there may be beyond the number of old ones, and
	// Unavailable how many of these may be missing (R-W5, R-W6).
	Surge, Unavailable int
	// Whole is set if no old pod goes before all new ones are in place (R-W31),
	// Empty if no new one comes before all old ones are gone (R-W8).
	Whole, Empty bool
}

// Rolled is what becomes of a rollout over all placements that it may start
// from, all choices of the scheduler and all choices of which old pod goes:
// Always if it completes, Never if it never does, OrderDependent if it may get
// stuck, and Undetermined if that is not known, be it because no placement of
// all pods is there to start from.
type Rolled struct {
	Verdict diag.Outcome
	// Skewed is set if the new pods may end up further apart in number than
	// their hard spread constraints say.
	Skewed bool
	// Stuck is moves after which nothing moves any more, from no pods at all, and
	// Reasons what keeps a new pod off how many nodes then.
	Stuck   []Move
	Reasons map[Reason]int
}

// Move is a pod that is placed, or an old one that is taken away.
type Move struct {
	Workload *workload.Workload
	Node     *topology.Node
	Gone     bool
}
