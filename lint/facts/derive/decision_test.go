package derive_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// TestUndecided checks which workloads have an unknown placement, and that the workloads together
// matter only if each of them is known.
func TestUndecided(t *testing.T) {
	m, set := clusterOf(t, 1, `
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, image: c}]}
---
apiVersion: v1
kind: Pod
metadata: {name: gated}
spec: {schedulingGates: [{name: example.com/later}], containers: [{name: c, image: c}]}
`)
	a, gated := set.Workloads[0], set.Workloads[1]
	plain, _ := clusterOf(t, 1, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: c}]}}")
	about := func(v diag.Outcome, why model.Cause) []certificate.WorkloadDecision {
		return []certificate.WorkloadDecision{{Workload: a, Verdict: v, Why: model.Reason{Cause: why}}}
	}
	over := []certificate.Overrun{{Cause: model.BySize}}
	for name, row := range map[string]struct {
		m        *model.Model
		d        certificate.Decision
		each     map[string]model.Cause
		together int
	}{
		"known":    {plain, certificate.Decision{Verdict: diag.Always, Workloads: about(diag.Always, "")}, nil, 0},
		"unknown":  {plain, certificate.Decision{Verdict: diag.Unknown, Workloads: about(diag.Unknown, model.ByBudget), Over: over}, map[string]model.Cause{"a": model.ByBudget}, 0},
		"in never": {plain, certificate.Decision{Verdict: diag.Never, Workloads: about(diag.Unknown, model.BySize), Over: over}, map[string]model.Cause{"a": model.BySize}, 0},
		"waits":    {plain, certificate.Decision{Verdict: diag.Always, Workloads: about(diag.Unknown, model.Waits)}, nil, 0},
		"together": {plain, certificate.Decision{Verdict: diag.Unknown, Workloads: about(diag.Sometimes, ""), Over: over}, nil, 1},
		"whole":    {plain, certificate.Decision{Verdict: diag.Never, Workloads: about(diag.Sometimes, ""), Over: over}, nil, 0},
		"outside":  {m, certificate.Decision{Verdict: diag.Unknown, Workloads: about(diag.Always, "")}, map[string]model.Cause{gated.Object.Name: model.ByGates}, 0},
	} {
		each, together := derive.Undecided(row.m, &row.d)
		var got map[string]model.Cause
		for _, w := range each {
			if got == nil {
				got = map[string]model.Cause{}
			}
			got[w.Workload.Object.Name] = w.Why.Cause
		}
		if diff := cmp.Diff(row.each, got); diff != "" || len(together) != row.together {
			t.Errorf("%s: %d together\n%s", name, len(together), diff)
		}
	}
}
