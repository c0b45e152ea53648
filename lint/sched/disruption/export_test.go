package disruption

import "github.com/schedlint/schedlint/lint/workload"

// Spacious reports whether counts alone tell that a rollout of a workload completes.
func (j *Judge) Spacious(w *workload.Workload, r Rollout) bool {
	return j.updates.spacious(w, j.updates.assembled(j.updates.contenders(w, r.Replicas)).Roster, &r)
}
