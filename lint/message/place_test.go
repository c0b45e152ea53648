package message

import (
	"testing"

	"github.com/schedlint/schedlint/lint/sched/model"
)

// TestUndecidedSays checks that every cause of undecided workloads has words.
func TestUndecidedSays(t *testing.T) {
	for _, cause := range []model.Cause{model.ByBudget, model.BySize, model.ByFault} {
		if overruns[cause] == "" {
			t.Errorf("nothing is said of %q", cause)
		}
	}
}
