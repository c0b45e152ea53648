package size

import (
	"iter"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
)

// Pool is a set of equal nodes whose number may be chosen.
type Pool struct {
	// Min and Max are the least and the greatest number of nodes, with 0 <= Min <= Max.
	Min, Max int
	// Cost is the cost of one node, at least 0. Its unit is up to the caller.
	Cost int64
	// Zones is the number of zones, at least 1. Nodes are spread evenly over them, and any zones may
	// have the remainder.
	Zones int
	// Declared is the number of nodes in each zone that a pool of this size has instead, or nil.
	Declared []int
}

// Layout holds the number of nodes in each zone of each pool.
type Layout [][]int

// Answer is the result of deciding one layout.
type Answer struct {
	// Outcome is always if everything holds, never if something fails, and unknown otherwise.
	Outcome diag.Outcome
	// On lists the pools on which a failure depends. The failure remains whatever the size of other
	// pools. If On is nil, it depends on all pools.
	On []int
	// Below is set if the failure remains with fewer nodes in any zones of the pools in On.
	Below bool
	// Grow lists the pools whose further nodes may help, or is nil if any may.
	Grow []int
	// Why describes the failure, or what keeps the answer unknown.
	Why diag.SizeReason
	// Steps is the cost of the answer.
	Steps int
	// At is the layout that failed. Search sets it. It is nil if a bound says so.
	At Layout
}

// Bound says that each size that holds has at least Least in total, where each node of a pool
// contributes the amount in Each, which is at least 0.
type Bound struct {
	Each  []int64
	Least int64
	Why   diag.SizeReason
}

// Problem is the question for Search.
type Problem struct {
	Pools  []Pool
	Bounds []Bound
	// Decide decides one layout. It must return the same answer each time.
	Decide func(Layout) Answer
	// Decisions is the most layouts that are decided, and Steps the most that they may cost together.
	// Visits is the most sizes that are looked at.
	Decisions, Steps, Visits int
}

// Result is the answer of Search.
type Result struct {
	// Size is the cheapest size that holds, or nil if none was found. Cost is its cost.
	Size []int
	Cost int64
	// Undecided is the number of sizes that are neither refuted nor known to hold and that cost less
	// than Size, or all such sizes if Size is nil. More is set if there may be further ones. If
	// Undecided is 0 and More is not set, Size is minimal, or no size holds if it is nil.
	Undecided int
	More      bool
	// Less explains, for each pool, why one node fewer is not enough. The outcome is none if the pool
	// is already at its minimum.
	Less []Answer
	// Most is the answer for the greatest size of all pools if Size is nil.
	Most Answer
	// Decisions is the number of layouts that were decided, and Steps what they cost. Spent names the
	// limit that ended the search: decisions, steps or sizes. It is "" if none did.
	Decisions, Steps int
	Spent            string
}

// Minimal reports whether every cheaper size is refuted, or every size if Size is nil.
func (r *Result) Minimal() bool { return r.Undecided == 0 && !r.More }

// Split returns the numbers of nodes by zone for n nodes of a pool. The remainder goes to the first
// zones.
func (p *Pool) Split(n int) []int {
	if p.fixes(n) {
		return p.Declared
	}
	zones := make([]int, p.Zones)
	for z := range zones {
		zones[z] = n / p.Zones
		if z < n%p.Zones {
			zones[z]++
		}
	}
	return zones
}

// fixes reports whether a pool of n nodes has the layout that is declared.
func (p *Pool) fixes(n int) bool {
	return p.Declared != nil && sum(p.Declared) == n
}

func sum(all []int) (n int) {
	for _, one := range all {
		n += one
	}
	return n
}

// splits yields each distribution of n nodes over the zones of a pool, that of Split first.
func (p *Pool) splits(n int) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		if p.fixes(n) {
			yield(p.Declared)
			return
		}
		zones := make([]int, p.Zones)
		for z := range zones {
			zones[z] = n / p.Zones
		}
		var choose func(from, rest int) bool
		choose = func(from, rest int) bool {
			if rest == 0 {
				return yield(slices.Clone(zones))
			}
			for z := from; z+rest <= len(zones); z++ {
				zones[z]++
				more := choose(z+1, rest-1)
				if zones[z]--; !more {
					return false
				}
			}
			return true
		}
		choose(0, n%p.Zones)
	}
}

// layouts yields each layout that a size may have, starting with that of Split for each pool.
func layouts(pools []Pool, size []int) iter.Seq[Layout] {
	return func(yield func(Layout) bool) {
		at := make(Layout, len(pools))
		var choose func(i int) bool
		choose = func(i int) bool {
			if i == len(pools) {
				return yield(slices.Clone(at))
			}
			for zones := range pools[i].splits(size[i]) {
				at[i] = zones
				if !choose(i + 1) {
					return false
				}
			}
			return true
		}
		choose(0)
	}
}

// within reports whether n nodes of a pool may be spread over its zones such that no zone has more
// than in most.
func (p *Pool) within(n int, most []int) bool {
	if p.fixes(n) {
		for z, has := range p.Declared {
			if has > most[z] {
				return false
			}
		}
		return true
	}
	larger := 0 // zones that may have a node of the remainder
	for _, has := range most {
		if has < n/p.Zones {
			return false
		}
		if has > n/p.Zones {
			larger++
		}
	}
	return larger >= n%p.Zones
}
