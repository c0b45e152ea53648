package search

import (
	"fmt"
	"maps"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Merge is merge.
func Merge(m *model.Model) *model.Model { return merge(m) }

// DecideWithoutSearch decides by proofs and runs alone, like for components that are too large to
// search.
func DecideWithoutSearch(m *model.Model) *certificate.Decision {
	return decideWithoutSearch(m, false)
}

// DecideCoarsely is DecideWithoutSearch for components that are too large to count pods.
func DecideCoarsely(m *model.Model) *certificate.Decision {
	return decideWithoutSearch(m, true)
}

func decideWithoutSearch(m *model.Model, coarse bool) *certificate.Decision {
	a := newState(m, true, nil)
	d := &decided{a: a}
	checks := holding{m: m, a: a, v: certificate.CheckerOf(m).Proofs(m, true)}
	for _, c := range (interactions{a}).components() {
		h := newHeadroom(a, c, coarse)
		out := estimates{a}.estimate(c, h)
		if !out.always && !out.exact {
			h.settle(&out)
		}
		out.proof.Prices = h.prices
		if out.sure = h.sure(); !out.always && len(out.sure) > 0 {
			checks.sure(&out)
		}
		checks.shown(&out)
		d.outcomes = append(d.outcomes, out)
	}
	if len(m.Run().Refused) > 0 {
		panic(fmt.Sprint(m.Run().Refused))
	}
	decision := d.decision(m, d)
	if err := certificate.CheckerOf(m).Verify(m, decision); err != nil {
		panic(err)
	}
	return decision
}

// CoreIsMinimal checks a core against decisions. The core itself must still be a contradiction, and
// without any one of its members it must not be.
func CoreIsMinimal(m *model.Model, of *workload.Workload, d *certificate.Decision, ws []*workload.Workload, core *Core) string {
	q := question{m: m, of: of, contend: true}
	relax := newRelaxation(dependencies(m, ws[0]))
	if of == nil || q.possible(relax) != model.No {
		group := map[*workload.Workload]bool{}
		for _, w := range ws { // d.Groups lists only one group per workload, but a DaemonSet can be in several
			maps.Copy(group, together(d, w))
		}
		relax = newRelaxation(group)
	}
	if of == nil {
		for _, w := range q.members(relax) {
			if !slices.Contains(ws, w) {
				relax.count[w] = 0
			}
		}
	}
	members := relax.remaining(q.members(relax))
	if of != nil { // the workload itself last, as in Explain
		members = append(slices.DeleteFunc(members, func(w *workload.Workload) bool { return w == of }), of)
	}
	for _, atom := range q.atoms(relax, members) {
		if slices.Contains(core.Atoms, atom) {
			continue
		}
		without := relax.and(atom)
		if atom.Part != PartReplicas || q.free(without) {
			relax = without
		}
	}
	if q.possible(relax) != model.No {
		return "the core alone is no contradiction"
	}
	for _, atom := range core.Atoms {
		if q.possible(relax.and(atom)) != model.Yes {
			return "it is a contradiction without " + fmt.Sprint(atom.Part, atom.Term) + " of " + atom.Workload.String()
		}
	}
	return ""
}

// Counted compares answers by counting with decided instances, for a workload without its terms,
// with up to most pods and every combination of dropped parts. asked is the number of answers by
// counting, and yes the number of these answers by which all pods are placed.
func Counted(m *model.Model, w *workload.Workload, most int) (asked, yes int, wrong string) {
	q := question{m: m, of: w, contend: true}
	for pods := range most + 1 {
		for left := range 1 << len(parts) {
			relax := newRelaxation(map[*workload.Workload]bool{w: true})
			for _, t := range m.Groups[w].Terms {
				relax.terms[t] = true
			}
			for i, p := range parts {
				if left>>i&1 == 1 {
					relax = relax.and(Atom{Workload: w, Part: p})
				}
			}
			relax.count[w] = pods
			answer, ok := q.answerByCounts(relax)
			if !ok {
				continue
			}
			if asked++; answer == model.Yes {
				yes++
			}
			if want := q.decideByInstance(relax); answer != want {
				return asked, yes, fmt.Sprintf("%s with %d pods without %b: %v by counts, %v by an instance", w, pods, left, answer, want)
			}
		}
	}
	return asked, yes, ""
}

// Accepted returns the kinds of proof that the checker accepts for a verdict on a cluster in which
// all pods interact. ok is false if some pods do not interact.
func Accepted(m *model.Model, never bool) (kinds []string, ok bool) {
	a := newState(m.Split(), true, nil)
	components := interactions{a}.components()
	if len(components) != 1 || components[0].unsure {
		return nil, false
	}
	o := outcome{component: components[0], never: never, always: !never, decided: true}
	try := func(name string, p certificate.Proof) {
		o.proof = p
		if certificate.CheckerOf(m).Proofs(m.Split(), true).Check(a.assertion(&o), certificate.CheckSteps) == nil {
			kinds = append(kinds, name)
		}
	}
	try("explored", certificate.Proof{Kind: certificate.Explored})
	try("shape", certificate.Proof{Kind: certificate.Shape})
	if !never {
		try("roomy", certificate.Proof{Kind: certificate.Headroom})
		return kinds, true
	}
	var nodes, weights []int
	for n := range a.nodes {
		nodes = append(nodes, n)
	}
	for range o.units {
		weights = append(weights, 1)
	}
	try("limit", certificate.Proof{Kind: certificate.LimitProof, About: o.units})
	for _, key := range a.keys {
		try("outweighed", certificate.Proof{Kind: certificate.Outweighed, About: o.units, Key: key, Weights: weights})
	}
	for _, r := range a.resources {
		try("crammed", certificate.Proof{Kind: certificate.Overcommitted, About: o.units, Resource: r, Nodes: nodes})
	}
	return kinds, true
}

// AcceptsPrices reports whether the checker accepts that a workload always has the given number of
// pods in place, by the given prices.
func AcceptsPrices(m *model.Model, w *workload.Workload, pods int, prices certificate.Prices) bool {
	claim := &certificate.Assertion{Proof: certificate.Proof{Kind: certificate.Headroom}}
	claim.Members = []certificate.Member{{G: m.Groups[w], Pods: pods, Node: -1, Prices: []certificate.Prices{prices}}}
	return certificate.CheckerOf(m).Proofs(m, true).Check(claim, certificate.CheckSteps) == nil
}

// ConfirmFalse puts all pods of one workload on one node in the witness of a decision, and returns
// the decision after the checker has checked it.
func ConfirmFalse(m *model.Model, name string) *certificate.Decision {
	d := Decide(m, Options{})
	d.Witness = slices.Clone(d.Witness)
	for i := range d.Witness {
		if p := &d.Witness[i]; p.Workload.Object.Name == name {
			p.Node = m.Topology.Nodes[0]
		}
	}
	confirm(m.Split(), d)
	return d
}

// HoldFalse claims that all pods of the first component are always placed, whatever was decided,
// and returns the verdicts after the checker has checked the claim.
func HoldFalse(m *model.Model) []diag.Outcome {
	d := decideInstance(newState(m, true, nil), Options{}, false)
	o := &d.outcomes[0]
	o.always, o.never, o.decided, o.proof = true, false, true, certificate.Proof{Kind: certificate.Headroom}
	hold(m, d, Options{})
	var all []diag.Outcome
	for i := range d.outcomes {
		all = append(all, d.outcomes[i].verdict())
	}
	return all
}

// Usable returns how much of an amount pods with the given requests can use at most.
func Usable(has int64, pods []int, asks ...int64) int64 {
	var d classes.Demand
	for i, ask := range asks {
		d = d.With(ask, pods[i])
	}
	return d.Usable(has)
}

// ClassesOf returns the number of node classes for all workloads of a model.
func ClassesOf(m *model.Model, pods int) int { return len(classes.Of(m, m.Workloads, pods, "").Nodes) }

// Overfull returns a lower bound on the number of pods that stay unplaced because sets of nodes
// have too little for them. It uses only proofs that the checker accepts.
func Overfull(m *model.Model) (pods int, err error) {
	a := newState(m, true, nil)
	for _, c := range (interactions{a}).components() {
		if s := (estimates{a}).overfull(c.units); s.pods > 0 {
			pods += s.pods
			o := outcome{component: c, never: true, proof: s.proof}
			if err := certificate.CheckerOf(m).Proofs(m, true).Check(a.assertion(&o), 1000); err != nil {
				return pods, err
			}
		}
	}
	return pods, nil
}

// Few returns the roster in the form that is used for few workloads.
func (r *Roster) Few() *Roster {
	few := *r
	few.many = nil
	return &few
}

// Cheapest returns the price of the cheapest items of a knapsack, and which of them it takes, or -1 if
// there are none. An item is its size, what else it takes, and its price.
func Cheapest(m *model.Model, need, top, width int, exact bool, items [][3]int) (int64, []bool) {
	x := &knapsack{need: need, top: top, width: width, exact: exact}
	for _, i := range items {
		x.items = append(x.items, item{i[0], i[1], int64(i[2])})
	}
	got := newHeadroom(newState(m, true, nil), component{}, false).solve(x)
	if got.took == nil {
		return -1, nil
	}
	return got.cost, got.took
}

// Either is either.
func Either(all []diag.Outcome) diag.Outcome { return either(all) }
