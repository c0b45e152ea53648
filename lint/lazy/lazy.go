// Package lazy computes values on first use. Every schedlint process initializes the package
// variables of all packages, but a render worker needs few of them.
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
