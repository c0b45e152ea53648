// Package lazy computes values when they are first used. Every schedlint process initializes the
// package variables of all packages. A render worker needs only a few of them.
//
// Contract: a value is computed once, regardless of how many goroutines use it.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles a regular expression on its first call. The function
// panics if the expression is invalid, so a test must call the function.
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
