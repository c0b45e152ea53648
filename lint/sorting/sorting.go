// Package sorting sorts slices of large elements. The compiler makes a copy of each function of package
// slices for each type of element, which takes up to 30 KB of the program. Package sort does not.
package sorting

import "sort"

// Stable sorts a list like slices.SortStableFunc, but takes longer. Use it where lists are short.
func Stable[T any](list []T, compare func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return compare(list[i], list[j]) < 0 })
}
