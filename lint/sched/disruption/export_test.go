package disruption

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/workload"
)

// Spacious reports whether counting alone proves that a rollout completes.
func (j *Judge) Spacious(w *workload.Workload, r Rollout) bool {
	u := j.updates
	group := u.contenders(w, r.Replicas)
	return u.spacious(w, u.assembled(group).Roster, u.contendersOrGroup(group, u.contendersOf(w, r.Replicas)), &r)
}

// Counted returns the verdict that counting alone gives on a rollout, whatever other pods request.
func (j *Judge) Counted(w *workload.Workload, r Rollout) diag.Outcome {
	return j.updates.counted(w, j.updates.group(w, false), &r)
}

// Workloads returns the workloads of the model.
func (j *Judge) Workloads() []*workload.Workload { return j.updates.m.Workloads }
