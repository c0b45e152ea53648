package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// Whether all pods of a field find room at once is a colouring, where a pod group
// that excludes itself takes several colours and may use some of them only.
// With few conflicts or few domains it is decided in no time: pod groups that are
// sure to find room in the end are put off, and what is left is tried with the
// tightest pod group first, like domains being tried but once.

// maxColouring bounds the work on one colouring: choices by pod groups by what one
// looks at.
const maxColouring = 40_000_000

// colouring is the pod groups of a field that have domains to get.
type colouring struct {
	f *conflictGraph
	// conflict tells by pod group with whom it cannot share a domain.
	conflict [][]bool
	// may tells which domains are still open to a pod group, and gives how many pods
	// each would take; room is the sum, need what it has yet to place.
	may        [][]bool
	room, need []int
	got        [][]int // domains, in the order in which they were taken
	// forgone is how many pods may be left over; tries is what is left of the
	// choices.
	forgone, tries int
}

// colour says whether all pods of the field find room at once: with a run, by
// lowering the most, or not at all.
func (f *conflictGraph) colour(o *outcome) {
	for _, sided := range []bool{false, true} {
		// A pod that only keeps out who comes later can share a domain with
		// those that came before: no conflict in a refutation, and one in a run.
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
					c.room[u] += c.takes(u, d)
				}
			}
		}
		c.may = append(c.may, may)
	}
	return c
}

// takes is how many pods of a pod group a domain takes at most.
func (c *colouring) takes(u, d int) int {
	return c.f.holds(u, d)
}

// bars tells whether one pod group in a domain keeps another out.
func (c *colouring) bars(u, x, d int) bool {
	return u != x && (c.conflict[u][x] || c.f.single[d])
}

// solve tells whether everything finds room, and whether it got to know.
func (c *colouring) solve() (found, done bool) {
	last := c.peel()
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

// peel puts off the pod groups that find room whatever the rest does, and gives them
// in that order: the last one put off is sure of its room while those before it
// are not there yet. They need nothing in the meantime, so they bar nobody.
func (c *colouring) peel() []int {
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
	return last
}

// spare is the room that is left to a pod group if the others that need something
// take as much of it as they can, each taking no domain that it does not need.
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
				most = max(most, c.takes(u, d))
			}
		}
		room -= most * min(shared, c.need[x])
	}
	return room
}

// try gives domains to the pod groups that need some; no more pods than are forgone
// may be left over.
func (c *colouring) try() bool {
	u := c.tightest()
	var dropped []int
	defer func() {
		for _, d := range dropped {
			c.may[u][d] = true
			c.room[u] += c.takes(u, d)
		}
	}()
	for {
		if c.tries--; c.tries <= 0 || c.lost() > c.forgone {
			return false
		}
		if u < 0 {
			return true
		}
		if c.room[u] == 0 {
			return c.try() // without it
		}
		d := slices.Index(c.may[u], true)
		barred := c.take(u, d)
		if c.try() {
			return true
		}
		c.give(u, d, barred)
		// Neither that domain nor one that is open to the same pod groups.
		for e := d; e < len(c.may[u]); e++ {
			if c.may[u][e] && (e == d || c.same(d, e)) {
				c.may[u][e] = false
				c.room[u] -= c.takes(u, e)
				dropped = append(dropped, e)
			}
		}
	}
}

// lost is how many pods are sure to be left over.
func (c *colouring) lost() int {
	sum := 0
	for u, need := range c.need {
		sum += max(0, need-c.room[u])
	}
	return sum
}

// tightest is the pod group with the least choice among those that need something
// and may get it, with the most conflicts if there are several, or -1.
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

// same tells whether two domains are open to the same pod groups, which makes them
// alike in all that is still to be decided.
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

// take gives a domain to a pod group and returns whom that bars from it.
func (c *colouring) take(u, d int) []int {
	c.f.a.m.Run().Spend(1 + len(c.f.units)/2)
	c.got[u] = append(c.got[u], d)
	pods := c.takes(u, d)
	c.may[u][d] = false
	c.room[u] -= pods
	c.need[u] -= min(pods, c.need[u])
	var barred []int
	for x := range c.f.units {
		if c.may[x][d] && c.bars(x, u, d) {
			c.may[x][d] = false
			c.room[x] -= c.takes(x, d)
			barred = append(barred, x)
		}
	}
	return barred
}

// give takes it back; a pod group that needs several takes one pod to each, so what
// it needed before is known.
func (c *colouring) give(u, d int, barred []int) {
	c.got[u] = c.got[u][:len(c.got[u])-1]
	c.may[u][d] = true
	c.room[u] += c.takes(u, d)
	c.need[u] = c.f.pods[u]
	for _, had := range c.got[u] {
		c.need[u] -= min(c.takes(u, had), c.need[u])
	}
	for _, x := range barred {
		c.may[x][d] = true
		c.room[x] += c.takes(x, d)
	}
}

// run places the pods where the colouring has them; shorter if one was refused.
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
			pods := min(left, c.takes(u, d))
			put(u, f.at[u][d], pods)
			left -= pods
		}
	}
	a.undo(run)
	return run
}
