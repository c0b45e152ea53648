package classes

import (
	"math"
	"math/bits"
)

// Demand is the demand of some pods for a resource. Any set of these pods requests a multiple
// of the grain, so only the largest multiple within a node's amount is usable, and never
// more than the total. Nodes with the same usable amount are equivalent for the pods
// (T19). The zero Demand is that of pods that request nothing.
type Demand struct {
	grain, total int64
}

// With returns the demand with a number of further pods that each request an amount.
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

// Sum returns sum + ask*pods, or the largest int64 if that overflows.
func Sum(sum, ask int64, pods int) int64 {
	high, more := bits.Mul64(uint64(ask), uint64(pods))
	if high > 0 || more > uint64(math.MaxInt64-sum) {
		return math.MaxInt64
	}
	return sum + int64(more)
}

// Usable returns how much of a node's amount the pods can use at most. It is unlimited if the
// node is not judged.
func (d Demand) Usable(has int64) int64 {
	if d.grain == 0 || has <= 0 || has == math.MaxInt64 {
		return has
	}
	return min(has-has%d.grain, d.total)
}
