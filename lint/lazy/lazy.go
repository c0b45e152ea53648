// Package lazy computes values when they are first used. Every schedlint process initializes the
// package variables of all packages. A render worker needs only a few of them.
//
// Contract: a value is computed once. Any number of goroutines may use a function that Regexp
// returns. Only one goroutine at a time may use a map that is passed to Cached.
package lazy

import (
	"regexp"
	"sync"
)

// Cached returns the value for a key in a map. On first use, it calls find and stores the result.
// Inlined, it takes 40 KB of the program.
//
//go:noinline
func Cached[K comparable, V any](values map[K]V, key K, find func() V) V {
	value, known := values[key]
	if !known {
		value = find()
		values[key] = value
	}
	return value
}

// Regexp returns a function that compiles a regular expression on its first call. The function
// panics if the expression is invalid, so a test must call the function. Inlined, each call would
// take 1.4 KB more of the program.
//
//go:noinline
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
