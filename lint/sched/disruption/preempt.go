package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// yielding is a group without those whose pods may have to make room for the
// pods of a workload: where priorities differ nobody can tell from the manifests
// which is the higher one, and the scheduler may preempt pods of a lower one that
// rules or requests make stand in the way (R-Q6). Those that the workload needs
// stay. Nil if there is none to leave out.
func (j *shared) yielding(w *workload.Workload, group []*workload.Workload) []*workload.Workload {
	if w.Spec.PreemptionPolicy == "Never" {
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(group), func(o *workload.Workload) bool {
		return o.Spec.PriorityClassName != w.Spec.PriorityClassName && !needs(j.m, w, o)
	})
	if len(left) == len(group) {
		return nil
	}
	return left
}
