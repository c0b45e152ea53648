package search

import (
	"encoding/binary"
	"slices"
)

// grounded proves pod group by pod group that none is overcommitted out: first those that need
// nobody, then those that find a node beside any pod of one that is proved to be
// there, as all its pods are placed in the end. It is nil if the proof fails for
// some pod group. The second answer tells whether somebody's company had a part in it,
// so that it says nothing of states in which pods were taken away.
func (a *instance) grounded(c component) (all, near bool) {
	proved := map[int]bool{}
	var waiting []int
	for _, i := range c.units {
		switch u := a.units[i]; {
		case u.pods == 0:
		case u.kubelet, len(u.near) > 0 && u.g.Kind.PerNode():
			return false, false
		case len(u.near) > 0:
			waiting = append(waiting, i)
		case !a.safe(c, i):
			return false, false
		default:
			proved[i] = true
		}
	}
	near = len(waiting) > 0
	for progress := true; progress && len(waiting) > 0; {
		before := len(waiting)
		waiting = slices.DeleteFunc(waiting, func(i int) bool {
			proved[i] = a.beside(c, i, proved)
			return proved[i]
		})
		progress = len(waiting) < before
	}
	return len(waiting) == 0, near
}

// beside proves it for a pod group that needs company: wherever the pods of one pod group
// are that is sure to be there, not all nodes near them can be closed; or
// wherever those of any pod group are, if the first pod needs none.
func (a *instance) beside(c component, i int, proved map[int]bool) bool {
	u := a.units[i]
	if len(a.binding(i)) > 0 {
		return false
	}
	known := map[string]bool{}
	open := func(j located) bool {
		return a.units[j.unit].pods == 0 || !slices.ContainsFunc(a.units[j.unit].nodes.list, func(n int32) bool { return !a.openNear(c, i, n, known) })
	}
	for _, j := range u.company {
		if v := a.units[j.unit]; j.unit != i && j.place == 0 && proved[j.unit] && v.pods > 0 && open(j) {
			return true
		}
	}
	nodes := a.carrying(u)
	return u.first && !slices.ContainsFunc(u.company, func(j located) bool { return j.unit != i && !open(j) }) &&
		a.closable(c, i, nodes, u.pods-1) < len(nodes) &&
		!slices.ContainsFunc(nodes, func(n int32) bool { return !a.openNear(c, i, n, known) })
}

// openNear tells whether others leave open one of the nodes of a pod group that share
// the domains of all its affinity keys with a node.
func (a *instance) openNear(c component, i int, at int32, known map[string]bool) bool {
	u := a.units[i]
	var id []byte
	for _, k := range u.near {
		id = binary.AppendVarint(id, int64(a.domain[k][at]))
		if a.domain[k][at] < 0 {
			return false
		}
	}
	open, asked := known[string(id)]
	if !asked {
		nodes := slices.DeleteFunc(a.carrying(u), func(n int32) bool {
			return slices.ContainsFunc(u.near, func(k int) bool { return a.domain[k][n] != a.domain[k][at] })
		})
		open = a.closable(c, i, nodes, u.pods-1) < len(nodes)
		known[string(id)] = open
	}
	return open
}

// carrying are the nodes of a pod group that carry the keys of all its rules.
func (a *instance) carrying(u *podGroup) []int32 {
	return slices.DeleteFunc(slices.Clone(u.nodes.list), func(n int32) bool {
		return !a.carries(int(n), u.keys) || !a.carries(int(n), u.near)
	})
}

// binding are the spread constraints of a pod group that may refuse a pod: so many
// pods that count as the skew allows in one domain are never too many.
func (a *instance) binding(i int) []*constraint {
	u := a.units[i]
	return slices.DeleteFunc(slices.Clone(u.spreads), func(s *constraint) bool {
		pods := s.self
		for _, j := range s.watch {
			pods += a.others(i, j.unit, u.pods-1)
		}
		return pods <= s.maxSkew
	})
}
