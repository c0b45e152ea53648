package certificate

import (
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Checker confirms what a search says, by its own reasoning. Errors say what does not
// hold, which is a fault of the search; errTooLong says that the steps do not suffice.
type Checker interface {
	// Verify replays the runs of a decision and fills in why the pods that one
	// leaves over fit nowhere.
	Verify(m *model.Model, d *Decision) error
	// Replay replays a run: every pod is taken by its node at its time.
	Replay(m *model.Model, run []Placed) error
	// Certify does so for a run that is to be stuck, and fills in why.
	Certify(m *model.Model, s *Stuck) error
	// Blocks reports whether a run holds and leaves no node for a pod of a group.
	Blocks(m *model.Model, run []Placed, g *model.Group) bool
	// Prepare does what is done once for all checks of a model.
	Prepare(m *model.Model)
	// Proofs are checks of proofs on a model, where pods contend for resources or not.
	Proofs(m *model.Model, contend bool) Proofs
	// NeverPlaced checks that not one pod of a group ever finds a node, with at most one
	// pod of each of the others there.
	NeverPlaced(m *model.Model, g *model.Group, with []*workload.Workload) error
	// Lose checks what becomes of workloads after a loss, Roll what becomes of a
	// rollout; Roll fills in why no new pod fits.
	Lose(m *model.Model, l Loss, out []Lost, steps int) error
	Roll(m *model.Model, r Rollout, out *Rolled, steps int) error
}

// Proofs checks one proof after the other, each with so many steps.
type Proofs interface {
	Check(a *Assertion, steps int) error
}

// confirming is who confirms in a run.
type confirming struct{ Checker }

// Confirm sets who confirms what is said about a model and all that are made of it.
func Confirm(m *model.Model, c Checker) {
	model.KeepInRun(m.Run(), func() *confirming { return &confirming{c} })
}

// CheckerOf is who confirms what is said about a model.
func CheckerOf(m *model.Model) Checker {
	return model.KeepInRun(m.Run(), func() *confirming { panic("nobody confirms what is said about this model") }).Checker
}
