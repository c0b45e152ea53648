package lint_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
)

// openNames holds objects whose names, namespaces or targets are placeholders. Each of them may mean anything.
var openNames = map[string]string{
	"autoscaler":                   "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: '${N}', namespace: '${NS}'}, spec: {minReplicas: 1, maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: '${X}'}}}",
	"autoscaler of the namespace":  "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: n, namespace: shop}, spec: {minReplicas: 1, maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: '${X}'}}}",
	"ScaledObject":                 "{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, metadata: {name: '${N}', namespace: '${NS}'}, spec: {scaleTargetRef: {name: '${X}'}}}",
	"Namespace with node selector": "{apiVersion: v1, kind: Namespace, metadata: {name: '${N}', annotations: {scheduler.alpha.kubernetes.io/node-selector: '${X}'}}}",
	"Namespace with Pod Security":  "{apiVersion: v1, kind: Namespace, metadata: {name: '${N}', labels: {pod-security.kubernetes.io/enforce: restricted}}}",
	"LimitRange":                   "{apiVersion: v1, kind: LimitRange, metadata: {name: '${N}', namespace: '${NS}'}, spec: '${S}'}",
	"ResourceQuota":                "{apiVersion: v1, kind: ResourceQuota, metadata: {name: '${N}', namespace: '${NS}'}, spec: {hard: {pods: 0}}}",
	"RuntimeClass":                 "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: '${N}'}, handler: h, scheduling: {nodeSelector: {a: b}}}",
	"PriorityClass":                "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: '${N}'}, value: 100}",
	"budget":                       "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: '${N}', namespace: '${NS}'}, spec: {maxUnavailable: 0, selector: {matchLabels: {app: '${A}'}}}}",
	"budget of the namespace":      "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: n, namespace: shop}, spec: {maxUnavailable: 0, selector: {matchLabels: {app: '${A}'}}}}",
}

// TestOpenNamesReachTheirDirectory adds an object whose name is a placeholder to a tree. Elsewhere it changes
// nothing: one file would leave the answers of a whole repository open. Beside the workloads it may mean them.
func TestOpenNamesReachTheirDirectory(t *testing.T) {
	const nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: w, count: 3, allocatable: {cpu: 4, memory: 8Gi, pods: 20}}]\n"
	const app = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      runtimeClassName: sandbox
      priorityClassName: high
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}
      containers: [{name: c, image: c}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: big, namespace: shop}
spec:
  serviceName: big
  replicas: 2
  selector: {matchLabels: {app: big}}
  template:
    metadata: {labels: {app: big}}
    spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 5}}}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]}
`
	of := func(files map[string]string) (all []string) {
		names := []string{"web", "big", "api"}
		for _, d := range lintFiles(t, nodes, files).Diagnostics {
			if slices.Contains(names, d.Object.Name) && d.Level != diag.LevelNote {
				all = append(all, d.Rule+" "+d.Object.Name+": "+d.Message)
			}
		}
		dir := t.TempDir()
		files["nodes.yaml"] = nodes
		writeFiles(t, dir, files)
		doc, err := lint.Place(context.Background(), lint.Options{Dir: dir, Root: dir, Topology: []string{"nodes.yaml"}, Paths: []string{"."}})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range doc.Decisions {
			for i := range p.Workloads {
				all = append(all, p.Workloads[i].Name+" "+answered(&p.Workloads[i]))
			}
		}
		slices.Sort(all)
		return slices.Compact(all) // by directory, and all together
	}
	alone := of(map[string]string{"app/a.yaml": app})
	if len(alone) < 3 {
		t.Fatalf("the tree has only %v", alone)
	}
	var beside []string
	for name, object := range openNames {
		if diff := cmp.Diff(alone, of(map[string]string{"app/a.yaml": app, "other/b.yaml": object})); diff != "" {
			t.Errorf("%s elsewhere: %s", name, diff)
		}
		if cmp.Equal(alone, of(map[string]string{"app/a.yaml": app, "app/b.yaml": object})) {
			beside = append(beside, name)
		}
	}
	if slices.Sort(beside); !cmp.Equal(beside, []string{"PriorityClass"}) { // what it has is not asked for here
		t.Errorf("beside the workloads these change nothing: %v", beside)
	}
}
