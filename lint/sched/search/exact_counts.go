package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
)

// The exact numbers of a conflict graph: how many pods its best and worst runs place, of
// all pod groups and of each. All rules are hereditary, so a pod group that comes first
// gets all that it could get by itself, and the matching of T8 gives the fewest that it
// gets. What remains is how few and how many all get together.

// maxFewest and maxMost bound the work on the two: the number of choices times the pod
// groups and domains that each looks at.
const (
	maxFewest = 6_000_000
	maxMost   = 6_000_000
)

// exactly sets the numbers of a decided outcome, if they can be found within the bounds.
func (f *conflictGraph) exactly(o *outcome) {
	if len(o.owners) != len(o.units) {
		return
	}
	for u, row := range f.closes {
		for x, closes := range row {
			if closes != f.closes[x][u] { // an exclusion depends on which pod comes second
				return
			}
		}
	}
	ownMost, ownLeast := f.bounds()
	most, least := f.most(o), f.fewest(len(o.worst), ownLeast)
	if least == nil || most == nil {
		return
	}
	worst, short := greedyRuns{f.a}.after(o.component, least.run)
	if !short || len(worst) != least.best {
		return
	}
	clear(o.ownMost)
	clear(o.ownLeast)
	for k, i := range o.units {
		if u := slices.Index(f.units, i); u >= 0 {
			o.ownMost[o.owner[k]], o.ownLeast[o.owner[k]] = ownMost[u], ownLeast[u]
		}
	}
	o.best, o.worst, o.most, o.least, o.exact = most, worst, len(most), len(worst), true
}

// bounds returns how many pods each pod group gets at most and at least.
func (f *conflictGraph) bounds() (most, least []int) {
	for u, pods := range f.pods {
		room := 0
		for d, n := range f.at[u] {
			if n >= 0 {
				room += f.holds(u, d)
			}
		}
		if f.free[u] >= 0 {
			room = pods
		}
		most, least = append(most, min(pods, room)), append(least, pods)
		if c, can := f.stuckState(u); can {
			least[u] = c.own
		}
	}
	return most, least
}

// holds returns how many pods of a pod group a domain holds if it holds nothing else.
func (f *conflictGraph) holds(u, d int) int {
	if f.single[d] || f.closes[u][u] {
		return 1
	}
	return f.pods[u]
}

// most returns a run that places as many pods as possible, or nil if it cannot be found:
// it looks for colourings that leave out more and more pods.
func (f *conflictGraph) most(o *outcome) []step {
	tries := maxMost / max(1, len(f.units)*(len(f.units)+len(f.single)))
	for lost := o.pods - o.most; lost < o.pods-len(o.best); lost++ {
		c := f.colouring(false)
		c.forgone, c.tries = lost, tries
		found, done := c.solve()
		tries = c.tries
		if !done {
			return nil
		}
		if found {
			run := c.run()
			if len(run) < o.pods-lost {
				return nil
			}
			return run
		}
	}
	return o.best
}

// fewest is a search for the placement with the fewest pods after which nothing fits.
type fewest struct {
	f *conflictGraph
	// in says which domains a pod group has pods in, barred which ones it must avoid; used
	// is the number of its pods placed so far. full is set once all its pods are sure to be
	// placed.
	in, barred [][]bool
	used       []int
	full       []bool
	path       []choice
	placed     int
	tries      int
	best       int
	run        []step
}

type choice struct{ unit, domain int }

// fewest searches for that placement and returns nil if it takes too long. known is the
// number of pods of a known run, and own the fewest that each pod group gets: pod groups
// that always get all are counted as placed from the start.
func (f *conflictGraph) fewest(known int, own []int) *fewest {
	s := &fewest{f: f, used: make([]int, len(f.units)), full: make([]bool, len(f.units)), best: known + 1}
	s.tries = maxFewest / max(1, len(f.units)*len(f.units)*len(f.single))
	for u := range f.units {
		s.in, s.barred = append(s.in, make([]bool, len(f.single))), append(s.barred, make([]bool, len(f.single)))
		if own[u] == f.pods[u] {
			s.full[u] = true
			s.placed += f.pods[u]
		}
	}
	s.search()
	if s.tries <= 0 || s.best > known {
		return nil
	}
	return s
}

// search continues as long as fewer pods are placed than in the best placement so far. If
// a pod group still fits into a domain, either one of its pods is placed somewhere, or a
// pod that keeps it out of the domain is placed there. Each of these choices is barred
// for the following ones once it has been tried.
func (s *fewest) search() {
	if s.tries--; s.tries <= 0 || s.placed >= s.best {
		return
	}
	options, open := s.tightest()
	if !open {
		s.best, s.run = s.placed, nil
		for _, c := range s.path {
			s.run = append(s.run, step{s.f.units[c.unit], int(s.f.at[c.unit][c.domain])})
		}
		return
	}
	for _, c := range options {
		full, placed := s.full[c.unit], s.placed
		s.in[c.unit][c.domain] = true
		s.used[c.unit]++
		switch {
		case full:
		case !s.f.single[c.domain] && !s.f.closes[c.unit][c.unit]:
			s.full[c.unit] = true // the rest follows, as nothing keeps it out there
			s.placed += s.f.pods[c.unit] - s.used[c.unit] + 1
		default:
			s.full[c.unit] = s.used[c.unit] == s.f.pods[c.unit]
			s.placed++
		}
		s.path = append(s.path, c)
		s.search()
		s.path = s.path[:len(s.path)-1]
		s.used[c.unit]--
		s.in[c.unit][c.domain] = false
		s.full[c.unit], s.placed = full, placed
		s.barred[c.unit][c.domain] = true
	}
	for _, c := range options {
		s.barred[c.unit][c.domain] = false
	}
}

// tightest returns the choices for the pod group and domain with the fewest of them, and
// whether any pod group still fits into a domain.
func (s *fewest) tightest() (best []choice, open bool) {
	s.f.a.m.Run().Spend(len(s.full))
	for u, full := range s.full {
		if full {
			continue
		}
		s.f.a.m.Run().Spend(len(s.f.single))
		for d := range s.f.single {
			if !s.fits(u, d) {
				continue
			}
			options := s.options(u, d)
			if !open || len(options) < len(best) {
				best, open = options, true
			}
			if len(best) == 0 {
				return nil, true
			}
		}
	}
	return best, open
}

// options returns the choices for a pod group that still fits into a domain: one of them
// must come.
func (s *fewest) options(u, d int) []choice {
	var list []choice
	for x := range s.f.units {
		if x != u && (s.f.closes[u][x] || s.f.single[d]) && s.fits(x, d) && !s.barred[x][d] {
			list = append(list, choice{x, d})
		}
	}
	for e := range s.f.single {
		if s.fits(u, e) && !s.barred[u][e] {
			list = append(list, choice{u, e})
		}
	}
	return list
}

// fits reports whether a domain takes a first pod of a pod group now.
func (s *fewest) fits(u, d int) bool {
	s.f.a.m.Run().Spend(1 + len(s.f.units)/model.PerStep)
	if s.f.at[u][d] < 0 || s.in[u][d] || s.used[u] == s.f.pods[u] {
		return false
	}
	for x := range s.f.units {
		if s.in[x][d] && (s.f.single[d] || s.f.closes[u][x]) {
			return false
		}
	}
	return true
}
