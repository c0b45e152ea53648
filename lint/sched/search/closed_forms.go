package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// The closed forms settle a single pod group whose maximal states all place the same
// number of pods, or whose pods differ only in which domain the first one
// picks, so that one greedy run tells everything. Each was checked against
// enumeration of all runs (decide_test.go).

// settled is the outcome of a component of one pod group that places most pods in
// its best run and least in its worst.
func (a *instance) settled(c component, best, worst []step) outcome {
	o := outcome{component: c, decided: true, exact: true, best: best, worst: worst, most: len(best), least: len(worst)}
	o.ownMost, o.ownLeast = []int{o.most}, []int{o.least}
	o.always, o.never = o.least == c.pods, o.most < c.pods
	if o.always || o.never {
		o.proof.Kind = certificate.Shape
	}
	return o
}

// alone reports whether the component is one pod group with nobody in the way.
func (a *instance) alone(c component) (int, *podGroup, bool) {
	if len(c.units) != 1 {
		return 0, nil, false
	}
	i := c.units[0]
	u := a.units[i]
	for _, x := range u.apart {
		if x.place != 0 || x.unit != i && !a.units[x.unit].g.Running {
			return 0, nil, false
		}
	}
	return i, u, true
}

// selfKeys are the keys on which pods of the pod group keep away from one another.
func (u *podGroup) selfKeys(i int) []int {
	var keys []int
	for _, x := range u.apart {
		if x.unit == i {
			keys = append(keys, x.key)
		}
	}
	return keys
}

// nest reports whether the keys can be ordered so that every domain of one lies
// within a domain of the one before it, on the nodes of the pod group. Nodes that
// lack the outer key may share an inner domain, but not with nodes that have it.
func (a *instance) nest(u *podGroup, keys []int) bool {
	keys = slices.Clone(keys)
	slices.SortStableFunc(keys, func(x, y int) int { return a.sizes[x] - a.sizes[y] })
	for i := 1; i < len(keys); i++ {
		outer := map[int32]int32{}
		for _, n := range u.nodes.list {
			fine, coarse := a.domain[keys[i]][n], a.domain[keys[i-1]][n]
			if fine < 0 {
				continue
			}
			if was, seen := outer[fine]; seen && was != coarse {
				return false
			}
			outer[fine] = coarse
		}
	}
	return true
}

// laminar settles one pod group with nested anti-affinity and limits by node: the
// placements are the independent sets of a laminar matroid, so every maximal
// one has the same size (R-M1, R-M5).
func (a *instance) laminar(c component) (outcome, bool) {
	i, u, ok := a.alone(c)
	if !ok || len(u.near)+len(u.spreads) > 0 || !a.nest(u, u.selfKeys(i)) {
		return outcome{}, false
	}
	run := a.fill(i, u.nodes.list, c.pods)
	a.undo(run)
	return a.settled(c, run, run), true
}

// fill places pods of a pod group on nodes in turn, each until it is full, as long
// as there are pods. What is blocked stays blocked, so one pass is enough.
func (a *instance) fill(i int, nodes []int32, pods int) []step {
	var run []step
	for _, n := range nodes {
		for len(run) < pods && a.takes(i, int(n)) {
			a.place(i, int(n))
			run = append(run, step{i, int(n)})
		}
	}
	return run
}

func (a *instance) undo(run []step) {
	for _, s := range run {
		a.unplace(s.unit, s.node)
	}
}

// oneSpread settles one pod group with one hard spread constraint that counts its
// own pods only, and anti-affinity within the domains: the number of pods is
// the sum over domains of min(room, least room + maxSkew), in any order (R-M2).
func (a *instance) oneSpread(c component) (outcome, bool) {
	i, u, ok := a.alone(c)
	if !ok || !a.even(i) {
		return outcome{}, false
	}
	run := a.fillEvenly(i, u.spreads[0], c.pods)
	a.undo(run)
	return a.settled(c, run, run), true
}

// even reports whether a pod group has one spread over its own pods, and keeps apart
// within its domains at most.
func (a *instance) even(i int) bool {
	u := a.units[i]
	if len(u.near) > 0 || len(u.spreads) != 1 {
		return false
	}
	s, keys := u.spreads[0], u.selfKeys(i)
	return s.self == 1 && slices.Equal(s.watch, []located{{unit: i}}) && a.nest(u, append(keys, s.key)) &&
		!slices.ContainsFunc(keys, func(k int) bool { return a.sizes[k] < a.sizes[s.key] || !a.within(u, k, s.key) })
}

// mostAlone is how many pods of a pod group can be placed if it has the nodes to
// itself, where a closed form tells; with others about it is no more.
func (a *instance) mostAlone(i int) (int, bool) {
	u := a.units[i]
	if u.after != nil || u.somewhere() {
		return 0, false
	}
	if !slices.ContainsFunc(u.nodes.list, func(n int32) bool { return a.carries(int(n), u.keys) && a.carries(int(n), u.near) }) {
		return 0, true
	}
	var run []step
	switch {
	case len(u.near)+len(u.spreads) == 0 && a.nest(u, u.selfKeys(i)):
		run = a.fill(i, u.nodes.list, u.pods)
	case a.even(i):
		run = a.fillEvenly(i, u.spreads[0], u.pods)
	default:
		return 0, false
	}
	a.undo(run)
	return len(run), true
}

// within reports whether every domain of a key lies in one domain of another.
func (a *instance) within(u *podGroup, inner, outer int) bool {
	seen := map[int32]int32{}
	for _, n := range u.nodes.list {
		fine, coarse := a.domain[inner][n], a.domain[outer][n]
		if fine < 0 {
			continue
		}
		if was, ok := seen[fine]; ok && was != coarse {
			return false
		}
		seen[fine] = coarse
	}
	return true
}

// fillEvenly always takes the domain with the fewest pods that has room.
func (a *instance) fillEvenly(i int, s *constraint, pods int) []step {
	byDomain := map[int32][]int32{}
	for _, n := range a.units[i].nodes.list {
		if d := a.domain[s.key][n]; d >= 0 {
			byDomain[d] = append(byDomain[d], n)
		}
	}
	order := make([]int32, 0, len(byDomain))
	for d := range byDomain {
		order = append(order, d)
	}
	slices.Sort(order)
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
					if !a.takesBut(i, n) { // full for good, not only out of turn
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
func (a *instance) takesBut(i, n int) bool {
	u := a.units[i]
	spreads := u.spreads
	u.spreads = nil
	ok := a.takes(i, n)
	u.spreads = spreads
	return ok
}

// selfAffinity settles one pod group whose pods must be together, and that only its
// own pods can be with: the first pod picks the domains and the rest follow, so
// the best run picks the roomiest and the worst the least roomy one (R-M4).
func (a *instance) selfAffinity(c component) (outcome, bool) {
	i, u, ok := a.alone(c)
	if !ok || len(u.near) == 0 || len(u.spreads) > 0 || !u.first || !slices.Equal(u.company, []located{{unit: i}}) || !a.nest(u, u.selfKeys(i)) {
		return outcome{}, false
	}
	groups := map[string][]int32{}
	var order []string
	for _, n := range u.nodes.list {
		if !a.carries(int(n), u.near) {
			continue
		}
		var id []byte
		for _, k := range u.near {
			d := a.domain[k][n]
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
		run := a.fill(i, groups[id], c.pods)
		a.undo(run)
		if len(run) == 0 {
			continue // no first pod goes there
		}
		if !found || len(run) > len(best) {
			best = run
		}
		if !found || len(run) < len(worst) {
			worst = run
		}
		found = true
	}
	return a.settled(c, best, worst), true
}
