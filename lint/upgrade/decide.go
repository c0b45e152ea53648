package upgrade

import (
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// stepsPerPair is the cost of setting a decision up, for each workload and node. It is not counted by
// the model.
const stepsPerPair = 20

// modelOf returns a model of the cluster in which the pool has the given number of nodes in each zone
// and other pools have the declared ones. Pools do not grow.
func (p *plan) modelOf(at layout, set *workload.Set) (*model.Model, error) {
	topo, err := p.Topology.Sized(func(o *topology.Pool) []int {
		if o.Name == p.pool.Name {
			return at
		}
		return declaredNodes(o)
	})
	if err != nil {
		return nil, err
	}
	m := sched.New(set, topo)
	p.Scale(m)
	return m, nil
}

// spend subtracts the steps of a model. It returns false if too many were spent.
func (p *plan) spend(m *model.Model) bool {
	p.steps -= m.Run().Spent() + stepsPerPair*(1+len(m.Workloads))*(1+len(m.Topology.Nodes))
	return p.steps >= 0
}

// row is the answer about one workload on a set of nodes.
type row struct {
	placed bool // all pods are placed in every run
	roomy  bool // a pod finds a node wherever all others are
	why    string
	group  []*workload.Workload
}

// fits decides on a set of usable nodes whether all pods of the workloads with the given objects are
// placed in every run. As for place, DaemonSet pods may come first. The map spared has numbers of pods
// that do not have to be placed. It returns false, with a reason, if nothing is decided.
func (p *plan) fits(at layout, spared map[*source.Object]int, objects []*source.Object) (rows map[*source.Object]row, m *model.Model, why string) {
	set := *p.set
	set.Workloads = slices.Clone(p.set.Workloads)
	for i, w := range set.Workloads {
		if n := spared[w.Object]; n > 0 {
			c := *w
			c.Count.N = max(0, c.Count.N-n)
			set.Workloads[i] = &c
		}
	}
	m, err := p.modelOf(at, &set)
	if err != nil {
		return nil, nil, err.Error()
	}
	p.states++
	rows = map[*source.Object]row{}
	if m.Topology.Empty() {
		for _, w := range m.Workloads {
			rows[w.Object] = row{why: "no node is usable", placed: w.Count.N == 0}
		}
		return rows, m, ""
	}
	var only []*workload.Workload
	all := search.NewRoster(m, m.Workloads, nil)
	for _, w := range m.Workloads {
		switch {
		case !slices.Contains(objects, w.Object) || !m.Group(w).Placeable():
		case len(spared) == 0 && p.roomy(m, w, all, at):
			rows[w.Object] = row{placed: true, roomy: true, group: []*workload.Workload{w}}
		default:
			only = append(only, w)
		}
	}
	if len(only) > 0 {
		d := decision(m, search.Options{Only: only})
		if slices.ContainsFunc(only, func(w *workload.Workload) bool { return !placed(d, w).placed }) {
			d = decision(m, search.Options{Only: only, Each: true})
		}
		for _, w := range only {
			rows[w.Object] = placed(d, w)
		}
	}
	switch {
	case len(m.Run().Refused) > 0: // a bug: nothing is claimed
		return nil, nil, m.Run().Refused[0].Err.Error()
	case !p.spend(m):
		return nil, nil, "the step budget does not allow an answer"
	}
	return rows, m, ""
}

// roomy reports whether a pod of a workload finds a usable node wherever all other pods are (C15). A
// false result proves nothing.
func (p *plan) roomy(m *model.Model, w *workload.Workload, all *search.Roster, at layout) bool {
	if w.Kind.VM || w.Kind.PerNode() || w.Count.N == 0 || len(search.Unlisted(m, w)) > 0 || len(m.Doubts([]*workload.Workload{w})) > 0 {
		return false
	}
	if m.Topology.Elastic() && !search.Hereditary(m, []*workload.Workload{w}) {
		return false
	}
	if slices.Contains(at, 0) { // nodes that are drained or new may be the only ones of a zone
		return false
	}
	if pin := m.PinOf(w); pin.Key != "" {
		return !pin.Vague && search.AlwaysReturns(w, all, pin.Key)
	}
	return search.AlwaysFits(w, all, all, search.NoLoss, certificate.Loss{}, w.Count.N)
}

func decision(m *model.Model, o search.Options) *certificate.Decision {
	d := search.Decide(m, o)
	search.DaemonSetsFirst(m, d, o)
	return d
}

// placed returns the part of a decision about one workload.
func placed(d *certificate.Decision, w *workload.Workload) row {
	for i := range d.Workloads {
		x := &d.Workloads[i]
		if x.Workload != w {
			continue
		}
		r := row{group: d.Groups[w], placed: x.Verdict == diag.Always || x.DaemonSetsFirst == diag.Always || x.Pods == 0}
		switch {
		case r.placed:
		case x.Verdict == diag.Never:
			r.why = "its pods do not fit"
		case x.Verdict == diag.Sometimes:
			r.why = "in some scheduling order, pods stay Pending"
		default:
			if r.why = "it is not known whether its pods fit"; x.Why.Given() {
				r.why += ": " + message.Reason(x.Why)
			}
		}
		return r
	}
	return row{why: "it is not known whether its pods fit"}
}

// migrates reports whether the machines of a workload can move away from any one further node of the
// pool, beside the given usable ones.
func (p *plan) migrates(at layout, o *source.Object) bool {
	for z := range at {
		if p.nodes[z] == 0 {
			continue
		}
		more := slices.Clone(at)
		more[z]++
		m, err := p.modelOf(more, p.set)
		if err != nil {
			return false
		}
		judge := disruption.New(m, p.set, search.Options{})
		i := slices.IndexFunc(m.Workloads, func(w *workload.Workload) bool { return w.Object == o })
		answer := diag.Unknown
		if judge.Prepare() {
			judge.Ask(m.Workloads[i], func() { answer = judge.Migration(m.Workloads[i]).Answer })
		}
		p.states++
		if !p.spend(m) || len(m.Run().Refused) > 0 || answer != diag.Always {
			return false
		}
	}
	return true
}
