package search_test

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// TestContestIsChecked checks that the checker replays both orders in which pods are created.
func TestContestIsChecked(t *testing.T) {
	text := "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q}, spec: {hard: {pods: 5}}}\n"
	for name, pods := range map[string]int{"web": 4, "db": 3} {
		text += fmt.Sprintf("---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: %[1]s}, spec: {replicas: %[2]d, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: c, image: c}]}}}}\n", name, pods)
	}
	for what, c := range map[string]struct {
		change func(w *workload.Workload)
		holds  bool
	}{
		"as it is":                 {func(*workload.Workload) {}, true},
		"another number":           {func(w *workload.Workload) { w.Contested.Pods++ }, false},
		"nothing is first":         {func(w *workload.Workload) { w.Contested.First = nil }, false},
		"more than the others are": {func(w *workload.Workload) { w.Contested.First[0].Pods++ }, false},
		"its own pods":             {func(w *workload.Workload) { w.Contested.First[0].Workload = w }, false},
		"too many by itself":       {func(w *workload.Workload) { w.Count.N = 6 }, false},
		"all after the others":     {func(w *workload.Workload) { w.Count.N = 2 }, false},
	} {
		m, _ := models.Of(t, node("n0", hostKey+"=n0"), text)
		for _, w := range m.Workloads {
			if w.Object.Name != "web" {
				continue
			}
			d := search.Decide(m, search.Options{})
			if len(d.Workloads) != 2 || d.Workloads[0].Verdict != diag.Sometimes || d.Workloads[1].Verdict != diag.Sometimes {
				t.Fatalf("%+v", d.Workloads)
			}
			c.change(w)
			if err := certificate.CheckerOf(m).Contest(m, w); (err == nil) != c.holds {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}
