package search

import (
	"math"
	"math/bits"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// A clique is a set of pod groups that exclude each other on one key. Each domain of the key can
// hold pods of at most one member. Weights of the pod groups can show that there are too few domains.

// Limits on how many cliques are examined and how much work finding them may take.
const (
	maxCliques    = 64
	maxCliqueWork = 20_000_000
)

// clique is a set of pod groups that exclude each other on key. members holds indices in r.units.
type clique struct {
	r       *rivals
	key     string
	members []int
	// holds gives, for each member, how many of the member's pods fit in each domain. wants gives
	// each member's pod count. even holds weights at which a domain that is full counts the same for each member.
	holds       [][]int
	wants, even []int
}

// shortfallByCliques returns the largest number of unplaceable pods that any clique proves.
func (r *rivals) shortfallByCliques() shortfall {
	lost, work := shortfall{}, maxCliqueWork
	for key := range r.a.keys {
		mutual := r.mutual(key)
		var seen [][]int
		for seed, row := range mutual {
			if row == nil || len(seen) == maxCliques || work < 0 {
				continue
			}
			members := r.growClique(mutual, seed)
			if len(members) < 2 || slices.ContainsFunc(seen, func(s []int) bool { return slices.Equal(s, members) }) {
				continue
			}
			seen = append(seen, members)
			c := r.clique(key, members)
			work -= 256 * len(c.members) * len(c.holds[0]) // the estimated cost of the two counts
			lost = lost.more(c.bestByWeights())
		}
	}
	return lost
}

// mutual returns, for each pod group, a bit set of the groups with which it excludes each other on
// a key. These exclusions apply in any scheduling order. A pod group that may use nodes without the
// key gets no set, because nothing excludes it on those nodes.
func (r *rivals) mutual(key int) [][]uint64 {
	index := map[int]int{}
	for w, i := range r.units {
		if !slices.ContainsFunc(r.open[w], func(n int32) bool { return r.a.domain[key][n] < 0 }) {
			index[i] = w
		}
	}
	width := (len(r.units) + 63) / 64
	for _, i := range r.units {
		r.a.m.Run().Spend(1 + len(r.a.units[i].exclusions) + len(r.units)/model.PerStep)
	}
	out, both := make([][]uint64, len(r.units)), make([][]uint64, len(r.units))
	for w, i := range r.units {
		if _, in := index[i]; !in || r.a.units[i].kubelet {
			continue
		}
		for _, x := range r.a.units[i].exclusions {
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

// growClique grows a clique from a seed. It repeatedly adds the pod group that keeps the most
// candidates for the next step.
func (r *rivals) growClique(mutual [][]uint64, seed int) []int {
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
		most := u.pods
		if slices.Contains(u.exclusions, exclusion{key, i, 0}) {
			most = 1
		}
		holds := make([]int, len(index))
		for k, n := range r.open[w] {
			d := index[r.a.domain[key][n]] - 1
			holds[d] = min(most, holds[d]+r.slots[w][k])
		}
		c.holds, c.wants = append(c.holds, holds), append(c.wants, u.pods)
	}
	full := 1 // a common multiple of what domains hold at most
	for _, holds := range c.holds {
		if most := slices.Max(append(holds, 0)); most > 0 && full <= maxFull {
			full *= most / int(gcd(int64(full), int64(most)))
		}
	}
	for _, holds := range c.holds {
		c.even = append(c.even, max(1, full/max(1, slices.Max(append(holds, 0)))))
	}
	return c
}

// The weighted count gives every domain to one clique member: the one whose pods there have the
// highest total weight. If the sum over all domains is below the weight of all pods, some pods
// cannot be placed.

// The weights are raised in up to weightSteps steps. They are inexact where a common multiple of what
// domains hold would be larger than maxFull.
const weightSteps, maxFull = 24, 1_000_000

// bestByWeights returns the largest number of unplaceable pods that any choice of weights proves.
func (c *clique) bestByWeights() shortfall {
	// The weights are equal at first. Those of members that get too few domains rise.
	lost := shortfall{}
	weights, short := slices.Clone(c.even), make([]int, len(c.members)) // short weighs only members that ever get too few
	for range weightSteps {
		lost = lost.more(c.byWeights(weights)).more(c.byWeights(short))
		got := make([]int, len(c.members))
		for d := range c.holds[0] {
			if w := c.bestMember(d, weights, got); w >= 0 {
				got[w] += c.holds[w][d]
			}
		}
		content := true
		for w, wants := range c.wants {
			if got[w] < wants {
				weights[w], short[w] = weights[w]+c.even[w], c.even[w]
				content = false
			}
		}
		if content {
			break
		}
	}
	return lost
}

// bestMember returns the member whose pods in a domain weigh the most in total. It returns -1 if no
// member can use the domain. Ties go to the member that lacks the most pods.
func (c *clique) bestMember(d int, weights, got []int) int {
	best := -1
	for w, weight := range weights {
		value := weight * c.holds[w][d]
		if value == 0 {
			continue
		}
		if best >= 0 {
			rival := weights[best] * c.holds[best][d]
			if value < rival || value == rival && c.wants[w]-got[w] <= c.wants[best]-got[best] {
				continue
			}
		}
		best = w
	}
	return best
}

// byWeights returns the shortfall that the given weights prove.
func (c *clique) byWeights(weights []int) shortfall {
	gap := 0
	c.r.a.m.Run().Spend(len(weights) * (1 + len(c.holds[0])/model.PerStep))
	for w, weight := range weights {
		gap += weight * c.wants[w]
	}
	for d := range c.holds[0] {
		most := 0
		for w, weight := range weights {
			most = max(most, weight*c.holds[w][d])
		}
		if gap -= most; gap <= 0 {
			return shortfall{}
		}
	}
	if gap <= 0 {
		return shortfall{}
	}
	p := certificate.Proof{Kind: certificate.Outweighed, Key: c.key, Weights: slices.Clone(weights)}
	for _, member := range c.members {
		p.About = append(p.About, c.r.units[member])
	}
	heaviest := slices.Max(weights)
	return shortfall{(gap + heaviest - 1) / heaviest, p} // the missing weight, counted in pods of the heaviest member
}

// maxRivalry is the maximum total number of nodes of all pod groups in rivals.
const maxRivalry = 200_000

// rivals holds pod groups that compete for nodes. For each group, open holds the nodes that may
// accept its pods. slots holds an upper bound for each of these nodes: how many of the group's pods
// fit when no other pods are present.
type rivals struct {
	a     *state
	units []int
	open  [][]int32
	slots [][]int
}

// newRivals returns the rivals for the pod groups of one component, or nil if the groups have too
// many nodes.
func newRivals(a *state, units []int) *rivals {
	r := &rivals{a: a}
	arcs := 0
	for _, i := range units {
		if a.units[i].pods == 0 {
			continue
		}
		if arcs += len(a.units[i].nodes.list); arcs > maxRivalry {
			return nil
		}
		open := openTo(a, i)
		slots := make([]int, len(open))
		for k, n := range open {
			slots[k] = slotsFor(a, i, int(n))
		}
		r.units, r.open, r.slots = append(r.units, i), append(r.open, open), append(r.slots, slots)
	}
	return r
}

// openTo lists the nodes that may ever accept one of a pod group's pods. It omits nodes from which
// running pods exclude the group.
func openTo(a *state, i int) []int32 {
	u := a.units[i]
	near, spreads, after := u.affinityKeys, u.spreads, u.createdAfter
	defer func() { u.affinityKeys, u.spreads, u.createdAfter = near, spreads, after }()
	u.affinityKeys, u.spreads, u.createdAfter = nil, nil, nil // these may be met later
	return slices.DeleteFunc(slices.Clone(u.nodes.list), func(n int32) bool { return !a.takes(i, int(n)) })
}

// slotsFor returns an upper bound on how many of a pod group's pods fit on a node.
func slotsFor(a *state, i, n int) int {
	u := a.units[i]
	slots := u.pods
	if a.contend {
		for r, free := range a.left(n) {
			if u.ask[r] > 0 && free != math.MaxInt64 {
				slots = min(slots, int(min(free/u.ask[r], math.MaxInt32)))
			}
		}
	}
	alone := u.clashesWith(u)
	for _, x := range u.exclusions {
		alone = alone || x.unit == i && x.place == 0 && a.domain[x.key][n] >= 0
	}
	if alone {
		slots = min(slots, 1)
	}
	return slots
}
