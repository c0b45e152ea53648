package derive_test

import (
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// TestModelsSideBySide checks, with the race detector, that models of the same workloads and nodes
// can be used concurrently. They share no data that a question changes.
func TestModelsSideBySide(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob("../../../fixtures/*/nodes.yaml")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, name := range trials.Sample(t, all, 10) {
		dir, err := filepath.Abs(filepath.Dir(name))
		if err != nil {
			t.Fatal(err)
		}
		nodes, err := source.Load(source.Options{Dir: dir, Root: dir}, []string{"nodes.yaml"})
		if err != nil {
			t.Fatal(err)
		}
		topo, err := topology.Load(nodes.Objects)
		if err != nil {
			t.Fatal(err)
		}
		manifests, err := source.Load(source.Options{Dir: dir, Root: dir}, []string{"."})
		if err != nil {
			t.Fatal(err)
		}
		set := workload.Load(workload.NewTable(), manifests.Objects)
		results := make([]*facts.Facts, 3)
		var group sync.WaitGroup
		for i := range results {
			group.Go(func() {
				f := derive.Facts(derive.Input{Model: sched.New(set, topo), Set: set, Wants: core(t).Wants, Survive: func(*workload.Workload) []string { return []string{"kubernetes.io/hostname"} }})
				results[i] = f.Facts
			})
		}
		group.Wait()
		for _, f := range results[1:] {
			if !reflect.DeepEqual(f.Workloads, results[0].Workloads) || len(f.Rollouts) != len(results[0].Rollouts) {
				t.Errorf("%s: models side by side differ", filepath.Base(dir))
			}
		}
	}
}
