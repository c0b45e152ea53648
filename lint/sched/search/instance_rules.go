package search

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// relate fills in what the rules of a pod group say about the others.
func (a *instance) relate(i int) {
	u := a.units[i]
	a.m.Run().Spend(model.StepsPerTerm * len(u.g.Terms))
	var near []*model.Term
	for _, t := range u.g.Terms {
		if t.Hard && !a.relax.dropped(t) {
			a.doubt(u, t)
			if more := a.m.LeansOn(t, u.g); len(more) > 0 {
				u.open, a.doubts = true, append(a.doubts, more...)
			}
		}
		switch {
		case !t.Hard || a.relax.dropped(t):
		case t.Use == model.AntiAffinity:
			a.keepApart(i, t)
		case u.kubelet: // its own affinity and spread are never looked at
		case t.Use == model.Affinity:
			near = append(near, t)
		case t.Use == model.Spread:
			u.keys = append(u.keys, a.key(a.relax.key(t)))
		}
	}
	for _, t := range u.g.Terms {
		if t.Use == model.Spread && t.Hard && !u.kubelet && !a.relax.dropped(t) {
			u.spreads = append(u.spreads, a.constraint(i, t))
		}
	}
	if len(near) > 0 {
		a.keepNear(i, near)
	}
}

// doubt notes the pod groups that a term may or may not select.
func (a *instance) doubt(u *podGroup, t *model.Term) {
	if !a.m.MaybeDoubtful(t, u.g.Workload) {
		return
	}
	for _, list := range a.m.Index.Candidates(t, u.g.Workload) {
		a.m.Run().Spend(len(list) * t.Sel.Cost())
		for _, w := range list {
			key := t.Sel.Doubtful(u.g.Workload, w)
			if key != "" && len(a.unitsOf[w]) > 0 {
				u.unsure = append(u.unsure, a.unitsOf[w]...)
				a.doubts = append(a.doubts, model.Doubt{Workload: u.g.Workload, Term: t, Target: w, Key: key, Variable: t.Sel.Variable(w, key)})
			}
		}
	}
}

// addPorts numbers the host ports that pods take and finds which clash.
func (a *instance) addPorts() {
	index := map[model.HostPort]int{}
	for _, u := range a.units {
		if a.relax.without(u.g, atomPorts) {
			continue
		}
		for _, p := range u.g.HostPorts {
			if _, ok := index[p]; !ok {
				index[p] = len(a.hostPorts)
				a.hostPorts = append(a.hostPorts, p)
				a.portsOn = append(a.portsOn, newCounter(len(a.nodes)))
			}
			u.ports = append(u.ports, index[p])
		}
	}
	byNumber := map[int32][]int{}
	for i, p := range a.hostPorts {
		byNumber[p.Port] = append(byNumber[p.Port], i)
	}
	for _, u := range a.units {
		for _, own := range u.ports {
			for _, p := range byNumber[a.hostPorts[own].Port] {
				a.m.Run().Spend(1)
				if a.hostPorts[own].Conflicts(a.hostPorts[p]) {
					u.clashes = append(u.clashes, p)
				}
			}
		}
		u.taken = slices.Sorted(slices.Values(u.ports))
		slices.Sort(u.clashes)
		u.clashes = slices.Compact(u.clashes)
	}
}

// clashesWith reports whether ports of another pod group keep pods of this one off.
func (u *podGroup) clashesWith(v *podGroup) bool {
	for i, j := 0, 0; i < len(u.clashes) && j < len(v.taken); {
		switch d := u.clashes[i] - v.taken[j]; {
		case d == 0:
			return true
		case d < 0:
			i++
		default:
			j++
		}
	}
	return false
}

// selected are the pod groups whose pods terms of a pod group select, all of them at
// once: while its own pod is coming in, or, with other pods coming in, once it
// is in place.
func (a *instance) selected(terms []*model.Term, u *podGroup, incoming bool) []located {
	var units []located
	seen := map[*workload.Workload]bool{}
	for _, list := range a.m.Index.Candidates(terms[0], u.g.Workload) {
		for _, w := range list {
			if a.m.Run().Spend(1); seen[w] {
				continue
			}
			seen[w] = true
			for _, j := range a.unitsOf[w] {
				if place := a.where(terms, u, a.units[j], incoming); place >= 0 {
					units = append(units, located{j, place})
				}
			}
		}
	}
	slices.SortFunc(units, func(x, y located) int { return x.unit - y.unit })
	return units
}

// where is the place at which terms of u select pods of v, or -1 if there is
// none. That it is not everywhere takes a selector for a label of the node.
func (a *instance) where(terms []*model.Term, u, v *podGroup, incoming bool) int {
	on := func(n *topology.Node) bool {
		return !slices.ContainsFunc(terms, func(t *model.Term) bool {
			return !a.m.Selects(t, u.g.Workload, v.g.Workload, model.Asks{Incoming: incoming, At: n})
		})
	}
	if !incoming || !model.Local(terms) {
		if on(nil) {
			return 0
		}
		return -1
	}
	at, some, all := make([]bool, len(a.nodes)), false, true
	for _, n := range v.nodes.list {
		at[n] = on(a.nodes[n])
		some, all = some || at[n], all && at[n]
	}
	switch {
	case !some:
		return -1
	case all:
		return 0
	}
	if known := slices.IndexFunc(a.places, func(p []bool) bool { return p != nil && slices.Equal(p, at) }); known >= 0 {
		return known
	}
	a.places = append(a.places, at)
	return len(a.places) - 1
}

// keepApart enters an anti-affinity term on both sides. A pod that is bound by
// its manifest is kept out by nobody, but keeps others out.
func (a *instance) keepApart(i int, t *model.Term) {
	k := a.key(a.relax.key(t))
	for _, j := range a.selected([]*model.Term{t}, a.units[i], true) {
		a.exclude(i, exclusion{k, j.unit, j.place})
	}
	for _, j := range a.selected([]*model.Term{t}, a.units[i], false) {
		a.exclude(j.unit, exclusion{k, i, 0})
	}
}

func (a *instance) exclude(i int, x exclusion) {
	a.m.Run().Spend(2 + len(a.units[i].apart)/model.PerStep)
	if u := a.units[i]; !u.kubelet && !slices.Contains(u.apart, x) {
		u.apart = append(u.apart, x)
		a.counter(x)
	}
}

func (a *instance) counter(x exclusion) {
	if a.byDomain[x] == nil {
		c := newCounter(a.sizes[x.key])
		a.byDomain[x] = c
		a.counts[x.unit] = append(a.counts[x.unit], keyed{x.key, x.place, c})
	}
}

func (a *instance) keepNear(i int, terms []*model.Term) {
	u := a.units[i]
	u.first = true
	for _, t := range terms {
		u.near = append(u.near, a.key(a.relax.key(t)))
		u.first = u.first && a.m.Selects(t, u.g.Workload, u.g.Workload, model.Asks{Self: true, Incoming: true})
	}
	u.company = a.selected(terms, u, true)
	for _, j := range u.company {
		for _, k := range u.near {
			a.counter(exclusion{k, j.unit, j.place})
		}
	}
}

func (a *instance) constraint(i int, t *model.Term) *constraint {
	u := a.units[i]
	c := &constraint{key: a.key(a.relax.key(t)), maxSkew: int(t.Constraint.MaxSkew), minDomains: t.MinDomains()}
	if t.Sel.Form == model.FormEmpty || a.m.Selects(t, u.g.Workload, u.g.Workload, model.Asks{Self: true, Incoming: true}) {
		c.self = 1
	}
	in := a.include(u, c, t)
	c.counted, c.domains = in.counted, in.domains
	if t.Sel.Form == model.FormSet {
		c.watch = slices.DeleteFunc(a.selected([]*model.Term{t}, u, true), func(j located) bool { return a.units[j.unit].g.Terminating() })
	}
	c.count = make([]int32, a.sizes[c.key])
	return c
}

// inclusion is which nodes a constraint counts, and their domains. Like
// constraints of like workloads share it.
type inclusion struct {
	counted []bool
	domains []int
}

// include applies the inclusion policies
// (plugins/podtopologyspread/common.go, matchNodeInclusionPolicies).
func (a *instance) include(u *podGroup, c *constraint, t *model.Term) *inclusion {
	if u.keysID == "" {
		a.m.Run().Spend(1 + len(u.keys))
		u.keysID = model.ShortID(fmt.Sprint(u.keys))
	}
	id := model.DomainKey{
		Signature: u.g.Signature, Key: a.relax.key(t), Keys: u.keysID,
		HonorAffinity: t.HonorsAffinity(), HonorTaints: t.HonorsTaints(),
	}
	shared := !a.relax.treats(u.g) && !u.g.Kind.PerNode()
	if in := a.included[id]; in != nil && shared {
		return in
	}
	in := &inclusion{counted: make([]bool, len(a.nodes))}
	seen := map[int32]bool{}
	for n, p := range a.passes(u.g) {
		d := a.domain[c.key][n]
		pinned := u.g.Kind.PerNode() && !u.nodes.holds(n)
		if !a.carries(n, u.keys) || id.HonorTaints && !p.Taints || id.HonorAffinity && (!p.Selector || pinned) {
			continue
		}
		if in.counted[n] = true; !seen[d] {
			seen[d] = true
			in.domains = append(in.domains, int(d))
		}
	}
	if shared {
		a.included[id] = in
	}
	return in
}

func (a *instance) carries(n int, keys []int) bool {
	for _, k := range keys {
		if a.domain[k][n] < 0 {
			return false
		}
	}
	return true
}
