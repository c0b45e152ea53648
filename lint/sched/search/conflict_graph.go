package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// conflictGraph is a component in which a pod blocks other pods only in its own domain. It blocks
// them through anti-affinity on one key, through host ports, or because a node has space for just
// one pod. All rules are hereditary, so every placement without conflicting pods can be reached in
// some order.
type conflictGraph struct {
	a *state
	// units lists the component's pod groups that have pods. pods holds the pod count of each.
	units []int
	pods  []int
	// `at` holds, for each pod group and domain, a node in the domain that is open to the group, or
	// -1. free holds, for each pod group, a node where nothing ever blocks the group, or -1.
	at   [][]int32
	free []int32
	// closes records, for each pair of pod groups, whether a pod of the second group closes its
	// domain to the first group. single marks the domains that have space for only one pod.
	closes [][]bool
	single []bool
}

// maxConflictGraph is the maximum size of a conflict graph. The size is the square of the number of
// pod groups, times the number of nodes.
const maxConflictGraph = 20_000_000

// newConflictGraph converts a component into a conflict graph. It returns nil if the component is
// too large or has other kinds of rules.
func newConflictGraph(a *state, c component) *conflictGraph {
	f := &conflictGraph{a: a}
	for _, i := range c.units {
		u := a.units[i]
		if u.pods == 0 {
			continue
		}
		if u.kubelet || len(u.affinityKeys)+len(u.spreads) > 0 || u.createdAfter != nil || u.somewhere() {
			return nil
		}
		f.units, f.pods = append(f.units, i), append(f.pods, u.pods)
	}
	if len(f.units)*len(f.units)*len(a.nodes) > maxConflictGraph {
		return nil
	}
	a.m.Run().Spend(len(f.units) * (1 + (len(f.units)+len(a.nodes))/model.PerStep))
	open := make([][]int32, len(f.units))
	for u, i := range f.units {
		open[u] = openTo(a, i)
	}
	keys, ported := f.relate()
	domain, ok := f.partition(open, keys, ported)
	if !ok || a.contend && !f.markSingleSlots(open, domain) {
		return nil
	}
	// Number the domains that have open nodes. Record which pod groups may use each domain.
	number := map[int32]int{}
	var single []bool
	for _, n := range union(open, len(domain)) {
		d := domain[n]
		if _, seen := number[d]; d < 0 || seen {
			continue
		}
		number[d] = len(number)
		single = append(single, f.single != nil && f.single[d])
	}
	f.single = single
	for _, list := range open {
		at, free := slices.Repeat([]int32{-1}, len(number)), int32(-1)
		for _, n := range list {
			switch d := domain[n]; {
			case d < 0:
				free = n
			case at[number[d]] < 0:
				at[number[d]] = n
			}
		}
		f.at, f.free = append(f.at, at), append(f.free, free)
	}
	return f
}

// openTo lists the nodes that may ever accept one of a pod group's pods. It omits nodes from which
// running pods exclude the group.
func openTo(a *state, i int) []int32 {
	u := a.units[i]
	near, spreads, after := u.affinityKeys, u.spreads, u.createdAfter
	defer func() { u.affinityKeys, u.spreads, u.createdAfter = near, spreads, after }()
	u.affinityKeys, u.spreads, u.createdAfter = nil, nil, nil // these may be met later
	return slices.DeleteFunc(slices.Clone(u.nodes.list), func(n int32) bool { return !a.takes(i, int(n)) })
}

// relate computes the field closes. It returns the keys on which pod groups exclude each other. It
// also returns whether any groups clash on host ports.
func (f *conflictGraph) relate() (keys []int, ported bool) {
	index := map[int]int{}
	for u, i := range f.units {
		index[i] = u
		f.closes = append(f.closes, make([]bool, len(f.units)))
	}
	for u, i := range f.units {
		of := f.a.units[i]
		for _, x := range of.exclusions {
			at, ok := index[x.unit]
			if !ok {
				continue // a running pod: the nodes that it closes are not open
			}
			if f.closes[u][at] = true; !slices.Contains(keys, x.key) {
				keys = append(keys, x.key)
			}
		}
		for x, j := range f.units {
			if of.clashesWith(f.a.units[j]) {
				f.closes[u][x], ported = true, true
			}
		}
	}
	return keys, ported
}

// partition returns the domain of every node. It returns false if two keys divide the open nodes
// differently. If pods use host ports, each node is a separate domain. Each open node must then
// have every key, and each domain of a key must contain exactly one open node.
func (f *conflictGraph) partition(open [][]int32, keys []int, ported bool) ([]int32, bool) {
	domain := make([]int32, len(f.a.nodes))
	for n := range domain {
		if domain[n] = -1; len(keys) > 0 {
			domain[n] = f.a.domain[keys[0]][n]
		} else if ported {
			domain[n] = int32(n)
		}
	}
	if len(keys) < 2 && (!ported || len(keys) == 0) {
		return domain, true
	}
	for _, n := range union(open, len(domain)) {
		if ported && domain[n] < 0 {
			return nil, false
		}
	}
	for _, k := range keys[1:] {
		if !f.alike(open, domain, f.a.domain[k]) {
			return nil, false
		}
	}
	return domain, !ported || f.alike(open, domain, nil)
}

// union merges the lists into one ordered list of nodes without duplicates.
func union(lists [][]int32, nodes int) []int32 {
	has := make([]bool, nodes)
	for _, list := range lists {
		for _, n := range list {
			has[n] = true
		}
	}
	var all []int32
	for n, in := range has {
		if in {
			all = append(all, int32(n))
		}
	}
	return all
}

// alike reports whether two keys divide the open nodes in the same way. A nil key has one domain
// per node.
func (f *conflictGraph) alike(open [][]int32, domain, other []int32) bool {
	there, back := map[int32]int32{}, map[int32]int32{}
	for _, n := range union(open, len(domain)) {
		x, y := domain[n], n
		if other != nil {
			y = other[n]
		}
		if was, seen := there[x]; seen && was != y || (x < 0) != (y < 0) {
			return false
		}
		if was, seen := back[y]; seen && was != x {
			return false
		}
		there[x], back[y] = y, x
	}
	return true
}

// markSingleSlots marks the nodes where no two pods fit together. It returns false if another node
// lacks space for all pods that may use it. A marked node must be the only open node in its domain,
// or have no domain. A node without a domain becomes a separate domain.
func (f *conflictGraph) markSingleSlots(open [][]int32, domain []int32) bool {
	on := make([][]int, len(domain))
	sharing := map[int32]int{}
	for _, n := range union(open, len(domain)) {
		sharing[domain[n]]++
	}
	for u, list := range open {
		for _, n := range list {
			on[n] = append(on[n], u)
		}
	}
	next := int32(len(domain))
	for _, size := range f.a.sizes {
		next = max(next, int32(size))
	}
	f.single = make([]bool, int(next)+len(domain))
	for n, units := range on {
		if len(units) == 0 || f.holdsAll(n, units, domain[n]) {
			continue
		}
		if !f.holdsOne(n, units) || domain[n] >= 0 && sharing[domain[n]] > 1 {
			return false
		}
		if domain[n] < 0 {
			domain[n] = next + int32(n)
		}
		f.single[domain[n]] = true
	}
	return true
}

// holdsAll reports whether a node has space for all pods that may use it.
func (f *conflictGraph) holdsAll(n int, units []int, domain int32) bool {
	for r, free := range f.a.left(n) {
		for _, u := range units {
			pods := f.pods[u]
			if domain >= 0 && f.closes[u][u] {
				pods = 1
			}
			ask := f.a.units[f.units[u]].ask[r]
			if free -= ask * int64(pods); ask > 0 && free < 0 { // an overcommitted resource only keeps out pods that request it
				return false
			}
		}
	}
	return true
}

// holdsOne reports whether a node has space for only one of the pods that may use it.
func (f *conflictGraph) holdsOne(n int, units []int) bool {
	for r, free := range f.a.left(n) {
		if slices.ContainsFunc(units, func(u int) bool { return f.a.units[f.units[u]].ask[r] == 0 }) {
			continue // pods that do not request the resource always fit
		}
		least, second := int64(1<<62), int64(1<<62)
		for _, u := range units {
			ask := f.a.units[f.units[u]].ask[r]
			for range min(f.pods[u], 2) {
				if ask < least {
					least, second = ask, least
				} else {
					second = min(second, ask)
				}
			}
		}
		if second < 1<<62 && least+second > free {
			return true
		}
	}
	return false
}

// The test below is exact by T8. If nodes have space for only one pod, it is exact by T2. The test
// matches each domain that a pod group may use to a different pod that keeps the group out. The
// group can get stuck if and only if such a matching exists. Pods in different domains do not block
// each other, so the matched pods form the run that gets stuck.

// maxEach is the maximum size of a conflict graph in which every pod group is tested. The size is
// the square of the number of pod groups, times the number of domains.
const maxEach = 2_000_000

// cover is the result of stuckState. If the pod group can get stuck, run closes all domains to it.
type cover struct {
	run []step
	// own is the smallest number of the pod group's own pods in a run that closes all domains to
	// the group.
	own int
	// free lists nodes if the pod group cannot get stuck. At least one of these nodes always stays
	// open to the group.
	free []int
}

// stuckState returns a cover with a run that leaves the given pod group stuck. If there is no such
// run, it returns false and a cover with free set.
func (f *conflictGraph) stuckState(u int) (cover, bool) {
	var domains []int
	for d, n := range f.at[u] {
		if n >= 0 {
			domains = append(domains, d)
		}
	}
	if f.free[u] >= 0 {
		return cover{free: []int{int(f.free[u])}}, false
	}
	anyone, blockers := slices.Contains(f.single, true), 0 // the pods that can block the group's next pod
	for x, pods := range f.pods {
		switch {
		case x == u:
			blockers += pods - 1
		case anyone || f.closes[u][x]:
			blockers += pods
		}
	}
	if blockers < len(domains) {
		return cover{free: f.nodesOf(u, domains)}, false
	}
	// Add the other pod groups first. The flow through their arcs remains when the group's own pods
	// are added. The test therefore uses as few of the group's own pods as possible.
	source, sink := 0, 1
	g, arcs := f.blocking(u, domains)
	for x, pods := range f.pods {
		if x != u {
			g.join(source, 2+len(domains)+x, int64(pods))
		}
	}
	others := g.augment(source, sink)
	g.join(source, 2+len(domains)+u, int64(f.pods[u]-1))
	if others+g.augment(source, sink) < int64(len(domains)) {
		// The domains beyond the minimum cut outnumber the pods that can close them.
		var left []int
		for k, d := range domains {
			if g.beyond(2 + k) {
				left = append(left, d)
			}
		}
		return cover{free: f.nodesOf(u, left)}, false
	}
	c := cover{own: len(domains) - int(others)}
	for x, i := range f.units {
		for k, arc := range arcs[x] {
			if arc >= 0 && g.through(arc) > 0 {
				c.run = append(c.run, step{i, int(f.at[x][domains[k]])})
			}
		}
	}
	return c, true
}

// blocking returns a network with two kinds of arcs: from pod groups to the domains that they can
// close to pod group u, and from these domains to the sink. It also returns the arc from each pod
// group to each domain, or -1 if there is none.
func (f *conflictGraph) blocking(u int, domains []int) (*network, [][]int) {
	f.a.m.Run().Spend(len(f.units) * len(domains))
	g := newNetwork(f.a.m, 2+len(domains)+len(f.units))
	for k := range domains {
		g.join(2+k, 1, 1)
	}
	arcs := make([][]int, len(f.units))
	for x := range f.units {
		for k, d := range domains {
			arc := -1
			if (f.closes[u][x] || f.single[d]) && f.at[x][d] >= 0 {
				arc = g.join(2+len(domains)+x, 2+k, 1)
			}
			arcs[x] = append(arcs[x], arc)
		}
	}
	return g, arcs
}

// nodesOf returns one of the pod group's nodes in each of the domains.
func (f *conflictGraph) nodesOf(u int, domains []int) []int {
	var nodes []int
	for _, d := range domains {
		nodes = append(nodes, int(f.at[u][d]))
	}
	return nodes
}

// settle decides the outcome of a component if stuckState and colour are sufficient. The caller
// must set o.best to a run, which may leave pods unplaced.
func (f *conflictGraph) settle(o *outcome) {
	var worst cover
	gap := 0
	for k, i := range o.units {
		u := slices.Index(f.units, i)
		if u < 0 {
			continue
		}
		if gap > 0 && len(f.units)*len(f.units)*len(f.single) > maxEach {
			continue // one group that can get stuck is enough for the verdict, and 0 is a valid lower bound
		}
		c, can := f.stuckState(u)
		if !can {
			o.proof.Keep(i, c.free)
		}
		least := f.pods[u]
		if can {
			least = c.own
		}
		o.ownLeast[o.owner[k]] += least
		o.least += least
		if short := f.pods[u] - least; short > gap {
			gap, worst = short, c
		}
	}
	if gap == 0 {
		o.proof.Kind = certificate.Headroom
		o.always, o.decided, o.exact = true, true, len(o.best) == o.pods
		o.worst = o.best
		return
	}
	if len(o.best) < o.pods && !model.Off("T13") {
		f.colour(o)
	}
	if len(o.best) == o.pods {
		o.worst, o.decided = greedyRuns{f.a}.after(o.component, worst.run)
		// o.least is the sum of the pod groups' minima. A run with exactly that many pods attains
		// all of these minima.
		o.exact = o.decided && o.least == len(o.worst) && len(o.units) == len(o.owners)
	}
}
