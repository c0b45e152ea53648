package search

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
)

// The closed forms settle a single pod group if all maximal states have the same number of pods. Tests
// compare each form with an enumeration of all runs (decide_test.go).

// closedForms settles components with a single pod group. It also computes how many of a group's
// pods fit when no other group is present.
type closedForms struct{ *state }

// settled returns the outcome of a single-group component, given one of its runs. All runs place the same number of
// pods.
func settled(c component, run []step) outcome {
	o := outcome{component: c, decided: true, exact: true, best: run, worst: run, most: len(run), least: len(run)}
	o.ownMost, o.ownLeast = []int{o.most}, []int{o.least}
	o.always, o.never = o.least == c.pods, o.most < c.pods
	if o.always || o.never {
		o.proof.Kind = certificate.Shape
	}
	return o
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

// orderless settles a component of one pod group for which every run places the same number of pods (T1, T3). No
// other pods except running ones may block the group.
func (f closedForms) orderless(c component) (outcome, bool) {
	if len(c.units) != 1 {
		return outcome{}, false
	}
	i := c.units[0]
	if slices.ContainsFunc(f.units[i].exclusions, func(x exclusion) bool { return x.place != 0 || x.unit != i && !f.units[x.unit].g.Running }) {
		return outcome{}, false
	}
	run, ok := f.runAlone(i)
	if !ok {
		return outcome{}, false
	}
	return settled(c, run), true
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
	others := func(x exclusion) bool { return x.unit != i && f.units[x.unit].g.Running }
	if len(u.affinityKeys) == 1 && len(u.spreads) == 0 && slices.Equal(u.peers, []located{{unit: i}}) && f.nest(u, u.selfKeys(i)) && !slices.ContainsFunc(u.exclusions, others) {
		most := 0 // in one domain with the first pod (R-M4)
		for _, p := range f.divided(f.all(u), u.affinityKeys[0]) {
			run := f.fill(i, p.nodes, u.pods)
			f.undo(run)
			most = max(most, len(run))
		}
		return most, true
	}
	run, ok := f.runAlone(i)
	return len(run), ok
}
