package check

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// Checker is the certificate.Checker that replays runs and checks proofs against the
// model.
type Checker struct{}

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
	d := &demand{pairs: pairs{newNodeSets(nil, m, contend)}}
	return &verifier{shapes{&closedForms{d}}, counting{d}, headroom{&closings{d, map[string][]int{}, map[tightKey]*tight{}}, map[string][]int{}}, d}
}

// verifier checks proofs against the model, with one type for each kind of reasoning.
// They share the books and the node sets.
type verifier struct {
	shapes   shapes
	counting counting
	headroom headroom
	demand   *demand
}

// Check checks a proof against the model. It shares nothing with the engine that built
// the proof: it works with names and labels, and counts by itself.
func (v *verifier) Check(c *certificate.Assertion, steps int) error {
	how, ok := map[certificate.ProofKind]func(*certificate.Assertion) error{
		certificate.Shape: v.shapes.checkShape, certificate.LimitProof: v.shapes.checkLimit,
		certificate.Exclusive: v.counting.checkExclusive, certificate.Outweighed: v.counting.checkOutweighed, certificate.Overcommitted: v.counting.checkOvercommitted,
		certificate.Headroom:     v.headroom.checkHeadroom,
		certificate.Uncolourable: func(c *certificate.Assertion) error { return checkUncolourable(v.demand, c, steps) },
		certificate.Explored:     func(c *certificate.Assertion) error { return checkExplored(v.demand.nodeSets, c, steps) },
	}[c.Proof.Kind]
	if !ok {
		return fmt.Errorf("nothing proves it of %v", certificate.Called(c.Members))
	}
	return how(c)
}
