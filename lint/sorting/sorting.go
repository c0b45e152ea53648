// Package sorting sorts slices of large elements, and the keys of maps. The compiler makes a copy of
// each function of package slices for each type of element, which takes up to 30 KB of the program.
// Package sort does not.
package sorting

import (
	"cmp"
	"slices"
	"sort"
)

// Stable sorts a list like slices.SortStableFunc, but takes longer. Use it where lists are short.
func Stable[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}

// Keys returns the keys of a map in order, and nil if there are none. Like slices.Sorted of
// maps.Keys, it would take half a KB for each call if it were inlined.
//
//go:noinline
func Keys[K cmp.Ordered, V any](of map[K]V) []K {
	if len(of) == 0 {
		return nil
	}
	keys := make([]K, 0, len(of))
	for key := range of {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
