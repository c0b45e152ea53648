package build

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Explainer says node by node what stands behind facts. It keeps all that they
// were made of, which facts themselves let go.
type Explainer struct {
	b *builder
	// left is how many steps its accounts may still take together.
	left int
}

// NewExplainer builds facts and keeps what they were made of.
func NewExplainer(in Input) *Explainer { return &Explainer{build(in), in.Model.Altogether()} }

// Facts are the facts.
func (x *Explainer) Facts() *Built { return x.b.Built }

// Fact says what stands behind the fact with that id, and which workload it is
// about; nil for none.
func (x *Explainer) Fact(id int) (*workload.Workload, diag.Account) {
	s := x.b.subjects[id-1].behind
	if s.account == nil {
		return s.of, diag.Account{Notes: []string{"no workload could be read here, so nodes cannot be checked one by one"}}
	}
	a := x.bounded(s.of, func() diag.Account { return s.account(x) })
	if s.of != nil && x.b.m.Topology.Elastic() && x.b.m.Eligible(s.of).Growable > 0 {
		a.Notes = append(a.Notes, "pods are placed on the nodes at count; nodes that pools can add are listed below them")
	}
	return s.of, a
}

// Workload says which node takes a pod of a workload by itself.
func (x *Explainer) Workload(w *workload.Workload) diag.Account {
	return x.bounded(w, func() diag.Account {
		switch {
		case w.Copy:
			return x.still(w, "an identical declaration of this object counts once")
		case w.Superseded:
			return x.still(w, "a later declaration of this object replaces it")
		}
		return x.still(w)
	})
}

// bounded gives an account within the steps that are left, or says that there are not
// enough.
func (x *Explainer) bounded(of *workload.Workload, account func() diag.Account) diag.Account {
	run := x.b.m.Run()
	var objects []*source.Object
	if of != nil {
		objects = []*source.Object{of.Object}
	}
	a := diag.Account{Notes: []string{"undecided because of an internal error"}}
	before := run.Spent()
	if !run.Within(x.left, func() {
		run.Spend(stepsPerFact)
		if !x.b.m.Topology.Empty() {
			run.Spend(len(x.b.m.Topology.Nodes))
		}
		run.Guard(objects, func() { a = account() })
	}) {
		a = diag.Account{Notes: []string{"step budget exceeded before the nodes were checked; raise --steps"}}
	}
	x.left -= run.Spent() - before
	return a
}

// judge is a fresh one: what facts have used up is no matter here.
func (x *Explainer) judge() *disruption.Judge {
	return disruption.New(x.b.m, x.b.Set, search.Options{})
}

// open is the account where nothing can be told of nodes; false where it can.
func (x *Explainer) open(w *workload.Workload) (diag.Account, bool) {
	g := x.b.m.Group(w)
	switch {
	case !x.b.topo:
		return diag.Account{Notes: []string{"no nodes are declared (--topology FILE), so schedlint cannot tell which node takes a pod"}}, true
	case w.Refused():
		return x.unasked(w, diag.RowAside, "the API server rejects it, so it is never scheduled"), true
	case g.Unknown.Given():
		return x.unasked(w, diag.RowUnknown, "unknown: "+message.Reason(g.Unknown)), true
	}
	return diag.Account{}, false
}

// unasked is a table of nodes that are all the same to a workload.
func (x *Explainer) unasked(w *workload.Workload, outcome, why string) diag.Account {
	if len(x.b.m.Topology.Nodes) == 0 { // but pools that may grow
		return diag.Account{Notes: []string{why}}
	}
	row := diag.NodeRow{Outcome: outcome, Why: why, Runs: [][]string{{}}}
	for _, n := range x.b.m.Topology.Nodes {
		row.Runs[0] = append(row.Runs[0], n.Name)
	}
	return diag.Account{Tables: []diag.NodeTable{{Name: w.String(), Caption: fmt.Sprintf("filter results for a pod of %s", w), Rows: []diag.NodeRow{row}}}}
}

// still is about each node by itself.
func (x *Explainer) still(w *workload.Workload, notes ...string) diag.Account {
	if a, open := x.open(w); open {
		a.Notes = append(a.Notes, notes...)
		return a
	}
	if names := search.Unlisted(x.b.m, w); len(names) > 0 {
		notes = append(notes, fmt.Sprintf("no node lists %s, so it is unknown whether a node has it; this table ignores it", names[0]))
	}
	caption := fmt.Sprintf("%s; filter results for a pod of %s, ignoring other pods",
		passing(x.b.m.Eligible(w).Count, len(x.b.m.Topology.Nodes)), w)
	return diag.Account{Tables: []diag.NodeTable{x.table(w, caption, check.Still(x.b.m, w))}, Notes: notes}
}

func passing(some, all int) string {
	pass := "pass"
	if some == 1 {
		pass = "passes"
	}
	return fmt.Sprintf("%d of %s %s the filters on node name, taints and labels", some, plural(all, "node"), pass)
}

// alone is about a workload that has the nodes to itself.
func (x *Explainer) alone(w *workload.Workload) diag.Account {
	a, open := x.open(w)
	if open {
		return a
	}
	if !model.Modelled(x.b.m.Group(w)) || w.Running {
		return x.still(w, "the number of pods is unknown or they already run, so each node is checked by itself")
	}
	j := x.judge()
	s := j.Alone(w, w.Count.N)
	placed, missing := s.Count(s.Next)
	if missing == 0 {
		return x.still(w, "all pods fit if no other workload uses the nodes")
	}
	caption := next(w, placed, missing)
	if placed > 0 {
		caption = "without other workloads, " + caption
	}
	a.Tables = append(a.Tables, x.table(w, caption, s.Outlook(s.Next)))
	a.Repairs = x.b.advisor().repairTexts([]*workload.Workload{w}, x.judge().Repairs(w, w.Count.N))
	a.Yield = "all pods of " + w.String() + " can be scheduled if nothing else conflicts; repairs that change a number or a rule were also tried with rollouts and drains"
	return a
}

// next names the pod that a table is about.
func next(w *workload.Workload, placed, missing int) string {
	switch {
	case w.Kind.PerNode():
		return fmt.Sprintf("%s has %s running and %d missing; filter results of each node for its pod", w, plural(placed, "pod"), missing)
	case missing == 1 && placed == 0:
		return fmt.Sprintf("filter results for the only pod of %s", w)
	case placed == 0:
		return fmt.Sprintf("filter results for the first of %s of %s", plural(missing, "pod"), w)
	}
	return fmt.Sprintf("%d of %s of %s are scheduled; filter results for the next one", placed, plural(placed+missing, "pod"), w)
}

// together is about workloads among all others.
func (x *Explainer) together(w *workload.Workload, all []*workload.Workload, tried string, notes ...string) diag.Account {
	a, open := x.open(w)
	if open {
		return a
	}
	s := x.judge().Together()
	for i, o := range all {
		if placed, missing := s.Count(o); missing > 0 && len(a.Tables) < maxNamed && !slices.Contains(all[:i], o) {
			a.Tables = append(a.Tables, x.table(o, next(o, placed, missing), s.Outlook(o)))
		}
	}
	if len(a.Tables) == 0 {
		return x.still(w, notShown)
	}
	a.Tried, a.Notes = tried, notes
	return a
}

// stuck is about a run after which a pod fits nowhere.
func (x *Explainer) stuck(w *workload.Workload, s *certificate.Stuck, placed []string) diag.Account {
	caption := "nothing else scheduled"
	if len(placed) > 0 {
		caption = join(placed) + " scheduled first"
	}
	on := check.Stand(x.b.m, s.Placements)
	return diag.Account{Tables: []diag.NodeTable{x.table(w, fmt.Sprintf("%s; filter results for the next pod of %s", caption, w), on.Outlook(w))}}
}

// table is the outlooks of a pod with nodes of which the same is true together.
func (x *Explainer) table(w *workload.Workload, caption string, all []check.Outlook) diag.NodeTable {
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
		row.Pool = spareText(x.b.m.Topology.Growth[i])
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rowOf is what one node says.
func rowOf(o check.Outlook) diag.NodeRow {
	switch {
	case o.Has:
		return diag.NodeRow{Outcome: diag.RowHas, Why: "has its pod"}
	case len(o.Refusals) == 0:
		return diag.NodeRow{Outcome: diag.RowTakes, Why: "can take a pod"}
	case o.Refusals[0].By == check.RefusedByNobody:
		return diag.NodeRow{Outcome: diag.RowGone, Why: message.Refusal(&o.Refusals[0])}
	}
	row := diag.NodeRow{Outcome: diag.RowRejects}
	for i, r := range o.Refusals {
		if i > 0 {
			row.Why += fmt.Sprintf("; %s as well: ", r.By)
		}
		row.Why += message.Refusal(&r)
		if by := string(r.By); !slices.Contains(row.Filters, by) {
			row.Filters = append(row.Filters, by)
		}
	}
	return row
}
