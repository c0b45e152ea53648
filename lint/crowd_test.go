package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// TestCrowdIsNotKnown checks 44 Deployments of one pod each that fit on five nodes but not on four.
// They are too many to search. No answer about a lost or drained node is yes, and the summary
// counts the open questions.
func TestCrowdIsNotKnown(t *testing.T) {
	t.Parallel()
	const want = "too many workloads compete for the same nodes to search"
	dir := t.TempDir()
	var all strings.Builder
	for i := range 44 {
		fmt.Fprintf(&all, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w%[1]d, namespace: x}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: w%[1]d}}\n"+
			"  template:\n    metadata: {labels: {app: w%[1]d}}\n    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 409m}}}]}\n---\n", i)
	}
	writeFiles(t, dir, map[string]string{
		"all.yaml":   all.String(),
		"nodes.yaml": "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: w, zones: {a: 2, b: 2, c: 1}, allocatable: {cpu: 4, memory: 16Gi, pods: 110}}\n",
	})
	doc := place(t, lint.Options{Dir: dir, Root: dir, Paths: []string{"all.yaml"}, Topology: []string{"nodes.yaml"}})
	for i := range doc.Workloads {
		w := &doc.Workloads[i]
		for _, s := range w.Change.Survives {
			if s.Verdict != string(diag.Unknown) || s.Reason != want {
				t.Errorf("%s: losing %s=%s: %s (%s)", w.Name, s.Key, s.Value, s.Verdict, s.Reason)
			}
		}
		if d := w.Change.Drain; d.Verdict != string(diag.Unknown) || d.Reason != want {
			t.Errorf("%s: drains: %s (%s)", w.Name, d.Verdict, d.Reason)
		}
	}
	report, err := runFor(t, "", []string{hostnameKey}, dir, []string{"nodes.yaml"}, "all.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if open := report.Summary.Unknown; len(open) != 1 || open[0].Count != 44 || open[0].Budget || !strings.HasPrefix(open[0].Reason, want) {
		t.Errorf("the summary says %+v", open)
	}
	for _, open := range [][]diag.Skip{report.Summary.Unknown, doc.Unknown} {
		if !diag.Unsettled(open, diag.FailAny) {
			t.Errorf("--fail-on-unknown any does not fail on %+v", open)
		}
	}
}
