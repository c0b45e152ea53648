package lint_test

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
)

// TestNeighbours renders a Deployment beside the objects of another root. A selector must be
// reported to match nothing only if it cannot find a pod there.
func TestNeighbours(t *testing.T) {
	pod := func(labels string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: load-0, labels: {" + labels + "}}\nspec: {containers: [{name: a, image: example.com/a}]}\n"
	}
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: load}\nspec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: example.com/a}]}}}\n"
	set := "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: load}\nspec: {serviceName: load, replicas: 1, selector: {matchLabels: {app: l}}, template: {metadata: {labels: {app: l}}, spec: {containers: [{name: a, image: example.com/a}]}}}\n"
	for _, test := range []struct {
		name, beside, selector string
		found                  bool // a finding that the selector matches nothing
	}{
		{"same label", pod("app: load"), "matchLabels: {app: load}", false},
		{"one of several", pod("app: load"), "matchExpressions: [{key: app, operator: In, values: [other, load]}]", false},
		{"any value", pod("app: load"), "matchExpressions: [{key: app, operator: Exists}]", false},
		{"value of a later tool", pod("app: '${APP}'"), "matchLabels: {app: load}", false},
		{"asked for by a later tool", pod("app: load"), "matchLabels: {app: '${APP}'}", false},
		{"added by the Job's controller", job, "matchLabels: {job-name: load}", false},
		{"added by the StatefulSet's controller", set, "matchLabels: {statefulset.kubernetes.io/pod-name: load-0}", false},
		{"another label", pod("app: load"), "matchLabels: {app: nobody}", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			writeFiles(t, dir+"/one", map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": test.beside})
			writeFiles(t, dir+"/two", map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      affinity:
        podAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: kubernetes.io/hostname
            labelSelector: {` + test.selector + `}
      containers: [{name: a, image: example.com/a}]
`})
			writeFiles(t, dir, map[string]string{"nodes.yaml": linttest.Workers(3, 0)})
			report, err := runRendering(t, []string{"one", "two"}, "", nil, dir, []string{"nodes.yaml"})
			if err != nil {
				t.Fatal(err)
			}
			if report.Summary.Renders != 2 {
				t.Fatalf("%d renders: %+v", report.Summary.Renders, report.Diagnostics)
			}
			found := false
			for _, d := range report.Diagnostics {
				found = found || strings.Contains(d.Rule, "affinity") || d.Rule == "selector-matches-no-pod"
			}
			if found != test.found {
				t.Errorf("found %v, want %v: %+v", found, test.found, report.Diagnostics)
			}
		})
	}
}
