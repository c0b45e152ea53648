package build

import (
	"testing"

	"github.com/schedlint/schedlint/lint/sched/model"
)

// TestOverrunSays: every cause for which a decision leaves workloads open has words.
func TestOverrunSays(t *testing.T) {
	for _, cause := range []model.Cause{model.ByBudget, model.BySize, model.ByFault} {
		if overrun[cause] == "" {
			t.Errorf("nothing is said of %q", cause)
		}
	}
}
