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

// confirm replays the runs of a decision. One that fails is a fault of the engine, and no
// verdict that rests on it may be reported: the components at fault become unknown, or
// all of them if the rest does not verify without these or the replay takes too long.
func confirm(m *model.Model, d *certificate.Decision) {
	var err error
	if m.Run().Within(m.Altogether(), func() { err = certificate.CheckerOf(m).Verify(m, d) }) && err == nil {
		return
	}
	if err == nil {
		withdrawVerdicts(m, d, nil, model.ByBudget)
		return
	}
	var blamed map[*workload.Workload]bool
	rest := *d
	sound := false
	m.Run().Within(m.Altogether(), func() {
		blamed = blame(m, d)
		rest.Workloads = slices.Clone(d.Workloads)
		withdrawVerdicts(m, &rest, blamed, model.ByFault)
		sound = certificate.CheckerOf(m).Verify(m, &rest) == nil
	})
	if !sound || len(blamed) == 0 {
		m.Run().Refuse(m.Workloads, err)
		withdrawVerdicts(m, d, nil, model.ByFault)
		return
	}
	m.Run().Refuse(m.InOrder(blamed, nil), err)
	*d = rest
}

// blame returns the workloads of the components with a run that fails when replayed
// alone.
func blame(m *model.Model, d *certificate.Decision) map[*workload.Workload]bool {
	blamed, asked := map[*workload.Workload]bool{}, map[*workload.Workload]bool{}
	for i := range d.Workloads {
		if w := d.Workloads[i].Workload; !asked[w] {
			group := together(d, w)
			maps.Copy(asked, group)
			holds := func(run []certificate.Placed) bool {
				m.Run().Spend(len(run))
				others := func(p certificate.Placed) bool { return !group[m.Groups[p.Workload].Origin()] }
				return certificate.CheckerOf(m).Replay(m, slices.DeleteFunc(slices.Clone(run), others)) == nil
			}
			if !holds(d.Witness) || d.Stuck != nil && !holds(d.Stuck.Placements) {
				maps.Copy(blamed, group)
			}
		}
	}
	return blamed
}

// withdrawVerdicts withdraws the verdicts on some workloads, or on all if some is empty, and
// everything that rests on them.
func withdrawVerdicts(m *model.Model, d *certificate.Decision, some map[*workload.Workload]bool, cause model.Cause) {
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

// hold checks the proofs of all outcomes. A proof that cannot be checked within the
// budget of its component, or that fails, leaves the outcome undecided.
func hold(m *model.Model, d *decided, o Options) {
	h := holding{m: m, a: d.a, o: o, v: certificate.CheckerOf(m).Proofs(m, d.a.contend)}
	for i := range d.outcomes {
		out := &d.outcomes[i]
		if out.decided && (out.always || out.never) {
			switch err, done := h.check(out, h.a.assertion(out)); {
			case !done:
				out.withdraw()
				m.Run().Stops++
				out.spent, out.large = true, false
			case errors.Is(err, certificate.ErrTooLong):
				m.Run().Stops++
				out.withdraw()
			case err != nil:
				m.Run().Refuse(unmerge(m, out.owners), err)
				out.withdraw()
				out.refuted, out.large = true, false
			}
		}
		if len(out.sure) > 0 && !out.exact {
			h.sure(out)
		}
	}
}

// holding is the state of checking the proofs of one decision in turn.
type holding struct {
	m *model.Model
	a *state
	o Options
	v certificate.Proofs
}

// check checks an assertion about a component within its budget. A verifier that was
// stopped may be in the middle of a run, so a new one replaces it.
func (h *holding) check(out *outcome, a *certificate.Assertion) (err error, done bool) {
	done = h.m.Run().Within(h.m.Bounds(unmerge(h.m, out.owners)), func() {
		_, steps := budget(h.m, h.o)
		err = h.v.Check(a, steps)
	})
	if !done || err != nil && !errors.Is(err, certificate.ErrTooLong) {
		h.v = certificate.CheckerOf(h.m).Proofs(h.m, h.a.contend)
	}
	return err, done
}

// sure confirms that some pod groups of a component always find a node, and raises the
// smallest numbers accordingly (T21).
func (h *holding) sure(out *outcome) {
	a := &certificate.Assertion{Proof: certificate.Proof{Kind: certificate.Headroom}}
	for _, i := range out.sure {
		a.Members = append(a.Members, h.a.member(i, nil))
	}
	switch err, done := h.check(out, a); {
	case !done:
		h.m.Run().Stops++
	case err != nil:
		h.m.Run().Refuse(unmerge(h.m, out.owners), err)
	default:
		sure, pods, at := make([]int, len(out.owners)), 0, map[int]int{}
		for k, i := range out.units {
			at[i] = k
		}
		for _, i := range out.sure {
			sure[out.owner[at[i]]] += h.a.units[i].pods
		}
		for k := range sure {
			out.ownLeast[k] = max(out.ownLeast[k], sure[k])
			pods += out.ownLeast[k]
		}
		out.least = max(out.least, pods)
	}
}

// withdraw removes a verdict that cannot be checked, and what rests on it. The runs stay,
// as each is checked separately.
func (o *outcome) withdraw() {
	o.always, o.never, o.decided, o.exact, o.large = false, false, false, false, true
	o.most, o.least = o.pods, 0
	clear(o.ownLeast)
	copy(o.ownMost, o.declared)
}

// member returns a pod group in the checker's terms. open lists nodes of the pod group
// that cannot all be closed.
func (a *instance) member(i int, open []int) certificate.Member {
	u := a.units[i]
	m := certificate.Member{G: u.g, Pods: u.pods, Node: -1, Open: open}
	if u.g.Kind.PerNode() {
		m.Node = u.pinned
	}
	return m
}

// assertion converts the outcome of a component into a claim for the checker.
func (a *instance) assertion(o *outcome) *certificate.Assertion {
	claim := &certificate.Assertion{Never: o.never, Proof: o.proof}
	for _, i := range o.units {
		claim.Members = append(claim.Members, a.member(i, o.proof.Open[i]))
	}
	for _, i := range o.proof.About {
		claim.About = append(claim.About, a.member(i, o.proof.Open[i]))
	}
	return claim
}
