package search

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// The closed forms settle a single pod group whose maximal states all place the same
// number of pods, or whose maximal states differ only in the domain that the first pod
// picks, so that a greedy run per domain is enough. Each form was checked against
// enumeration of all runs (decide_test.go).

// closedForms settles components of one pod group, and bounds a pod group by itself.
type closedForms struct{ *state }

// settled returns the outcome of a component of one pod group with the given best and
// worst runs.
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
// except running ones.
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

// nest reports whether the keys can be ordered so that every domain of one lies within a
// domain of the previous one, on the nodes of the pod group. Nodes that lack the outer
// key may share an inner domain, but not with nodes that have it.
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

// orderless settles one pod group where every run places as many pods (T1, T3).
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

// runAlone returns a run of a pod group that has the nodes to itself, if all maximal runs of it
// have the same length. With nested anti-affinity and limits by node, the placements are the
// independent sets of a laminar matroid (R-M1, R-M5). With a single hard spread constraint that
// counts only its own pods, and anti-affinity within the domains, the number of pods is, in any
// order, the sum over domains of min(room, least room + maxSkew) (R-M2).
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

// even reports whether a pod group has a single spread constraint, over its own pods, and
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

// mostAlone returns how many pods of a pod group can be placed if it has the nodes to
// itself, if a closed form covers it. Other pods never increase that number.
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

// selfAffinity settles one pod group whose pods must be together and may be with no other
// pods: the first pod picks the domains and the rest follow, so the best run picks the
// roomiest domains and the worst run the least roomy ones (R-M4).
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
