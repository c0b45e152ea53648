package disruption

import (
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/workload"
)

// Spacious reports whether counts alone tell that a rollout of a workload completes.
func (j *Judge) Spacious(w *workload.Workload, r Rollout) bool {
	u := j.updates
	group := u.contenders(w, r.Replicas)
	return u.spacious(w, u.assembled(group).Roster, u.everybody(group, u.crowd(w, r.Replicas)), &r)
}

// Counted is what counts alone tell of a rollout of a workload, whatever others request.
func (j *Judge) Counted(w *workload.Workload, r Rollout) diag.Outcome {
	return j.updates.counted(w, j.updates.group(w, false), &r)
}

// Workloads are those of the model.
func (j *Judge) Workloads() []*workload.Workload { return j.updates.m.Workloads }
