package facts

import (
	"time"

	"github.com/schedlint/schedlint/lint/diag"
)

// Tally records the cost of rules in one run so far, over all its contexts, and the rules that
// failed. Further contexts skip a rule that failed, which saves its cost.
type Tally struct {
	// Steps and Findings count by rule; Steps leaves out built-in rules.
	Steps    map[string]int64
	Findings map[string]int
	// Took is the CPU time of the user's own rules. It only serves as a backstop for Steps.
	Took time.Duration
	// Failures has one entry for each rule that failed.
	Failures diag.Failures
}

// NewTally returns an empty Tally.
func NewTally() *Tally { return &Tally{Steps: map[string]int64{}, Findings: map[string]int{}} }

// HasFailed reports whether a rule has failed: the absence of its findings then means nothing.
func (t *Tally) HasFailed(rule string) bool { return t.Failures.HasFailed(rule) }
