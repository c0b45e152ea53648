package message

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/sched/check"
)

// count is a number of things in words.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// podsOf is a number of pods of one workload.
func podsOf(p check.Pods) string { return count(p.Count, "pod") + " of " + p.Workload }
