package disruption

import (
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// withoutPreemptible returns a group without the workloads whose pods may be preempted for
// a workload: the manifests do not say which of two priority classes is the higher one,
// and the scheduler may preempt pods of a lower one that block it by rules or requests
// (R-Q6). Workloads that it needs stay. It returns nil if there is nothing to leave out.
func (j *shared) withoutPreemptible(w *workload.Workload, group []*workload.Workload) []*workload.Workload {
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
