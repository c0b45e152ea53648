package search

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// The closed forms settle a single pod group in two cases. In the first case, all maximal states
// have the same number of pods. In the second case, the number depends only on the domain of the
// first pod, and one greedy run per domain is enough. Tests compare each form with an enumeration
// of all runs (decide_test.go).

// closedForms settles components with a single pod group. It also computes how many of a group's
// pods fit when no other group is present.
type closedForms struct{ *state }

// settled returns the outcome for a single-group component, given its best and worst runs.
func settled(c component, best, worst []step) outcome {
	o := outcome{component: c, decided: true, exact: true, best: best, worst: worst, most: len(best), least: len(worst)}
	o.ownMost, o.ownLeast = []int{o.most}, []int{o.least}
	o.always, o.never = o.least == c.pods, o.most < c.pods
	if o.always || o.never {
		o.proof.Kind = certificate.Shape
	}
	return o
}

// singlePodGroup returns the component's only pod group and its index. It returns false if the
// component has several groups, or if other pods except running ones can block the group.
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

// selfKeys returns the keys on which the pod group's own pods exclude each other.
func (u *podGroup) selfKeys(i int) []int {
	var keys []int
	for _, x := range u.exclusions {
		if x.unit == i {
			keys = append(keys, x.key)
		}
	}
	return keys
}

// nest reports whether the keys can be ordered from coarse to fine on the pod group's nodes. Each
// domain of a key must then lie within one domain of the previous key. It may also lie entirely on
// nodes without the previous key.
func (f closedForms) nest(u *podGroup, keys []int) bool {
	return len(keys) < 2 || lazy.Cached(f.all(u).nested, fmt.Sprint(keys), func() bool {
		keys, nest := slices.Clone(keys), true
		slices.SortStableFunc(keys, func(x, y int) int { return f.sizes[x] - f.sizes[y] })
		for i := 1; i < len(keys) && nest; i++ {
			nest = f.lieWithin(u, keys[i], keys[i-1])
		}
		return nest
	})
}

// orderless settles a pod group for which every run places the same number of pods (T1, T3).
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

// runAlone returns a run for a pod group that has the nodes to itself, if all maximal runs of the
// group have the same length. There are two such cases. In the first, the group has only nested
// anti-affinity and per-node limits. Its placements are then the independent sets of a laminar
// matroid (R-M1, R-M5). In the second, a single hard spread constraint counts only the group's own
// pods. Any anti-affinity must apply only within the constraint's domains. A domain's room is how
// many pods fit in it. Any order places min(room, least room + maxSkew) pods in each domain (R-M2).
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

// even reports whether a pod group has exactly one spread constraint, which counts only the group's
// own pods. Any anti-affinity must apply only within the constraint's domains.
func (f closedForms) even(i int) bool {
	u := f.units[i]
	if len(u.affinityKeys) > 0 || len(u.spreads) != 1 {
		return false
	}
	s, keys := u.spreads[0], u.selfKeys(i)
	return s.self == 1 && slices.Equal(s.watch, []located{{unit: i}}) && f.nest(u, append(keys, s.key)) &&
		!slices.ContainsFunc(keys, func(k int) bool { return f.sizes[k] < f.sizes[s.key] || !f.within(u, k, s.key) })
}

// mostAlone returns how many of a pod group's pods can be placed when it has the nodes to itself.
// Other pods never increase this number. It returns false if no closed form gives the number.
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

// selfAffinity settles a pod group whose pods must run together because only its own pods satisfy
// its required affinity. The first pod chooses the domains, and the other pods must join it. The
// best run chooses the domains that hold the most pods. The worst run chooses the domains that hold
// the fewest pods (R-M4).
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

// The functions below find how many pods the best and worst runs of a conflict graph place, in
// total and per pod group. All rules are hereditary: a rule that rejects a pod keeps rejecting it.
// So a pod group that goes first places as many pods as it can without the others. The matching of
// T8 gives the smallest number of pods for each group. Only the totals require a search.

// maxFewest and maxMost limit the work of finding the smallest and the largest number of pods in a
// run. Each choice in a search costs one step per examined pair of pod group and domain.
const (
	maxFewest = 6_000_000
	maxMost   = 6_000_000
)

// exactly sets the exact pod counts of a decided outcome, if it can find them within the limits.
func (f *conflictGraph) exactly(o *outcome) {
	if len(o.owners) != len(o.units) {
		return
	}
	for u, row := range f.closes {
		for x, closes := range row {
			if closes != f.closes[x][u] { // the exclusion depends on which pod comes second
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

// bounds returns the most and the fewest pods that can be placed for each pod group.
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

// holds returns how many of a pod group's pods fit in an otherwise empty domain.
func (f *conflictGraph) holds(u, d int) int {
	if f.single[d] || f.closes[u][u] {
		return 1
	}
	return f.pods[u]
}

// most returns a run that places as many pods as possible, or nil if it finds none within the
// limit. It looks for colorings and allows one more unplaced pod in each attempt.
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

// fewest searches for the placement with the fewest pods to which no more pods can be added.
type fewest struct {
	f *conflictGraph
	// `in` marks the domains where a pod group has pods. `barred` marks the domains that it must
	// avoid. used counts the group's placed pods. full is set once all of the group's pods are
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

// fewest searches for the maximal placement with the fewest pods. It returns nil if that takes too
// long. The argument known is the length of a known run. The argument own holds the smallest number
// of pods that each pod group can place. Pod groups that are always placed completely count as
// placed from the start.
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

// search continues while the placement has fewer pods than the best one so far. If a pod group
// still fits in a domain, a maximal placement must contain one of two things: another pod of the
// group, or a pod that keeps the group out of the domain. After search has tried such a choice, it
// bars the choice while it tries the others.
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
			s.full[c.unit] = true // the remaining pods follow, because nothing can keep them out
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

// tightest returns the choices for the pod group and domain with the fewest choices. The result
// open reports whether any pod group still fits in a domain.
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
			// Another pod of the group, or a pod that keeps the group out of the domain.
			var options []choice
			for x := range s.f.units {
				if x != u && (s.f.closes[u][x] || s.f.single[d]) && s.fits(x, d) && !s.barred[x][d] {
					options = append(options, choice{x, d})
				}
			}
			for e := range s.f.single {
				if s.fits(u, e) && !s.barred[u][e] {
					options = append(options, choice{u, e})
				}
			}
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

// fits reports whether a domain currently accepts a pod group's first pod.
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
