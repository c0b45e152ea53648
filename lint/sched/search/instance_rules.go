package search

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// relate resolves the rules of a pod group to the pod groups that they select.
func (b *compiler) relate(i int) {
	u := b.units[i]
	b.m.Run().Spend(model.StepsPerTerm * len(u.g.Terms))
	var near, spreads []*model.Term
	for _, t := range u.g.Terms {
		if !t.Hard || b.relax.dropped(t) {
			continue
		}
		b.doubt(i, t)
		if more := b.m.LeansOn(t, u.g); len(more) > 0 {
			u.open, b.doubts = true, append(b.doubts, more...)
		}
		switch {
		case t.Use == model.AntiAffinity: // on both sides; a bound pod keeps others out, but nothing keeps it out
			k := b.key(b.relax.key(t))
			for _, j := range b.selected([]*model.Term{t}, u, true) {
				b.exclude(i, exclusion{k, j.unit, j.place})
			}
			for _, j := range b.selected([]*model.Term{t}, u, false) {
				b.exclude(j.unit, exclusion{k, i, 0})
			}
		case u.kubelet: // the kubelet ignores its own affinity and spread
		case t.Use == model.Affinity:
			near = append(near, t)
		case t.Use == model.Spread:
			u.keys, spreads = append(u.keys, b.key(b.relax.key(t))), append(spreads, t)
		}
	}
	for _, t := range spreads {
		u.spreads = append(u.spreads, b.constraint(i, t))
	}
	if len(near) > 0 {
		b.keepNear(i, near)
	}
}

// doubt records the pod groups that a term may or may not select, and the effect on these.
func (b *compiler) doubt(i int, t *model.Term) {
	u := b.units[i]
	for w, key := range b.m.Doubtful(t, u.g.Workload) {
		if len(b.unitsOf[w]) == 0 {
			continue
		}
		u.unsure = append(u.unsure, b.unitsOf[w]...)
		b.doubts = append(b.doubts, model.Doubt{Workload: u.g.Workload, Term: t, Target: w, Key: key, Variable: t.Sel.Variable(w, key)})
		if t.Use != model.AntiAffinity {
			u.vague = true
			continue
		}
		k := b.key(b.relax.key(t))
		for _, j := range b.unitsOf[w] {
			u.maybe = append(u.maybe, exclusion{k, j, 0})
			b.units[j].maybe = append(b.units[j].maybe, exclusion{k, i, 0})
		}
	}
}

// addPorts numbers the host ports that pods take and finds which clash.
func (b *compiler) addPorts() {
	index := map[model.HostPort]int{}
	for _, u := range b.units {
		if b.relax.without(u.g, PartPorts) {
			continue
		}
		for _, p := range u.g.HostPorts {
			if _, ok := index[p]; !ok {
				index[p] = len(b.hostPorts)
				b.hostPorts = append(b.hostPorts, p)
				b.portsOn = append(b.portsOn, newCounter(len(b.nodes)))
			}
			u.ports = append(u.ports, index[p])
		}
	}
	byNumber := map[int32][]int{}
	for i, p := range b.hostPorts {
		byNumber[p.Port] = append(byNumber[p.Port], i)
	}
	for _, u := range b.units {
		for _, own := range u.ports {
			for _, p := range byNumber[b.hostPorts[own].Port] {
				b.m.Run().Spend(1)
				if b.hostPorts[own].Conflicts(b.hostPorts[p]) {
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

// selected returns the pod groups that all the given terms of a pod group select: while
// its own pod is coming in or, if not incoming, once it is in place and other pods come
// in.
func (b *compiler) selected(terms []*model.Term, u *podGroup, incoming bool) []located {
	var units []located
	seen := map[*workload.Workload]bool{}
	for _, list := range b.m.Index.Candidates(terms[0], u.g.Workload) {
		for _, w := range list {
			if b.m.Run().Spend(1); seen[w] {
				continue
			}
			seen[w] = true
			for _, j := range b.unitsOf[w] {
				if place := b.where(terms, u, b.units[j], incoming); place >= 0 {
					units = append(units, located{j, place})
				}
			}
		}
	}
	slices.SortFunc(units, func(x, y located) int { return x.unit - y.unit })
	return units
}

// where returns the place at which terms of u select pods of v, or -1 if there is none.
// Only a selector for a label of the node makes it other than everywhere.
func (b *compiler) where(terms []*model.Term, u, v *podGroup, incoming bool) int {
	on := func(n *topology.Node) bool {
		return !slices.ContainsFunc(terms, func(t *model.Term) bool {
			return !b.m.Selects(t, u.g.Workload, v.g.Workload, model.Asks{Incoming: incoming, At: n})
		})
	}
	if !incoming || !model.Local(terms) {
		if on(nil) {
			return 0
		}
		return -1
	}
	at, some, all := make([]bool, len(b.nodes)), false, true
	for _, n := range v.nodes.list {
		at[n] = on(b.nodes[n])
		some, all = some || at[n], all && at[n]
	}
	switch {
	case !some:
		return -1
	case all:
		return 0
	}
	if known := slices.IndexFunc(b.places, func(p []bool) bool { return p != nil && slices.Equal(p, at) }); known >= 0 {
		return known
	}
	b.places = append(b.places, at)
	return len(b.places) - 1
}

func (b *compiler) exclude(i int, x exclusion) {
	b.m.Run().Spend(2 + len(b.units[i].exclusions)/model.PerStep)
	if u := b.units[i]; !u.kubelet && !slices.Contains(u.exclusions, x) {
		u.exclusions = append(u.exclusions, x)
		b.counter(x)
	}
}

func (b *compiler) counter(x exclusion) {
	if b.byDomain[x] == nil {
		c := newCounter(b.sizes[x.key])
		b.byDomain[x] = c
		b.counts[x.unit] = append(b.counts[x.unit], keyed{x.key, x.place, c})
	}
}

func (b *compiler) keepNear(i int, terms []*model.Term) {
	u := b.units[i]
	u.first = true
	for _, t := range terms {
		u.affinityKeys = append(u.affinityKeys, b.key(b.relax.key(t)))
		u.first = u.first && b.m.Selects(t, u.g.Workload, u.g.Workload, model.Asks{Self: true, Incoming: true})
	}
	u.peers = b.selected(terms, u, true)
	for _, j := range u.peers {
		for _, k := range u.affinityKeys {
			b.counter(exclusion{k, j.unit, j.place})
		}
	}
}

func (b *compiler) constraint(i int, t *model.Term) *constraint {
	u := b.units[i]
	c := &constraint{key: b.key(b.relax.key(t)), maxSkew: int(t.Constraint.MaxSkew), minDomains: t.MinDomains()}
	if t.Sel.Form == model.FormEmpty || b.m.Selects(t, u.g.Workload, u.g.Workload, model.Asks{Self: true, Incoming: true}) {
		c.self = 1
	}
	in := b.include(u, c, t)
	c.counted, c.domains = in.counted, in.domains
	if t.Sel.Form == model.FormSet {
		c.watch = slices.DeleteFunc(b.selected([]*model.Term{t}, u, true), func(j located) bool { return b.units[j.unit].g.Terminating() })
	}
	c.count = make([]int32, b.sizes[c.key])
	return c
}

// inclusion holds the nodes that a constraint counts, and their domains. Equal
// constraints of equivalent workloads share it.
type inclusion struct {
	counted []bool
	domains []int
}

// include applies the inclusion policies (plugins/podtopologyspread/common.go,
// matchNodeInclusionPolicies).
func (b *compiler) include(u *podGroup, c *constraint, t *model.Term) *inclusion {
	if u.keysID == "" {
		b.m.Run().Spend(1 + len(u.keys))
		u.keysID = model.ShortID(fmt.Sprint(u.keys))
	}
	id := model.DomainKey{
		Signature: u.g.Signature, Key: b.relax.key(t), Keys: u.keysID,
		HonorAffinity: t.HonorsAffinity(), HonorTaints: t.HonorsTaints(),
	}
	shared := !b.relax.treats(u.g) && !u.g.Kind.PerNode()
	if in := b.included[id]; in != nil && shared {
		return in
	}
	in := &inclusion{counted: make([]bool, len(b.nodes))}
	seen := map[int32]bool{}
	for n, p := range b.passes(u.g) {
		d := b.domain[c.key][n]
		pinned := u.g.Kind.PerNode() && !u.nodes.holds(n)
		if !b.carries(n, u.keys) || id.HonorTaints && !p.Taints || id.HonorAffinity && (!p.Selector || pinned) {
			continue
		}
		if in.counted[n] = true; !seen[d] {
			seen[d] = true
			in.domains = append(in.domains, int(d))
		}
	}
	if shared {
		b.included[id] = in
	}
	return in
}
