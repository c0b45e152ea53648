package disruption_test

import (
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// judge returns a judge and a model for nodes and manifests.
func judge(t testing.TB, nodes, manifests string) (*disruption.Judge, *model.Model) {
	t.Helper()
	m, set := models.Of(t, nodes, manifests)
	return disruption.New(m, set, search.Options{Steps: 400_000}), m
}

// find returns the workload with the given name.
func find(t testing.TB, m *model.Model, name string) *workload.Workload {
	t.Helper()
	for _, w := range m.Workloads {
		if w.Object.Name == name {
			return w
		}
	}
	t.Fatalf("no workload %s", name)
	return nil
}
