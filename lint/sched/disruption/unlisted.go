package disruption

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// unlisted says why nothing is known of the pods of a workload that request an
// extended resource which no node lists, or is "".
func (j *shared) unlisted(w *workload.Workload) string {
	if names := search.Unlisted(j.m, w); len(names) > 0 {
		return fmt.Sprintf("depends on %s, which no node lists", names[0])
	}
	return ""
}

// beside says what is not known of those that may fill a node with a workload: if
// their pods fit at all, or is "". What the rules alone allow is then no answer.
func (j *shared) beside(w *workload.Workload, group []*workload.Workload) string {
	for _, o := range group {
		if names := search.Unlisted(j.m, o); o != w && len(names) > 0 {
			return fmt.Sprintf("depends on whether the pods of %s fit, which request %s", o, names[0])
		}
	}
	return ""
}

// unknown says why it is not judged where the pods of a workload go, or is "".
func (j *shared) unknown(w *workload.Workload) string {
	if !j.Judged(w) {
		return whyUnjudged
	}
	return j.unlisted(w)
}
