package disruption_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// TestPreemption checks that a verdict on a rollout is unknown if only pods with another priority
// block it, because its pods may preempt them. Pods of one workload never preempt each other.
func TestPreemption(t *testing.T) {
	deployment := func(name string, replicas int, priority, selects string) string {
		return fmt.Sprintf(`---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s}, spec: {replicas: %d, selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s}}, spec: {containers: [{name: c, image: c}], %s
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: {matchExpressions: [{key: app, operator: In, values: [%s]}]}}]}}}}}}
`, name, replicas, name, name, priority, keys[host], selects)
	}
	const high, polite = "priorityClassName: high,", "priorityClassName: high, preemptionPolicy: Never,"
	for _, v := range []struct {
		nodes      int
		a, b       string // priorities
		want, rest diag.Outcome
	}{
		{3, "", "", diag.Never, diag.Never},
		{3, high, high, diag.Never, diag.Never},
		{3, high, "", diag.Unknown, diag.Unknown},
		{3, polite, polite, diag.Never, diag.Never},
		{3, polite, "", diag.Never, diag.Unknown},
		{4, high, "", diag.Always, diag.Always},
	} {
		var nodes strings.Builder
		for n := range v.nodes {
			fmt.Fprintf(&nodes, "---\n{apiVersion: v1, kind: Node, metadata: {name: n%d, labels: {%s: n%d}}}\n", n, keys[host], n)
		}
		j, m := judge(t, nodes.String(), deployment("a", 1, v.a, "a, b")+deployment("b", 2, v.b, "b"))
		for name, want := range map[string]diag.Outcome{"a": v.want, "b": v.rest} {
			w := find(t, m, name)
			if got := j.Rollout(w, w.Count.N); got.Verdict != want {
				t.Errorf("%d nodes, %q beside %q: the rollout of %s is %q (%+v), want %q", v.nodes, v.a, v.b, name, got.Verdict, got.Why, want)
			}
		}
	}
	alone := deployment("a", 3, high, "a")
	j, m := judge(t, "{apiVersion: v1, kind: NodeList, items: [{metadata: {name: n0, labels: {kubernetes.io/hostname: n0}}}, {metadata: {name: n1, labels: {kubernetes.io/hostname: n1}}}, {metadata: {name: n2, labels: {kubernetes.io/hostname: n2}}}]}", alone+deployment("b", 1, "", "b"))
	if got := j.Rollout(find(t, m, "a"), 3); got.Verdict != diag.Never {
		t.Errorf("beside pods that are not in the way: %q (%+v)", got.Verdict, got.Why)
	}
}
