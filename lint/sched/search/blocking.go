package search

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// Where no proof covers a workload, a run may show that others can close all its nodes. The checker
// replays each of these runs.

// shown holds what runs show about one owner in a component.
type shown struct {
	// full is a run that places all of the owner's pods, and short is the run that places the
	// fewest of them. They are nil if no such run is known.
	full, short []step
	fewest      int
}

// settle decides each workload that neither a proof nor a search has decided. It looks for the
// lowest number of the workload's pods that a run places. A run has to show that number, and a
// proof that no run places fewer.
func (h *headroom) settle(out *outcome) {
	order := slices.Clone(h.c.units)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(h.bulk(i), h.bulk(j)) })
	out.shown = make([]shown, len(h.c.owners))
	for _, i := range order {
		u, s := h.units[i], &out.shown[h.c.owner[slices.Index(h.c.units, i)]]
		if u.pods == 0 || u.kubelet || h.unplaceable[i] || h.result.proved[i] || len(u.affinityKeys) > 0 {
			continue
		}
		if u.g.Kind.PerNode() {
			if s.short == nil && !h.proveDaemon(i) {
				h.show(out, i, 0)
			}
			continue
		}
		low, high := 0, u.pods // the lowest number of pods that a run places is one of these
		if s.short != nil {
			high = s.fewest
		}
		for low < high {
			sure := (low + high + 1) / 2
			if high == u.pods {
				sure = high
			}
			if h.show(out, i, sure-1) {
				high = min(sure-1, s.fewest)
			} else if h.proveAlone(i, sure) {
				low = sure
			} else {
				break
			}
		}
		if low == u.pods {
			h.result.proved[i] = true
		} else if low > 0 {
			h.result.least[i] = low
		}
	}
	for k := range out.shown {
		if out.shown[k].short != nil {
			h.complete(out, k)
		}
	}
	h.conclude(out)
}

// proveDaemon proves that a DaemonSet's pod finds room on its node. Nodes that are alike share one
// proof.
func (h *headroom) proveDaemon(i int) bool {
	u := h.units[i]
	if len(u.exclusions)+len(u.clashes)+len(u.spreads) > 0 {
		h.result.proved[i] = h.proveAlone(i, u.pods)
		return h.result.proved[i]
	}
	f := h.newFillers(i, h.all(u), 0, nil)
	id := fmt.Sprint(h.unitsOf[u.g.Workload][0])
	for _, kind := range f.kinds {
		id += fmt.Sprint(kind.free, kind.reach)
	}
	like, known := h.daemons[id]
	if !known {
		like = i
		h.daemons[id] = i
		h.result.proved[i] = h.proveAlone(i, u.pods)
	}
	if h.result.proved[like] {
		h.result.proved[i], h.prices[i] = true, h.prices[like]
	}
	return h.result.proved[i]
}

// conclude decides the component as a whole by what settle has found about each workload.
func (h *headroom) conclude(out *outcome) {
	if out.decided || len(out.best) < out.pods {
		return
	}
	stuck := slices.IndexFunc(out.shown, func(s shown) bool { return s.short != nil })
	switch {
	case stuck >= 0:
		out.worst, out.decided = out.shown[stuck].short, true
	case !slices.ContainsFunc(h.c.units, func(i int) bool { return h.units[i].pods > 0 && !h.result.proved[i] }):
		out.proof = certificate.Proof{Kind: certificate.Headroom, NeedsPeers: h.result.near}
		out.always, out.decided, out.exact = true, true, true
		out.least, out.worst = out.pods, out.best
		copy(out.ownLeast, out.ownMost)
	}
}

// show looks for a run that leaves a pod of group i without a node when at most own of the group's
// pods are in place. The run goes on until nothing fits, so it may settle other workloads as well.
func (h *headroom) show(out *outcome, i, own int) bool {
	start := h.block(i, own)
	if start == nil {
		return false
	}
	run, stuck := greedyRuns{h.state}.after(h.c, start)
	if !stuck {
		return false
	}
	placed := out.counts(run)
	for k := range placed {
		if s := &out.shown[k]; placed[k] < h.c.declared[k] && (s.short == nil || placed[k] < s.fewest) {
			s.short, s.fewest = run, placed[k]
		}
	}
	owner := h.c.owner[slices.Index(h.c.units, i)]
	return placed[owner] < h.c.declared[owner]
}

// complete looks for a run that places all pods of an owner, by placing them first.
func (h *headroom) complete(out *outcome, owner int) {
	if len(out.best) == out.pods {
		return
	}
	var units []int
	wanted := 0
	for k, i := range h.c.units {
		if h.c.owner[k] == owner {
			units = append(units, i)
			wanted += h.units[i].pods
		}
	}
	run := greedyRuns{h.state}.runFirst(units, nil)
	h.undo(run)
	if len(run) == wanted {
		out.shown[owner].full = run
	}
}

// block returns a run after which no node takes another pod of group i, although at most own of its
// pods are in place. It returns nil if it finds none.
func (h *headroom) block(i, own int) []step {
	all := h.carriers(h.units[i])
	spreads := h.binding(i)
	switch {
	case len(spreads) > 1:
		return nil
	case len(spreads) == 0:
		return h.close(i, own, all.nodes, nil)
	}
	// Pods in all other domains make the spread constraint insist on one domain.
	s := spreads[0]
	by := h.divided(all, s.key)
	for _, d := range s.domains {
		if by[int32(d)] == nil {
			continue
		}
		var first []step
		for _, e := range s.domains {
			if e != d && by[int32(e)] != nil && len(first) < own {
				first = append(first, h.fill(i, by[int32(e)].nodes, min(s.maxSkew, own-len(first)))...)
			}
		}
		open := slices.DeleteFunc(slices.Clone(all.nodes), func(n int32) bool { return !h.takes(i, int(n)) })
		h.undo(first)
		if run := h.close(i, 0, open, first); run != nil { // own pods in the domain would open the others
			return run
		}
	}
	return nil
}

// close returns a run that starts with the given steps and goes on until none of the nodes takes a
// pod of group i. At most own more of the group's pods are placed. It returns nil if it finds none.
func (h *headroom) close(i, own int, nodes []int32, first []step) (run []step) {
	for _, s := range first {
		h.place(s.unit, s.node)
	}
	p := newPlace(nodes)
	ruled := h.ruled(h.units[i], p)
	f := h.newFillers(i, p, own, ruled)
	try := func(prices []int64, plan map[*fillKind][][]int) bool {
		g := &filling{fillers: f, i: i, left: f.pods(), apart: map[int]int{}, plan: plan}
		for j := range ruled {
			g.apart[j] = h.others(i, j, own)
		}
		for k := range f.all {
			g.elsewhere = append(g.elsewhere, f.all[k].elsewhere)
		}
		closed := g.fill(prices)
		h.undo(g.run)
		if closed {
			run = slices.Concat(first, g.run)
		}
		return closed
	}
	all := f.starts()
	done := slices.ContainsFunc(all, func(prices []int64) bool { return try(prices, nil) })
	if !done && len(all) > 0 {
		spare := 0 // nodes that pods close by a rule
		for j := range ruled {
			spare += h.others(i, j, own)
		}
		if plan := f.plan(spare); plan != nil {
			try(all[0], plan)
		}
	}
	h.undo(first)
	return run
}

// filling places pods until no node of a place takes a pod of group i.
type filling struct {
	*fillers
	i int
	// left holds how many pods of each filler are left for the place and elsewhere how many for
	// other nodes. apart holds those of pod groups that close their nodes by a rule.
	left, elsewhere []int
	apart           map[int]int
	run             []step
	// used lists the fillers whose pods were placed for the current node, and far those of them
	// whose pods were placed in other domains instead.
	used, far []int
	// plan holds patterns to try first on the nodes of each kind. strict is set while they are
	// placed, and no pod outside of a pattern is.
	plan   map[*fillKind][][]int
	strict bool
}

// fill fills all nodes at the given prices, the most expensive ones first, and reports whether
// there were enough pods.
func (g *filling) fill(prices []int64) bool {
	h := g.h
	cost := map[*fillKind]int64{}
	for _, kind := range g.kinds {
		cost[kind], _ = g.cheapest(kind, prices, g.left)
	}
	kinds := slices.Clone(g.kinds)
	slices.SortStableFunc(kinds, func(a, b *fillKind) int {
		return cmp.Or(cmp.Compare(len(a.reach), len(b.reach)), cmp.Compare(cost[b], cost[a]))
	})
	g.follow(kinds)
	for _, kind := range kinds {
		var pattern []int // what filled the previous node may fill the next one
		for _, n := range kind.nodes {
			for _, j := range slices.Sorted(maps.Keys(g.apart)) {
				if g.apart[j] > 0 && h.takes(g.i, int(n)) && g.put(j, n) {
					g.apart[j]--
				}
			}
			if !h.takes(g.i, int(n)) {
				continue
			}
			g.used, g.far = nil, nil
			if pattern == nil || !g.has(pattern) {
				_, pattern = g.cheapest(kind, prices, g.left)
			}
			if !g.putAll(pattern, n) && !g.putLargest(kind, n) {
				return false
			}
		}
	}
	return true
}

// follow places the planned patterns. A spread constraint may keep a pattern out of a node until
// there are more pods elsewhere, so each node takes the first pattern that fits, and nodes without
// one are tried again.
func (g *filling) follow(kinds []*fillKind) {
	g.strict = true
	for _, kind := range kinds {
		nodes, patterns := kind.nodes, slices.Clone(g.plan[kind])
		for moved := true; moved && len(patterns) > 0; {
			moved = false
			nodes = slices.DeleteFunc(slices.Clone(nodes), func(n int32) bool {
				g.used, g.far = nil, nil
				at := slices.IndexFunc(patterns, func(pods []int) bool { return g.has(pods) && g.putAll(pods, n) })
				if at >= 0 {
					patterns, moved = slices.Delete(patterns, at, at+1), true
				}
				return at >= 0
			})
		}
	}
	g.strict = false
}

// has reports whether enough pods of each filler are left.
func (g *filling) has(pods []int) bool {
	for k, n := range pods {
		if n > g.left[k] {
			return false
		}
	}
	return true
}

// put places a pod if the node takes it.
func (g *filling) put(j int, n int32) bool {
	if !g.h.takes(j, int(n)) {
		return false
	}
	g.h.place(j, int(n))
	g.run = append(g.run, step{j, int(n)})
	return true
}

// level places pods of a filler in the other domains of its spread constraint until the constraint
// no longer keeps its next pod out of a node's domain.
func (g *filling) level(k int, n int32) {
	h, u := g.h, g.h.units[g.all[k].unit]
	if len(u.spreads) != 1 || !h.takesBut(g.all[k].unit, int(n)) {
		return
	}
	s := u.spreads[0]
	by := h.divided(h.all(u), s.key)
	for !h.takes(g.all[k].unit, int(n)) && g.left[k]+g.elsewhere[k] > 1 {
		smallest, at := int32(math.MaxInt32), int32(-1)
		for _, d := range s.domains {
			if s.count[d] < smallest {
				smallest, at = s.count[d], int32(d)
			}
		}
		if by[at] == nil || at == h.domain[s.key][n] {
			return
		}
		// Full nodes come first, as they take only small pods.
		nodes := slices.Clone(by[at].nodes)
		slices.SortStableFunc(nodes, func(a, b int32) int { return cmp.Compare(h.room(int(a)), h.room(int(b))) })
		put := slices.IndexFunc(nodes, func(e int32) bool { return g.put(g.all[k].unit, e) })
		if put < 0 {
			return
		}
		if g.elsewhere[k] > 0 {
			g.far = append(g.far, k)
			g.elsewhere[k]--
		} else {
			g.used = append(g.used, k)
			g.left[k]--
		}
	}
}

// use places a pod of a filler if the node takes it.
func (g *filling) use(k int, n int32) bool {
	unit := g.all[k].unit
	if g.all[k].perNode != nil {
		unit = g.h.daemonOn(g.all[k].perNode, int(n))
	}
	if len(g.h.units[unit].spreads) > 0 && !g.strict {
		g.level(k, n)
	}
	if !g.put(unit, n) {
		return false
	}
	g.used = append(g.used, k)
	if g.all[k].perNode == nil {
		g.left[k]--
	}
	return true
}

// putAll places a set of pods on a node and reports whether that closes the node. If it does not,
// it places none.
func (g *filling) putAll(pods []int, n int32) bool {
	before := len(g.run)
	for k, count := range pods {
		for range count {
			if !g.use(k, n) {
				g.takeBack(before)
				return false
			}
		}
	}
	if g.h.takes(g.i, int(n)) {
		g.takeBack(before)
		return false
	}
	return true
}

// takeBack removes the pods that fillers have placed for the current node.
func (g *filling) takeBack(before int) {
	for _, k := range g.used {
		if g.all[k].perNode == nil {
			g.left[k]++
		}
	}
	for _, k := range g.far {
		g.elsewhere[k]++
	}
	g.used, g.far = nil, nil
	g.h.undo(g.run[before:])
	g.run = g.run[:before]
}

// putLargest places pods on a node, the largest first, until it is closed, and reports whether that
// succeeds. It tries each resource that can run short.
func (g *filling) putLargest(kind *fillKind, n int32) bool {
	before := len(g.run)
	for _, way := range kind.ways {
		order := slices.DeleteFunc(slices.Clone(kind.reach), func(k int) bool { return way.sizes[k] == 0 })
		slices.SortStableFunc(order, func(a, b int) int { return way.sizes[b] - way.sizes[a] })
		for _, k := range order {
			for g.left[k] > 0 && g.h.takes(g.i, int(n)) && g.use(k, n) {
				if g.all[k].perNode != nil {
					break
				}
			}
		}
		if !g.h.takes(g.i, int(n)) {
			return true
		}
		g.takeBack(before)
	}
	return false
}
