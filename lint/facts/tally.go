package facts

import (
	"time"

	"github.com/schedlint/schedlint/lint/diag"
)

// Tally is what rules have cost in one run so far, over all its contexts, and which
// of them failed. A rule that failed is not asked again, so what it would have cost
// in further contexts is saved.
type Tally struct {
	// Steps and Findings count those of each rule, built-in rules' steps left out.
	Steps    map[string]int64
	Findings map[string]int
	// Took is the CPU time that rules of the user's own took. Only a backstop behind the
	// steps looks at it.
	Took time.Duration
	// Failures has one entry for each rule that failed.
	Failures diag.Failures
}

// NewTally begins a run.
func NewTally() *Tally { return &Tally{Steps: map[string]int64{}, Findings: map[string]int{}} }

// Lost reports whether a rule has failed, so that what it did not report means
// nothing.
func (t *Tally) Lost(rule string) bool { return t.Failures.Lost(rule) }
