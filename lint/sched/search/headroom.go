package search

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// headroom shows of pod groups that others cannot close all of their nodes.
type headroom struct{ *state }

// closable bounds how many of some of the pod group's nodes can be closed to one more
// of its pods, if own of them are there.
func (h headroom) closable(c component, i int, nodes []int32, own int) int {
	u := h.units[i]
	h.m.Run().Spend(1 + (len(u.apart)+len(nodes))/2)
	closed := 0
	if len(u.clashes) > 0 {
		h.m.Run().Spend(len(h.units) * (1 + len(u.clashes)/model.PerStep))
		for j, v := range h.units {
			if u.clashesWith(v) {
				closed += h.others(i, j, own)
			}
		}
	}
	if h.contend {
		closed += h.crampable(c, i, nodes, own)
	}
	if closed >= len(nodes) {
		return closed // what follows costs more
	}
	return closed + newClosing(h.state, i, nodes, own).most(len(nodes)-closed)
}

// crampable bounds how many of the pod group's nodes others can leave too little
// space on: each takes at least what is free there less what a pod asks, and
// one pod group more. Pods that close every node that they are on by a rule are
// charged for that already.
func (h headroom) crampable(c component, i int, nodes []int32, own int) int {
	u := h.units[i]
	closed := 0
	units := h.crampers(c, i, nodes)
	for r, ask := range u.ask {
		if ask == 0 {
			continue
		}
		demand := int64(0)
		h.m.Run().Spend(1 + len(units)/model.PerStep + len(nodes)/2)
		for _, j := range units {
			demand += h.units[j].ask[r] * int64(h.others(i, j, own))
		}
		var need []int64
		for _, n := range nodes {
			if free := h.left(int(n))[r]; free != math.MaxInt64 {
				need = append(need, free-ask+1)
			}
		}
		slices.Sort(need)
		for _, t := range need {
			if demand < t {
				break
			}
			demand -= t
			closed++
		}
	}
	return closed
}

// crampers are the pod groups whose pods may be on some nodes of a pod group without
// closing them to it by a rule.
func (h headroom) crampers(c component, i int, nodes []int32) []int {
	ruled := map[int]bool{}
	whole := map[int]bool{} // keys that all the nodes carry
	for _, x := range h.units[i].apart {
		carried, known := whole[x.key]
		if !known {
			carried = !slices.ContainsFunc(nodes, func(n int32) bool { return h.domain[x.key][n] < 0 })
			whole[x.key] = carried
		}
		if x.place == 0 && carried {
			ruled[x.unit] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(c.units), func(j int) bool { return ruled[j] })
}

// grounded proves pod group by pod group that none can get stuck: first those that need
// nobody, then those that find a node beside any pod of one that is proved to be
// there, as all its pods are placed in the end. It is nil if the proof fails for
// some pod group. The second answer tells whether somebody's company had a part in it,
// so that it says nothing of states in which pods were taken away.
func (h headroom) grounded(c component) (all, near bool) {
	proved := map[int]bool{}
	var waiting []int
	for _, i := range c.units {
		switch u := h.units[i]; {
		case u.pods == 0:
		case u.kubelet, len(u.near) > 0 && u.g.Kind.PerNode():
			return false, false
		case len(u.near) > 0:
			waiting = append(waiting, i)
		case !h.safe(c, i):
			return false, false
		default:
			proved[i] = true
		}
	}
	near = len(waiting) > 0
	for progress := true; progress && len(waiting) > 0; {
		before := len(waiting)
		waiting = slices.DeleteFunc(waiting, func(i int) bool {
			proved[i] = h.beside(c, i, proved)
			return proved[i]
		})
		progress = len(waiting) < before
	}
	return len(waiting) == 0, near
}

// beside proves it for a pod group that needs company: wherever the pods of one pod group
// are that is sure to be there, not all nodes near them can be closed; or
// wherever those of any pod group are, if the first pod needs none.
func (h headroom) beside(c component, i int, proved map[int]bool) bool {
	u := h.units[i]
	if len(h.binding(i)) > 0 {
		return false
	}
	known := map[string]bool{}
	open := func(j located) bool {
		return h.units[j.unit].pods == 0 || !slices.ContainsFunc(h.units[j.unit].nodes.list, func(n int32) bool { return !h.openNear(c, i, n, known) })
	}
	for _, j := range u.company {
		if v := h.units[j.unit]; j.unit != i && j.place == 0 && proved[j.unit] && v.pods > 0 && open(j) {
			return true
		}
	}
	nodes := h.carrying(u)
	return u.first && !slices.ContainsFunc(u.company, func(j located) bool { return j.unit != i && !open(j) }) &&
		h.closable(c, i, nodes, u.pods-1) < len(nodes) &&
		!slices.ContainsFunc(nodes, func(n int32) bool { return !h.openNear(c, i, n, known) })
}

// openNear tells whether others leave open one of the nodes of a pod group that share
// the domains of all its affinity keys with a node.
func (h headroom) openNear(c component, i int, at int32, known map[string]bool) bool {
	u := h.units[i]
	var id []byte
	for _, k := range u.near {
		id = binary.AppendVarint(id, int64(h.domain[k][at]))
		if h.domain[k][at] < 0 {
			return false
		}
	}
	open, asked := known[string(id)]
	if !asked {
		nodes := slices.DeleteFunc(h.carrying(u), func(n int32) bool {
			return slices.ContainsFunc(u.near, func(k int) bool { return h.domain[k][n] != h.domain[k][at] })
		})
		open = h.closable(c, i, nodes, u.pods-1) < len(nodes)
		known[string(id)] = open
	}
	return open
}

// neverStuck proves that every pod group finds a node in every state: what
// the other pods, and its own but one, can close is less than what it has. A
// pod closes at most the largest domain that is still open of each key on
// which it is kept apart, one node for a port, and nodes for lack of a resource
// only once their space is used up.
func (h headroom) neverStuck(o *outcome) bool {
	if len(o.units)*len(h.nodes) > 5_000_000 {
		return false
	}
	all, near := h.grounded(o.component)
	if all {
		o.proof = certificate.Proof{Kind: certificate.Headroom, Company: near}
	}
	return all
}

// safe proves it for one pod group. Under a hard spread that counts only its own
// pods each domain has to have room for an even share, as a domain at the
// minimum is never refused for skew.
func (h headroom) safe(c component, i int) bool {
	u := h.units[i]
	if spreads := h.binding(i); len(spreads) == 0 {
		nodes := u.nodes.list
		if len(u.keys) > 0 {
			nodes = h.carrying(u)
		}
		return h.closable(c, i, nodes, u.pods-1) < len(nodes)
	}
	if len(u.spreads) > 1 {
		return false
	}
	s := u.spreads[0]
	if s.self != 1 || !slices.Equal(s.watch, []located{{unit: i}}) || len(s.domains) < s.minDomains || len(s.domains) == 0 {
		return false
	}
	if slices.ContainsFunc(u.selfKeys(i), func(k int) bool { return !h.within(u, k, s.key) }) {
		return false // pods of one domain would close nodes of another
	}
	share := (u.pods + len(s.domains) - 1) / len(s.domains)
	by := map[int32][]int32{}
	for _, n := range u.nodes.list {
		if d := h.domain[s.key][n]; d >= 0 {
			by[d] = append(by[d], n)
		}
	}
	for _, d := range s.domains {
		if nodes := by[int32(d)]; h.closable(c, i, nodes, share-1) >= len(nodes) {
			return false
		}
	}
	return true
}
