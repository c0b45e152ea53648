package search_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// lossBar is what all node and zone losses and drains of a large cluster may
// take on a slow machine.
const lossBar = 30 * time.Second

// TestSurvivesLarge asks for the loss of each node and each zone of 5,000 nodes
// for each of 10,000 workloads.
func TestSurvivesLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("large")
	}
	topo, err := topology.Load(objects(t, largeNodes(5000)))
	if err != nil {
		t.Fatal(err)
	}
	set := workload.Load(workload.NewTable(), objects(t, largeWorkloads(10000, 5000, 0.5)))
	m := sched.New(set, topo)
	start := time.Now()
	j := disruption.New(m, &workload.Set{}, search.Options{})
	count := map[string]int{}
	for _, w := range m.Workloads {
		j.Survives(w, hostKey)
	}
	t.Logf("the loss of each node takes %v", time.Since(start))
	for _, part := range []func(w *workload.Workload) []disruption.Survival{
		func(w *workload.Workload) []disruption.Survival { return j.Survives(w, zoneKey) },
		j.Drains,
		func(w *workload.Workload) []disruption.Survival { return j.Survives(w, hostKey) },
	} {
		from := time.Now()
		for _, w := range m.Workloads {
			for _, a := range part(w) {
				count[fmt.Sprint(a.Key, " ", a.Meaning, " ", a.Verdict)]++
			}
		}
		t.Logf("%v", time.Since(from))
	}
	t.Logf("all in %v: %v", time.Since(start), count)
	if took := time.Since(start); took > lossBar {
		t.Errorf("losses of %d workloads take %v", len(m.Workloads), took)
	}
}
