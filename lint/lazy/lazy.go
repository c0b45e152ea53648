// Package lazy makes values when they are first used. Every process of schedlint starts
// with the variables of all packages, and a worker that renders needs few of them.
//
// Contract: a value is made once, however many goroutines ask for it.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled when it is first asked for. One that
// does not compile panics then, so a test has to use it.
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
