package search_test

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// lossSteps is the step limit for all node losses, zone losses and drains of each workload in a
// large cluster, however many nodes the cluster has.
const lossSteps = 20_000

// TestSurvivesLarge asks for the loss of each node and each zone, and for drains, for each workload
// of a large cluster. A full run has 10,000 workloads on 5,000 nodes.
func TestSurvivesLarge(t *testing.T) {
	trials.Large(t)
	nodes, workloads := trials.AtLeast(t, 5000, 500), trials.AtLeast(t, 10000, 1000)
	topo, err := topology.Load(models.Objects(t, largeNodes(nodes)))
	if err != nil {
		t.Fatal(err)
	}
	set := workload.Load(workload.NewTable(), models.Objects(t, largeWorkloads(workloads, nodes, 0.5)))
	m := sched.New(set, topo)
	j := disruption.New(m, &workload.Set{}, search.Options{})
	count := map[string]int{}
	for _, part := range []func(w *workload.Workload) []disruption.Survival{
		func(w *workload.Workload) []disruption.Survival { return j.Survives(w, zoneKey) },
		j.Drains,
		func(w *workload.Workload) []disruption.Survival { return j.Survives(w, hostKey) },
	} {
		for _, w := range m.Workloads {
			for _, a := range part(w) {
				count[fmt.Sprint(a.Key, " ", a.Meaning, " ", a.Verdict)]++
			}
		}
	}
	t.Logf("%d steps, %d for each workload: %v", m.Run().Spent(), m.Run().Spent()/len(m.Workloads), count)
	if got := m.Run().Spent(); got > lossSteps*len(m.Workloads) {
		t.Errorf("losses of %d workloads take %d steps", len(m.Workloads), got)
	}
}
