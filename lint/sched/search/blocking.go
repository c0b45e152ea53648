package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sorting"
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
	if out.shown == nil {
		out.shown, out.coarse = make([]shown, len(h.c.owners)), h.coarse
	}
	if h.coarse { // quick attempts come first, because the steps may not be enough for all
		h.prices, h.unproved, h.unshown = map[int][]certificate.Prices{}, map[attempt][][]int64{}, map[attempt][][]int64{}
		h.verdicts(out, order)
		h.thorough = true
		h.verdicts(out, order)
	} else {
		h.thorough = true
		clear(h.daemons)
		h.numbers(out, order)
	}
	for k := range out.shown {
		if s := &out.shown[k]; s.short != nil && s.full == nil {
			h.complete(out, k)
		}
	}
	// The component as a whole.
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

// numbers settles how many pods of each pod group a run places at least.
func (h *headroom) numbers(out *outcome, order []int) {
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
		low, high := h.result.least[i], u.pods // the lowest number of pods that a run places is one of these
		if s.short != nil {
			high = s.fewest
		}
		for low < high {
			sure := (low + high + 1) / 2
			if high == u.pods {
				sure = high
			}
			h.thorough = false
			quick := len(h.recent) > 0 && h.proveAlone(i, sure)
			if h.thorough = true; quick {
				low = sure
			} else if h.show(out, i, sure-1) {
				high = min(sure-1, s.fewest)
			} else if h.proveAlone(i, sure) {
				low = sure
			} else if h.showEven(out, i, sure-1) {
				high = min(sure-1, s.fewest)
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
}

// attempt identifies pod groups of a large component for which the same attempts fail.
type attempt struct {
	on       *place
	spreads  int
	thorough bool
}

// verdicts settles only the verdicts on pod groups, in a large component. If a proof fails, it fails
// for larger pods too, and for more pods that keep each other apart. If no run is found, none is
// found for smaller or fewer pods either.
func (h *headroom) verdicts(out *outcome, order []int) {
	for _, i := range order {
		u, s := h.units[i], &out.shown[h.c.owner[slices.Index(h.c.units, i)]]
		if h.result.proved[i] || s.short != nil || u.pods == 0 || u.kubelet || h.unplaceable[i] || len(u.affinityKeys) > 0 {
			continue
		}
		if u.g.Kind.PerNode() {
			h.proveDaemon(i)
			continue
		}
		x := attempt{h.carriers(u), len(h.binding(i)), h.thorough}
		size := slices.Clone(u.ask)
		if len(u.exclusions) > 0 {
			size = append(size, int64(u.pods))
		}
		if !slices.ContainsFunc(h.unproved[x], func(other []int64) bool { return within(other, size) }) {
			if h.proveAlone(i, u.pods) {
				h.result.proved[i] = true
				continue
			}
			h.unproved[x] = append(h.unproved[x], size)
		}
		if !slices.ContainsFunc(h.unshown[x], func(other []int64) bool { return within(size, other) }) && !h.show(out, i, u.pods-1) {
			h.unshown[x] = append(h.unshown[x], size)
		}
	}
}

// within reports whether some amounts are at most as large as others.
func within(some, other []int64) bool {
	for r := range some {
		if r >= len(other) || some[r] > other[r] {
			return false
		}
	}
	return true
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

// showEven is show with pods that spread evenly, for where neither a run nor a proof is found.
func (h *headroom) showEven(out *outcome, i, own int) bool {
	h.even = true
	defer func() { h.even = false }()
	return h.show(out, i, own)
}

// show looks for a run that leaves a pod of group i without a node when at most own of the group's
// pods are in place. The run goes on until nothing fits, so it may settle other workloads as well.
func (h *headroom) show(out *outcome, i, own int) bool {
	start := h.block(i, own)
	if start == nil {
		return false
	}
	run, stuck := greedyRuns{h.state}.after(h.c, start)
	if !stuck || len(run) == 0 {
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

// block returns pods after which no node takes another pod of group i, although at most own of its
// pods are in place. It returns nil if it finds none.
func (h *headroom) block(i, own int) []step {
	all := h.carriers(h.units[i])
	spreads := h.binding(i)
	switch {
	case len(spreads) > 1:
		return nil
	case len(spreads) == 0:
		return h.close(i, own, all, nil)
	}
	// The constraint closes the domains that are ahead of those with the fewest pods. Others close
	// the rest.
	s := spreads[0]
	by := h.divided(all, s.key)
	for least := 0; len(by) > 0 && least*len(s.domains) <= own; least++ {
		for _, ahead := range h.ahead(s, by, own, least) {
			p := rest(by, ahead)
			first := lists.Gather(ahead, func(d int32) []step { return h.fillBut(i, by[d].nodes, least+s.maxSkew) })
			h.undo(first)
			behind := len(s.domains) - len(ahead)
			// With more of them there, each of these domains could have more than the least number.
			if run := h.close(i, min(own-len(first), behind*(least+1)-1), p, first); run != nil {
				return run
			}
		}
	}
	return nil
}

// mostDomains is the maximum number of domains in a spread constraint for trying every set of them.
const mostDomains = 4

// ahead returns the sets of domains that a spread constraint may close to a workload with own pods,
// because they have maxSkew pods more than the domain with the fewest, which has at least a given
// number. The largest sets come first. If there are many domains, it returns a few of the sets.
func (h *headroom) ahead(s *constraint, by map[int32]*place, own, least int) [][]int32 {
	domains := sorting.Keys(by)
	var all [][]int32
	if len(domains) > mostDomains {
		for k := range domains {
			others := slices.Delete(slices.Clone(domains), k, k+1)
			all = append(all, others[:min(len(others), (own-least*len(s.domains))/s.maxSkew)])
		}
		return all
	}
	for set := range 1 << len(domains) {
		var ahead []int32
		for k, d := range domains {
			if set>>k&1 == 1 {
				ahead = append(ahead, d)
			}
		}
		if len(ahead) < len(s.domains) && least*len(s.domains)+s.maxSkew*len(ahead) <= own {
			all = append(all, ahead)
		}
	}
	slices.SortStableFunc(all, func(a, b []int32) int { return len(b) - len(a) })
	return all
}

// rest returns the nodes outside of some domains.
func rest(by map[int32]*place, but []int32) *place {
	p := newPlace(nil)
	for _, d := range sorting.Keys(by) {
		if !slices.Contains(but, d) {
			p.nodes = append(p.nodes, by[d].nodes...)
		}
	}
	return p
}

// close returns pods that start with the given ones and leave no node of a place that takes a pod of
// group i. At most own more of the group's pods are placed. It returns nil if it finds none.
func (h *headroom) close(i, own int, p *place, first []step) (all []step) {
	ruled := h.ruled(h.units[i], p)
	f := h.newFillers(i, p, own, ruled)
	if h.coarse { // pods that need others nearby or elsewhere are not used
		for k := range f.all {
			if u := h.units[f.all[k].units[0]]; len(u.spreads)+len(u.affinityKeys) > 0 {
				f.all[k].pods = 0
			}
		}
	}
	try := func(prices []int64, plan [][]planned) bool {
		g := &filling{fillers: f, i: i, own: own + len(first), left: f.pods(), apart: map[int]int{}, plan: plan}
		for _, s := range first {
			g.add(s.unit, int32(s.node))
		}
		for j := range ruled {
			g.apart[j] = h.others(i, j, own)
		}
		done := g.fill(prices) && g.balance()
		h.undo(g.run)
		if done {
			all = g.run
		}
		return done
	}
	starts := f.starts()
	if len(starts) == 0 {
		starts = append(starts, make([]int64, len(f.all)))
	}
	if h.coarse {
		starts = starts[:min(mostStarts, len(starts))]
	}
	spare, find := 0, f.plan // some nodes are closed by a rule
	for j := range ruled {
		spare += h.others(i, j, own)
	}
	if h.even {
		find = f.evenPlan
	} else if slices.ContainsFunc(starts, func(prices []int64) bool { return try(prices, nil) }) || !h.thorough {
		return all
	}
	if plan := find(spare); plan != nil {
		try(starts[0], plan)
	}
	return all
}

// mostStarts is the maximum number of prices to begin with in a large component. The first of them
// are those of single resources.
const mostStarts = 3

// filling places pods until no node of a place takes a pod of group i. It leaves the spread
// constraints to balance.
type filling struct {
	*fillers
	i, own int // at most own pods of group i are placed
	// left holds how many pods of each filler are left. apart holds those of pod groups that close
	// their nodes by a rule.
	left  []int
	apart map[int]int
	run   []step
	// plan holds patterns to try first, by kind.
	plan [][]planned
}

// fill fills all nodes at the given prices, the most expensive ones first, and reports whether
// there were enough pods.
func (g *filling) fill(prices []int64) bool {
	h := g.h
	cost, pick := map[*fillKind]int64{}, g.cheapest
	if h.coarse {
		pick = g.greedy
	}
	for _, kind := range g.kinds {
		cost[kind], _ = pick(kind, prices, g.left)
	}
	plans, kinds := map[*fillKind][]planned{}, slices.Clone(g.kinds)
	for c, plan := range g.plan {
		plans[g.kinds[c]] = slices.Clone(plan)
	}
	slices.SortStableFunc(kinds, func(a, b *fillKind) int {
		return cmp.Or(cmp.Compare(len(a.reach), len(b.reach)), cmp.Compare(cost[b], cost[a]))
	})
	for _, kind := range kinds {
		nodes := kind.nodes
		// Pods that spread come first, each where its domain has most room.
		spread := func(pods []int) (sum int) {
			for k, n := range pods {
				if len(h.units[g.all[k].units[0]].spreads) > 0 {
					sum += n
				}
			}
			return sum
		}
		plan := plans[kind]
		slices.SortStableFunc(plan, func(a, b planned) int { return spread(b.pods) - spread(a.pods) })
		for _, one := range plan {
			at, most := -1, -1
			for k, n := range nodes {
				if room := g.room(one.pods, g.leftFor(n)); room > most && slices.Contains(one.nodes, n) {
					at, most = k, room
				}
			}
			if at >= 0 && g.putAll(kind, one.pods, g.leftFor(nodes[at]), nodes[at]) {
				nodes = slices.Delete(slices.Clone(nodes), at, at+1)
			}
		}
	}
	for _, kind := range kinds {
		var pattern []int // what filled the previous node may fill the next one
		for _, n := range kind.nodes {
			for _, j := range sorting.Keys(g.apart) {
				if g.apart[j] > 0 && h.takesBut(g.i, int(n)) && g.put(j, n) {
					g.apart[j]--
				}
			}
			if !h.takesBut(g.i, int(n)) {
				continue
			}
			left, here := g.leftFor(n), g.now(kind, n)
			if here != kind {
				pattern = nil
			}
			if pattern == nil || !covers(left, pattern) {
				_, pattern = pick(here, prices, left)
			}
			if !(pattern != nil && g.putAll(here, pattern, left, n)) && !g.putAny(here, left, n) || !g.balance() {
				return false
			}
		}
	}
	return true
}

// balance places further pods where spread constraints ask for them, and reports whether there are
// enough.
func (g *filling) balance() bool {
	h := g.h
	for moved := true; moved; {
		moved = false
		for _, j := range h.c.units {
			u := h.units[j]
			for _, s := range u.spreads {
				if u.placed == 0 || len(s.domains) < s.minDomains {
					continue
				}
				least, most := s.domains[0], s.domains[0]
				for _, d := range s.domains {
					if s.count[d] < s.count[least] {
						least = d
					}
					if s.count[d] > s.count[most] {
						most = d
					}
				}
				if int(s.count[most]-s.count[least]) <= s.maxSkew {
					continue
				}
				p := h.divided(h.all(u), s.key)[int32(least)]
				if p == nil || u.placed >= h.others(g.i, j, g.own) {
					return false
				}
				nodes := slices.Clone(p.nodes) // full nodes come first, as they take only small pods
				slices.SortStableFunc(nodes, func(a, b int32) int { return cmp.Compare(h.room(int(a)), h.room(int(b))) })
				if !slices.ContainsFunc(nodes, func(n int32) bool { return g.put(j, n) }) {
					return false
				}
				moved = true
			}
		}
	}
	return true
}

// now returns a node's kind with the pods in place taken into account.
func (g *filling) now(kind *fillKind, n int32) *fillKind {
	free := g.h.left(int(n))
	if width := len(free); slices.Equal(free, g.h.rest[int(n)*width:(int(n)+1)*width]) {
		return kind
	}
	here := &fillKind{free: free, reach: kind.reach}
	for r, ask := range g.u.ask {
		if ask > 0 && free[r] != math.MaxInt64 {
			g.addWay(here, r, free[r])
		}
	}
	return here
}

// leftFor returns how many pods of each filler are left for a node. Spread constraints allow only
// so many in a domain, however the others are placed.
func (g *filling) leftFor(n int32) []int {
	all := slices.Clone(g.left)
	for k := range all {
		if g.all[k].perNode != nil {
			continue
		}
		sum := 0
		for _, j := range g.all[k].units {
			u := g.h.units[j]
			here := g.h.others(g.i, j, g.own) - u.placed
			for _, s := range u.spreads {
				if d := g.h.domain[s.key][n]; d >= 0 && len(s.domains) > 0 {
					here = max(0, min(here, (u.pods+s.maxSkew*(len(s.domains)-1))/len(s.domains)-int(s.count[d])))
				}
			}
			sum += here
		}
		all[k] = min(all[k], sum)
	}
	return all
}

// room returns how many more of the pods that spread could be on a node beside a set of pods, or -1
// if these are too many.
func (g *filling) room(pods, left []int) int {
	room := math.MaxInt
	for k, n := range pods {
		if n > left[k] {
			return -1
		}
		if n > 0 && len(g.h.units[g.all[k].units[0]].spreads) > 0 {
			room = min(room, left[k]-n)
		}
	}
	return room
}

func covers(left, pods []int) bool {
	for k, n := range pods {
		if n > left[k] {
			return false
		}
	}
	return true
}

// put places a pod if the node takes it.
func (g *filling) put(j int, n int32) bool {
	if !g.h.takesBut(j, int(n)) {
		return false
	}
	g.add(j, n)
	return true
}

func (g *filling) add(j int, n int32) {
	g.h.place(j, int(n))
	g.run = append(g.run, step{j, int(n)})
}

// use places a pod of a filler if the node takes it.
func (g *filling) use(k int, n int32) bool {
	if of := g.all[k].perNode; of != nil {
		return g.put(g.h.daemonOn(of, int(n)), n)
	}
	return slices.ContainsFunc(g.all[k].units, func(j int) bool {
		return g.h.units[j].placed < g.h.others(g.i, j, g.own) && g.put(j, n)
	})
}

// putAll places a set of pods on a node, and further ones if requests were rounded up and the node
// is not closed yet. It reports whether that closes the node. If not, it places none.
func (g *filling) putAll(kind *fillKind, pods, left []int, n int32) bool {
	before, pods := len(g.run), slices.Clone(pods)
	for k, count := range pods {
		for range count {
			if !g.use(k, n) {
				g.takeBack(before)
				return false
			}
		}
	}
	for w := range kind.ways {
		g.putLargest(&kind.ways[w], kind, pods, left, n)
	}
	return g.closes(pods, n, before)
}

// closes reports whether pods that were placed on a node close it. If not, it removes them.
func (g *filling) closes(pods []int, n int32, before int) bool {
	if g.h.takesBut(g.i, int(n)) {
		g.takeBack(before)
		return false
	}
	for k, count := range pods {
		if g.all[k].perNode == nil {
			g.left[k] -= count
		}
	}
	return true
}

func (g *filling) takeBack(before int) {
	g.h.undo(g.run[before:])
	g.run = g.run[:before]
}

// putAny places pods on a node, the largest first, until it is closed, and reports whether that
// succeeds. It tries each resource that can run short.
func (g *filling) putAny(kind *fillKind, left []int, n int32) bool {
	return slices.ContainsFunc(kind.ways, func(way fillWay) bool {
		before, pods := len(g.run), make([]int, len(g.all))
		g.putLargest(&way, kind, pods, left, n)
		return g.closes(pods, n, before)
	})
}

// putLargest adds pods to those that are placed on a node, those with the largest requests first,
// until the node is closed.
func (g *filling) putLargest(way *fillWay, kind *fillKind, pods, left []int, n int32) {
	order := slices.DeleteFunc(slices.Clone(kind.reach), func(k int) bool { return way.sizes[k] == 0 })
	slices.SortStableFunc(order, func(a, b int) int { return way.sizes[b] - way.sizes[a] })
	for _, k := range order {
		for (pods[k] < left[k] && (g.all[k].perNode == nil || pods[k] == 0)) && g.h.takesBut(g.i, int(n)) && g.use(k, n) {
			pods[k]++
		}
	}
}
