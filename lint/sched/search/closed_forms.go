package search

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// The closed forms settle a single pod group if all of its maximal states place the same number of
// pods, or if they differ only in the domain that the first pod picks. In the second case, one
// greedy run per domain is enough. Tests compare each form with enumeration of all runs
// (decide_test.go).

// closedForms settles components of one pod group, and computes how many pods of a group fit by
// itself.
type closedForms struct{ *state }

// settled returns the outcome of a component of one pod group with the given best and worst runs.
func settled(c component, best, worst []step) outcome {
	o := outcome{component: c, decided: true, exact: true, best: best, worst: worst, most: len(best), least: len(worst)}
	o.ownMost, o.ownLeast = []int{o.most}, []int{o.least}
	o.always, o.never = o.least == c.pods, o.most < c.pods
	if o.always || o.never {
		o.proof.Kind = certificate.Shape
	}
	return o
}

// singlePodGroup reports whether the component is a single pod group that no other pods can block,
// except running ones. It also returns the pod group and its index.
func (f closedForms) singlePodGroup(c component) (int, *podGroup, bool) {
	if len(c.units) != 1 {
		return 0, nil, false
	}
	i := c.units[0]
	u := f.units[i]
	for _, x := range u.exclusions {
		if x.place != 0 || x.unit != i && !f.units[x.unit].g.Running {
			return 0, nil, false
		}
	}
	return i, u, true
}

// selfKeys returns the keys on which pods of the pod group exclude each other.
func (u *podGroup) selfKeys(i int) []int {
	var keys []int
	for _, x := range u.exclusions {
		if x.unit == i {
			keys = append(keys, x.key)
		}
	}
	return keys
}

// nest reports whether the keys can be ordered so that every domain of one lies within a domain of
// the previous one, on the nodes of the pod group. Nodes that lack the outer key may share an inner
// domain, but not with nodes that have it.
func (f closedForms) nest(u *podGroup, keys []int) bool {
	if len(keys) < 2 {
		return true
	}
	return model.Cached(f.all(u).nested, fmt.Sprint(keys), func() bool {
		keys, nest := slices.Clone(keys), true
		slices.SortStableFunc(keys, func(x, y int) int { return f.sizes[x] - f.sizes[y] })
		for i := 1; i < len(keys) && nest; i++ {
			nest = f.lieWithin(u, keys[i], keys[i-1])
		}
		return nest
	})
}

// orderless settles one pod group if every run places the same number of pods (T1, T3).
func (f closedForms) orderless(c component) (outcome, bool) {
	i, _, ok := f.singlePodGroup(c)
	if !ok {
		return outcome{}, false
	}
	run, ok := f.runAlone(i)
	if !ok {
		return outcome{}, false
	}
	o := settled(c, run, run)
	o.orderless = true
	return o, true
}

// runAlone returns a run of a pod group that has the nodes to itself, if all maximal runs of the
// group have the same length. With nested anti-affinity and limits by node, the placements are the
// independent sets of a laminar matroid (R-M1, R-M5). With a single hard spread constraint that
// counts only the group's own pods, and anti-affinity within the domains, the number of placed pods
// in any order is the sum over domains of min(room, least room + maxSkew), where the room of a
// domain is the number of pods that fit in it (R-M2).
func (f closedForms) runAlone(i int) (run []step, ok bool) {
	u := f.units[i]
	switch {
	case len(u.affinityKeys)+len(u.spreads) == 0 && f.nest(u, u.selfKeys(i)):
		run = f.fill(i, u.nodes.list, u.pods)
	case f.even(i):
		run = f.fillEvenly(i, u.spreads[0], u.pods)
	default:
		return nil, false
	}
	f.undo(run)
	return run, true
}

// even reports whether a pod group has a single spread constraint over its own pods, and
// anti-affinity at most within the domains of that constraint.
func (f closedForms) even(i int) bool {
	u := f.units[i]
	if len(u.affinityKeys) > 0 || len(u.spreads) != 1 {
		return false
	}
	s, keys := u.spreads[0], u.selfKeys(i)
	return s.self == 1 && slices.Equal(s.watch, []located{{unit: i}}) && f.nest(u, append(keys, s.key)) &&
		!slices.ContainsFunc(keys, func(k int) bool { return f.sizes[k] < f.sizes[s.key] || !f.within(u, k, s.key) })
}

// mostAlone returns how many pods of a pod group can be placed if it has the nodes to itself, and
// whether a closed form gives that number. Other pods never increase the number.
func (f closedForms) mostAlone(i int) (int, bool) {
	u := f.units[i]
	if f.unplaceable[i] {
		return 0, true
	}
	if u.createdAfter != nil || u.somewhere() {
		return 0, false
	}
	if !slices.ContainsFunc(u.nodes.list, func(n int32) bool { return f.carries(int(n), u.keys) && f.carries(int(n), u.affinityKeys) }) {
		return 0, true
	}
	run, ok := f.runAlone(i)
	return len(run), ok
}

// selfAffinity settles one pod group whose pods must be together, and whose required affinity only
// its own pods satisfy. The first pod picks the domains and the rest follow. So the best run picks
// the domains that hold the most pods, and the worst run those that hold the fewest (R-M4).
func (f closedForms) selfAffinity(c component) (outcome, bool) {
	i, u, ok := f.singlePodGroup(c)
	if !ok || len(u.affinityKeys) == 0 || len(u.spreads) > 0 || !u.first || !slices.Equal(u.peers, []located{{unit: i}}) || !f.nest(u, u.selfKeys(i)) {
		return outcome{}, false
	}
	groups := map[string][]int32{}
	var order []string
	for _, n := range u.nodes.list {
		if !f.carries(int(n), u.affinityKeys) {
			continue
		}
		var id []byte
		for _, k := range u.affinityKeys {
			d := f.domain[k][n]
			id = append(id, byte(d), byte(d>>8), byte(d>>16), byte(d>>24))
		}
		if groups[string(id)] == nil {
			order = append(order, string(id))
		}
		groups[string(id)] = append(groups[string(id)], n)
	}
	var best, worst []step
	found := false
	for _, id := range order {
		run := f.fill(i, groups[id], c.pods)
		f.undo(run)
		if len(run) == 0 {
			continue // no first pod fits there
		}
		if !found || len(run) > len(best) {
			best = run
		}
		if !found || len(run) < len(worst) {
			worst = run
		}
		found = true
	}
	return settled(c, best, worst), true
}

// The exact numbers of a conflict graph are the numbers of pods that its best and worst runs place,
// in total and for each pod group. All rules are hereditary: a rule that refuses a pod keeps
// refusing it. So a pod group that comes first gets the same number of pods as it would by itself,
// and the matching of T8 gives the smallest number that it gets. It remains to find the smallest
// and the largest total.

// maxFewest and maxMost limit the work of finding the two totals. The unit is one choice times the
// pod groups and domains that it examines.
const (
	maxFewest = 6_000_000
	maxMost   = 6_000_000
)

// exactly sets the numbers of a decided outcome, if they can be found within the limits.
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

// bounds returns the largest and the smallest number of placed pods of each pod group.
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

// holds returns how many pods of a pod group a domain can hold if it holds no other pods.
func (f *conflictGraph) holds(u, d int) int {
	if f.single[d] || f.closes[u][u] {
		return 1
	}
	return f.pods[u]
}

// most returns a run that places as many pods as possible, or nil if none is found within the
// limit. It looks for colorings that leave out more and more pods.
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
	// in marks the domains in which a pod group has pods. barred marks the domains that it must
	// avoid. used is the number of its pods placed so far. full is set once all its pods are
	// certain to be placed.
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

// fewest searches for the placement with the fewest pods and returns nil if that takes too long.
// known is the number of pods in a known run, and own the smallest number for each pod group. Pod
// groups whose pods are always all placed count as placed from the start.
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

// search continues as long as fewer pods are placed than in the best placement so far. If a pod
// group still fits into a domain, then either one of its pods must be placed somewhere, or a pod
// that keeps it out of the domain must be placed there. Once search has tried one of these choices,
// it bars the choice for the following ones.
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
			s.full[c.unit] = true // the rest follows, because nothing keeps it out there
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

// tightest returns the choices for the pod group and domain with the fewest choices, and whether
// any pod group still fits into a domain.
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

// options returns the choices for a pod group that still fits into a domain. One of them must be
// made.
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

// fits reports whether a domain accepts a first pod of a pod group in the current state.
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
