package check

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// replay checks a run: every step passes the filters at its time. The error
// says which does not; it is a fault of the engine.
func replay(m *model.Model, run []certificate.Placed) (*nodeSets, error) {
	m.Run().Spend(model.StepsPerReplay)
	v := newNodeSets(nil, m, true)
	for i, p := range run {
		n, ok := m.IndexOf(p.Node.Name)
		if !ok {
			return nil, fmt.Errorf("step %d: node %s is not declared", i, p.Node.Name)
		}
		if g := m.Groups[p.Workload]; g.After != nil && v.placed[g.After] == 0 {
			return nil, fmt.Errorf("step %d: the pod before that of %s is not in place", i, p.Workload)
		}
		if why := v.refuses(m.Groups[p.Workload], n); why != certificate.Takes {
			return nil, fmt.Errorf("step %d: %s refuses %s on %s", i, why, p.Workload, p.Node.Name)
		}
		v.add(m.Groups[p.Workload], n)
	}
	return v, nil
}

// verify checks the runs that a decision rests on: a run that is to place all
// pods does, and one that is to be stuck ends where no pending pod fits. It
// fills in why none fits.
func verify(m *model.Model, d *certificate.Decision) error {
	if _, err := replay(m, d.Witness); err != nil {
		return fmt.Errorf("witness: %w", err)
	}
	if complete := d.Verdict == diag.Always || d.Verdict == diag.Sometimes; complete && len(d.Witness) != d.Total {
		return fmt.Errorf("witness: %d of %d pods are placed, and the verdict is %s", len(d.Witness), d.Total, d.Verdict)
	}
	if d.Verdict == diag.Never && len(d.Witness) == d.Total {
		return fmt.Errorf("witness: all %d pods are placed, and the verdict is %s", d.Total, d.Verdict)
	}
	if d.Stuck == nil {
		return nil
	}
	return certify(m, d.Stuck)
}

// certify checks a run that is to be stuck, and fills in why.
func certify(m *model.Model, s *certificate.Stuck) error {
	v, err := replay(m, s.Placements)
	if err != nil {
		return fmt.Errorf("stuck run: %w", err)
	}
	for i := range s.Pending {
		p := &s.Pending[i]
		if after := m.Groups[p.Workload].After; after != nil && v.placed[after] == 0 {
			continue // it is not even created
		}
		if p.Reasons = v.reasons(m.Groups[p.Workload]); p.Reasons[certificate.Takes] > 0 {
			return fmt.Errorf("stuck run: %s still fits", p.Workload)
		}
	}
	return nil
}
