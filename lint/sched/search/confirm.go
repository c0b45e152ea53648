package search

import (
	"errors"
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// confirm replays the runs of a decision. One that does not hold is a fault of the
// engine, of which nobody must get to see a verdict: the components that are at fault
// are open, or all of them where the rest does not hold without these, either, or where
// it takes too long to replay.
func confirm(m *model.Model, d *certificate.Decision) {
	var err error
	if m.Run().Within(m.Altogether(), func() { err = certificate.CheckerOf(m).Verify(m, d) }) && err == nil {
		return
	}
	if err == nil {
		leaveOpen(m, d, nil, model.ByBudget)
		return
	}
	var blamed map[*workload.Workload]bool
	rest := *d
	if !m.Run().Within(m.Altogether(), func() {
		blamed = blame(m, d)
		rest.Workloads = slices.Clone(d.Workloads)
		leaveOpen(m, &rest, blamed, model.ByFault)
		if certificate.CheckerOf(m).Verify(m, &rest) != nil {
			blamed = nil
		}
	}) {
		blamed = nil
	}
	m.Run().Refuse(named(m, blamed), err)
	if len(blamed) == 0 {
		leaveOpen(m, d, nil, model.ByFault)
		return
	}
	*d = rest
}

// blame are the workloads of the components of which a run does not hold by itself.
func blame(m *model.Model, d *certificate.Decision) map[*workload.Workload]bool {
	blamed, asked := map[*workload.Workload]bool{}, map[*workload.Workload]bool{}
	for i := range d.Workloads {
		if w := d.Workloads[i].Workload; !asked[w] {
			group := together(d, w)
			maps.Copy(asked, group)
			if !holdsApart(m, d, group) {
				maps.Copy(blamed, group)
			}
		}
	}
	return blamed
}

// holdsApart reports whether the runs of a decision hold where nothing is placed but the
// pods of some workloads.
func holdsApart(m *model.Model, d *certificate.Decision, group map[*workload.Workload]bool) bool {
	m.Run().Spend(len(d.Witness))
	others := func(p certificate.Placed) bool { return !group[m.Groups[p.Workload].Origin()] }
	if err := certificate.CheckerOf(m).Replay(m, slices.DeleteFunc(slices.Clone(d.Witness), others)); err != nil {
		return false
	}
	if d.Stuck == nil {
		return true
	}
	m.Run().Spend(len(d.Stuck.Placements))
	return certificate.CheckerOf(m).Replay(m, slices.DeleteFunc(slices.Clone(d.Stuck.Placements), others)) == nil
}

// named are the workloads of a model that are among some, or all where there are none.
func named(m *model.Model, some map[*workload.Workload]bool) []*workload.Workload {
	if len(some) == 0 {
		return m.Workloads
	}
	return m.InOrder(some, nil)
}

// leaveOpen takes back what a decision says of some workloads, or of all of them if
// there are none, and all that rests on them.
func leaveOpen(m *model.Model, d *certificate.Decision, some map[*workload.Workload]bool, cause model.Cause) {
	open := func(w *workload.Workload) bool { return len(some) == 0 || some[w] }
	d.Verdict, d.RulesVerdict, d.Exact, d.MaxPlaced, d.MinPlaced = diag.Unknown, diag.Unknown, false, 0, 0
	for i := range d.Workloads {
		w := &d.Workloads[i]
		if open(w.Workload) {
			w.Verdict, w.RulesVerdict, w.Why, w.MaxPlaced, w.MinPlaced = diag.Unknown, diag.Unknown, model.Reason{Cause: cause}, w.Pods, 0
		}
		if w.Verdict == diag.Never {
			d.Verdict = diag.Never
		}
		if w.RulesVerdict == diag.Never {
			d.RulesVerdict = diag.Never
		}
		d.MaxPlaced, d.MinPlaced = d.MaxPlaced+w.MaxPlaced, d.MinPlaced+w.MinPlaced
	}
	d.Stuck = nil
	if len(some) == 0 {
		d.Witness = nil
		return
	}
	d.Witness = slices.DeleteFunc(slices.Clone(d.Witness), func(p certificate.Placed) bool { return open(m.Groups[p.Workload].Origin()) })
}

// hold checks the proofs of all outcomes. What cannot be checked within the budget
// of a component is open, and so is what turns out not to hold.
func hold(m *model.Model, d *decided, o Options) {
	v := certificate.CheckerOf(m).Proofs(m, d.a.contend)
	for i := range d.outcomes {
		out := &d.outcomes[i]
		if !out.decided || !out.always && !out.never {
			continue
		}
		var err error
		done := m.Run().Within(m.Bounds(unmerge(m, out.owners)), func() {
			_, steps := budget(m, o)
			err = v.Check(d.a.assertion(out), steps)
		})
		switch {
		case !done:
			out.withdraw()
			m.Run().Stops++
			out.spent, out.large = true, false
			v = certificate.CheckerOf(m).Proofs(m, d.a.contend) // the books may be in the middle of a run
		case errors.Is(err, certificate.ErrTooLong):
			m.Run().Stops++
			out.withdraw()
		case err != nil:
			m.Run().Refuse(unmerge(m, out.owners), err)
			out.withdraw()
			out.refuted, out.large = true, false
			v = certificate.CheckerOf(m).Proofs(m, d.a.contend)
		}
	}
}

// withdraw takes back a verdict that cannot be checked, and what rests on it.
// The runs stay, as each is checked for itself.
func (o *outcome) withdraw() {
	o.always, o.never, o.decided, o.exact, o.large = false, false, false, false, true
	o.most, o.least = o.pods, 0
	clear(o.ownLeast)
	copy(o.ownMost, o.declared)
}
