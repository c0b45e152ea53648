package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// TestKubeletForgetsMissingResources checks that only the kubelet's admission applies to a pod that
// names its node. The admission drops extended resources that the node does not list
// (pkg/kubelet/lifecycle/predicate.go, removeMissingExtendedResources), but no other resources. The
// limits, the decision with its checker, and the single filters must agree.
func TestKubeletForgetsMissingResources(t *testing.T) {
	for _, c := range []struct {
		listed, asked string
		bound, fits   bool
	}{
		{"", "example.com/widget: 1", true, true},
		{"", "example.com/widget: 1", false, false},
		{"example.com/widget: 0", "example.com/widget: 1", true, false},
		{"example.com/widget: 1", "example.com/widget: 1", true, true},
		{"example.com/widget: 1", "example.com/widget: 2", true, false},
		{"", "cpu: 5", true, false},
		{"", "cpu: 5, example.com/widget: 1", true, false},
		{"memory: 1Gi, ephemeral-storage: 1Gi", "cpu: 1, hugepages-2Mi: 2Mi", true, false}, // the list is complete
		{"", "cpu: 1, hugepages-2Mi: 2Mi", true, true},
	} {
		nodes := node("n0", "") +
			fmt.Sprintf("status:\n  allocatable: {cpu: 4, pods: 5%s}\n", strings.TrimSuffix(", "+c.listed, ", "))
		text := fmt.Sprintf("containers: [{name: c, image: c, resources: {limits: {%s}}}]\n", c.asked)
		if c.bound {
			text += "nodeName: n0\n"
		}
		text = pod("p", "d", "", "", text)
		m, set := modelOf(t, nodes, text)
		w := set.Workloads[0]
		want := diag.Never
		if c.fits {
			want = diag.Always
		}
		d := search.Decide(m, search.Options{})
		takes := check.NewState(m).Filter(w, m.Topology.Nodes[0]) == certificate.Takes
		if limit := bound.RequestFits(m, w); d.Verdict != want || d.RulesVerdict != want || (limit.Fitting == 1) != c.fits || takes != c.fits {
			t.Errorf("%+v: decided %s (rules %s), %d nodes fit, the filters take it: %t", c, d.Verdict, d.RulesVerdict, limit.Fitting, takes)
		}
	}
}

// TestKubeletPodsTakeNothingMissing checks that pods bound to a node that lacks a requested
// resource do not cause a shortage of it, and that several of these pods are placed together with
// others.
func TestKubeletPodsTakeNothingMissing(t *testing.T) {
	nodes := node("n0", "") + "status:\n  allocatable: {cpu: 4, pods: 9}\n" +
		node("n1", "") + "status:\n  allocatable: {cpu: 4, pods: 9, example.com/widget: 2}\n"
	spec := "containers: [{name: c, image: c, resources: {requests: {cpu: 1}, limits: {example.com/widget: 1}}}]\n"
	text := named("free", 2, spec)
	for i := range 2 {
		text += pod(fmt.Sprintf("bound%d", i), "d", "", "", spec+"nodeName: n0\n")
	}
	m, _ := modelOf(t, nodes, text)
	if d := search.Decide(m, search.Options{}); d.Verdict != diag.Always || !d.Exact || d.Total != 4 {
		t.Errorf("%s, %d of %d, exact %t", d.Verdict, d.MinPlaced, d.Total, d.Exact)
	}
	if short := bound.Shortages(m, nil); len(short) > 0 {
		t.Errorf("a shortage of %s", short[0].Resource)
	}
}
