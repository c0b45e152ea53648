package search

import "math"

// grain is the greatest number that divides all that some pods ask of a resource: pods
// together ask for a multiple of it, so of what a node has no more than the greatest
// multiple can be used, and nodes that have the same multiple are equal to these pods
// (T19). The zero grain is that of pods that ask for nothing.
type grain int64

// with is the grain of further pods that ask for an amount each.
func (g grain) with(ask int64) grain {
	a, b := int64(g), ask
	for b > 0 {
		a, b = b, a%b
	}
	return grain(a)
}

// usable is how much of what a node has pods can use at most; a node that is not
// judged has no end of it.
func (g grain) usable(has int64) int64 {
	if g <= 1 || has <= 0 || has == math.MaxInt64 {
		return has
	}
	return has - has%int64(g)
}
