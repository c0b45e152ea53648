package search

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// closing computes how many nodes other groups' pods can close to one pod group. A pod closes a
// node to a group by keeping the group's pods off the node. For each key, it holds the domain sizes
// and the number of pods that each close one domain.
type closing struct {
	a     *state
	u     *podGroup
	place *place
	// keys lists the keys of the pod group's exclusions. sizes and pods are parallel to it.
	keys  []int
	sizes []*domainSizes
	pods  []int
	// by lists the pod groups that close domains, with their pod counts.
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

// maxClosing is the maximum number of blockers times nodes up to which each blocker is also counted
// alone.
const maxClosing = 100_000

// most returns an upper bound on how many nodes all pods together close. It first assumes that each
// pod closes the largest remaining domain of every key. If that bound is less than wanted, it is
// the result. Otherwise most tries to lower it one pod group at a time. It counts how many nodes
// one of the group's pods can close on all keys at once, given the nodes where the pod may run.
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

// charge adds a pod group's pods to the counts of the keys on which they close domains. If by is
// -1, it subtracts them.
func (c *closing) charge(b closer, by int) {
	c.a.m.Run().Spend(1 + len(c.u.exclusions)/model.PerStep)
	for _, x := range c.u.exclusions {
		if x.unit == b.unit {
			c.pods[slices.Index(c.keys, x.key)] += by * b.pods
		}
	}
}

// pooled returns how many nodes are closed if, for every key, the pods close the largest domains.
func (c *closing) pooled() int {
	closed := 0
	c.a.m.Run().Spend(1 + len(c.pods)/model.PerStep)
	for k, pods := range c.pods {
		closed += c.sizes[k].largestSum(pods)
	}
	return closed
}

// closedByGroup returns how many nodes a group's pods close if they run where they close the most.
// A pod closes the domains of all keys that its node belongs to.
func (c *closing) closedByGroup(b closer) int {
	var rules []exclusion
	c.a.m.Run().Spend(1 + len(c.u.exclusions)/model.PerStep)
	for _, x := range c.u.exclusions {
		if x.unit == b.unit {
			rules = append(rules, x)
		}
	}
	at := c.a.units[b.unit].nodes
	if len(rules) == 1 && rules[0].place == 0 && at == c.place.id.nodes { // a pod may run on any node in the place
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

// within counts the nodes that lie in at least one of the given domains.
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

// placeID identifies a place: the nodes in a set that carry certain keys. If near is not empty, the
// place has only the nodes near one node, and near lists that node's keys and domains.
type placeID struct {
	nodes         *nodeSet
	carried, near string
}

// place lists all or part of a pod group's nodes and caches facts about them. Pod groups with the
// same nodes share a place.
type place struct {
	id    placeID
	nodes []int32
	// free caches the nodes' free amounts by resource, sizes caches the domain sizes by key, and
	// domains caches the place for each domain by key.
	free    map[int]*freeSpace
	sizes   map[int]*domainSizes
	domains map[int]map[int32]*place
	// corners caches, for a list of keys, one node per combination of their domains.
	corners map[string][]int32
	// within caches whether the domains of one key lie within those of another. nested caches
	// whether the domains of several keys are nested.
	within map[[2]int]bool
	nested map[string]bool
	// reach caches which of the nodes are in a set.
	reach map[*nodeSet]string
}

// reachOf says for each node of a place, in order, whether a set contains it: 1 or 0.
func (p *place) reachOf(s *nodeSet) string {
	return lazy.Cached(p.reach, s, func() string {
		all := make([]byte, len(p.nodes))
		for k, n := range p.nodes {
			all[k] = flag(s.holds(int(n)))
		}
		return string(all)
	})
}

func (a *state) placeOf(id placeID, nodes func() []int32) *place {
	return lazy.Cached(a.known, id, func() *place {
		p := newPlace(nodes())
		p.id = id
		a.m.Run().Spend(1 + (len(p.nodes)+len(id.nodes.list))/model.PerStep)
		return p
	})
}

func newPlace(nodes []int32) *place {
	return &place{nodes: nodes, free: map[int]*freeSpace{}, sizes: map[int]*domainSizes{}, domains: map[int]map[int32]*place{}, corners: map[string][]int32{}, within: map[[2]int]bool{}, nested: map[string]bool{}, reach: map[*nodeSet]string{}}
}

// carriers returns the pod group's nodes that carry the keys of all its rules.
func (h *headroom) carriers(u *podGroup) *place {
	if len(u.keys)+len(u.affinityKeys) == 0 {
		return h.all(u)
	}
	id := placeID{nodes: u.nodes, carried: fmt.Sprint(slices.Concat(u.keys, u.affinityKeys))}
	return h.placeOf(id, func() []int32 {
		return slices.DeleteFunc(slices.Clone(u.nodes.list), func(n int32) bool {
			return !h.carries(int(n), u.keys) || !h.carries(int(n), u.affinityKeys)
		})
	})
}

// divided splits a place into one place per domain of a key.
func (a *state) divided(p *place, key int) map[int32]*place {
	return lazy.Cached(p.domains, key, func() map[int32]*place {
		a.m.Run().Spend(1 + len(p.nodes)/2)
		by := map[int32]*place{}
		for _, n := range p.nodes {
			d := a.domain[key][n]
			if d < 0 {
				continue
			}
			if by[d] == nil {
				by[d] = newPlace(nil)
			}
			by[d].nodes = append(by[d].nodes, n)
		}
		return by
	})
}

// domainSizes holds how many of a place's nodes are in each domain of a key. largest[n] is the sum
// of the n largest domain sizes. whole is set if all nodes carry the key.
type domainSizes struct {
	of      map[int32]int
	largest []int
	whole   bool
}

// divide returns the domain sizes of a key for the nodes in a place.
func (a *state) divide(p *place, key int) *domainSizes {
	return lazy.Cached(p.sizes, key, func() *domainSizes {
		a.m.Run().Spend(1 + len(p.nodes)/2)
		s := &domainSizes{of: map[int32]int{}, whole: true}
		for _, n := range p.nodes {
			if d := a.domain[key][n]; d >= 0 {
				s.of[d]++
			} else {
				s.whole = false
			}
		}
		sizes := slices.Sorted(maps.Values(s.of))
		s.largest = make([]int, len(sizes)+1)
		for k := range sizes {
			s.largest[k+1] = s.largest[k] + sizes[len(sizes)-1-k]
		}
		return s
	})
}

// largestSum returns the sum of the n largest sizes.
func (s *domainSizes) largestSum(n int) int { return s.largest[max(0, min(n, len(s.largest)-1))] }

// freeSpace holds the nodes' free amounts of a resource in ascending order, and their prefix sums.
type freeSpace struct{ free, sums []int64 }

func (h *headroom) space(p *place, r int) *freeSpace {
	return lazy.Cached(p.free, r, func() *freeSpace {
		h.m.Run().Spend(1 + len(p.nodes)/2)
		s := &freeSpace{}
		for _, n := range p.nodes {
			if free := h.open(int(n)*len(h.resources) + r); free != math.MaxInt64 {
				s.free = append(s.free, free)
			}
		}
		slices.Sort(s.free)
		s.sums = make([]int64, len(s.free)+1)
		for k, free := range s.free {
			s.sums[k+1] = classes.Sum(s.sums[k], max(0, free), 1)
		}
		return s
	})
}

// closableCount returns the number of nodes on which a given total demand can leave less free space
// than a pod requests. It counts the nodes that have too little space from the start. It then fills
// the nodes with the smallest free amounts. Each of them absorbs free - ask + 1 of the demand.
func (s *freeSpace) closableCount(demand, ask int64) int {
	if s.sums[len(s.free)] == math.MaxInt64 {
		return len(s.free) // the sum overflows
	}
	full, _ := slices.BinarySearch(s.free, ask)
	return full + sort.Search(len(s.free)-full, func(k int) bool {
		return s.sums[full+k+1]-s.sums[full]-int64(k+1)*(ask-1) > demand
	})
}

// all returns a place with all of a pod group's nodes.
func (a *state) all(u *podGroup) *place {
	return a.placeOf(placeID{nodes: u.nodes}, func() []int32 { return u.nodes.list })
}

// corners returns one node for each combination of domains that occurs in a place.
func (h *headroom) corners(p *place, keys []int) []int32 {
	of := fmt.Sprint(keys)
	return lazy.Cached(p.corners, of, func() []int32 {
		h.m.Run().Spend(1 + len(p.nodes)*(1+len(keys))/model.PerStep)
		seen := map[string]bool{}
		var list []int32
		var id []byte
		for _, n := range p.nodes {
			id = id[:0]
			for _, k := range keys {
				id = binary.AppendVarint(id, int64(h.domain[k][n]))
			}
			if !seen[string(id)] {
				seen[string(id)] = true
				list = append(list, n)
			}
		}
		return list
	})
}
