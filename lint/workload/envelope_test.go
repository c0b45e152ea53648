package workload

import (
	"fmt"
	"strings"
	"testing"
)

// Manifests with slots for a field at every depth.
const (
	deploymentSlots = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nROOTspec:\n  selector: {matchLabels: {app: a}}\n  SPEC\n  template:\n    metadata: {labels: {app: a}}\n    TEMPLATE\n    spec:\n      containers: [{name: c}]\n      POD\n"
	cronSlots       = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nROOTspec:\n  schedule: x\n  SPEC\n  jobTemplate:\n    spec:\n      template:\n        TEMPLATE\n        spec:\n          containers: [{name: c}]\n          POD\n"
	podSlots        = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nROOTspec:\n  containers: [{name: c}]\n  POD\n"
	machineSlots    = "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\nROOTspec:\n  SPEC\n  template:\n    TEMPLATE\n    spec:\n      domain: {}\n      POD\n"
	poolSlots       = "apiVersion: pool.kubevirt.io/v1beta1\nkind: VirtualMachinePool\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {a: b}}\n  virtualMachineTemplate:\n    spec:\n      SPEC\n      template:\n        spec:\n          domain: {}\n          POD\n"
)

// strays are fields that are misspelt or at the wrong depth, with the resulting messages.
var strays = []struct{ frame, at, field, want string }{
	{deploymentSlots, "POD", "nodeselector: {a: b}", "spec.template.spec.nodeselector: nodeSelector"},
	{deploymentSlots, "POD", "topologySpreadConstraint: []", "spec.template.spec.topologySpreadConstraint: topologySpreadConstraints"},
	{deploymentSlots, "POD", "toleration: []", "spec.template.spec.toleration: tolerations"},
	{deploymentSlots, "POD", "afinity: {}", "spec.template.spec.afinity: affinity"},
	{deploymentSlots, "POD", "podAntiAffinity: {}", "spec.template.spec.podAntiAffinity: "},
	{deploymentSlots, "POD", "terminationGracePeriodSeconds: 3", ""},
	{deploymentSlots, "POD", "dnsPolicy: Default", ""},
	{deploymentSlots, "POD", "affinity: {podAntiAfinity: {}}", "spec.template.spec.affinity.podAntiAfinity: podAntiAffinity"},
	{deploymentSlots, "POD", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologykey: x}]}}", "spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologykey: topologyKey"},
	{deploymentSlots, "TEMPLATE", "affinity: {}", "spec.template.affinity: spec.template.spec.affinity"},
	{deploymentSlots, "TEMPLATE", "specs: {}", "spec.template.specs: spec"},
	{deploymentSlots, "TEMPLATE", "annotations: {}", ""},
	{deploymentSlots, "SPEC", "affinity: {}", "spec.affinity: spec.template.spec.affinity"},
	{deploymentSlots, "SPEC", "nodeSelector: {a: b}", "spec.nodeSelector: spec.template.spec.nodeSelector"},
	{deploymentSlots, "SPEC", "tolerations: []", "spec.tolerations: spec.template.spec.tolerations"},
	{deploymentSlots, "SPEC", "topologySpreadConstraints: []", "spec.topologySpreadConstraints: spec.template.spec.topologySpreadConstraints"},
	{deploymentSlots, "SPEC", "replica: 3", "spec.replica: replicas"},
	{deploymentSlots, "SPEC", "startegy: {}", "spec.startegy: strategy"},
	{deploymentSlots, "SPEC", "replicas: 3", ""},
	{deploymentSlots, "SPEC", "quite_different: 3", ""},
	{deploymentSlots, "ROOT", "affinity: {}", "affinity: spec.template.spec.affinity"},
	{deploymentSlots, "ROOT", "status: {}", ""},
	{deploymentSlots, "ROOT", "sops: {}", ""},
	{cronSlots, "SPEC", "tolerations: []", "spec.tolerations: spec.jobTemplate.spec.template.spec.tolerations"},
	{cronSlots, "TEMPLATE", "nodeSelector: {a: b}", "spec.jobTemplate.spec.template.nodeSelector: spec.jobTemplate.spec.template.spec.nodeSelector"},
	{cronSlots, "SPEC", "concurencyPolicy: Allow", "spec.concurencyPolicy: concurrencyPolicy"},
	{cronSlots, "POD", "nodeSelectors: {a: b}", "spec.jobTemplate.spec.template.spec.nodeSelectors: nodeSelector"},
	{podSlots, "ROOT", "nodeSelector: {a: b}", "nodeSelector: spec.nodeSelector"},
	{podSlots, "POD", "nodeName: x", ""},
	{podSlots, "POD", "nodename: x", "spec.nodename: nodeName"},
	{machineSlots, "SPEC", "nodeSelector: {a: b}", "spec.nodeSelector: spec.template.spec.nodeSelector"},
	{machineSlots, "SPEC", "dataVolumeTemplates: []", ""},
	{machineSlots, "TEMPLATE", "affinity: {}", "spec.template.affinity: spec.template.spec.affinity"},
	{machineSlots, "POD", "nodeselector: {a: b}", "spec.template.spec.nodeselector: nodeSelector"},
	{machineSlots, "POD", "evictionStrategy: LiveMigrate", ""},
	{machineSlots, "POD", "affinity: {podAfinity: {}}", "spec.template.spec.affinity.podAfinity: podAffinity"},
	{machineSlots, "ROOT", "affinity: {}", "affinity: spec.template.spec.affinity"},
	{poolSlots, "SPEC", "affinity: {}", "spec.virtualMachineTemplate.spec.affinity: spec.virtualMachineTemplate.spec.template.spec.affinity"},
	{poolSlots, "POD", "toleration: []", "spec.virtualMachineTemplate.spec.template.spec.toleration: tolerations"},
}

// TestEnvelope finds fields that are misspelt or at the wrong depth: the API server silently drops
// them, or refuses the object.
func TestEnvelope(t *testing.T) {
	for _, row := range strays {
		text := strings.Replace(row.frame, row.at, row.field, 1)
		if row.at == "ROOT" {
			text = strings.Replace(row.frame, "ROOT", row.field+"\n", 1)
		}
		for _, rest := range []string{"ROOT", "SPEC", "TEMPLATE", "POD"} {
			text = strings.Replace(text, rest, "", 1)
		}
		set := loadSet(t, text)
		if len(set.Workloads) != 1 {
			t.Fatalf("%s\n%s", summary(set), text)
		}
		w := set.Workloads[0]
		got := ""
		for _, u := range w.Unknown {
			got += fmt.Sprintf("%s: %s", u.Field, u.Suggestion)
			name, _, _ := strings.Cut(row.field, ":")
			if line := w.File().Line(u.KeySpan.Line); !strings.Contains(row.field, line[u.KeySpan.Column-1:u.KeySpan.EndColumn-1]) {
				t.Errorf("%s: points at %q", name, line)
			}
		}
		if got != row.want {
			t.Errorf("%s: got %s, want %s\n%s", row.field, got, row.want, text)
		}
	}
}
