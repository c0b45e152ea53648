package metamorphic

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
)

// explained returns, by rule, the rows of the first table for a line of an application. Each row
// maps a node to the filters that reject the pod.
func explained(t *testing.T, topology, path string, line int) map[string]map[string]string {
	t.Helper()
	a := askedOf(t, linttest.Engine(t), "", "../../fixtures/apps", []string{topology}, nil, path)
	x, err := lint.Explain(context.Background(), a.options, lint.Spot{File: path, Line: line})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	for _, f := range x.Found {
		rule := ""
		if f.Diagnostic != nil {
			rule = f.Diagnostic.Rule
		}
		all[rule] = map[string]string{}
		for _, r := range f.Tables[0].Rows {
			for _, name := range slices.Concat(r.Runs...) {
				all[rule][name] = strings.Join(r.Filters, " ")
			}
		}
	}
	return all
}

// onWorkers returns the rows of n workers that all reject a pod by the same filters.
func onWorkers(n int, by string) map[string]string {
	all := map[string]string{}
	for i := range n {
		all[fmt.Sprint("worker-", i)] = by
	}
	return all
}

// TestExplainHighAvailability explains what is wrong with three replicas on three nodes: an
// update of the proxies, and drains.
func TestExplainHighAvailability(t *testing.T) {
	nodes := filepath.Join(t.TempDir(), "nodes.yaml")
	linttest.Put(t, nodes, linttest.Workers(3, 0))
	drained := onWorkers(3, "InterPodAffinity")
	drained["worker-0"] = "NodeUnschedulable"
	same(t, "the proxies", explained(t, nodes, "store.yaml", 17), map[string]map[string]string{"rollout-deadlock": onWorkers(3, "InterPodAffinity"), "drain-leaves-pods-pending": drained})
	same(t, "the servers", explained(t, nodes, "store.yaml", 40), map[string]map[string]string{"drain-leaves-pods-pending": drained})
	same(t, "no finding", explained(t, nodes, "store.yaml", 3), map[string]map[string]string{"": onWorkers(3, "")})
}

// TestExplainThreeZones explains what is wrong with an application in three zones, there and on
// three workers.
func TestExplainThreeZones(t *testing.T) {
	zones := func(by string) map[string]string {
		all := map[string]string{"control-plane": "TaintToleration"}
		for i := range 6 {
			all[fmt.Sprint("worker-", i+1)] = by
		}
		return all
	}
	three := filepath.Join(t.TempDir(), "nodes.yaml")
	linttest.Put(t, three, linttest.Workers(3, 0))
	for _, v := range []struct {
		topology, path, rule string
		line                 int
		want                 map[string]string
	}{
		{"nodes.yaml", "cache.yaml", "rollout-deadlock", 23, zones("InterPodAffinity")},
		{"nodes.yaml", "scanner.yaml", "affinity-never-satisfied", 19, zones("InterPodAffinity")},
		{three, "scanner.yaml", "affinity-never-satisfied", 19, onWorkers(3, "InterPodAffinity")},
		{three, "ledger.yaml", "no-eligible-node", 19, onWorkers(3, "NodeAffinity")},
	} {
		same(t, v.topology+" "+v.path, explained(t, v.topology, v.path, v.line), map[string]map[string]string{v.rule: v.want})
	}
}

func same(t *testing.T, what string, got, want map[string]map[string]string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
