// Package lazy makes values on first use. Every process of schedlint initializes the variables
// of all packages, and a worker that renders needs few of them.
//
// Contract: a value is made once, regardless of how many goroutines use it.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles a regular expression on first use. The function
// panics if the expression is invalid, so a test must call it.
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
