package workload

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

// machineManifests has a machine of every kind, with slots for its own labels, for the labels of
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

// TestOuterLabels checks that labels are found that the pods seem to have but do not have (R-W21).
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

// TestMisspeltConstants checks that a constant in capitals and with underscores, such as
// NON_INDEXED, is taken for a misspelling and not for a placeholder.
func TestMisspeltConstants(t *testing.T) {
	humps := regexp.MustCompile(`([a-z])([A-Z])`)
	for _, words := range [][]string{
		completion, management, deploymentUpdates, setUpdates, preemptions, protocols, evictionPolicies, tolerationOperators, taintEffects,
		labelOperators.names, nodeOperators.names, fieldOperators.names, {"Always", "OnFailure", "Never", "DoNotSchedule", "ScheduleAnyway", "Honor", "Ignore"},
	} {
		for _, word := range words {
			if slip := strings.ToUpper(humps.ReplaceAllString(word, "${1}_${2}")); source.Placeholder(slip) {
				t.Errorf("%s is a placeholder", slip)
			}
		}
	}
}

// TestHostname checks that HOSTNAME is a placeholder only in fields that name a node.
func TestHostname(t *testing.T) {
	for spec, open := range map[string]string{
		"nodeName: HOSTNAME": "nodeName",
		"nodeSelector: {kubernetes.io/hostname: HOSTNAME}":             "nodeSelector.kubernetes.io/hostname",
		"nodeSelector: {kubernetes.io/hostname: NODE, zone: HOSTNAME}": "",
		"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [a, HOSTNAME]}]}]}}}": "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values[1]",
		"nodeSelector: {image: '${X}'}":                    "nodeSelector.image",
		"tolerations: [{key: HOSTNAME, operator: Exists}]": "",
	} {
		set := loadSet(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c}]\n  "+spec+"\n")
		w := set.Workloads[0]
		if got := strings.Join(w.Open, " "); got != open || len(w.Problems) > 0 || slices.Contains(w.Placeholders, "HOSTNAME") != (open != "" && strings.Contains(spec, "HOSTNAME")) {
			t.Errorf("%s: open %q, placeholders %q, problems %v", spec, got, w.Placeholders, w.Problems)
		}
	}
}

// TestQuoted checks that help quotes a value that is not too long.
func TestQuoted(t *testing.T) {
	for length, quoted := range map[int]bool{1: true, maxShown: true, maxShown + 1: false} {
		number := strings.Repeat("1", length)
		w := loadSet(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers: [{name: c}]\n  nodeSelector: {weight: "+number+"}\n").Workloads[0]
		if len(w.Problems) != 1 || (w.Problems[0].Fix == `quote it: "`+number+`"`) != quoted || !quoted && w.Problems[0].Fix != "" {
			t.Errorf("%d digits: %v", length, w.Problems)
		}
	}
}

// TestNumeral checks that a word in capitals is a placeholder only where a number is required.
func TestNumeral(t *testing.T) {
	for _, row := range []struct{ spec, open, named, problem string }{
		{"containers: [{name: c, ports: [{containerPort: PORT, hostPort: HOST_PORT}]}]", "containers[0].ports[0].containerPort containers[0].ports[0].hostPort", "HOST_PORT PORT", ""},
		{"containers: [{name: c, ports: [{containerPort: Port}]}]", "containers[0].ports[0].containerPort", "", "found the string Port"},
		{"containers: [{name: c, ports: [{containerPort: 80, protocol: PROTOCOL}]}]", "", "", `protocol is "PROTOCOL"`},
		{"containers: [{name: c, resources: {requests: {cpu: CPU}}}]", "containers[0].resources.requests.cpu", "", "expected a quantity"},
		{"containers: [{name: c, resources: {requests: {memory: 512MB}}}]", "containers[0].resources.requests.memory", "", "expected a quantity"},
		{"containers: [{name: c}]\n  nodeSelector: {weight: HEAVY}", "", "", ""},
	} {
		w := loadSet(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  "+row.spec+"\n").Workloads[0]
		slices.Sort(w.Placeholders)
		if got := strings.Join(w.Open, " "); got != row.open || strings.Join(w.Placeholders, " ") != row.named {
			t.Errorf("%s: open %q, placeholders %q", row.spec, got, w.Placeholders)
		}
		if row.problem == "" && len(w.Problems) > 0 || row.problem != "" && (len(w.Problems) != 1 || !strings.Contains(w.Problems[0].Message, row.problem)) {
			t.Errorf("%s: problems %v", row.spec, w.Problems)
		}
	}
	for number, problem := range map[string]string{"REPLICAS": "", "N_2": "", "one": "found the string one", "N": "found the boolean N", `"2"`: "found the string 2"} {
		set := loadSet(t, "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec:\n  replicas: "+number+"\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}\n")
		w := set.Workloads[0]
		if len(w.Problems) != min(1, len(problem)) || problem != "" && !strings.Contains(w.Problems[0].Message, problem) || w.Count.Known || (len(set.Placeholders) > 0) != (problem == "") {
			t.Errorf("replicas: %s: %v, placeholders %v", number, w.Problems, set.Placeholders)
		}
	}
	scaled := loadSet(t, "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: h}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: d}, maxReplicas: MAX}\n")
	if len(scaled.Refusals) > 0 || len(scaled.Placeholders) != 1 {
		t.Errorf("maxReplicas: %v, placeholders %v", scaled.Refusals, scaled.Placeholders)
	}
}

// TestNamedPlaceholders checks the placeholders that are found in the fields that are read.
func TestNamedPlaceholders(t *testing.T) {
	w := loadSet(t, `apiVersion: apps/v1
kind: Deployment
metadata: {name: <name>, annotations: {a: <annotation>}}
spec:
  selector: {matchLabels: {app: <app>}}
  template:
    metadata: {labels: {app: <app>}, annotations: {b: <b>}}
    spec:
      nodeSelector: {pool: <pool>, volumes: <volumes>}
      serviceAccountName: <account>
      hostAliases: [{ip: <ip>}]
      securityContext: {seLinuxOptions: {level: <level>}}
      <field>: ""
      volumes: [{name: v, hostPath: {path: /<path>}}, {name: w, cloudInit: {userData: "#!/bin/sh\ncat <file>"}}]
      containers:
      - name: <container>
        securityContext: {capabilities: {add: [NET_ADMIN, SYS_ADMIN]}}
        env: [{name: A, value: SOME_VALUE}]
        args: [<arg>]
        command: [TWO WORDS]
        livenessProbe: {exec: {command: [<probe>]}, httpGet: {path: /<get>, httpHeaders: [{name: A_HEADER, value: <header>}]}}
        lifecycle: {preStop: {exec: {command: [<hook>]}}}
        ports: [{name: <port>, containerPort: 80}]
        resources: {requests: {<resource>: "1"}, limits: {cpu: <cpu>}}
`).Workloads[0]
	if got := strings.Join(w.Placeholders, " "); got != "<account> <app> <container> <cpu> <field> <name> <pool> <port> <resource> <volumes>" {
		t.Errorf("placeholders are %s", got)
	}
}
