package search

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// headroom shows of the pod groups of a component that others cannot close all of their
// nodes.
type headroom struct {
	*state
	c component
	// demand is what all pods of the component ask for, by resource.
	demand []int64
	// shown is what grounded has found out, nil before.
	shown *grounds
}

// grounds are the pod groups that never get stuck, whether they are all, and whether
// somebody's company had a part in it.
type grounds struct {
	proved    map[int]bool
	all, near bool
}

func newHeadroom(a *state, c component) *headroom { return &headroom{state: a, c: c} }

// sum adds up what all pods ask for.
func (h *headroom) sum() {
	h.m.Run().Spend(1 + len(h.c.units)*(1+len(h.resources)/model.PerStep))
	h.demand = make([]int64, len(h.resources))
	for _, i := range h.c.units {
		if h.barren[i] {
			continue
		}
		for r, ask := range h.units[i].ask {
			h.demand[r] = classes.Sum(h.demand[r], ask, h.units[i].pods)
		}
	}
}

// closable bounds how many of some of the pod group's nodes can be closed to one more
// of its pods, if own of them are there, which some of its spreads count.
func (h *headroom) closable(i int, p *place, own int, spreads ...*constraint) int {
	u := h.units[i]
	h.m.Run().Spend(1 + len(u.apart)/2)
	closed := 0
	for _, s := range spreads {
		closed += h.divide(p, s.key).first(own / s.maxSkew)
	}
	if closed >= len(p.nodes) {
		return closed
	}
	if len(u.clashes) > 0 {
		h.m.Run().Spend(len(h.units) * (1 + len(u.clashes)/model.PerStep))
		for j, v := range h.units {
			if u.clashesWith(v) {
				closed += h.others(i, j, own)
			}
		}
	}
	if h.contend {
		closed += h.crampable(i, p, own)
	}
	if closed >= len(p.nodes) {
		return closed // what follows costs more
	}
	return closed + newClosing(h.state, i, p, own).most(len(p.nodes)-closed)
}

// crampable bounds how many of the pod group's nodes others can leave too little
// space on: each takes at least what is free there less what a pod asks, and
// one pod group more. Pods that close every node that they are on by a rule are
// charged for that already.
func (h *headroom) crampable(i int, p *place, own int) int {
	u := h.units[i]
	closed := 0
	ruled := h.ruled(i, p)
	for r, ask := range u.ask {
		if ask == 0 {
			continue
		}
		h.m.Run().Spend(1 + len(ruled)/model.PerStep)
		demand := h.demand[r]
		if demand == math.MaxInt64 {
			return len(p.nodes)
		}
		if !h.barren[i] {
			demand -= ask * int64(u.pods)
		}
		if !ruled[i] {
			demand += ask * int64(own)
		}
		for j := range ruled {
			if j != i && !h.barren[j] {
				demand -= h.units[j].ask[r] * int64(h.units[j].pods)
			}
		}
		closed += h.space(p, r).closed(demand, ask)
	}
	return closed
}

// includes tells whether a pod group is one of the component, which has them in order.
func (h *headroom) includes(i int) bool {
	_, found := slices.BinarySearch(h.c.units, i)
	return found
}

// ruled are the pod groups of the component whose pods close every node of a place that
// they are on to a pod group by a rule.
func (h *headroom) ruled(i int, p *place) map[int]bool {
	var ruled map[int]bool
	for _, x := range h.units[i].apart {
		if x.place != 0 || !h.includes(x.unit) || !h.divide(p, x.key).whole {
			continue
		}
		if ruled == nil {
			ruled = map[int]bool{}
		}
		ruled[x.unit] = true
	}
	return ruled
}

// grounded proves pod group by pod group that none can get stuck: first those that need
// nobody, then those that find a node beside any pod of one that is proved to be
// there, as all its pods are placed in the end. What rests on company says nothing of
// states in which pods were taken away.
func (h *headroom) grounded() *grounds {
	if h.shown != nil {
		return h.shown
	}
	h.sum()
	proved, all := map[int]bool{}, true
	var waiting []int
	for _, i := range h.c.units {
		switch u := h.units[i]; {
		case u.pods == 0:
		case u.kubelet, len(u.near) > 0 && u.g.Kind.PerNode(), h.barren[i]:
			all = false
		case len(u.near) > 0:
			waiting = append(waiting, i)
		case h.safe(i):
			proved[i] = true
		default:
			all = false
		}
	}
	near := len(waiting) > 0
	for progress := true; progress && len(waiting) > 0; {
		before := len(waiting)
		waiting = slices.DeleteFunc(waiting, func(i int) bool {
			if h.beside(i, proved) {
				proved[i] = true
			}
			return proved[i]
		})
		progress = len(waiting) < before
	}
	h.shown = &grounds{proved, all && len(waiting) == 0, near}
	return h.shown
}

// whateverHolds is grounded for a component with rules that may be about pods or not: as
// if all of these kept apart whom they may be about (T21). Nothing is proved of a pod group
// that needs company, or whose own rules are open in another way.
func (h *headroom) whateverHolds() {
	defer h.suppose()()
	h.sum()
	h.shown = &grounds{proved: map[int]bool{}}
	for _, i := range h.c.units {
		u := h.units[i]
		if u.pods > 0 && !u.kubelet && !u.open && !u.vague && len(u.near) == 0 && h.safe(i) {
			h.shown.proved[i] = true
		}
	}
}

// suppose makes rules that may keep pod groups of the component apart do so, until they
// are given up.
func (h *headroom) suppose() (giveUp func()) {
	was := make([][]exclusion, len(h.c.units))
	for k, i := range h.c.units {
		u := h.units[i]
		h.m.Run().Spend(1 + (len(u.apart)+len(u.maybe))/model.PerStep)
		was[k] = u.apart
		u.apart = slices.Concat(u.apart, u.maybe)
	}
	return func() {
		for k, i := range h.c.units {
			h.units[i].apart = was[k]
		}
	}
}

// beside proves it for a pod group that needs company: wherever the pods of one pod group
// are that is sure to be there, not all nodes near them can be closed; or
// wherever those of any pod group are, if the first pod needs none.
func (h *headroom) beside(i int, proved map[int]bool) bool {
	u := h.units[i]
	if len(h.binding(i)) > 0 {
		return false
	}
	known := map[string]bool{}
	openAt := func(p *place) bool {
		return !slices.ContainsFunc(h.corners(p, u.near), func(n int32) bool { return !h.openNear(i, n, known) })
	}
	open := func(j located) bool {
		v := h.units[j.unit]
		return v.pods == 0 || openAt(h.all(v))
	}
	for _, j := range u.company {
		if v := h.units[j.unit]; j.unit != i && j.place == 0 && proved[j.unit] && h.created(v, proved) && v.pods > 0 && open(j) {
			return true
		}
	}
	p := h.carriers(u)
	return u.first && !slices.ContainsFunc(u.company, func(j located) bool { return j.unit != i && !open(j) }) &&
		h.closable(i, p, u.pods-1) < len(p.nodes) &&
		openAt(p)
}

// created tells whether it is proved of all pod groups that have to be placed before the pods
// of one are created: else those might wait for the very pods that want them near.
func (h *headroom) created(u *podGroup, proved map[int]bool) bool {
	for v := u.after; v != nil; v = v.after {
		if !proved[h.unitsOf[v.g.Workload][0]] {
			return false
		}
	}
	return true
}

// openNear tells whether others leave open one of the nodes of a pod group that share
// the domains of all its affinity keys with a node.
func (h *headroom) openNear(i int, at int32, known map[string]bool) bool {
	u := h.units[i]
	id := make([]byte, 0, 32)
	for _, k := range u.near {
		id = binary.AppendVarint(id, int64(h.domain[k][at]))
		if h.domain[k][at] < 0 {
			return false
		}
	}
	open, asked := known[string(id)]
	if !asked {
		p := h.near(u, at, id)
		open = h.closable(i, p, u.pods-1) < len(p.nodes)
		known[string(id)] = open
	}
	return open
}

// near are the carriers of a pod group that share the domains of all its affinity keys,
// which domains names, with a node.
func (h *headroom) near(u *podGroup, at int32, domains []byte) *place {
	all := h.carriers(u)
	id := placeID{u.nodes, all.id.carried, fmt.Sprint(u.near, domains)}
	return h.placeOf(id, func() []int32 {
		return slices.DeleteFunc(slices.Clone(all.nodes), func(n int32) bool {
			return slices.ContainsFunc(u.near, func(k int) bool { return h.domain[k][n] != h.domain[k][at] })
		})
	})
}

// neverStuck proves that every pod group finds a node in every state: what
// the other pods, and its own but one, can close is less than what it has. A
// pod closes at most the largest domain that is still open of each key on
// which it is kept apart, one node for a port, and nodes for lack of a resource
// only once their space is used up.
func (h *headroom) neverStuck(o *outcome) bool {
	g := h.grounded()
	if g.all {
		o.proof = certificate.Proof{Kind: certificate.Headroom, Company: g.near}
	}
	return g.all
}

// sure are the pod groups of which that is proved where it cannot be of all (T21). Of a
// DaemonSet no pods are company but all of them.
func (h *headroom) sure() []int {
	if slices.ContainsFunc(h.c.units, func(i int) bool { return h.units[i].kubelet }) {
		return nil
	}
	perNode := slices.ContainsFunc(h.c.units, func(i int) bool { return h.units[i].g.Kind.PerNode() })
	if h.shown == nil {
		return nil // the budget was over before
	}
	proved := h.shown.proved
	var list []int
	for _, i := range h.c.units {
		if u := h.units[i]; proved[i] && h.created(u, proved) && !(len(u.near) > 0 && perNode) {
			list = append(list, i)
		}
	}
	return list
}

// safe proves it for one pod group. A hard spread that counts only its own pods closes a
// domain to it once as many of them are there as the skew allows (T22). Or each of its
// domains has room for an even share, as a domain at the minimum is never refused for
// skew: with several, one of them by that and the others by what they close.
func (h *headroom) safe(i int) bool {
	u, all := h.units[i], h.carriers(h.units[i])
	spreads := h.binding(i)
	if len(spreads) > mostSpreads || slices.ContainsFunc(spreads, func(s *constraint) bool {
		return slices.ContainsFunc(s.watch, func(j located) bool { return j.unit != i })
	}) {
		return false
	}
	if h.closable(i, all, u.pods-1, spreads...) < len(all.nodes) {
		return true
	}
	for k, s := range spreads {
		if h.even(i, s, all, slices.Delete(slices.Clone(spreads), k, k+1)) {
			return true
		}
	}
	return false
}

// mostSpreads bounds the spreads of a workload of which each is tried with all others.
const mostSpreads = 8

// even proves it of a pod group by the even shares of one of its spreads.
func (h *headroom) even(i int, s *constraint, all *place, others []*constraint) bool {
	u := h.units[i]
	if s.self != 1 || !slices.Equal(s.watch, []located{{unit: i}}) || len(s.domains) < s.minDomains || len(s.domains) == 0 {
		return false
	}
	keys := u.selfKeys(i)
	for _, o := range others {
		keys = append(keys, o.key)
	}
	if slices.ContainsFunc(keys, func(k int) bool { return !h.within(u, k, s.key) }) {
		return false // pods of one domain would close nodes of another
	}
	share := (u.pods + len(s.domains) - 1) / len(s.domains)
	by := h.divided(all, s.key)
	for _, d := range s.domains {
		if p := by[int32(d)]; p == nil || h.closable(i, p, share-1, others...) >= len(p.nodes) {
			return false
		}
	}
	return true
}
