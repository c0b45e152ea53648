package classes

import (
	"math"
	"math/bits"
)

// Demand is what some pods ask of a resource. Pods together ask for a multiple of the
// grain, so of what a node has no more than the greatest multiple can be used; nor can
// more than all of them ask for. Nodes of which they can use the same are equal to them
// (T19). The zero Demand is that of pods that ask for nothing.
type Demand struct {
	grain, total int64
}

// With is the demand of so many further pods that ask for an amount each.
func (d Demand) With(ask int64, pods int) Demand {
	if ask <= 0 || pods <= 0 {
		return d
	}
	a, b := d.grain, ask
	for b > 0 {
		a, b = b, a%b
	}
	return Demand{grain: a, total: Sum(d.total, ask, pods)}
}

// Sum is sum + ask*pods, or the largest number if that is larger.
func Sum(sum, ask int64, pods int) int64 {
	high, more := bits.Mul64(uint64(ask), uint64(pods))
	if high > 0 || more > uint64(math.MaxInt64-sum) {
		return math.MaxInt64
	}
	return sum + int64(more)
}

// Usable is how much of what a node has pods can use at most; a node that is not
// judged has no end of it.
func (d Demand) Usable(has int64) int64 {
	if d.grain == 0 || has <= 0 || has == math.MaxInt64 {
		return has
	}
	return min(has-has%d.grain, d.total)
}
