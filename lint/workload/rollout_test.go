package workload

import (
	"fmt"
	"strings"
	"testing"
)

// updating returns a workload of a kind with the given strategy.
func updating(kind, strategy string) string {
	pod := "\n  selector: {matchLabels: {a: b}}\n  template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}\n"
	group := map[string]string{"Rollout": "argoproj.io/v1alpha1", "Job": "batch/v1", "ReplicationController": "v1", "VirtualMachinePool": "pool.kubevirt.io/v1beta1", "VirtualMachine": "kubevirt.io/v1"}[kind]
	switch kind {
	case "VirtualMachinePool":
		pod = "\n  selector: {matchLabels: {a: b}}\n  virtualMachineTemplate: {spec: {template: {metadata: {labels: {a: b}}, spec: {domain: {}}}}}\n"
	case "VirtualMachine":
		pod = "\n  template: {metadata: {labels: {a: b}}, spec: {domain: {}}}\n"
	}
	if group == "" {
		group = "apps/v1"
	}
	return "apiVersion: " + group + "\nkind: " + kind + "\nmetadata: {name: a}\nspec:\n  " + strategy + pod
}

// described returns a short description of a rollout: its way, surge, unavailable and location.
func described(w *Workload, r Rollout) string {
	s := fmt.Sprintf("%s +%d -%d", r.Way, r.Surge, r.Unavailable)
	if r.Preview > 0 {
		s += fmt.Sprintf(" preview %d", r.Preview)
	}
	if !r.Span.IsZero() {
		line := []rune(w.Object.File.Line(r.Span.Line))
		s += " at " + string(line[r.Span.Column-1:r.Span.EndColumn-1])
	}
	if r.Unknown.Given() {
		s += strings.TrimRight(fmt.Sprintf(" unknown: %s %s %s", r.Unknown.Kind, r.Unknown.Field, r.Unknown.Value), " ")
	}
	return s
}

// TestDefaultRollout checks the defaults of 25% for several pod counts (R-W4).
func TestDefaultRollout(t *testing.T) {
	for n, want := range map[int]string{
		0: "none +0 -0", 1: "rolling +1 -0", 2: "rolling +1 -0", 3: "rolling +1 -0", 4: "rolling +1 -1",
		5: "rolling +2 -1", 6: "rolling +2 -1", 7: "rolling +2 -1", 8: "rolling +2 -2",
	} {
		w := loadSet(t, updating("Deployment", "")).Workloads[0]
		if got := described(w, w.Rollout(n)); got != want {
			t.Errorf("%d replicas: got %s, want %s", n, got, want)
		}
	}
}

// rollouts maps strategies to the expected updates of 3 pods.
var rollouts = []struct{ kind, strategy, want string }{
	{"Deployment", "strategy: {type: RollingUpdate}", "rolling +1 -0 at type: RollingUpdate"},
	{"Deployment", "strategy: {}", "rolling +1 -0 at strategy"},
	{"Deployment", "strategy: {rollingUpdate: {}}", "rolling +1 -0 at rollingUpdate"},
	{"Deployment", "strategy: {rollingUpdate: {maxSurge: null}}", "rolling +1 -0 at rollingUpdate"},
	{"Deployment", "strategy: {rollingUpdate: {maxSurge: 2}}", "rolling +2 -0 at maxSurge: 2"},
	{"Deployment", "strategy: {rollingUpdate: {maxUnavailable: 1, maxSurge: 2}}", "rolling +2 -1 at maxUnavailable: 1"},
	{"Deployment", "strategy: {rollingUpdate: {maxUnavailable: 50%, maxSurge: 50%}}", "rolling +2 -1 at maxUnavailable: 50%"},
	{"Deployment", "strategy: {rollingUpdate: {maxUnavailable: 33%, maxSurge: 0}}", "rolling +0 -1 at maxUnavailable: 33%"},
	{"Deployment", "strategy: {rollingUpdate: {maxUnavailable: 100%, maxSurge: 200%}}", "rolling +6 -3 at maxUnavailable: 100%"},
	{"Deployment", "strategy: {rollingUpdate: {maxUnavailable: 9}}", "rolling +1 -3 at maxUnavailable: 9"},
	{"Deployment", "strategy: {rollingUpdate: {maxUnavailable: 0, maxSurge: 0}}", "rolling +0 -1 at maxUnavailable: 0"},
	{"Deployment", "strategy: {rollingUpdate: {maxUnavailable: '${N}'}}", "rolling +1 -0 at maxUnavailable: '${N}' unknown: variable maxUnavailable ${N}"},
	{"Deployment", "strategy: {rollingUpdate: {maxSurge: '3'}}", "rolling +0 -1 at maxSurge: '3' unknown: no-amount maxSurge"},
	{"Deployment", "strategy: {rollingUpdate: {maxSurge: -3, maxUnavailable: [1]}}", "rolling +0 -1 at maxUnavailable unknown: no-amount maxUnavailable"},
	{"Deployment", "strategy: {rollingUpdate: {maxSurge: '99999999999999%'}}", "rolling +2147483647 -0 at maxSurge: '99999999999999%'"},
	{"Deployment", "strategy: {rollingUpdate: [], type: 3}", "rolling +1 -0 at rollingUpdate"},
	{"Deployment", "strategy: {type: Recreate}", "recreate +0 -3 at type: Recreate"},
	{"Deployment", "strategy: {type: '${T}'}", "rolling +1 -0 at type: '${T}' unknown: variable type ${T}"},
	{"Deployment", "paused: true", "none +0 -0 at paused: true"},
	{"Deployment", "paused: '{{ p }}'", "none +0 -0 at paused: '{{ p }}' unknown: variable paused {{ p }}"},
	{"Deployment", "paused: false", "rolling +1 -0"},

	{"Rollout", "strategy: {canary: {}}", "rolling +1 -0 at canary"},
	{"Rollout", "strategy: {canary: {maxSurge: 0, maxUnavailable: 1}}", "rolling +0 -1 at maxUnavailable: 1"},
	{"Rollout", "strategy: {canary: {maxSurge: 0, maxUnavailable: 0}}", "rolling +0 -1 at maxUnavailable: 0"},
	{"Rollout", "strategy: {canary: {maxSurge: 1, trafficRouting: {nginx: {}}}}", "both-whole +3 -0 at trafficRouting"},
	{"Rollout", "strategy: {canary: {trafficRouting: {}, dynamicStableScale: true}}", "both-whole +3 -0 at dynamicStableScale: true unknown: dynamic-scale"},
	{"Rollout", "strategy: {canary: {trafficRouting: {}, dynamicStableScale: false}}", "both-whole +3 -0 at trafficRouting"},
	{"Rollout", "strategy: {canary: {antiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}}", "rolling +1 -0 at requiredDuringSchedulingIgnoredDuringExecution unknown: adds-anti-affinity"},
	{"Rollout", "strategy: {canary: {antiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: {weight: 1}}}}", "rolling +1 -0 at canary"},
	{"Rollout", "strategy: {blueGreen: {activeService: a}}", "both-whole +3 -0 at blueGreen"},
	{"Rollout", "strategy: {blueGreen: {previewReplicaCount: 1}}", "both-whole +3 -0 preview 1 at blueGreen"},
	{"Rollout", "strategy: {blueGreen: {previewReplicaCount: 5}}", "both-whole +3 -0 preview 3 at blueGreen"},
	{"Rollout", "strategy: {blueGreen: {previewReplicaCount: '${N}'}}", "both-whole +3 -0 at blueGreen unknown: variable previewReplicaCount ${N}"},
	{"Rollout", "strategy: {blueGreen: {antiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {}}}}", "both-whole +3 -0 at requiredDuringSchedulingIgnoredDuringExecution unknown: adds-anti-affinity"},
	{"Rollout", "", "none +0 -0 unknown: two-strategies"},
	{"Rollout", "strategy: {canary: {}, blueGreen: {}}", "none +0 -0 at strategy unknown: two-strategies"},
	{"Rollout", "paused: true", "none +0 -0 at paused: true"},

	{"StatefulSet", "", "in-place +0 -1"},
	{"StatefulSet", "updateStrategy: {type: RollingUpdate}", "in-place +0 -1 at type: RollingUpdate"},
	{"StatefulSet", "updateStrategy: {type: OnDelete}", "none +0 -0 at type: OnDelete"},
	{"StatefulSet", "updateStrategy: {type: '${T}'}", "in-place +0 -1 at type: '${T}' unknown: variable type ${T}"},
	{"StatefulSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 2}}", "in-place +0 -2 at maxUnavailable: 2 unknown: by-patch maxUnavailable"},
	{"StatefulSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 50%}}", "in-place +0 -1 at maxUnavailable: 50%"},
	{"StatefulSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 10%}}", "in-place +0 -1 at maxUnavailable: 10%"},
	{"StatefulSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 9}}", "in-place +0 -3 at maxUnavailable: 9 unknown: by-patch maxUnavailable"},
	{"StatefulSet", "updateStrategy: {rollingUpdate: {partition: 2}}", "in-place +0 -1 at rollingUpdate"},
	{"StatefulSet", "updateStrategy: {rollingUpdate: {partition: 3}}", "none +0 -0 at partition: 3"},
	{"StatefulSet", "ordinals: {start: 5}\n  updateStrategy: {rollingUpdate: {partition: 3}}", "none +0 -0 at partition: 3"},
	{"StatefulSet", "updateStrategy: {rollingUpdate: {partition: '${P}'}}", "in-place +0 -1 at rollingUpdate unknown: variable partition ${P}"},

	{"DaemonSet", "", "in-place +0 -1"},
	{"DaemonSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 34%}}", "in-place +0 -2 at maxUnavailable: 34%"},
	{"DaemonSet", "updateStrategy: {rollingUpdate: {maxSurge: 0}}", "in-place +0 -1 at maxSurge: 0"},
	{"DaemonSet", "updateStrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}", "in-place +0 -1 at maxUnavailable: 0"},
	{"DaemonSet", "updateStrategy: {rollingUpdate: {maxSurge: 1%, maxUnavailable: 0}}", "surge-per-node +1 -0 at maxUnavailable: 0"},
	{"DaemonSet", "updateStrategy: {rollingUpdate: {maxSurge: 34%, maxUnavailable: 0}}", "surge-per-node +2 -0 at maxUnavailable: 0"},
	{"DaemonSet", "updateStrategy: {rollingUpdate: {maxSurge: '${N}', maxUnavailable: 0}}", "in-place +0 -1 at maxUnavailable: 0 unknown: variable maxSurge ${N}"},
	{"DaemonSet", "updateStrategy: {type: OnDelete, rollingUpdate: {maxSurge: 1}}", "none +0 -0 at type: OnDelete"},

	{"VirtualMachinePool", "", "in-place +0 -3"},
	{"VirtualMachinePool", "updateStrategy: {proactive: {}}", "in-place +0 -3 at updateStrategy"},
	{"VirtualMachinePool", "maxUnavailable: 50%", "in-place +0 -1 at maxUnavailable: 50%"},
	{"VirtualMachinePool", "maxUnavailable: 0", "in-place +0 -1 at maxUnavailable: 0"},
	{"VirtualMachinePool", "updateStrategy: {unmanaged: {}}", "none +0 -0 at unmanaged"},
	{"VirtualMachinePool", "updateStrategy: {opportunistic: {}}", "none +0 -0 at opportunistic"},
	{"VirtualMachinePool", "updateStrategy: '${S}'", "none +0 -0 at updateStrategy: '${S}' unknown: variable updateStrategy ${S}"},

	{"ReplicaSet", "strategy: {type: Recreate}", "none +0 -0"},
	{"ReplicationController", "", "none +0 -0"},
	{"Job", "", "none +0 -0"},
	{"VirtualMachine", "", "none +0 -0"},
}

func TestRollouts(t *testing.T) {
	for _, row := range rollouts {
		set := loadSet(t, updating(row.kind, row.strategy))
		if len(set.Workloads) != 1 {
			t.Fatalf("%s\n%s", summary(set), updating(row.kind, row.strategy))
		}
		w := set.Workloads[0]
		if got := described(w, w.Rollout(3)); got != row.want {
			t.Errorf("%s %s:\n got %s\nwant %s", row.kind, row.strategy, got, row.want)
		}
		if got := described(w, w.Rollout(0)); got != "none +0 -0" {
			t.Errorf("%s %s: no pods: got %s", row.kind, row.strategy, got)
		}
	}
}

// figures returns a short description of how the numbers of a rollout were computed.
func figures(a Arithmetic) string {
	var parts []string
	for _, n := range []Amount{a.Surge, a.Unavailable} {
		if n.Field != "" {
			source := map[bool]string{false: " default"}[n.Written]
			parts = append(parts, fmt.Sprintf("%s %s: %d%s", n.Field, n.Value.String(), n.Pods(), source))
		}
	}
	s := string(a.Strategy) + strings.Join(parts, ", ")
	if a.Correction != AsWritten {
		s += "; " + string(a.Correction)
	}
	if a.Preview > 0 {
		s += fmt.Sprintf("; preview %d", a.Preview)
	}
	return s
}

// TestRolloutArithmetic checks how the numbers of rollouts are computed.
func TestRolloutArithmetic(t *testing.T) {
	for _, row := range []struct {
		kind, strategy string
		pods           int
		want           string
	}{
		{"Deployment", "", 3, "maxSurge 25%: 1 default, maxUnavailable 25%: 0 default"},
		{"Deployment", "", 4, "maxSurge 25%: 1 default, maxUnavailable 25%: 1 default"},
		{"Deployment", "strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}", 3, "maxSurge 1: 1, maxUnavailable 0: 0"},
		{"Deployment", "strategy: {rollingUpdate: {maxSurge: 2}}", 3, "maxSurge 2: 2, maxUnavailable 25%: 0 default"},
		{"Deployment", "strategy: {rollingUpdate: {maxUnavailable: 1}}", 5, "maxSurge 25%: 2 default, maxUnavailable 1: 1"},
		{"Deployment", "strategy: {rollingUpdate: {maxSurge: 0}}", 3, "maxSurge 0: 0, maxUnavailable 25%: 0 default; both-zero"},
		{"Deployment", "strategy: {rollingUpdate: {maxUnavailable: 5}}", 1, "maxSurge 25%: 1 default, maxUnavailable 5: 5; all-pods"},
		{"Deployment", "strategy: {type: Recreate}", 3, "recreate"},
		{"Rollout", "strategy: {blueGreen: {previewReplicaCount: 1}}", 3, "blue-green; preview 1"},
		{"Rollout", "strategy: {canary: {trafficRouting: {}}}", 2, "traffic-routing"},
		{"StatefulSet", "", 3, "maxUnavailable 1: 1 default"},
		{"StatefulSet", "updateStrategy: {rollingUpdate: {maxUnavailable: 10%}}", 3, "maxUnavailable 10%: 0; at-least-one"},
		{"DaemonSet", "updateStrategy: {rollingUpdate: {maxSurge: 10%, maxUnavailable: 0}}", 4, "maxSurge 10%: 1, maxUnavailable 0: 0"},
		{"VirtualMachinePool", "", 3, "maxUnavailable 100%: 3 default"},
		{"Job", "", 3, ""},
	} {
		if got := figures(loadSet(t, updating(row.kind, row.strategy)).Workloads[0].Rollout(row.pods).Arithmetic); got != row.want {
			t.Errorf("%s %s:\n got %s\nwant %s", row.kind, row.strategy, got, row.want)
		}
	}
}

// TestRolloutOfNothing reads objects with an almost empty spec.
func TestRolloutOfNothing(t *testing.T) {
	for _, kind := range ownKinds() {
		text := strings.Replace(updating("Deployment", ""), "kind: Deployment", "kind: "+kind.Kind, 1)
		for _, w := range loadSet(t, strings.TrimPrefix(text, "apiVersion: apps/v1\n")).Workloads {
			if r := w.Rollout(3); (r.Arithmetic == Arithmetic{}) != (r.Way == NoRollout) {
				t.Errorf("%s: %+v", w, r)
			}
		}
	}
}
