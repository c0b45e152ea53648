package simulate

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/schedlint/schedlint/fixtures/clusters"
	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// TestVerdicts checks that no run contradicts a verdict of package search, on random clusters.
func TestVerdicts(t *testing.T) {
	always, never, sometimes := 0, 0, 0
	for _, family := range clusters.Families {
		for i := range trials.Seeds(t, trials.Of(t, 300)) {
			n, w := clusters.Generate(family, 31, uint64(i)).Text()
			// Nodes must list CPU and memory, so that something can be said of scores.
			m, _ := models.Of(t, n, w)
			for _, node := range m.Topology.Nodes {
				list := node.Allocatable.DeepCopy()
				for name, amount := range plenty {
					if _, listed := list[name]; !listed {
						if list == nil {
							list = plenty.DeepCopy()
						}
						list[name] = amount
					}
				}
				node.Allocatable = list
			}
			m.Scale(1, 1)
			r, d := Runs(m, MinRuns), search.Decide(m, search.Options{Steps: 20_000})
			for _, x := range d.Workloads {
				c, tally := tallyOf(r, x.Workload)
				if c == nil || x.Workload.Kind.PerNode() { // a tally has the pods on some nodes only
					continue
				}
				switch ended := c.Runs - c.Preempts; {
				case x.Verdict == diag.Always && tally.LeftOut > 0, x.Verdict == diag.Never && tally.LeftOut < ended:
					t.Fatalf("%s case %d: %s is placed %s, and %d of %d runs leave out pods\n%s%s", family, i, x.Workload, x.Verdict, tally.LeftOut, ended, n, w)
				case x.Verdict == diag.Always:
					always++
				case x.Verdict == diag.Never:
					never++
				case x.Verdict == diag.Sometimes && tally.LeftOut > 0 && tally.LeftOut < ended:
					sometimes++
				}
			}
		}
	}
	if always < 20 || never < 5 || sometimes < 5 {
		t.Errorf("too little is compared: %d always, %d never, %d sometimes", always, never, sometimes)
	}
}

var plenty = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100"), corev1.ResourceMemory: resource.MustParse("1Ti")}

// tallyOf returns the results of a workload, or nil if there are none for its whole component.
func tallyOf(r *Result, w *workload.Workload) (*Component, *Tally) {
	for _, c := range r.Components {
		if i := slices.IndexFunc(c.Tallies, func(t Tally) bool { return t.Workload == w }); i >= 0 && !c.Why.Given() {
			return c, &c.Tallies[i]
		}
	}
	return nil, nil
}
