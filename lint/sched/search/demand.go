package search

import (
	"math"
	"math/bits"
)

// demand is what some pods ask of a resource. Pods together ask for a multiple of the
// grain, so of what a node has no more than the greatest multiple can be used; nor can
// more than all of them ask for. Nodes of which they can use the same are equal to them
// (T19). The zero demand is that of pods that ask for nothing.
type demand struct {
	grain, total int64
}

// with is the demand of so many further pods that ask for an amount each.
func (d demand) with(ask int64, pods int) demand {
	if ask <= 0 || pods <= 0 {
		return d
	}
	a, b := d.grain, ask
	for b > 0 {
		a, b = b, a%b
	}
	return demand{grain: a, total: saturated(d.total, ask, pods)}
}

// saturated is sum + ask*pods, or the largest number if that is larger.
func saturated(sum, ask int64, pods int) int64 {
	high, more := bits.Mul64(uint64(ask), uint64(pods))
	if high > 0 || more > uint64(math.MaxInt64-sum) {
		return math.MaxInt64
	}
	return sum + int64(more)
}

// usable is how much of what a node has pods can use at most; a node that is not
// judged has no end of it.
func (d demand) usable(has int64) int64 {
	if d.grain == 0 || has <= 0 || has == math.MaxInt64 {
		return has
	}
	return min(has-has%d.grain, d.total)
}
