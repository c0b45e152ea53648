package search

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// Weighted counting: suppose every domain goes to the member of the clique that makes the
// most of it, counting its pods by weights. If the sum is still less than the weight of
// all pods, some have no room. The weights alone are the certificate.

// maxWeight is the largest weight if all choices are tried, which is done for up to
// fewWeights members; with more members, weights are raised in up to weightSteps steps.
const (
	maxWeight   = 3
	fewWeights  = 4
	weightSteps = 24
)

// bestByWeights returns how many pods the best weights show to be left over.
func (c *clique) bestByWeights() shortfall {
	if len(c.members) > fewWeights {
		return c.raiseWeights()
	}
	lost := shortfall{}
	weights := make([]int, len(c.members))
	for {
		lost = lost.more(c.byWeights(weights))
		at := slices.IndexFunc(weights, func(w int) bool { return w < maxWeight })
		if at < 0 {
			return lost
		}
		weights[at]++
		clear(weights[:at])
	}
}

// raiseWeights starts from equal weights and raises those of members that get too little.
func (c *clique) raiseWeights() shortfall {
	lost := shortfall{}
	weights := slices.Repeat([]int{1}, len(c.members))
	for range weightSteps {
		lost = lost.more(c.byWeights(weights))
		got := make([]int, len(c.members))
		for d := range c.holds[0] {
			if w := c.bestMember(d, weights, got); w >= 0 {
				got[w] += c.holds[w][d]
			}
		}
		content := true
		for w, wants := range c.wants {
			if got[w] < wants {
				weights[w]++
				content = false
			}
		}
		if content {
			break
		}
	}
	return lost
}

// bestMember returns the member that makes the most of a domain, among equals the one that
// is furthest from its number of pods, or -1 if no member can use it.
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

// byWeights returns the shortfall that the given weights show.
func (c *clique) byWeights(weights []int) shortfall {
	pods := c.short(weights)
	if pods == 0 {
		return shortfall{}
	}
	p := certificate.Proof{Kind: certificate.Outweighed, Key: c.key, Weights: slices.Clone(weights)}
	for _, member := range c.members {
		p.About = append(p.About, c.r.units[member])
	}
	return shortfall{pods, p}
}

// short returns how many pods the given weights show to be left over: the missing weight,
// in pods of the largest weight.
func (c *clique) short(weights []int) int {
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
			return 0
		}
	}
	if gap <= 0 {
		return 0
	}
	heaviest := slices.Max(weights)
	return (gap + heaviest - 1) / heaviest
}
