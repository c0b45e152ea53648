package check

import (
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Checker is the certificate.Checker that replays runs and checks proofs against the
// model.
type Checker struct{}

// Verify replays the runs of a decision.
func (Checker) Verify(m *model.Model, d *certificate.Decision) error { return verify(m, d) }

// Replay replays a run.
func (Checker) Replay(m *model.Model, run []certificate.Placed) error {
	_, err := replay(m, run)
	return err
}

// Certify replays a run that must end stuck.
func (Checker) Certify(m *model.Model, s *certificate.Stuck) error { return certify(m, s) }

// Blocks replays a run and reports whether no node takes one more pod.
func (Checker) Blocks(m *model.Model, run []certificate.Placed, g *model.Group) bool {
	v, err := replay(m, run)
	return err == nil && v.reasons(g)[certificate.Takes] == 0
}

// Prepare computes which terms select which workloads.
func (Checker) Prepare(m *model.Model) { related(m) }

// Proofs returns a verifier that reuses its books for one proof after the other.
func (Checker) Proofs(m *model.Model, contend bool) certificate.Proofs {
	return newVerifier(m, contend)
}

// NeverPlaced explores all states with one pod of each.
func (Checker) NeverPlaced(m *model.Model, g *model.Group, with []*workload.Workload) error {
	return checkNeverPlaced(m, g, with)
}

// Lose explores all states before and after the loss.
func (Checker) Lose(m *model.Model, l certificate.Loss, out []certificate.Lost, steps int) error {
	return checkLoss(m, l, out, steps)
}

// Roll explores all states of the rollout.
func (Checker) Roll(m *model.Model, r certificate.Rollout, out *certificate.Rolled, steps int) error {
	return checkRoll(m, r, out, steps)
}
