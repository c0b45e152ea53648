package lint_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/rego"
)

// zoneRules are two rules about the zones of workloads, as a team writes them: which zones a tenant
// may use, and how much of a zone's cpu a team may request.
const zoneRules = `package schedlint.rules["%s"]

import data.schedlint.result

`

// TestZonesOfManyWorkloads checks that rules about the zones of 3,000 workloads on 300 nodes stay
// within their budget of steps.
func TestZonesOfManyWorkloads(t *testing.T) {
	t.Parallel()
	const teams, workloads = 30, 3000
	var manifests strings.Builder
	for i := range workloads {
		fmt.Fprintf(&manifests, "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: w%[1]d, namespace: team-%[2]d}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: w%[1]d}}\n"+
			"  template: {metadata: {labels: {app: w%[1]d}}, spec: {nodeSelector: {topology.kubernetes.io/zone: %[3]c}, containers: [{name: a, image: a, resources: {requests: {cpu: 10m}}}]}}\n",
			i, i%teams, 'a'+i%3)
	}
	const head = "# METADATA\n# title: A rule about zones\n# description: It reads the zones of each workload.\n# schemas:\n#   - input: schema.facts\n# custom:\n#   category: policy\n"
	files := map[string]string{
		"nodes.yaml": "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: w, zones: {a: 100, b: 100, c: 100}, allocatable: {cpu: 8, memory: 8Gi, pods: 110}}]\n",
		"all.yaml":   manifests.String(),
		"policy/own-zones/rule.rego": head + fmt.Sprintf(zoneRules, "own-zones") + `report contains result.finding(rego.metadata.chain(), workload, {"message": message}) if {
	some workload in input.workloads
	some zone in workload.zones_possible
	zone == "c"
	not workload.namespace in {"team-2", "team-5", "team-8"}
	message := sprintf("%s runs in zone %s", [workload.ref, zone])
}
`,
		"policy/zone-share/rule.rego": head + fmt.Sprintf(zoneRules, "zone-share") + `report contains result.finding(rego.metadata.chain(), input.workloads[first], {"message": message}) if {
	some zone, by_team in requested
	some team, rows in by_team
	total := sum([row.cpu | some row in rows])
	total >= 1000
	first := min([row.w | some row in rows])
	message := sprintf("%s requests %d of zone %s", [team, total, zone])
}

# requested has the cpu of each workload that runs in one zone only, by zone and namespace.
requested[zone][team] contains {"w": w, "cpu": amount.value * workload.pods_min} if {
	some w, workload in input.workloads
	workload.zones_known
	count(workload.zones_possible) == 1
	some zone in workload.zones_possible
	team := workload.namespace
	some amount in workload.pod_requests
	amount.resource == "cpu"
}
`,
	}
	dir := t.TempDir()
	writeFiles(t, dir, files)
	e, err := rego.Load(rego.Options{Dirs: []string{filepath.Join(dir, "policy")}})
	if err != nil {
		t.Fatal(err)
	}
	report, err := lint.Run(context.Background(), lint.Options{Dir: dir, Root: dir, Paths: []string{"all.yaml"}, Topology: []string{"nodes.yaml"}, Policy: e, Today: "2026-11-21", Level: e.Level})
	if err != nil || len(report.Failures) > 0 {
		t.Fatal(report.Failures, err)
	}
	count := map[string]int{}
	for _, d := range report.Diagnostics {
		count[d.Rule]++
	}
	// team-2, team-5, ... team-29 are in zone c; three of these ten may be
	if want := (workloads / teams) * (teams/3 - 3); count["own-zones"] != want {
		t.Errorf("%d findings about zones, want %d", count["own-zones"], want)
	}
	if count["zone-share"] != teams { // 100 workloads of 10m each are 1,000m
		t.Errorf("%d findings about shares, want %d", count["zone-share"], teams)
	}
}
