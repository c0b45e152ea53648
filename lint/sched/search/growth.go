package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// overSizes withdraws verdicts on the declared nodes that another size of a growing
// cluster may refute: always holds if it does at every size (see Sizes), never if no size
// lets all pods be placed. A sometimes on the declared nodes stays.
func overSizes(d *certificate.Decision, m *model.Model, o Options) {
	if !m.Topology.Elastic() {
		return
	}
	q := growth{m: m, options: o, of: map[*workload.Workload]*certificate.WorkloadDecision{}}
	for i := range d.Workloads {
		q.of[d.Workloads[i].Workload] = &d.Workloads[i]
	}
	q.running = m.RunningOnes()
	// One further node of each kind represents all sizes at which workloads interact.
	_, groups := Components(m.Variant(m.Workloads, OneOfEach(m), m.Apart...), nil)
	verdict, rules := diag.Always, diag.Always
	for _, ws := range groups {
		if Grows(m, ws) {
			q.judge(ws)
		} else { // no pool may grow for the group
			here := q.decide(ws, m.Topology.Nodes)
			q.verdict, q.rules = here.Verdict, here.RulesVerdict
		}
		verdict, rules = worse(verdict, q.verdict), worse(rules, q.rules)
	}
	d.Verdict, d.RulesVerdict = verdict, rules
	for i := range d.Workloads {
		if w := &d.Workloads[i]; w.Why.Cause == model.ByGrowth { // a withdrawn verdict
			d.Exact = false
			d.MinPlaced -= w.MinPlaced
			d.MaxPlaced += w.Pods - w.MaxPlaced
			w.MinPlaced, w.MaxPlaced = 0, w.Pods
		}
	}
}

// worse returns the verdict on two groups together.
func worse(a, b diag.Outcome) diag.Outcome {
	for _, v := range []diag.Outcome{diag.Never, diag.Unknown, diag.Sometimes} {
		if a == v || b == v {
			return v
		}
	}
	return diag.Always
}

// growth decides about one group after the other at all sizes.
type growth struct {
	m       *model.Model
	options Options
	running []*workload.Workload
	of      map[*workload.Workload]*certificate.WorkloadDecision
	// verdict and rules are those on the last group.
	verdict, rules diag.Outcome
}

// decide decides about a group on some nodes.
func (q *growth) decide(ws []*workload.Workload, nodes []*topology.Node) *certificate.Decision {
	return Decide(q.m.Variant(slices.Concat(ws, q.running), nodes), q.options)
}

// answers holds the verdicts on a group and on each of its workloads, with resources and
// by the rules alone.
type answers struct {
	whole, rules   diag.Outcome
	each, eachRule map[*workload.Workload]diag.Outcome
}

func answersOf(d *certificate.Decision) answers {
	a := answers{d.Verdict, d.RulesVerdict, map[*workload.Workload]diag.Outcome{}, map[*workload.Workload]diag.Outcome{}}
	for i := range d.Workloads {
		w := &d.Workloads[i]
		a.each[w.Workload], a.eachRule[w.Workload] = w.Verdict, w.RulesVerdict
	}
	return a
}

// judge judges a group at all sizes, and withdraws the verdicts on its workloads that do not hold
// at every size.
func (q *growth) judge(ws []*workload.Workload) {
	h := sizeAnswers{Sizes: SizesOf(q.m, ws, 0), largest: q.largest(ws)}
	for _, s := range h.All {
		h.at = append(h.at, answersOf(q.decide(ws, s.Nodes)))
	}
	at := answersOf(q.decide(ws, q.m.Topology.Nodes))
	alone := !slices.ContainsFunc(ws, perNode)
	q.verdict = h.hold(at.whole, func(a answers) diag.Outcome { return a.whole }, false, alone)
	q.rules = h.hold(at.rules, func(a answers) diag.Outcome { return a.rules }, false, alone)
	for _, w := range ws {
		out := q.of[w]
		if out == nil {
			continue
		}
		verdict := h.hold(out.Verdict, func(a answers) diag.Outcome { return a.each[w] }, bounded(q.m, w), !perNode(w))
		if verdict != out.Verdict {
			out.Verdict, out.Why = verdict, model.Reason{Cause: model.ByGrowth}
		}
		out.RulesVerdict = h.hold(out.RulesVerdict, func(a answers) diag.Outcome { return a.eachRule[w] }, fitsNowhere(q.m, w), !perNode(w))
		if out.Verdict == diag.Never {
			q.verdict = diag.Never
		}
		if out.RulesVerdict == diag.Never {
			q.rules = diag.Never
		}
	}
}

// sizeAnswers holds the answers about a group at sizes other than the declared one.
type sizeAnswers struct {
	Sizes
	at []answers
	// largest is the answer at the largest size, if that one covers all.
	largest *answers
}

// hold returns a verdict if it holds at every size, and unknown otherwise. A never holds
// if it is bounded, or monotone and true at the largest size.
func (h *sizeAnswers) hold(v diag.Outcome, of func(answers) diag.Outcome, bounded, monotone bool) diag.Outcome {
	same := !slices.ContainsFunc(h.at, func(a answers) bool { return of(a) != v })
	switch {
	case v == diag.Always && h.Known && same:
	case v == diag.Never && (bounded || h.Every && same || monotone && h.largest != nil && of(*h.largest) == diag.Never):
	case v == diag.Always, v == diag.Never:
		return diag.Unknown
	}
	return v
}

// largest returns the answers where every pool has grown to its max, for groups with
// hereditary rules, under which more nodes place no fewer pods; otherwise nil. The pods
// that a DaemonSet has on further nodes come after those of other workloads in some run,
// so they take nothing from these. But whether the DaemonSet is complete, or the group
// with it, may be worse at a size in between.
func (q *growth) largest(ws []*workload.Workload) *answers {
	nodes, _, ok := q.m.Grown()
	if !ok || !Hereditary(q.m, ws) || len(nodes)-len(q.m.Topology.Nodes) > maxGrowth {
		return nil
	}
	a := answersOf(q.decide(ws, nodes))
	return &a
}

// bounded reports whether a limit of one workload alone, which counts pools at their max,
// keeps some of its pods from being placed at every size.
func bounded(m *model.Model, w *workload.Workload) bool {
	if fitsNowhere(m, w) {
		return true
	}
	return !perNode(w) && m.Judged(w) && m.Eligible(w).Count+m.Eligible(w).Growable > 0 &&
		slices.ContainsFunc(bound.Capacity(m, w), func(l bound.Limit) bool { return l.Exceeded })
}

// fitsNowhere reports whether, at every size, some pod of a workload finds no node large
// enough even when empty.
func fitsNowhere(m *model.Model, w *workload.Workload) bool {
	e := m.Eligible(w)
	if perNode(w) { // its pods are bound to their nodes
		for i, n := range m.Topology.Nodes {
			if e.Nodes[i].All() && !model.Holds(n, m.Groups[w]) {
				return true
			}
		}
		return false
	}
	return w.Count.N > 0 && bound.RequestFits(m, w).Fitting == 0
}
