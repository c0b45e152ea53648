package placement

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// relate fills in what the rules of a unit say about the others.
func (a *arena) relate(i int) {
	u := a.units[i]
	var near []*Term
	for _, t := range u.g.Terms {
		if t.Hard && !a.relax.dropped(t) {
			a.doubt(u, t)
		}
		switch {
		case !t.Hard || a.relax.dropped(t):
		case t.Use == AntiAffinity:
			a.keepApart(i, t)
		case u.kubelet: // its own affinity and spread are never looked at
		case t.Use == Affinity:
			near = append(near, t)
		case t.Use == Spread:
			u.keys = append(u.keys, a.key(t.Key))
		}
	}
	for _, t := range u.g.Terms {
		if t.Use == Spread && t.Hard && !u.kubelet && !a.relax.dropped(t) {
			u.spreads = append(u.spreads, a.constraint(i, t))
		}
	}
	if len(near) > 0 {
		a.keepNear(i, near)
	}
}

// doubt notes the units that a term may or may not select.
func (a *arena) doubt(u *unit, t *Term) {
	if !slices.ContainsFunc(t.sel.reqs, func(r requirement) bool {
		return r.own || boundLabel(r.key) || len(a.m.index.open[r.key]) > 0
	}) {
		return
	}
	for _, list := range a.m.index.candidates(&t.sel) {
		for _, w := range list {
			if t.sel.matches(u.g.Workload, w, false) == Maybe || t.sel.matches(u.g.Workload, w, true) == Maybe {
				u.unsure = append(u.unsure, a.unitsOf[w]...)
			}
		}
	}
}

// addPorts numbers the host ports that pods take and finds which clash.
func (a *arena) addPorts() {
	index := map[HostPort]int{}
	for _, u := range a.units {
		if a.relax.without(u.g.Workload, atomPorts) {
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
	for _, u := range a.units {
		for i, p := range a.hostPorts {
			if slices.ContainsFunc(u.ports, func(own int) bool { return a.hostPorts[own].Conflicts(p) }) {
				u.clashes = append(u.clashes, i)
			}
		}
	}
}

// selected are the units whose pods a term of a unit selects: while its own pod
// is coming in, or once it is in place.
func (a *arena) selected(t *Term, u *unit, incoming bool) []int {
	var units []int
	seen := map[*workload.Workload]bool{}
	for _, list := range a.m.index.candidates(&t.sel) {
		for _, w := range list {
			if !seen[w] && a.m.selects(t, u.g.Workload, w, asks{incoming: incoming}) {
				seen[w] = true
				units = append(units, a.unitsOf[w]...)
			}
		}
	}
	slices.Sort(units)
	return units
}

// keepApart enters an anti-affinity term on both sides. A pod that is bound by
// its manifest is kept out by nobody, but keeps others out.
func (a *arena) keepApart(i int, t *Term) {
	k := a.key(t.Key)
	for _, j := range a.selected(t, a.units[i], true) {
		a.exclude(i, exclusion{k, j})
	}
	for _, j := range a.selected(t, a.units[i], false) {
		a.exclude(j, exclusion{k, i})
	}
}

func (a *arena) exclude(i int, x exclusion) {
	if u := a.units[i]; !u.kubelet && !slices.Contains(u.apart, x) {
		u.apart = append(u.apart, x)
		a.counter(x)
	}
}

func (a *arena) counter(x exclusion) {
	if a.byDomain[x] == nil {
		c := newCounter(a.sizes[x.key])
		a.byDomain[x] = c
		a.counts[x.unit] = append(a.counts[x.unit], keyed{x.key, c})
	}
}

func (a *arena) keepNear(i int, terms []*Term) {
	u := a.units[i]
	u.first = true
	for _, t := range terms {
		u.near = append(u.near, a.key(t.Key))
		u.first = u.first && a.m.selects(t, u.g.Workload, u.g.Workload, asks{self: true, incoming: true})
	}
	for _, j := range a.selected(terms[0], u, true) {
		if !slices.ContainsFunc(terms[1:], func(t *Term) bool { return !a.m.selects(t, u.g.Workload, a.units[j].g.Workload, asks{incoming: true}) }) {
			u.company = append(u.company, j)
			for _, k := range u.near {
				a.counter(exclusion{k, j})
			}
		}
	}
}

func (a *arena) constraint(i int, t *Term) *constraint {
	u := a.units[i]
	c := &constraint{key: a.key(t.Key), maxSkew: int(t.Constraint.MaxSkew), minDomains: t.MinDomains()}
	if t.sel.form == FormEmpty || a.m.selects(t, u.g.Workload, u.g.Workload, asks{self: true, incoming: true}) {
		c.self = 1
	}
	in := a.include(u, c, t)
	c.counted, c.domains = in.counted, in.domains
	if t.sel.form == FormSet {
		c.watch = slices.DeleteFunc(a.selected(t, u, true), func(j int) bool { return a.units[j].g.Terminating() })
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
func (a *arena) include(u *unit, c *constraint, t *Term) *inclusion {
	id := domainKey{
		signature: u.g.signature, key: t.Key, keys: fmt.Sprint(u.keys),
		honorAffinity: t.honorsAffinity(), honorTaints: t.honorsTaints(),
	}
	shared := a.relax == nil && !u.g.Kind.PerNode()
	if in := a.included[id]; in != nil && shared {
		return in
	}
	in := &inclusion{counted: make([]bool, len(a.nodes))}
	seen := map[int32]bool{}
	for n, p := range a.passes(u.g) {
		d := a.domain[c.key][n]
		pinned := u.g.Kind.PerNode() && !u.nodes.holds(n)
		if !a.carries(n, u.keys) || id.honorTaints && !p.Taints || id.honorAffinity && (!p.Selector || pinned) {
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

func (a *arena) carries(n int, keys []int) bool {
	for _, k := range keys {
		if a.domain[k][n] < 0 {
			return false
		}
	}
	return true
}
