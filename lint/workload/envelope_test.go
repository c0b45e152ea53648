package workload

import (
	"fmt"
	"strings"
	"testing"
)

// TestEnvelope finds fields that are misspelt or stand at the wrong depth: the
// API server drops them without a word, or refuses the object.
func TestEnvelope(t *testing.T) {
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nROOTspec:\n  selector: {matchLabels: {app: a}}\n  SPEC\n  template:\n    metadata: {labels: {app: a}}\n    TEMPLATE\n    spec:\n      containers: [{name: c}]\n      POD\n"
	cron := "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nROOTspec:\n  schedule: x\n  SPEC\n  jobTemplate:\n    spec:\n      template:\n        TEMPLATE\n        spec:\n          containers: [{name: c}]\n          POD\n"
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nROOTspec:\n  containers: [{name: c}]\n  POD\n"
	machine := "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a}\nROOTspec:\n  SPEC\n  template:\n    TEMPLATE\n    spec:\n      domain: {}\n      POD\n"
	pool := "apiVersion: pool.kubevirt.io/v1beta1\nkind: VirtualMachinePool\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {a: b}}\n  virtualMachineTemplate:\n    spec:\n      SPEC\n      template:\n        spec:\n          domain: {}\n          POD\n"
	for _, row := range []struct{ frame, at, field, want string }{
		{deployment, "POD", "nodeselector: {a: b}", "spec.template.spec.nodeselector: nodeSelector"},
		{deployment, "POD", "topologySpreadConstraint: []", "spec.template.spec.topologySpreadConstraint: topologySpreadConstraints"},
		{deployment, "POD", "toleration: []", "spec.template.spec.toleration: tolerations"},
		{deployment, "POD", "afinity: {}", "spec.template.spec.afinity: affinity"},
		{deployment, "POD", "podAntiAffinity: {}", "spec.template.spec.podAntiAffinity: "},
		{deployment, "POD", "terminationGracePeriodSeconds: 3", ""},
		{deployment, "POD", "dnsPolicy: Default", ""},
		{deployment, "POD", "affinity: {podAntiAfinity: {}}", "spec.template.spec.affinity.podAntiAfinity: podAntiAffinity"},
		{deployment, "POD", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologykey: x}]}}", "spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologykey: topologyKey"},
		{deployment, "TEMPLATE", "affinity: {}", "spec.template.affinity: spec.template.spec.affinity"},
		{deployment, "TEMPLATE", "specs: {}", "spec.template.specs: spec"},
		{deployment, "TEMPLATE", "annotations: {}", ""},
		{deployment, "SPEC", "affinity: {}", "spec.affinity: spec.template.spec.affinity"},
		{deployment, "SPEC", "nodeSelector: {a: b}", "spec.nodeSelector: spec.template.spec.nodeSelector"},
		{deployment, "SPEC", "tolerations: []", "spec.tolerations: spec.template.spec.tolerations"},
		{deployment, "SPEC", "topologySpreadConstraints: []", "spec.topologySpreadConstraints: spec.template.spec.topologySpreadConstraints"},
		{deployment, "SPEC", "replica: 3", "spec.replica: replicas"},
		{deployment, "SPEC", "startegy: {}", "spec.startegy: strategy"},
		{deployment, "SPEC", "replicas: 3", ""},
		{deployment, "SPEC", "quite_different: 3", ""},
		{deployment, "ROOT", "affinity: {}", "affinity: spec.template.spec.affinity"},
		{deployment, "ROOT", "status: {}", ""},
		{deployment, "ROOT", "sops: {}", ""},
		{cron, "SPEC", "tolerations: []", "spec.tolerations: spec.jobTemplate.spec.template.spec.tolerations"},
		{cron, "TEMPLATE", "nodeSelector: {a: b}", "spec.jobTemplate.spec.template.nodeSelector: spec.jobTemplate.spec.template.spec.nodeSelector"},
		{cron, "SPEC", "concurencyPolicy: Allow", "spec.concurencyPolicy: concurrencyPolicy"},
		{cron, "POD", "nodeSelectors: {a: b}", "spec.jobTemplate.spec.template.spec.nodeSelectors: nodeSelector"},
		{pod, "ROOT", "nodeSelector: {a: b}", "nodeSelector: spec.nodeSelector"},
		{pod, "POD", "nodeName: x", ""},
		{pod, "POD", "nodename: x", "spec.nodename: nodeName"},
		{machine, "SPEC", "nodeSelector: {a: b}", "spec.nodeSelector: spec.template.spec.nodeSelector"},
		{machine, "SPEC", "dataVolumeTemplates: []", ""},
		{machine, "TEMPLATE", "affinity: {}", "spec.template.affinity: spec.template.spec.affinity"},
		{machine, "POD", "nodeselector: {a: b}", "spec.template.spec.nodeselector: nodeSelector"},
		{machine, "POD", "evictionStrategy: LiveMigrate", ""},
		{machine, "POD", "affinity: {podAfinity: {}}", "spec.template.spec.affinity.podAfinity: podAffinity"},
		{machine, "ROOT", "affinity: {}", "affinity: spec.template.spec.affinity"},
		{pool, "SPEC", "affinity: {}", "spec.virtualMachineTemplate.spec.affinity: spec.virtualMachineTemplate.spec.template.spec.affinity"},
		{pool, "POD", "toleration: []", "spec.virtualMachineTemplate.spec.template.spec.toleration: tolerations"},
	} {
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
