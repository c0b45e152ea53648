package search

import (
	"math/bits"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// A clique is pod groups of which no two share a domain of a key: each domain hosts
// one of them at most. Two counts show that there are too few domains: a flow,
// for pod groups that use one domain a pod or do with one, and weights, where the
// domains differ in how many pods they hold of each.

// Bounds on the search for cliques: how many are looked at, and the work.
const (
	maxCliques    = 64
	maxCliqueWork = 20_000_000
)

// clique is pod groups by their place among the rivals, and what they find in each
// domain of the key.
type clique struct {
	r       *rivals
	key     string
	members []int
	// holds is how many pods of a member a domain holds at most, wants how many
	// it has; alone is set for members that have a domain for each pod.
	holds [][]int
	wants []int
	alone []bool
}

// excluded is how many pods are left over at least because pod groups exclude one
// another.
func (r *rivals) excluded() shortfall {
	lost, work := shortfall{}, maxCliqueWork
	for key := range r.a.keys {
		mutual := r.mutual(key)
		var seen [][]int
		for seed, row := range mutual {
			if row == nil || len(seen) == maxCliques || work < 0 {
				continue
			}
			members := r.grown(mutual, seed)
			if len(members) < 2 || slices.ContainsFunc(seen, func(s []int) bool { return slices.Equal(s, members) }) {
				continue
			}
			seen = append(seen, members)
			c := r.clique(key, members)
			work -= c.work()
			lost = lost.more(c.shortage()).more(c.outweighed())
		}
	}
	return lost
}

// mutual is a bit set for each pod group of those that it excludes on a key and that
// exclude it: whichever comes second. An exclusion may be one-sided, where the
// scheduler reads a namespace selector in two ways. Pod groups that may use nodes
// without the key have none, as nobody is in their way there.
func (r *rivals) mutual(key int) [][]uint64 {
	index := map[int]int{}
	for w, i := range r.units {
		if !slices.ContainsFunc(r.open[w], func(n int32) bool { return r.a.domain[key][n] < 0 }) {
			index[i] = w
		}
	}
	width := (len(r.units) + 63) / 64
	for _, i := range r.units {
		r.a.m.Run().Spend(1 + len(r.a.units[i].apart) + len(r.units)/model.PerStep)
	}
	out, both := make([][]uint64, len(r.units)), make([][]uint64, len(r.units))
	for w, i := range r.units {
		if _, in := index[i]; !in || r.a.units[i].kubelet {
			continue
		}
		for _, x := range r.a.units[i].apart {
			if other, in := index[x.unit]; in && x.key == key && x.place == 0 && other != w {
				if out[w] == nil {
					out[w] = make([]uint64, width)
				}
				out[w][other/64] |= 1 << (other % 64)
			}
		}
	}
	for w, row := range out {
		for other := range r.units {
			if has(row, other) && has(out[other], w) {
				if both[w] == nil {
					both[w] = make([]uint64, width)
				}
				both[w][other/64] |= 1 << (other % 64)
			}
		}
	}
	return both
}

func has(set []uint64, i int) bool { return set != nil && set[i/64]&(1<<(i%64)) != 0 }

// grown is a clique around a seed: the one with the most in common with what is
// there joins next.
func (r *rivals) grown(mutual [][]uint64, seed int) []int {
	members, left := []int{seed}, slices.Clone(mutual[seed])
	for {
		best, most := -1, -1
		r.a.m.Run().Spend(len(mutual) * (1 + len(left)/model.PerStep))
		for w := range mutual {
			if !has(left, w) {
				continue
			}
			common := 0
			for k, word := range mutual[w] {
				common += bits.OnesCount64(word & left[k])
			}
			if common > most {
				best, most = w, common
			}
		}
		if best < 0 {
			slices.Sort(members)
			return members
		}
		members = append(members, best)
		for k := range left {
			left[k] &= mutual[best][k]
		}
	}
}

func (r *rivals) clique(key int, members []int) *clique {
	c := &clique{r: r, key: r.a.keys[key], members: members}
	index := map[int32]int{}
	for _, w := range members {
		for _, n := range r.open[w] {
			if d := r.a.domain[key][n]; index[d] == 0 {
				index[d] = len(index) + 1
			}
		}
	}
	for _, w := range members {
		i := r.units[w]
		u := r.a.units[i]
		most, alone := u.pods, slices.Contains(u.apart, exclusion{key, i, 0})
		if alone {
			most = 1
		}
		holds := make([]int, len(index))
		for k, n := range r.open[w] {
			d := index[r.a.domain[key][n]] - 1
			holds[d] = min(most, holds[d]+r.slots[w][k])
		}
		c.holds, c.wants, c.alone = append(c.holds, holds), append(c.wants, u.pods), append(c.alone, alone)
	}
	return c
}

// work is what the two counts cost, roughly.
func (c *clique) work() int { return 256 * len(c.members) * len(c.holds[0]) }

// shortage is by how many pods there are too few domains: a pod of a pod group that
// excludes itself takes one, and all the pods of another one need one at least.
func (c *clique) shortage() shortfall {
	source, sink := 0, 1
	g := newNetwork(c.r.a.m, 2+len(c.members)+len(c.holds[0]))
	for d := range c.holds[0] {
		g.join(2+len(c.members)+d, sink, 1)
	}
	need := 0
	for w, holds := range c.holds {
		pods := 1
		if c.alone[w] {
			pods = c.wants[w]
		}
		need += pods
		g.join(source, 2+w, int64(pods))
		for d, n := range holds {
			if n > 0 {
				g.join(2+w, 2+len(c.members)+d, 1)
			}
		}
	}
	lost := shortfall{pods: need - int(g.augment(source, sink)), proof: certificate.Proof{Kind: certificate.Exclusive, Key: c.key}}
	for w, member := range c.members {
		if !g.beyond(2 + w) {
			lost.proof.About = append(lost.proof.About, c.r.units[member])
		}
	}
	return lost
}
