package disruption_test

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// judge reads nodes and manifests.
func judge(t testing.TB, nodes, manifests string) (*disruption.Judge, *model.Model) {
	t.Helper()
	topo, err := topology.Load(objects(t, nodes))
	if err != nil {
		t.Fatal(err)
	}
	set := workload.Load(workload.NewTable(), objects(t, manifests))
	m := sched.New(set, topo)
	m.Scale(1000, 1) // the budget is another test's
	m.Run().OnRefusal = func(err error) { panic(err) }
	return disruption.New(m, set, search.Options{Steps: 400_000}), m
}

func objects(t testing.TB, text string) []*source.Object {
	t.Helper()
	set, err := source.Load(source.Options{Dir: "/", Root: "/", Stdin: strings.NewReader(text)}, []string{"-"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range set.Problems {
		t.Fatalf("%s: %s\n%s", p.Kind, p.Detail, text)
	}
	return set.Objects
}

// find is the workload of that name.
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
