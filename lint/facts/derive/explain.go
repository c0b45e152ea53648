package derive

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Explainer explains facts node by node. It keeps the data that the facts were built from.
type Explainer struct {
	b *builder
	// left is the number of steps left for the remaining accounts.
	left int
}

// NewExplainer builds facts and keeps the data that they were built from.
func NewExplainer(in Input) *Explainer { return &Explainer{build(in), in.Model.Altogether()} }

// Facts returns the facts that the Explainer explains.
func (x *Explainer) Facts() *Built { return x.b.Built }

// Fact explains the fact with the given id. It also returns the workload of the fact, or nil.
func (x *Explainer) Fact(id int) (*workload.Workload, diag.Account) {
	s := x.b.subjects[id-1].explain
	if s.account == nil {
		return s.of, diag.Account{Notes: []string{message.NoWorkload}}
	}
	a := x.bounded(s.of, func() diag.Account { return s.account(x) })
	if s.of != nil && x.b.m.Topology.Elastic() && x.b.m.Eligible(s.of).Growable > 0 {
		a.Notes = append(a.Notes, message.OnlyAtCount)
	}
	return s.of, a
}

// Workload explains which nodes accept a pod of a workload. It ignores all other workloads.
func (x *Explainer) Workload(w *workload.Workload) diag.Account {
	return x.bounded(w, func() diag.Account {
		switch {
		case w.Copy:
			return x.still(w, message.CountsOnce)
		case w.Superseded:
			return x.still(w, message.Replaced)
		}
		return x.still(w)
	})
}

// bounded builds an account within the remaining steps. If they run out, the account says so.
func (x *Explainer) bounded(of *workload.Workload, account func() diag.Account) diag.Account {
	run := x.b.m.Run()
	var objects []*source.Object
	if of != nil {
		objects = []*source.Object{of.Object}
	}
	a := diag.Account{Notes: []string{message.ExplainFailed}}
	before := run.Spent()
	if !run.Within(x.left, func() {
		run.Spend(stepsPerFact)
		if !x.b.m.Topology.Empty() {
			run.Spend(len(x.b.m.Topology.Nodes))
		}
		run.Guard(objects, func() { a = account() })
	}) {
		a = diag.Account{Notes: []string{message.ExplainAbandoned}}
	}
	x.left -= run.Spent() - before
	return a
}

// judge returns a new judge. The steps spent on building the facts then do not count.
func (x *Explainer) judge() *disruption.Judge {
	return disruption.New(x.b.m, x.b.Set, search.Options{})
}

// unavailable returns an account that explains why nodes cannot be checked. It returns false if
// nodes can be checked.
func (x *Explainer) unavailable(w *workload.Workload) (diag.Account, bool) {
	g := x.b.m.Group(w)
	switch {
	case !x.b.topo:
		return diag.Account{Notes: []string{message.NoNodes}}, true
	case w.Refused():
		return x.unasked(w, diag.RowAside, message.NeverScheduled), true
	case g.Unknown.Given():
		return x.unasked(w, diag.RowUnknown, message.UnknownBecause(message.Reason(g.Unknown))), true
	}
	return diag.Account{}, false
}

// unasked returns an account whose table gives all nodes the same outcome without checking them.
func (x *Explainer) unasked(w *workload.Workload, outcome, why string) diag.Account {
	if len(x.b.m.Topology.Nodes) == 0 { // there may still be pools that can grow
		return diag.Account{Notes: []string{why}}
	}
	row := diag.NodeRow{Outcome: outcome, Why: why, Runs: [][]string{{}}}
	for _, n := range x.b.m.Topology.Nodes {
		row.Runs[0] = append(row.Runs[0], n.Name)
	}
	return diag.Account{Tables: []diag.NodeTable{{Name: w.String(), Caption: message.AnyPod(w), Rows: []diag.NodeRow{row}}}}
}

// still returns an account that checks a single pod on each node. It treats all nodes as empty.
func (x *Explainer) still(w *workload.Workload, notes ...string) diag.Account {
	if a, open := x.unavailable(w); open {
		a.Notes = append(a.Notes, notes...)
		return a
	}
	if names := search.Unlisted(x.b.m, w); len(names) > 0 {
		notes = append(notes, message.IgnoredResource(names[0]))
	}
	caption := message.EmptyNodes(w, x.b.m.Eligible(w).Count, len(x.b.m.Topology.Nodes))
	return diag.Account{Tables: []diag.NodeTable{x.table(w, caption, check.Still(x.b.m, w))}, Notes: notes}
}

// together explains a workload that runs together with all the given workloads.
func (x *Explainer) together(w *workload.Workload, all []*workload.Workload, tried string, notes ...string) diag.Account {
	a, open := x.unavailable(w)
	if open {
		return a
	}
	s := x.judge().Together()
	for i, o := range all {
		if placed, missing := s.Count(o); missing > 0 && len(a.Tables) < maxNamed && !slices.Contains(all[:i], o) {
			a.Tables = append(a.Tables, x.table(o, message.NextPod(o, placed, missing), s.Answers(o)))
		}
	}
	if len(a.Tables) == 0 {
		return x.still(w, message.NotShown)
	}
	a.Tried, a.Notes = tried, notes
	return a
}

// table groups nodes that have the same outcome for the same reasons.
func (x *Explainer) table(w *workload.Workload, caption string, all []check.NodeAnswer) diag.NodeTable {
	t := diag.NodeTable{Name: w.String(), Caption: caption}
	at := map[string]int{}
	last := -1
	for _, o := range all {
		row := rowOf(o)
		key := fmt.Sprintf("%s %q %s", row.Outcome, row.Filters, row.Why)
		i, known := at[key]
		if !known {
			i = len(t.Rows)
			at[key], t.Rows = i, append(t.Rows, row)
		}
		if r := &t.Rows[i]; i == last {
			r.Runs[len(r.Runs)-1] = append(r.Runs[len(r.Runs)-1], o.Node.Name)
		} else {
			r.Runs = append(r.Runs, []string{o.Node.Name})
		}
		last = i
	}
	for i, o := range check.Spare(x.b.m, w) {
		row := rowOf(o)
		row.Pool = message.PoolGrowth(x.b.m.Topology.Growth[i])
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rowOf converts the answer for one node to a row.
func rowOf(o check.NodeAnswer) diag.NodeRow {
	row := diag.NodeRow{Outcome: diag.RowRejects, Why: message.Outlook(&o)}
	switch {
	case o.Has:
		row.Outcome = diag.RowHas
	case len(o.Refusals) == 0:
		row.Outcome = diag.RowTakes
	case o.Refusals[0].By == check.RefusedByNobody:
		row.Outcome = diag.RowGone
	}
	if row.Outcome != diag.RowRejects {
		return row
	}
	for _, r := range o.Refusals {
		if by := string(r.By); !slices.Contains(row.Filters, by) {
			row.Filters = append(row.Filters, by)
		}
	}
	return row
}

// updated explains a workload during an update.
func (x *Explainer) updated(w *workload.Workload, r *disruption.Rollout) diag.Account {
	if r.Verdict != diag.Never && r.Verdict != diag.Sometimes {
		return x.still(w, message.NothingBlocks)
	}
	s := x.judge().Updated(w, r)
	if s == nil {
		return x.still(w, message.NotShown)
	}
	s.Call(s.Old, message.OldRevision(w))
	s.Call(s.Next, message.NewRevision(w))
	old, _ := s.Count(s.Old)
	fresh, missing := s.Count(s.Next)
	switch {
	case old == 0:
		return x.still(w, message.NoOldPods)
	case missing == 0:
		return x.still(w, message.NotShown)
	}
	a := diag.Account{Tables: []diag.NodeTable{x.table(w, message.NextNewPod(w, old, fresh), s.Answers(s.Next))}}
	if len(x.b.j.Remedies(w, r)) > 0 {
		a.Tried = message.RolloutTried
	}
	return a
}

// lost explains a workload after the loss or the drain of nodes.
func (x *Explainer) lost(w *workload.Workload, all []disruption.Survival, worst *disruption.Survival) diag.Account {
	if worst == nil {
		return x.still(w)
	}
	switch l := (certificate.Loss{Meaning: worst.Meaning}); {
	case l.Hangs(w):
		return x.still(w, message.VolumeAttached(w.AttachedBy.Name))
	case !l.Recreated(w):
		return x.still(w, message.NotRecreated)
	}
	s, loss := x.judge().Lost(w, all, worst)
	if s == nil {
		return x.still(w, message.NotShown)
	}
	_, missing := s.Count(s.Next)
	if missing == 0 {
		return x.still(w, message.NotShown)
	}
	a := diag.Account{Tables: []diag.NodeTable{x.table(w, message.ReplacementPod(w, loss, missing), s.Answers(s.Next))}}
	if missing != worst.Pending {
		a.Notes = append(a.Notes, message.OtherPending(missing, worst.Pending))
	}
	return a
}
