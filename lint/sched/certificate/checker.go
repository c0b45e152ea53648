package certificate

import (
	"errors"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Checker confirms the results of a search by independent reasoning. An error says what does
// not hold, which is a fault of the search; ErrTooLong means that the steps do not suffice.
type Checker interface {
	// Verify replays the runs of a decision and fills in why the pods that a run
	// leaves Pending fit nowhere.
	Verify(m *model.Model, d *Decision) error
	// Replay replays a run: each node has to take its pod at that time.
	Replay(m *model.Model, run []Placed) error
	// Certify replays a run that has to be stuck, and fills in why.
	Certify(m *model.Model, s *Stuck) error
	// Blocks reports whether a run is valid and leaves no node for a pod of a group.
	Blocks(m *model.Model, run []Placed, g *model.Group) bool
	// Prepare does the work that all checks of a model share.
	Prepare(m *model.Model)
	// Proofs returns the checks of proofs on a model; contend says whether pods contend for resources.
	Proofs(m *model.Model, contend bool) Proofs
	// NeverPlaced checks that no pod of a group ever finds a node, with at most one
	// pod of each of the others present.
	NeverPlaced(m *model.Model, g *model.Group, with []*workload.Workload) error
	// Lose checks the outcomes of workloads after a loss, and Roll the outcome of a
	// rollout; Roll fills in why no new pod fits.
	Lose(m *model.Model, l Loss, out []Lost, steps int) error
	Roll(m *model.Model, r Rollout, out *Rolled, steps int) error
}

// Proofs checks one proof after another, each within a number of steps.
type Proofs interface {
	Check(a *Assertion, steps int) error
}

// confirming holds the checker of a run.
type confirming struct{ Checker }

// Confirm sets the checker for a model and all models derived from it.
func Confirm(m *model.Model, c Checker) {
	model.KeepInRun(m.Run(), func() *confirming { return &confirming{c} })
}

// CheckerOf returns the checker of a model.
func CheckerOf(m *model.Model) Checker {
	return model.KeepInRun(m.Run(), func() *confirming { panic("nobody confirms what is said about this model") }).Checker
}

// ErrTooLong is returned if a check exceeds its budget; a result that cannot
// be checked is not reported.
var ErrTooLong = errors.New("the check takes too long")

// CheckSteps is the checker's budget for one component that was explored,
// in filters applied.
const CheckSteps = 400_000
