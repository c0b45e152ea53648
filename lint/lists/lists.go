// Package lists makes lists and sets out of other lists, where package slices has no function for it.
//
// Contract: each function calls its argument once for each element, in order. A result that has no
// elements is nil if it is a list, and empty if it is a set.
package lists

// Of returns what get returns for each element.
func Of[E, T any](list []E, get func(E) T) (all []T) {
	for _, e := range list {
		all = append(all, get(e))
	}
	return all
}

// Gather returns the elements of all lists that get returns.
func Gather[E, T any](list []E, get func(E) []T) (all []T) {
	for _, e := range list {
		all = append(all, get(e)...)
	}
	return all
}

// Where returns the elements that keep accepts.
func Where[E any](list []E, keep func(E) bool) (all []E) {
	for _, e := range list {
		if keep(e) {
			all = append(all, e)
		}
	}
	return all
}

// Set returns the set of all elements.
func Set[E comparable](list []E) map[E]bool {
	return SetOf(list, func(e E) E { return e })
}

// SetOf returns the set of what key returns for each element.
func SetOf[E any, K comparable](list []E, key func(E) K) map[K]bool {
	all := map[K]bool{}
	for _, e := range list {
		all[key(e)] = true
	}
	return all
}
