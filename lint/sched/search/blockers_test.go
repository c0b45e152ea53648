package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// TestBlockersInAnyOrder covers a proof that needs two blockers to be counted on the nodes where
// each of them may be. Counting only the first one in this way changes nothing until the second is
// counted in the same way (T9). The engine and the checker start with different blockers.
func TestBlockersInAnyOrder(t *testing.T) {
	var nodes, manifests strings.Builder
	add := func(name string, labels ...string) {
		nodes.WriteString(node(name, strings.Join(append(labels, hostKey+"="+name), ",")) + "status:\n  allocatable: {pods: \"110\"}\n")
	}
	for i := range 12 {
		labels := []string{"pool=ours"}
		if i < 4 {
			labels = append(labels, fmt.Sprintf("%s=z%d", zoneKey, i/2))
		}
		switch i {
		case 4:
			labels = append(labels, "early=yes")
		case 5:
			labels = append(labels, "late=yes")
		}
		add(fmt.Sprintf("n%d", i), labels...)
		add(fmt.Sprintf("x%d", i), "early=yes", "pool=other")
		add(fmt.Sprintf("y%d", i), "late=yes", "pool=other")
	}
	manifests.WriteString(named("early", 12, "nodeSelector: {early: \"yes\"}\n"+ruled([]string{term(hostKey, sel("app=ours"))}, nil, nil)))
	manifests.WriteString(named("late", 8, "nodeSelector: {late: \"yes\"}\n"))
	manifests.WriteString(named("ours", 1, "nodeSelector: {pool: ours}\n"+ruled([]string{term(hostKey, sel("app=late"))}, nil, nil)))
	for i := range 3 {
		manifests.WriteString(named(fmt.Sprintf("zonal-%d", i), 2, ruled([]string{term(zoneKey, sel("app=ours"))}, nil, nil)))
	}
	m, _ := modelOf(t, nodes.String(), manifests.String())
	if d := search.Decide(m, search.Options{}); d.Verdict != diag.Always {
		t.Errorf("%s", d.Verdict)
	}
}
