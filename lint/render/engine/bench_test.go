package engine

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// overlay returns an overlay over a base with 60 objects, with a generated ConfigMap and patches.
func overlay() string {
	var b strings.Builder
	b.WriteString("-- base/kustomization.yaml --\nresources:\n")
	for i := range 20 {
		fmt.Fprintf(&b, "- app%d.yaml\n", i)
	}
	for i := range 20 {
		app := strings.ReplaceAll(benchApp, "APP", fmt.Sprintf("app%d", i))
		fmt.Fprintf(&b, "-- base/app%d.yaml --\n%s", i, app)
	}
	b.WriteString("-- overlay/kustomization.yaml --\nnamespace: shop\nnamePrefix: eu-\nresources: [../base]\nlabels:\n- pairs: {team: a}\nconfigMapGenerator:\n- {name: made, literals: [a=b]}\nreplicas:\n- {name: app1, count: 5}\npatches:\n")
	for i := range 5 {
		fmt.Fprintf(&b, "- patch: |-\n    apiVersion: apps/v1\n    kind: Deployment\n    metadata:\n      name: app%d\n    spec:\n      replicas: 4\n      template:\n        spec:\n          containers:\n          - name: main\n            tty: true\n", i)
	}
	return b.String()
}

const benchApp = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: APP
  labels:
    app: APP
spec:
  replicas: 3
  selector:
    matchLabels:
      app: APP
  template:
    metadata:
      labels:
        app: APP
    spec:
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            labelSelector:
              matchLabels:
                app: APP
      tolerations:
      - key: dedicated
        operator: Exists
        effect: NoSchedule
      containers:
      - name: main
        image: registry.example/APP:1.0
        envFrom:
        - configMapRef:
            name: APP
        ports:
        - containerPort: 8080
          name: http
        resources:
          requests:
            cpu: 500m
            memory: 1Gi
          limits:
            memory: 1Gi
        readinessProbe:
          httpGet:
            path: /ready
            port: http
          periodSeconds: 10
---
apiVersion: v1
kind: Service
metadata:
  name: APP
spec:
  selector:
    app: APP
  ports:
  - port: 80
    targetPort: http
    name: http
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: APP
data:
  LOG_LEVEL: info
  LOG_FORMAT: json
`

// BenchmarkPlain measures kustomize alone.
func BenchmarkPlain(b *testing.B) {
	dir := repository(b, overlay())
	for b.Loop() {
		if _, err := plainOnce(filepath.Join(dir, "overlay")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMarked measures a build including the plan, marks and documents.
func BenchmarkMarked(b *testing.B) {
	dir := repository(b, overlay())
	for b.Loop() {
		if out := Build(rootOf(dir, "overlay"), nonce); out.Problem != nil || len(out.Documents) != 61 || len(out.Marks) < 500 {
			b.Fatal(out.Problem, len(out.Documents), len(out.Marks))
		}
	}
}
