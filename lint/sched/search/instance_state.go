package search

import (
	"math"
)

// left is what a node has left, by resource.
func (a *instance) left(n int) []int64 {
	return a.free[n*len(a.resources) : (n+1)*len(a.resources)]
}

func (a *instance) fits(u *podGroup, n int) bool {
	free := a.left(n)
	for r, ask := range u.ask {
		if ask > 0 && ask > free[r] { // what is overdrawn keeps out only who asks for it
			return false
		}
	}
	return true
}

// place puts a pod of a pod group on a node, or takes one away if by is -1.
func (a *instance) place(i, n int)   { a.change(i, n, 1) }
func (a *instance) unplace(i, n int) { a.change(i, n, -1) }

func (a *instance) change(i, n int, by int32) {
	u := a.units[i]
	a.m.Run().Spend(u.moved)
	u.placed += int(by)
	if a.in[i] != nil {
		a.in[i][n] += by
	}
	free := a.left(n)
	for r, ask := range u.ask {
		if free[r] != math.MaxInt64 {
			free[r] -= ask * int64(by)
		}
	}
	for _, p := range u.ports {
		a.portsOn[p].add(int32(n), by)
	}
	for _, c := range a.counts[i] {
		if d := a.domain[c.key][n]; d >= 0 && a.lies(n, c.place) {
			c.add(d, by)
		}
	}
	for _, c := range a.watchers[i] {
		if c.counted[n] && a.lies(n, c.place) {
			c.count[a.domain[c.key][n]] += by
		}
	}
}

// lies tells whether a node is at a place.
func (a *instance) lies(n, place int) bool { return place == 0 || a.places[place][n] }

// takes tells whether a node takes one more pod of a pod group now.
func (a *instance) takes(i, n int) bool {
	u := a.units[i]
	a.m.Run().Spend(1)
	if !u.nodes.holds(n) || a.contend && !a.fits(u, n) || u.after != nil && u.after.placed == 0 {
		return false
	}
	a.m.Run().Spend(u.cost - 1)
	for _, p := range u.clashes {
		if a.portsOn[p].at(int32(n)) > 0 {
			return false
		}
	}
	if u.kubelet {
		return true
	}
	for _, x := range u.apart {
		if d := a.domain[x.key][n]; d >= 0 && a.byDomain[x].at(d) > 0 {
			return false
		}
	}
	return a.spreadTakes(u, n) && a.nearTakes(u, n)
}

func (a *instance) spreadTakes(u *podGroup, n int) bool {
	if !a.carries(n, u.keys) {
		return false
	}
	for _, c := range u.spreads {
		smallest := int32(0)
		if len(c.domains) >= c.minDomains {
			smallest = math.MaxInt32
			for _, d := range c.domains {
				smallest = min(smallest, c.count[d])
			}
		}
		if len(c.domains) == 0 {
			smallest = 0
		}
		if int(c.count[a.domain[c.key][n]]-smallest)+c.self > c.maxSkew {
			return false
		}
	}
	return true
}

func (a *instance) nearTakes(u *podGroup, n int) bool {
	if len(u.near) == 0 {
		return true
	}
	if !a.carries(n, u.near) {
		return false
	}
	missing, counted := false, false
	for _, k := range u.near {
		here := false
		for _, j := range u.company {
			count := a.byDomain[exclusion{k, j.unit, j.place}]
			here = here || count.at(a.domain[k][n]) > 0
			counted = counted || count.total > 0
		}
		missing = missing || !here
	}
	return !missing || !counted && u.first
}

// restore takes away all pods of a component, wherever a question that was given up
// has left them.
func (a *instance) restore(c component) {
	a.m.Run().Spend(len(c.units) + len(a.running))
	ports, watching := map[int]bool{}, map[*constraint]bool{}
	for _, i := range c.units {
		u := a.units[i]
		u.placed, a.in[i] = 0, nil
		for _, k := range a.counts[i] {
			k.reset()
		}
		for _, s := range u.spreads {
			clear(s.count)
			watching[s] = true
		}
		for _, p := range u.ports {
			a.portsOn[p].reset()
			ports[p] = true
		}
		width := len(a.resources)
		for _, n := range u.nodes.list {
			copy(a.left(int(n)), a.rest[int(n)*width:(int(n)+1)*width])
		}
	}
	for _, r := range a.running {
		for _, p := range a.units[r.unit].ports {
			if ports[p] {
				a.portsOn[p].add(int32(r.node), 1)
			}
		}
		for _, w := range a.watchers[r.unit] {
			if watching[w.constraint] && w.counted[r.node] && a.lies(r.node, w.place) {
				w.count[a.domain[w.key][r.node]]++
			}
		}
	}
}
