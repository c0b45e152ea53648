package change

import (
	"fmt"

	"github.com/schedlint/schedlint/lint/workload"
)

// unlisted says why nothing is known of the pods of a workload that request an
// extended resource which no node lists, or is "".
func (j *Judge) unlisted(w *workload.Workload) string {
	if names := j.m.Unlisted(w); len(names) > 0 {
		return fmt.Sprintf("depends on %s, which no node lists", names[0])
	}
	return ""
}

// unknown says why it is not judged where the pods of a workload go, or is "".
func (j *Judge) unknown(w *workload.Workload) string {
	if !j.Judged(w) {
		return whyUnjudged
	}
	return j.unlisted(w)
}
