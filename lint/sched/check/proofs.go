package check

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// verifier checks proofs against the model, with one type for each kind of reasoning.
// They share the books and the node sets.
type verifier struct {
	shapes   shapes
	counting counting
	headroom headroom
	demand   *demand
}

func newVerifier(m *model.Model, contend bool) *verifier {
	d := &demand{pairs: pairs{newNodeSets(nil, m, contend)}}
	return &verifier{shapes{&closedForms{d}}, counting{d}, headroom{newClosings(d), map[string][]int{}}, d}
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
