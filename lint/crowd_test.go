package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// crowdOf returns the documents for n Deployments of one pod each and for five nodes of four cores.
func crowdOf(t *testing.T, n int, cpu string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w%[1]d, namespace: x}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: w%[1]d}}\n"+
			"  template:\n    metadata: {labels: {app: w%[1]d}}\n    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: %[2]s}}}]}\n---\n", i, cpu)
	}
	writeFiles(t, dir, map[string]string{
		"all.yaml":   all.String(),
		"nodes.yaml": "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: w, zones: {a: 2, b: 2, c: 1}, allocatable: {cpu: 4, memory: 16Gi, pods: 110}}\n",
	})
	return dir
}

// TestCrowdOfOnePod checks Deployments of one pod that are too many to search. A node takes 9 pods of
// 409m and 13 of 300m, so 44 and 50 pods fit on five nodes, and on four only the 50 do.
func TestCrowdOfOnePod(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pods int
		cpu  string
		lost diag.Outcome
	}{{44, "409m", diag.Sometimes}, {50, "300m", diag.Always}} {
		dir := crowdOf(t, c.pods, c.cpu)
		doc := linttest.Place(t, lint.Options{Dir: dir, Root: dir, Paths: []string{"all.yaml"}, Topology: []string{"nodes.yaml"}})
		for i := range doc.Workloads {
			w := &doc.Workloads[i]
			for _, s := range w.Change.Survives {
				if s.Key == hostnameKey && s.Verdict != string(c.lost) {
					t.Errorf("%s of %s: losing %s: %s (%s)", w.Name, c.cpu, s.Value, s.Verdict, s.Reason)
				}
			}
			if d := w.Change.Drain; d.Verdict != string(c.lost) {
				t.Errorf("%s of %s: drains: %s (%s)", w.Name, c.cpu, d.Verdict, d.Reason)
			}
		}
	}
}

// TestCrowdIsNotKnown checks that rollouts of workloads that are too many to search are not known,
// and that the summary counts the open questions.
func TestCrowdIsNotKnown(t *testing.T) {
	t.Parallel()
	const want = "too many workloads compete for the same nodes to search"
	dir := crowdOf(t, 45, "409m") // none of the rollouts has room for one more pod
	doc := linttest.Place(t, lint.Options{Dir: dir, Root: dir, Paths: []string{"all.yaml"}, Topology: []string{"nodes.yaml"}})
	for i := range doc.Workloads {
		if r := doc.Workloads[i].Change.Rollout; r.Verdict != string(diag.Unknown) || r.Reason != want {
			t.Errorf("%s: rolls: %s (%s)", doc.Workloads[i].Name, r.Verdict, r.Reason)
		}
	}
	report, err := runFor(t, "", []string{hostnameKey}, dir, []string{"nodes.yaml"}, "all.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if open := report.Summary.Unknown; len(open) != 1 || open[0].Count != 45 || open[0].Budget || !strings.HasPrefix(open[0].Reason, want) {
		t.Errorf("the summary says %+v", open)
	}
	for _, open := range [][]diag.Skip{report.Summary.Unknown, doc.Unknown} {
		if !diag.Unsettled(open, diag.FailAny) {
			t.Errorf("--fail-on-unknown any does not fail on %+v", open)
		}
	}
}
