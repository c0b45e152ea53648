package lint_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// TestCoreRule adds core rules that report rows that no other rule reports. Each of them gets its
// rows without a change in the code that builds facts.
func TestCoreRule(t *testing.T) {
	const manifest = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tier: a}}
    spec:
      nodeSelector: {kubernetes.io/os: linux}
      affinity:
        nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: size, operator: In, values: [large]}]}]}}
        podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [tier]}]}
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]
      containers: [{name: c, image: c, resources: {requests: {cpu: 100m}}, ports: [{containerPort: 80, hostPort: 80}]}]
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {minReplicas: 2, maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`
	const nodes = `apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools: [{name: a, count: 4, labels: {size: large}, allocatable: {cpu: "4", memory: 8Gi, pods: 110}}]
`
	for list, condition := range map[string]string{
		"rollouts": `row.outcome == "always"`, "sharing": `row.on_one_node == 1`, "eligibility": `row.eligible == 4`, "requests": `row.resource == "cpu"`,
		"anti_affinity": `row.outcome == "always"`, "spreads": `row.outcome == "always"`, "host_ports": `row.outcome == "always"`, "room": `row.outcome == "always"`,
		"autoscalers": `row.outcome == "always"`, "topology_keys": `row.with == row.usable`, "node_labels": `not row.deprecated`,
		"node_terms": `not row.empty`, "selectors": `row.matches > 0`, "label_keys": `row.on_pod == "always"`,
	} {
		rule := fmt.Sprintf(`# METADATA
# title: A trial
# description: It reports what is well.
# schemas:
#   - input: schema.facts
# custom:
#   category: fragile
#   since: v0.1.0
package schedlint.rules["trial"]

import data.schedlint.result

report contains result.finding(rego.metadata.chain(), row, {"message": "found"}) if {
	some row in input.%s
	%s
}
`, list, condition)
		files := fstest.MapFS{"trial/rule.rego": {Data: []byte(rule)}}
		err := fs.WalkDir(rules.FS, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := fs.ReadFile(rules.FS, name)
			files[name] = &fstest.MapFile{Data: text}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		e, err := rego.Load(rego.Options{Rules: files})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"nodes.yaml": nodes, "web.yaml": manifest})
		report, err := lint.Run(context.Background(), lint.Options{Dir: dir, Root: dir, Paths: []string{"web.yaml"}, Topology: []string{"nodes.yaml"}, Policy: e, Today: "2026-11-21", Level: e.Level})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(report.Diagnostics, func(d diag.Diagnostic) bool { return d.Rule == "trial" }) {
			t.Errorf("%s: the rule does not fire where %s: %v", list, strings.TrimSpace(condition), report.Diagnostics)
		}
	}
}
