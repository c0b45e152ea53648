package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// Checker implements certificate.Checker. It replays runs and checks proofs against the model.
type Checker struct{}

// Replay returns an error if a run violates a rule.
func (Checker) Replay(m *model.Model, run []certificate.Placed) error {
	_, err := replay(m, run)
	return err
}

// Blocks reports whether every node rejects a pod of g after a run. It returns false if the run
// is invalid.
func (Checker) Blocks(m *model.Model, run []certificate.Placed, g *model.Group) bool {
	v, err := replay(m, run)
	return err == nil && v.reasons(g)[certificate.Takes] == 0
}

// Prepare computes which terms select which workloads, so that later checks do not pay for this
// work.
func (Checker) Prepare(m *model.Model) { related(m) }

// Proofs returns a verifier that reuses its state from one proof to the next.
func (Checker) Proofs(m *model.Model, contend bool) certificate.Proofs {
	d := &demand{pairs: pairs{newNodeSets(nil, m, contend)}}
	c := &closings{d, map[string][]int{}, map[tightKey]*tight{}, map[string]int64{}}
	return &verifier{shapes{&closedForms{d}}, counting{d}, headroom{c, map[string][]int{}}, d}
}

// verifier checks proofs against the model. It embeds one type for each kind of reasoning, and all
// of these types share the pods in place and the node sets.
type verifier struct {
	shapes   shapes
	counting counting
	headroom headroom
	demand   *demand
}

// Check checks a proof against the model. It shares no code with the engine that built the proof.
// It works with names and labels, and counts independently.
func (v *verifier) Check(c *certificate.Assertion, steps int) error {
	how, ok := map[certificate.ProofKind]func(*certificate.Assertion) error{
		certificate.Shape: v.shapes.checkShape, certificate.LimitProof: v.shapes.checkLimit,
		certificate.Outweighed: v.counting.checkOutweighed, certificate.Overcommitted: v.counting.checkOvercommitted,
		certificate.Headroom: v.headroom.checkHeadroom,
		certificate.Explored: func(c *certificate.Assertion) error {
			s := statesOf(v.demand.nodeSets, c, steps)
			s.visit()
			switch {
			case s.complete == c.Never && s.complete, s.stuck && !c.Never:
				return fmt.Errorf("%v: a run ends otherwise", certificate.Called(c.Members))
			case s.steps <= 0:
				return certificate.ErrTooLong
			}
			return nil
		},
	}[c.Proof.Kind]
	if !ok {
		return fmt.Errorf("nothing proves it of %v", certificate.Called(c.Members))
	}
	return how(c)
}

// replay checks that each step in a run passes the filters. The error names the first failing step,
// which indicates a bug in the engine.
func replay(m *model.Model, run []certificate.Placed) (*nodeSets, error) {
	m.Run().Spend(model.StepsPerReplay)
	v := newNodeSets(nil, m, true)
	for i, p := range run {
		n, ok := m.IndexOf(p.Node.Name)
		if !ok {
			return nil, fmt.Errorf("step %d: node %s is not declared", i, p.Node.Name)
		}
		g := m.Groups[p.Workload]
		if g.After != nil && v.placed[g.After] == 0 {
			return nil, fmt.Errorf("step %d: the pod before that of %s is not in place", i, p.Workload)
		}
		if why := v.refuses(g, n); why != certificate.Takes {
			return nil, fmt.Errorf("step %d: %s refuses %s on %s", i, why, p.Workload, p.Node.Name)
		}
		v.add(g, n)
	}
	return v, nil
}

// Verify checks the runs that a decision is based on. A complete run must place all pods. A stuck
// run must end in a state where no pending pod fits. Verify stores in the decision why no pending
// pod fits.
func (c Checker) Verify(m *model.Model, d *certificate.Decision) error {
	v, err := replay(m, d.Witness)
	if err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	if complete := d.Verdict == diag.Always || d.Verdict == diag.Sometimes; complete && len(d.Witness) != d.Total {
		return fmt.Errorf("witness: %d of %d pods are placed, and the verdict is %s", len(d.Witness), d.Total, d.Verdict)
	}
	if d.Verdict == diag.Never && len(d.Witness) == d.Total {
		return fmt.Errorf("witness: all %d pods are placed, and the verdict is %s", d.Total, d.Verdict)
	}
	switch {
	case d.Stuck == nil:
		return nil
	case slices.Equal(d.Stuck.Placements, d.Witness): // this run was just replayed
		return pending(v, d.Stuck)
	}
	return c.Certify(m, d.Stuck)
}

// Certify checks that a run ends in a stuck state. It stores in s why no pending pod fits.
func (Checker) Certify(m *model.Model, s *certificate.Stuck) error {
	v, err := replay(m, s.Placements)
	if err != nil {
		return fmt.Errorf("stuck run: %w", err)
	}
	return pending(v, s)
}

// pending stores in s why no pending pod fits after a stuck run. It returns an error if a pending
// pod fits.
func pending(v *nodeSets, s *certificate.Stuck) error {
	m := v.m
	still := stuckState{v, map[string]*takers{}}
	for i := range s.Pending {
		p := &s.Pending[i]
		if after := m.Groups[p.Workload].After; after != nil && v.placed[after] == 0 {
			continue // the pod has not been created yet
		}
		if p.Reasons = still.reasons(m.Groups[p.Workload]); p.Reasons[certificate.Takes] > 0 {
			return fmt.Errorf("stuck run: %s still fits", p.Workload)
		}
	}
	return nil
}

// stuckState is a state in which no more pods can be placed. It caches the results of the
// node-level filters for pods with equal requests and node rules.
type stuckState struct {
	*nodeSets
	known map[string]*takers
}

// takers holds the nodes that pass the node-level filters for a pod. It counts the other nodes by
// reason.
type takers struct {
	nodes   []int
	refused map[certificate.Reason]int
}

// reasons counts the nodes by their reason for rejecting one more pod.
func (s stuckState) reasons(g *model.Group) map[certificate.Reason]int {
	if g.Kind.PerNode() || g.Spec.NodeName != "" || len(g.HostPorts) > 0 {
		return s.filters.reasons(g)
	}
	t := lazy.Cached(s.known, g.Signature+"|"+g.Request, func() *takers {
		t := &takers{refused: map[certificate.Reason]int{}}
		for n := range s.m.Topology.Nodes {
			s.m.Run().Spend(1)
			if r := s.atNode(g, n); r != certificate.Takes {
				t.refused[r]++
			} else {
				t.nodes = append(t.nodes, n)
			}
		}
		return t
	})
	count := maps.Clone(t.refused)
	if s.claimed(g) != "" { // the scheduler looks at this before it looks where volumes can be used
		if all := len(t.nodes) + count[certificate.RefusedByVolume] + count[certificate.RefusedByZone]; all > 0 {
			count[certificate.RefusedByRestrictions] = all
		}
		delete(count, certificate.RefusedByVolume)
		delete(count, certificate.RefusedByZone)
		return count
	}
	if len(model.HardKeys(g)) == 0 && s.neverPlaced(g) { // no node has its peers (T20)
		if len(t.nodes) > 0 {
			count[certificate.RefusedByAffinity] += len(t.nodes)
		}
		return count
	}
	for _, n := range t.nodes {
		s.m.Run().Spend(1 + len(g.Terms)/2)
		count[s.byRules(g, s.m.Topology.Nodes[n], n)]++
	}
	return count
}
