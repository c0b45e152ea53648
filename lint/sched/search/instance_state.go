package search

import (
	"maps"
	"math"
	"slices"
)

// state holds how many pods of each pod group of an instance are on each node.
type state struct {
	instance
	// free holds the amount that each node has left by resource, math.MaxInt64 if that is not judged.
	free []int64
	// rest is free with only running pods in place, which running lists.
	rest    []int64
	running []step
	// in counts pods by pod group and node, for the pod groups of the current search;
	// byDomain counts them by domain for each exclusion or affinity that needs it, counts
	// lists its counters by pod group; portsOn counts by port and node.
	in       [][]int32
	byDomain map[exclusion]*counter
	counts   [][]keyed
	portsOn  []*counter
	watchers [][]watcher
	// known caches the places that proofs have looked at.
	known map[placeID]*place
}

// left returns what a node has left, by resource.
func (a *state) left(n int) []int64 {
	return a.free[n*len(a.resources) : (n+1)*len(a.resources)]
}

func (a *state) fits(u *podGroup, n int) bool {
	free := a.left(n)
	for r, ask := range u.ask {
		if ask > 0 && ask > free[r] { // an overcommitted resource keeps out only pods that request it
			return false
		}
	}
	return true
}

// place puts a pod of a pod group on a node; unplace removes one.
func (a *state) place(i, n int)   { a.change(i, n, 1) }
func (a *state) unplace(i, n int) { a.change(i, n, -1) }

func (a *state) change(i, n int, by int32) {
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
		if d := a.domain[c.key][n]; d >= 0 && a.inPlace(n, c.place) {
			c.add(d, by)
		}
	}
	for _, c := range a.watchers[i] {
		if c.counted[n] && a.inPlace(n, c.place) {
			c.count[a.domain[c.key][n]] += by
		}
	}
}

// takes reports whether a node takes one more pod of a pod group now.
func (a *state) takes(i, n int) bool {
	u := a.units[i]
	a.m.Run().Spend(1)
	if !u.nodes.holds(n) || a.contend && !a.fits(u, n) || u.createdAfter != nil && u.createdAfter.placed == 0 {
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
	for _, x := range u.exclusions {
		if d := a.domain[x.key][n]; d >= 0 && a.byDomain[x].at(d) > 0 {
			return false
		}
	}
	return a.spreadTakes(u, n) && a.nearTakes(u, n)
}

func (a *state) spreadTakes(u *podGroup, n int) bool {
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

func (a *state) nearTakes(u *podGroup, n int) bool {
	if len(u.affinityKeys) == 0 {
		return true
	}
	if !a.carries(n, u.affinityKeys) {
		return false
	}
	missing, counted := false, false
	for _, k := range u.affinityKeys {
		here := false
		for _, j := range u.peers {
			count := a.byDomain[exclusion{k, j.unit, j.place}]
			here = here || count.at(a.domain[k][n]) > 0
			counted = counted || count.total > 0
		}
		missing = missing || !here
	}
	return !missing || !counted && u.first
}

// restore removes all pods of a component, wherever an abandoned question has left them.
func (a *state) restore(c component) {
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
			if watching[w.constraint] && w.counted[r.node] && a.inPlace(r.node, w.place) {
				w.count[a.domain[w.key][r.node]]++
			}
		}
	}
}

// fill places pods of a pod group on nodes in turn, each until it is full, as long as
// there are pods. A blocked node stays blocked, so one pass is enough.
func (a *state) fill(i int, nodes []int32, pods int) []step {
	var run []step
	for _, n := range nodes {
		for len(run) < pods && a.takes(i, int(n)) {
			a.place(i, int(n))
			run = append(run, step{i, int(n)})
		}
	}
	return run
}

func (a *state) undo(run []step) {
	for _, s := range run {
		a.unplace(s.unit, s.node)
	}
}

// fillEvenly places pods of a pod group, always in the domain with the fewest pods that
// has room.
func (a *state) fillEvenly(i int, s *constraint, pods int) []step {
	byDomain := map[int32][]int32{}
	for d, p := range a.divided(a.all(a.units[i]), s.key) {
		byDomain[d] = p.nodes
	}
	order := slices.Sorted(maps.Keys(byDomain))
	var run []step
	for level := int32(0); len(run) < pods; level++ {
		progress := false
		for _, d := range order {
			if s.count[d] > level {
				progress = true
				continue
			}
			for len(byDomain[d]) > 0 && len(run) < pods && s.count[d] <= level {
				n := int(byDomain[d][0])
				if !a.takes(i, n) {
					if !a.takesBut(i, n) { // permanently full, not only out of turn
						byDomain[d] = byDomain[d][1:]
						continue
					}
					break
				}
				a.place(i, n)
				run = append(run, step{i, n})
				progress = true
			}
		}
		if !progress {
			break
		}
	}
	return run
}

// takesBut is takes without the spread constraints.
func (a *state) takesBut(i, n int) bool {
	u := a.units[i]
	spreads := u.spreads
	u.spreads = nil
	ok := a.takes(i, n)
	u.spreads = spreads
	return ok
}

func (a *state) room(n int) int64 { return a.left(n)[0] }
