package workload

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// machineManifests are machines of every kind, with slots for labels of their own, for labels of
// the template, and for a field of the instance.
var machineManifests = map[string]string{
	"VirtualMachine":                   "apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: a, labels: {OUTER}}\nspec: {template: {metadata: {labels: {INNER}}, spec: {domain: {}FIELD}}}\n",
	"VirtualMachineInstance":           "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\nmetadata: {name: a, labels: {INNER}}\nspec: {domain: {}FIELD}\n",
	"VirtualMachineInstanceReplicaSet": "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstanceReplicaSet\nmetadata: {name: a, labels: {OUTER}}\nspec: {template: {metadata: {labels: {INNER}}, spec: {domain: {}FIELD}}}\n",
	"VirtualMachinePool":               "apiVersion: pool.kubevirt.io/v1beta1\nkind: VirtualMachinePool\nmetadata: {name: a}\nspec: {selector: {matchLabels: {x: y}}, virtualMachineTemplate: {metadata: {labels: {x: y, OUTER}}, spec: {template: {metadata: {labels: {INNER}}, spec: {domain: {}FIELD}}}}}\n",
	"Deployment":                       "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, labels: {OUTER}}\nspec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {INNER}}, spec: {containers: [{name: c}]FIELD}}}\n",
}

func machineWith(t *testing.T, kind, outer, inner, field string) *Workload {
	return loadSet(t, strings.NewReplacer("OUTER", outer, "INNER", inner, "FIELD", field).Replace(machineManifests[kind])).Workloads[0]
}

// TestEvictionStrategy reads the eviction strategy of a machine (R-W29).
func TestEvictionStrategy(t *testing.T) {
	for kind := range machineManifests {
		for field, want := range map[string]string{
			"": "", ", evictionStrategy: LiveMigrate": "LiveMigrate", ", evictionStrategy: null": "", ", evictionStrategy: '${E}'": "${E}",
		} {
			w := machineWith(t, kind, "", "app: a", field)
			if !w.Kind.VM {
				want = ""
			}
			got, at := w.EvictionStrategy()
			if got != want || at.IsZero() != (want == "") {
				t.Errorf("%s%s: got %q at %+v", kind, field, got, at)
			}
			if want != "" && !strings.HasPrefix(w.File().Line(at.Line)[at.Column-1:], "evictionStrategy: ") {
				t.Errorf("%s%s: at %+v", kind, field, at)
			}
			if w.Kind.VM && len(w.Unknown) > 0 {
				t.Errorf("%s%s: %+v", kind, field, w.Unknown)
			}
		}
	}
}

// TestOuterLabels finds labels that the pods seem to have, but do not (R-W21).
func TestOuterLabels(t *testing.T) {
	for kind, want := range map[string]string{
		"VirtualMachine": "app: b, tier: front", "VirtualMachineInstanceReplicaSet": "app: b, tier: front", "VirtualMachinePool": "app: b, tier: front, x: y",
		"VirtualMachineInstance": "", "Deployment": "",
	} {
		w := machineWith(t, kind, "app: b, tier: front, team: x", "app: a, team: x", "")
		outer := w.OuterLabels()
		var got []string
		for _, k := range slices.Sorted(maps.Keys(outer)) {
			at := outer[k].Span
			got = append(got, w.Object.File.Line(at.Line)[at.Column-1:at.EndColumn-1])
			if !strings.HasSuffix(got[len(got)-1], outer[k].Value) {
				t.Errorf("%s: %s is %q", kind, k, outer[k].Value)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: got %s, want %s", kind, strings.Join(got, ", "), want)
		}
	}
}
