package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// Placing all pods of a conflict graph at once is a graph coloring problem in which the domains are
// the colors. A pod group that excludes itself needs several colors. Each group may use only some
// of the colors. The search is fast when there are few conflicts or few domains. It postpones pod
// groups that are certain to find space in the end. It tries the tightest remaining pod group
// first, and only one of several equivalent domains.

// maxColouring limits the work for one coloring. A choice costs one step per examined pair of pod
// group and domain.
const maxColouring = 40_000_000

// colouring holds the search state for coloring the pod groups that need domains.
type colouring struct {
	f *conflictGraph
	// conflict marks the pairs of pod groups that cannot share a domain.
	conflict [][]bool
	// `may` marks the domains that a pod group can still use. `room` counts the pods that fit in
	// these domains. `need` counts the pods that are not placed yet.
	may        [][]bool
	room, need []int
	got        [][]int // domains, in the order in which they were taken
	// forgone is the maximum number of pods that may stay unplaced. tries is the number of choices
	// that may still be made.
	forgone, tries int
}

// colour decides whether all pods in the conflict graph can be placed at once. If they can, it
// stores a run that places all of them in o.best. If they cannot, it sets o.never and lowers
// o.most. If it cannot decide, it leaves the outcome unchanged.
func (f *conflictGraph) colour(o *outcome) {
	for _, sided := range []bool{false, true} {
		// If only one of two pod groups excludes the other, they can share a domain when the pods
		// are placed in the right order. A proof of never ignores such exclusions. The search for a
		// run respects them.
		c := f.colouring(sided)
		found, done := c.solve()
		if done && !found && !sided {
			o.most = min(o.most, o.pods-1)
			o.never, o.decided = true, true
			o.proof = certificate.Proof{Kind: certificate.Uncolourable}
			return
		}
		if found {
			if run := c.run(); len(run) == o.pods {
				o.best = run
				return
			}
		}
	}
}

func (f *conflictGraph) colouring(sided bool) *colouring {
	c := &colouring{f: f, got: make([][]int, len(f.units)), need: make([]int, len(f.units)), room: make([]int, len(f.units))}
	c.tries = maxColouring / max(1, len(f.units)*(len(f.units)+len(f.single)))
	f.a.m.Run().Spend(len(f.units) * (len(f.units) + len(f.single)) / model.PerStep)
	for u := range f.units {
		row := make([]bool, len(f.units))
		for x := range row {
			row[x] = u != x && (f.closes[u][x] && f.closes[x][u] || sided && (f.closes[u][x] || f.closes[x][u]))
		}
		c.conflict = append(c.conflict, row)
		may := make([]bool, len(f.single))
		if f.free[u] < 0 {
			c.need[u] = f.pods[u]
			for d, n := range f.at[u] {
				if n >= 0 {
					may[d] = true
					c.room[u] += c.f.holds(u, d)
				}
			}
		}
		c.may = append(c.may, may)
	}
	return c
}

// bars reports whether pod group x keeps pod group u out of domain d.
func (c *colouring) bars(u, x, d int) bool {
	return u != x && (c.conflict[u][x] || c.f.single[d])
}

// solve reports whether all pods can be placed, and whether the search finished.
func (c *colouring) solve() (found, done bool) {
	// Postpone the pod groups that fit wherever the other groups' pods are. The test for a group
	// ignores the groups that are already postponed. So the last postponed group must be placed
	// first.
	var last []int
	for again := true; again; {
		again = false
		for u := range c.f.units {
			if c.need[u] > 0 && c.spare(u) >= c.need[u] {
				c.need[u] = 0
				last = append(last, u)
				again = true
			}
		}
	}
	if !c.try() {
		return false, c.tries > 0
	}
	for _, u := range slices.Backward(last) {
		c.need[u] = c.f.pods[u]
		for c.need[u] > 0 {
			c.take(u, slices.Index(c.may[u], true))
		}
	}
	return true, true
}

// spare returns how many of u's pods still fit in the worst case. Every other pod group then takes
// as many as possible of the domains that u can use.
func (c *colouring) spare(u int) int {
	room := c.room[u]
	c.f.a.m.Run().Spend(len(c.f.units) * (1 + len(c.f.single)/model.PerStep))
	for x := range c.f.units {
		if c.need[x] == 0 || x == u {
			continue
		}
		shared, most := 0, 0
		for d, may := range c.may[u] {
			if may && c.may[x][d] && c.bars(u, x, d) {
				shared++
				most = max(most, c.f.holds(u, d))
			}
		}
		room -= most * min(shared, c.need[x])
	}
	return room
}

// try assigns domains to the pod groups that need more. It reports whether at most `forgone` pods
// stay unplaced.
func (c *colouring) try() bool {
	u := c.tightest()
	var dropped []int
	defer func() {
		for _, d := range dropped {
			c.may[u][d] = true
			c.room[u] += c.f.holds(u, d)
		}
	}()
	for {
		lost := 0 // pods that are certain to stay unplaced
		for u, need := range c.need {
			lost += max(0, need-c.room[u])
		}
		if c.tries--; c.tries <= 0 || lost > c.forgone {
			return false
		}
		if u < 0 {
			return true
		}
		if c.room[u] == 0 {
			return c.try() // continue without this pod group
		}
		d := slices.Index(c.may[u], true)
		barred := c.take(u, d)
		if c.try() {
			return true
		}
		// The need of the pod group follows from its remaining domains.
		c.got[u] = c.got[u][:len(c.got[u])-1]
		c.may[u][d] = true
		c.room[u] += c.f.holds(u, d)
		c.need[u] = c.f.pods[u]
		for _, had := range c.got[u] {
			c.need[u] -= min(c.f.holds(u, had), c.need[u])
		}
		for _, x := range barred {
			c.may[x][d] = true
			c.room[x] += c.f.holds(x, d)
		}
		// This domain does not work. Any domain that is open to the same pod groups does not work
		// either.
		for e := d; e < len(c.may[u]); e++ {
			if c.may[u][e] && (e == d || c.same(d, e)) {
				c.may[u][e] = false
				c.room[u] -= c.f.holds(u, e)
				dropped = append(dropped, e)
			}
		}
	}
}

// tightest returns the pod group with the least slack among those that need more domains and have
// open ones. On a tie, it returns the group with the most conflicts. It returns -1 if there is no such
// group.
func (c *colouring) tightest() int {
	c.f.a.m.Run().Spend(len(c.need) + len(c.f.single))
	best, slack, degree := -1, 0, 0
	for u, need := range c.need {
		if need == 0 || c.room[u] == 0 {
			continue
		}
		left, conflicts := c.room[u]-need, 0
		if best >= 0 && left > slack {
			continue
		}
		for x, is := range c.conflict[u] {
			if is && c.need[x] > 0 {
				conflicts++
			}
		}
		if best < 0 || left < slack || conflicts > degree {
			best, slack, degree = u, left, conflicts
		}
	}
	return best
}

// same reports whether two domains are open to the same pod groups. Such domains are equivalent.
func (c *colouring) same(d, e int) bool {
	c.f.a.m.Run().Spend(1 + len(c.need)/model.PerStep)
	if c.f.single[d] != c.f.single[e] {
		return false
	}
	for u, need := range c.need {
		if need > 0 && c.may[u][d] != c.may[u][e] {
			return false
		}
	}
	return true
}

// take assigns a domain to a pod group. It returns the pod groups that are now barred from it.
func (c *colouring) take(u, d int) []int {
	c.f.a.m.Run().Spend(1 + len(c.f.units)/2)
	c.got[u] = append(c.got[u], d)
	pods := c.f.holds(u, d)
	c.may[u][d] = false
	c.room[u] -= pods
	c.need[u] -= min(pods, c.need[u])
	var barred []int
	for x := range c.f.units {
		if c.may[x][d] && c.bars(x, u, d) {
			c.may[x][d] = false
			c.room[x] -= c.f.holds(x, d)
			barred = append(barred, x)
		}
	}
	return barred
}

// run places the pods according to the coloring. It skips placements that the state rejects.
func (c *colouring) run() []step {
	a, f := c.f.a, c.f
	var run []step
	put := func(u int, n int32, pods int) {
		for range pods {
			if i := f.units[u]; a.takes(i, int(n)) {
				a.place(i, int(n))
				run = append(run, step{i, int(n)})
			}
		}
	}
	for u, left := range f.pods {
		if f.free[u] >= 0 {
			put(u, f.free[u], left)
			continue
		}
		for _, d := range c.got[u] {
			pods := min(left, c.f.holds(u, d))
			put(u, f.at[u][d], pods)
			left -= pods
		}
	}
	a.undo(run)
	return run
}
