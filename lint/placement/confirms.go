package placement

import "github.com/schedlint/schedlint/lint/workload"

// Confirming is the Checker that replays runs and holds proofs against the model.
type Confirming struct{}

// Verify replays the runs of a decision.
func (Confirming) Verify(m *Model, d *Decision) error { return m.verify(d) }

// Replay replays a run.
func (Confirming) Replay(m *Model, run []Placed) error {
	_, err := m.replay(run)
	return err
}

// Certify replays a run that is to be stuck.
func (Confirming) Certify(m *Model, s *Stuck) error { return m.certify(s) }

// Blocks replays a run and asks every node for one more pod.
func (Confirming) Blocks(m *Model, run []Placed, g *Group) bool {
	v, err := m.replay(run)
	return err == nil && v.reasons(g)[Takes] == 0
}

// Prepare finds out who selects whom.
func (Confirming) Prepare(m *Model) { m.related() }

// Proofs keeps the books for one proof after the other.
func (Confirming) Proofs(m *Model, contend bool) Proofs { return newVerifier(m, contend) }

// Check holds one proof against the model.
func (v *verifier) Check(a *assertion, steps int) error {
	v.steps = steps
	return v.check(a)
}

// Homeless tries all states with one pod of each.
func (Confirming) Homeless(m *Model, g *Group, with []*workload.Workload) error {
	return newVerifier(m, true).checkHomeless(g, with)
}

// Lose goes through all states before and after the loss.
func (Confirming) Lose(m *Model, l Loss, out []Lost, steps int) error {
	return m.checkLoss(l, out, steps)
}

// Roll goes through all states of the rollout.
func (Confirming) Roll(m *Model, r Rollout, out *Rolled, steps int) error {
	return m.checkRoll(r, out, steps)
}
