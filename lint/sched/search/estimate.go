package search

import (
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// Components that are too large for a search are settled by proofs and greedy runs. A proof may
// show that some pod groups cannot all be placed (never), or that no pod group can get stuck
// (always). A greedy run may show that all pods can be placed, or that a pod gets stuck. If all of
// these fail, bounds are reported.

// estimates settles components by proofs and runs that need no search.
type estimates struct{ *state }

// estimate settles a component if proofs and runs are sufficient. If no pod can get stuck, no run
// that places all pods is needed, because every run can be extended to one.
func (e estimates) estimate(c component, h *headroom) outcome {
	o := openOutcome(c)
	o.best = greedyRuns(e).runFirst(c.units, nil)
	e.undo(o.best)
	if len(o.best) < c.pods {
		e.shortOfRoom(&o)
	}
	switch {
	case o.most < c.pods:
		o.never, o.decided = true, true
		h.proveNeverStuck()
	case h.proveNeverStuck().all:
		o.proof = certificate.Proof{Kind: certificate.Headroom, NeedsPeers: h.result.near}
		o.always, o.decided, o.exact = true, true, len(o.best) == c.pods
		o.least, o.worst = c.pods, o.best
		copy(o.ownLeast, o.ownMost)
	default: // look for runs that show that the order matters
		if len(o.units)*len(e.nodes) <= maxFillers {
			// A run may place all pods if the best one leaves some unplaced. Each attempt starts with those that had unplaced pods.
			g := greedyRuns(e)
			first, last := map[int]int{}, o.best
			for k := 1; k <= maxRepairs && len(o.best) < o.pods; k++ {
				placed := map[int]int{}
				for _, s := range last {
					placed[s.unit]++
				}
				for _, i := range o.units {
					if placed[i] < g.units[i].pods {
						first[i] = -k
					}
				}
				last = g.runFirst(o.units, first)
				g.undo(last)
				if len(last) > len(o.best) {
					o.best = last
				}
			}
		}
		if len(o.best) == o.pods {
			o.worst, o.decided = greedyRuns(e).fillers(c)
		}
	}
	if !o.decided || o.never {
		o.worst = o.best
	}
	return o
}

// The proofs below show that some pods cannot be placed in any order. Each proof uses only some of
// the rules. Additional rules do not change its result.

// shortOfRoom lowers o.most by the largest known lower bound on the number of unplaced pods. One
// bound is the sum over the pod groups, each examined separately. The other bounds examine all
// groups together.
func (e estimates) shortOfRoom(o *outcome) {
	lost := shortfall{proof: certificate.Proof{Kind: certificate.LimitProof}}
	for k, i := range o.units {
		u := e.units[i]
		most, known := closedForms(e).mostAlone(i)
		if !known || most >= u.pods {
			continue
		}
		lost.pods += u.pods - most
		lost.proof.About = append(lost.proof.About, i)
		o.ownMost[o.owner[k]] -= u.pods - most
	}
	if r := newRivals(e.state, o.units); r != nil && !model.Off("T11") {
		lost = lost.more(r.shortfallByCliques())
	}
	lost = lost.more(e.overfull(o.units))
	if o.most = o.pods - lost.pods; lost.pods > 0 {
		o.proof = lost.proof
	}
}

// maxSets is the maximum number of pod groups' node sets that overfull examines.
const maxSets = 24

// overfull looks at the nodes of each pod group, and at these together with those of groups with fewer nodes, as far
// as they overlap. It compares the requests of the pod groups that can use no other nodes with what the nodes offer
// (T12).
func (e estimates) overfull(units []int) shortfall {
	if !e.contend || model.Off("T12") {
		return shortfall{}
	}
	var sets []*nodeSet
	of := map[*nodeSet][]int{}
	for _, i := range units {
		u := e.units[i]
		if u.pods == 0 || e.unplaceable[i] || len(u.nodes.list) == 0 {
			continue
		}
		if of[u.nodes] == nil {
			sets = append(sets, u.nodes)
		}
		of[u.nodes] = append(of[u.nodes], i)
	}
	slices.SortStableFunc(sets, func(x, y *nodeSet) int { return len(x.list) - len(y.list) })
	lost, unions := shortfall{}, []*nodeSet{}
	for _, s := range sets[max(0, len(sets)-maxSets):] {
		all := &nodeSet{list: s.list, has: make([]bool, len(e.nodes))}
		for _, n := range s.list {
			all.has[n] = true
		}
		for _, t := range unions {
			e.m.Run().Spend(1 + len(t.list)/model.PerStep)
			more := slices.DeleteFunc(slices.Clone(t.list), func(n int32) bool { return all.has[n] })
			if len(more) == len(t.list) {
				continue
			}
			all.list = slices.Concat(all.list, more)
			for _, n := range more {
				all.has[n] = true
			}
		}
		if unions = append(unions, all); len(all.list) > len(s.list) {
			lost = lost.more(e.overfullOn(s, sets, of))
		}
		lost = lost.more(e.overfullOn(all, sets, of))
	}
	return lost
}

// overfullOn is overfull for one set of nodes.
func (e estimates) overfullOn(s *nodeSet, sets []*nodeSet, of map[*nodeSet][]int) (lost shortfall) {
	var about []int
	for _, t := range sets {
		e.m.Run().Spend(1 + len(t.list)/model.PerStep)
		if !slices.ContainsFunc(t.list, func(n int32) bool { return !s.holds(int(n)) }) {
			about = append(about, of[t]...)
		}
	}
	for res := range e.resources {
		for _, unit := range e.pieces(about, res) {
			lost = lost.more(e.overfills(about, s, res, unit))
		}
	}
	return lost
}

// maxPieces is the maximum number of sizes of pieces to count in.
const maxPieces = 8

// pieces returns the amounts in which to count a resource: the greatest common divisor of the requests, and the largest
// requests. A node holds no more whole pieces than fit in what it offers.
func (e estimates) pieces(about []int, res int) []int64 {
	var asks []int64
	divisor := int64(0)
	for _, i := range about {
		asks = append(asks, e.units[i].ask[res])
		divisor = gcd(divisor, e.units[i].ask[res])
	}
	slices.Sort(asks)
	asks = slices.Compact(asks)
	slices.Reverse(asks)
	return append([]int64{max(1, divisor)}, slices.DeleteFunc(asks[:min(len(asks), maxPieces)], func(ask int64) bool { return ask <= 1 })...)
}

// overfills returns a lower bound on how many pods stay unplaced because a node set has too few
// pieces of a resource. The pod groups are confined to the node set.
func (e estimates) overfills(about []int, s *nodeSet, res int, unit int64) shortfall {
	demand, has, largest := int64(0), int64(0), int64(1)
	e.m.Run().Spend(1 + (len(about)+len(s.list))/model.PerStep)
	for _, i := range about {
		demand = classes.Sum(demand, e.units[i].ask[res]/unit, e.units[i].pods)
		largest = max(largest, e.units[i].ask[res]/unit)
	}
	for _, n := range s.list {
		if left := e.left(int(n))[res]; left == math.MaxInt64 {
			return shortfall{} // the node is not judged
		} else {
			has = classes.Sum(has, max(0, left)/unit, 1)
		}
	}
	if demand <= has || demand == math.MaxInt64 {
		return shortfall{}
	}
	p := certificate.Proof{Kind: certificate.Overcommitted, Resource: e.resources[res], Unit: unit, About: slices.Sorted(slices.Values(about))}
	for _, n := range s.list {
		p.Nodes = append(p.Nodes, int(n))
	}
	return shortfall{int((demand - has + largest - 1) / largest), p}
}

// shortfall is a lower bound on how many pods stay unplaced, with its proof.
type shortfall struct {
	pods  int
	proof certificate.Proof
}

// more returns the larger of two shortfalls.
func (s shortfall) more(o shortfall) shortfall {
	if o.pods > s.pods {
		return o
	}
	return s
}

// somewhere reports whether any of the pod group's exclusions applies only on some nodes.
func (u *podGroup) somewhere() bool {
	return slices.ContainsFunc(u.exclusions, func(x exclusion) bool { return x.place != 0 })
}
