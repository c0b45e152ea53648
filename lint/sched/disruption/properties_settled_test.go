package disruption_test

import (
	"fmt"
	"testing"
)

// TestBudgetsOfDaemonSets leaves DaemonSets in the question if a budget may select their pods, as
// these count for it.
func TestBudgetsOfDaemonSets(t *testing.T) {
	const nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: a, count: 3, allocatable: {cpu: '4', pods: '10'}}\n"
	const manifest = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent, tier: x}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tier: x}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: budget, namespace: %s}
spec: {maxUnavailable: 1, selector: {matchLabels: {%s}}}
`
	for _, c := range []struct {
		namespace, labels string
		leftOut           bool
	}{
		{"shop", "app: web", true},
		{"shop", "app: agent", false},
		{"shop", "tier: x", false},
		{"other", "tier: x", true},
	} {
		j, m := judge(t, nodes, fmt.Sprintf(manifest, c.namespace, c.labels))
		web := find(t, m, "web")
		if v := j.WithoutDaemonSets(web, j.Rollouts(web)[0]); (v != "") != c.leftOut {
			t.Errorf("budget in %s for %s: the verdict without DaemonSets is %q", c.namespace, c.labels, v)
		}
	}
}
