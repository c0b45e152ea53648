package search

import (
	"fmt"
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// cases settles whether fillers can fill a number of nodes where prices leave it open (T29). It is
// branch and bound: a case says how many pods of one filler are among those that fill one node,
// and nodes that are alike share a case. Prices prove a case, or it is divided further. The first
// case in which all nodes are filled is the start of a run.
type cases struct {
	place *place
	// left is the number of packings that may still be solved.
	left int
	// filled holds what fills each node if a case fills them all, with the fillers' kinds.
	filled []pattern
	proof  *certificate.Prices
}

// tellApart returns the cases of whether the fillers can fill the wanted number of nodes.
func (f *fillers) tellApart(p *place, wanted int) *cases {
	if f.h.coarse || wanted <= 0 {
		return &cases{}
	}
	return lazy.Cached(f.h.cases, fmt.Sprint(f.id, f.pods(), wanted, p.nodes), func() *cases {
		x := &cases{place: p, left: f.h.most}
		root := *f
		root.kinds = nil
		for c, kind := range f.kinds {
			k := *kind
			k.root = c
			root.kinds = append(root.kinds, &k)
		}
		x.proof = x.never(&root, nil, wanted, nil)
		return x
	})
}

// never proves that the wanted number of nodes cannot be filled. The node at is one of them, if it
// is not nil; some of its pods have been chosen. done holds the nodes that are already filled.
func (x *cases) never(f *fillers, at *fillKind, wanted int, done []pattern) *certificate.Prices {
	if wanted == 0 {
		x.filled = done
		return nil
	}
	nodes, fewest := 0, (*fillKind)(nil)
	for _, kind := range f.kinds {
		if len(kind.ways) == 0 {
			continue
		}
		if nodes += len(kind.nodes); fewest == nil || len(kind.nodes) < len(fewest.nodes) {
			fewest = kind
		}
	}
	if nodes < wanted || at != nil && len(at.ways) == 0 {
		return &certificate.Prices{Fit: true}
	}
	lp := f.newPacking()
	if x.left--; x.left < 0 || lp == nil {
		return nil
	}
	var proof *certificate.Prices
	lp.run(wanted, func(prices, costs []int64) bool {
		if f.nodesFor(prices, func(kind *fillKind) int64 { return costs[slices.Index(f.kinds, kind)] }) < wanted {
			paid := f.prices(prices, true)
			proof = &paid
		}
		return proof != nil
	})
	if proof != nil {
		return proof
	}
	chosen := at != nil
	if !chosen {
		at = fewest
	}
	k, most := f.largest(at)
	if k < 0 {
		return nil
	}
	all := &certificate.Cases{Node: slices.Index(x.place.nodes, at.nodes[0])}
	for _, j := range f.all[k].units {
		if g := f.h.units[j].g; !slices.Contains(all.Groups, g) {
			all.Groups = append(all.Groups, g)
		}
	}
	all.Each = make([]certificate.Prices, most+1)
	for pods := most; pods >= 0; pods-- {
		child, on := f.with(at, k, pods, chosen)
		left, filled := wanted, done
		if on != nil && f.u.lacks(on.free) {
			child.kinds = slices.DeleteFunc(child.kinds, func(kind *fillKind) bool { return kind == on })
			left, filled = wanted-1, append(slices.Clip(done), pattern{on.root, on.chosen})
			on = nil
		}
		proof := x.never(child, on, left, filled)
		if proof == nil {
			return nil
		}
		all.Each[pods] = *proof
	}
	return &certificate.Prices{Cases: all}
}

// lacks reports whether free amounts are too little for one of the group's pods.
func (u *podGroup) lacks(free []int64) bool {
	for r, ask := range u.ask {
		if ask > 0 && free[r] < ask {
			return true
		}
	}
	return false
}

// largest returns the filler whose pods take the largest share of a node of a kind, and how many of
// them it takes, or -1 if it takes none of any filler.
func (f *fillers) largest(kind *fillKind) (k, most int) {
	k = -1
	size := 0.0
	for _, c := range kind.reach {
		x := &f.all[c]
		share, pods := 0.0, min(x.most, x.pods)
		for r, ask := range x.ask {
			if ask > 0 && kind.free[r] != math.MaxInt64 {
				share, pods = max(share, float64(ask)/float64(kind.free[r])), min(pods, int(kind.free[r]/ask))
			}
		}
		if pods > 0 && share > size {
			k, most, size = c, pods, share
		}
	}
	return k, most
}

// with returns the fillers of the case in which so many pods of filler k are among those that fill a
// node of a kind. It also returns that node. If the node is not chosen yet and there are none, no
// node of the kind has any, and it returns nil.
func (f *fillers) with(at *fillKind, k, pods int, chosen bool) (child *fillers, on *fillKind) {
	child = &fillers{h: f.h, u: f.u, all: slices.Clone(f.all), known: &[]pattern{}}
	if f.all[k].perNode == nil {
		child.all[k].pods -= pods
	}
	f.h.m.Run().Spend(1 + len(f.kinds)*len(f.all)/model.PerStep)
	to := map[int]int{} // the kinds of the child by those here
	for c, kind := range f.kinds {
		next := *kind
		next.ways = nil
		if kind == at {
			next.reach = slices.DeleteFunc(slices.Clone(kind.reach), func(c int) bool { return c == k })
		}
		if kind == at && (chosen || pods > 0) {
			if rest := *kind; len(kind.nodes) > 1 {
				rest.ways, rest.nodes = nil, kind.nodes[1:]
				to[c] = len(child.kinds)
				child.kinds = append(child.kinds, &rest)
			}
			next.nodes, next.free, next.chosen = kind.nodes[:1], slices.Clone(kind.free), slices.Clone(kind.chosen)
			if !chosen {
				next.chosen = make([]int, len(f.all))
			}
			next.chosen[k] = pods
			for r, ask := range f.all[k].ask {
				if next.free[r] != math.MaxInt64 {
					next.free[r] -= ask * int64(pods)
				}
			}
			on = &next
			continue
		}
		to[c] = len(child.kinds)
		child.kinds = append(child.kinds, &next)
	}
	if on != nil {
		child.kinds = append(child.kinds, on)
	}
	child.addWays()
	for _, x := range *f.known {
		if c, kept := to[x.kind]; kept && (f.kinds[x.kind] != at || on != nil || x.pods[k] == 0) {
			*child.known = append(*child.known, pattern{c, x.pods})
		}
	}
	return child, on
}
