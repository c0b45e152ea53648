package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// The exact test of T8, and of T2 where nodes have room for one pod: a pod group can get
// stuck if and only if each domain that it may use can be given a different pod that
// keeps the pod group out. Such pods are in different domains, so they do not block each
// other, and the matching is the run that gets stuck.

// maxEach bounds the conflict graphs in which every pod group is tested: pod groups by
// pod groups by domains.
const maxEach = 2_000_000

// cover is a way to close all domains of a pod group.
type cover struct {
	run []step
	// own is the smallest number of the pod group's own pods that it takes.
	own int
	// free lists, if there is no such way, nodes that cannot all be closed.
	free []int
}

// stuckState returns how a pod group of the conflict graph can get stuck; false if it
// cannot.
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
	if f.blockers(u) < len(domains) {
		return cover{free: f.nodesOf(u, domains)}, false
	}
	// The others first: the flow through their arcs stays when its own pods are added, so as
	// few as possible of those are used.
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

// blocking returns a network with arcs from pod groups to the domains that their pods can
// close to pod group u, and from these to the sink; the arcs are by pod group and domain,
// -1 if there is none.
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

// nodesOf returns a node of the pod group in each of the domains.
func (f *conflictGraph) nodesOf(u int, domains []int) []int {
	var nodes []int
	for _, d := range domains {
		nodes = append(nodes, int(f.at[u][d]))
	}
	return nodes
}

// blockers returns how many pods can block a further one of a pod group.
func (f *conflictGraph) blockers(u int) int {
	anyone := slices.Contains(f.single, true)
	sum := 0
	for x, pods := range f.pods {
		switch {
		case x == u:
			sum += pods - 1
		case anyone || f.closes[u][x]:
			sum += pods
		}
	}
	return sum
}

// settle decides the component of an outcome as far as the theory of conflict graphs
// goes, given a best run, which need not be complete.
func (f *conflictGraph) settle(o *outcome) {
	var worst cover
	gap := 0
	for k, i := range o.units {
		u := slices.Index(f.units, i)
		if u < 0 {
			continue
		}
		if gap > 0 && len(f.units)*len(f.units)*len(f.single) > maxEach {
			continue // one is enough for the verdict, and 0 is a valid lower bound
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
	if len(o.best) < o.pods {
		f.colour(o)
	}
	if len(o.best) == o.pods {
		o.worst, o.decided = greedyRuns{f.a}.after(o.component, worst.run)
		// Each pod group by itself lacks at least that much, and here at most.
		o.exact = o.decided && o.least == len(o.worst) && len(o.units) == len(o.owners)
	}
}
