package search

import (
	"encoding/binary"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
)

// closing computes how many nodes pods of other groups close to one pod group: for each
// key, the sizes of its domains and the number of pods that each close one of them.
type closing struct {
	a     *state
	u     *podGroup
	place *place
	// keys are those on which the pod group is kept apart, in order.
	keys  []int
	sizes []*domainSizes
	pods  []int
	// by lists the pod groups that close domains, with their pods.
	by []closer
}

type closer struct{ unit, pods int }

func newClosing(a *state, i int, p *place, own int) *closing {
	u := a.units[i]
	c := &closing{a: a, u: u, place: p}
	known := map[int]bool{}
	for _, x := range u.exclusions {
		at := slices.Index(c.keys, x.key)
		if at < 0 {
			at = len(c.keys)
			c.keys, c.sizes, c.pods = append(c.keys, x.key), append(c.sizes, a.divide(p, x.key)), append(c.pods, 0)
		}
		pods := a.others(i, x.unit, own)
		c.pods[at] += pods
		if !known[x.unit] {
			known[x.unit] = true
			c.by = append(c.by, closer{x.unit, pods})
		}
	}
	return c
}

// maxClosing bounds the work of the closer look: blockers times nodes.
const maxClosing = 100_000

// most bounds the number of nodes that all pods together close. At first each pod is
// charged for the largest remaining domain of every key, no domain twice. If that reaches
// wanted, pod groups are charged separately for what one pod closes on all keys at once,
// given where it may be, as long as that is less.
func (c *closing) most(wanted int) int {
	total := c.pooled()
	if total < wanted || len(c.by)*len(c.a.nodes) > maxClosing {
		return total
	}
	apart := 0
	for _, b := range c.by {
		c.charge(b, -1)
		alone := c.closedByGroup(b)
		if sum := apart + alone + c.pooled(); sum < total {
			total = sum
			apart += alone
			continue
		}
		c.charge(b, 1)
	}
	return total
}

// charge adds the pods of a pod group to the keys on which it closes domains, or removes
// them.
func (c *closing) charge(b closer, by int) {
	c.a.m.Run().Spend(1 + len(c.u.exclusions)/model.PerStep)
	for _, x := range c.u.exclusions {
		if x.unit == b.unit {
			c.pods[slices.Index(c.keys, x.key)] += by * b.pods
		}
	}
}

// pooled charges each pod for a domain of every key.
func (c *closing) pooled() int {
	closed := 0
	c.a.m.Run().Spend(1 + len(c.pods)/model.PerStep)
	for k, pods := range c.pods {
		closed += c.sizes[k].largestSum(pods)
	}
	return closed
}

// closedByGroup charges the pods of one pod group for the nodes that close the most: each node
// counts the domains of all keys that a pod there closes.
func (c *closing) closedByGroup(b closer) int {
	var rules []exclusion
	c.a.m.Run().Spend(1 + len(c.u.exclusions)/model.PerStep)
	for _, x := range c.u.exclusions {
		if x.unit == b.unit {
			rules = append(rules, x)
		}
	}
	at := c.a.units[b.unit].nodes
	if len(rules) == 1 && rules[0].place == 0 && at == c.place.id.nodes { // so a pod may be on any node of the place
		return c.sizes[slices.Index(c.keys, rules[0].key)].largestSum(b.pods)
	}
	c.a.m.Run().Spend(len(at.list))
	seen := map[string]bool{}
	var sums []int
	domains := make([]int32, len(rules))
	for _, n := range at.list {
		var id []byte
		for r, x := range rules {
			if domains[r] = -1; c.a.inPlace(int(n), x.place) {
				domains[r] = c.a.domain[x.key][n]
			}
			id = binary.AppendVarint(id, int64(domains[r]))
		}
		if seen[string(id)] {
			continue
		}
		seen[string(id)] = true
		sums = append(sums, c.within(rules, domains))
	}
	slices.SortFunc(sums, func(x, y int) int { return y - x })
	closed := 0
	for _, s := range sums[:min(b.pods, len(sums))] {
		closed += s
	}
	return closed
}

// within counts the nodes that lie in any of the given domains.
func (c *closing) within(rules []exclusion, domains []int32) int {
	if len(rules) == 1 {
		return c.sizes[slices.Index(c.keys, rules[0].key)].of[domains[0]]
	}
	count := 0
	c.a.m.Run().Spend(1 + len(c.place.nodes)/model.PerStep)
	for _, n := range c.place.nodes {
		for r, x := range rules {
			if domains[r] >= 0 && c.a.domain[x.key][n] == domains[r] {
				count++
				break
			}
		}
	}
	return count
}
