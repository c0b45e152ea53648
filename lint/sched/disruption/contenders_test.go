package disruption_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/workload"
)

// crowded describes a number of equal Deployments and one more workload, on five nodes in three
// zones.
type crowded struct {
	others, pods int
	cpu, request string
	// kind, spec and pod describe the additional workload, which is named web.
	kind, spec, pod, more string
}

func (c crowded) judge(t *testing.T) (*disruption.Judge, *workload.Workload) {
	t.Helper()
	nodes := fmt.Sprintf("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: w, zones: {a: 2, b: 2, c: 1}, allocatable: {cpu: %q, memory: 64Gi, pods: 110}}\n", c.cpu)
	var text strings.Builder
	add := func(kind, name, spec, pod, request string) {
		fmt.Fprintf(&text, "apiVersion: apps/v1\nkind: %[1]s\nmetadata: {name: %[2]s, namespace: x}\nspec:\n  selector: {matchLabels: {app: %[2]s}}\n%[3]s"+
			"  template:\n    metadata: {labels: {app: %[2]s}}\n    spec:\n      containers: [{name: c, image: x, resources: {requests: {cpu: %[5]s}}}]\n%[4]s---\n", kind, name, spec, pod, request)
	}
	for i := range c.others {
		add("Deployment", fmt.Sprintf("d%02d", i), fmt.Sprintf("  replicas: %d\n", c.pods), "", c.request)
	}
	add(c.kind, "web", c.spec, c.pod, c.request)
	text.WriteString(c.more)
	j, m := judge(t, nodes, text.String())
	j.Use(search.Decide(m, search.Options{Each: true}))
	return j, find(t, m, "web")
}

const (
	one        = "  replicas: 1\n"
	spare      = "  replicas: 1\n  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}\n"
	apart      = "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}\n"
	sticky     = "      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}, matchLabelKeys: [pod-template-hash]}]}}\n"
	agents     = "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: x}\nspec:\n  selector: {matchLabels: {app: agent}}\n  template:\n    metadata: {labels: {app: agent}}\n    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: %s}}}]}\n"
	big        = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: big, namespace: x}\nspec:\n  replicas: 1\n  selector: {matchLabels: {app: big}}\n  template:\n    metadata: {labels: {app: big}}\n    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 3500m}}}]}\n"
	autoscaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: x}\nspec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, minReplicas: 1, maxReplicas: 3}\n"
)

// TestCrowds checks answers for more contending workloads than can be searched together. The
// answers must hold whatever the other workloads do, be shown by two runs (T25), or be unknown.
func TestCrowds(t *testing.T) {
	// lost covers drained, deleted and unreachable nodes, and a deleted zone.
	for name, c := range map[string]struct {
		crowded
		rolls, lost diag.Outcome
	}{
		"no room to spare":            {crowded{others: 43, pods: 1, cpu: "4", request: "409m", kind: "Deployment", spec: one}, diag.Always, diag.Sometimes},
		"no room at all":              {crowded{others: 44, pods: 1, cpu: "4", request: "409m", kind: "Deployment", spec: one}, diag.Unknown, diag.Sometimes},
		"too many to fit":             {crowded{others: 45, pods: 1, cpu: "4", request: "409m", kind: "Deployment", spec: spare}, diag.Sometimes, diag.Sometimes},
		"pods that go first":          {crowded{others: 43, pods: 1, cpu: "4", request: "409m", kind: "Deployment", spec: spare}, diag.Always, diag.Sometimes},
		"room in any case":            {crowded{others: 43, pods: 1, cpu: "16", request: "409m", kind: "Deployment", spec: one}, diag.Always, diag.Always},
		"many pods of few":            {crowded{others: 5, pods: 50, cpu: "32", request: "600m", kind: "Deployment", spec: one}, diag.Always, diag.Sometimes},
		"no node left":                {crowded{others: 43, pods: 1, cpu: "4", request: "370m", kind: "Deployment", spec: "  replicas: 5\n  strategy: {rollingUpdate: {maxUnavailable: 0}}\n", pod: apart}, diag.Never, diag.Never},
		"revisions told apart":        {crowded{others: 43, pods: 1, cpu: "4", request: "409m", kind: "Deployment", spec: spare, pod: sticky}, diag.Unknown, diag.Sometimes},
		"beside agents":               {crowded{others: 43, pods: 1, cpu: "16", request: "409m", kind: "Deployment", spec: one, more: fmt.Sprintf(agents, "1")}, diag.Always, diag.Always},
		"beside agents that take all": {crowded{others: 43, pods: 1, cpu: "16", request: "409m", kind: "Deployment", spec: one, more: fmt.Sprintf(agents, "12")}, diag.Always, diag.Sometimes},
		"beside one that may wait":    {crowded{others: 43, pods: 1, cpu: "10", request: "1", kind: "Deployment", spec: one, more: big}, diag.Always, diag.Sometimes},
		"a few":                       {crowded{others: 9, pods: 5, cpu: "8", request: "700m", kind: "Deployment", spec: one}, diag.Always, diag.Sometimes},
	} {
		t.Run(name, func(t *testing.T) {
			j, web := c.judge(t)
			told := func(what string, got, want diag.Outcome, why model.Reason) {
				if got != want || got == diag.Unknown && why.Cause != model.ByCrowd {
					t.Errorf("%s: %s (%s), want %s", what, got, why.Cause, want)
				}
			}
			r := j.Rollouts(web)[0]
			told("rollout", r.Verdict, c.rolls, r.Why)
			d := j.Drain(web)
			told("drain", d.Answer, c.lost, d.Why)
			for _, key := range []string{keys[host], keys[zone]} {
				for _, s := range j.Survives(web, key) {
					if key == keys[host] || s.Meaning == "gone" {
						told(fmt.Sprint(key, "=", s.Value, " ", s.Meaning), s.Verdict, c.lost, s.Why)
					}
				}
			}
			if holds := j.Holds(web, disruption.Edit{Name: "none"}, 0); holds != (c.rolls == diag.Always && c.lost == diag.Always) {
				t.Errorf("advice holds: %t", holds)
			}
		})
	}
}

// TestCrowdsOfMachines checks the same as TestCrowds for live migration, autoscaling and remedies.
func TestCrowdsOfMachines(t *testing.T) {
	machine := crowded{others: 43, pods: 1, request: "409m", kind: "Deployment", spec: one, more: `apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm, namespace: x}
spec:
  runStrategy: Always
  template:
    spec:
      domain: {devices: {}, resources: {requests: {cpu: 409m, memory: 1Gi}}}
---
` + autoscaler}
	for cpu, want := range map[string]diag.Outcome{"4": diag.Sometimes, "16": diag.Always} {
		c := machine
		c.cpu = cpu
		j, web := c.judge(t)
		if s := j.Scaling(web); s.Answer != want {
			t.Errorf("autoscaling on %s cores: %s (%s), want %s", cpu, s.Answer, s.Why.Cause, want)
		}
		for _, w := range j.Workloads() {
			if !w.Kind.VM {
				continue
			}
			m := j.Migration(w)
			if known := want == diag.Always; known != (m.Answer == want) || !known && m.Why.Cause != model.ByCrowd {
				t.Errorf("migration on %s cores: %s (%s)", cpu, m.Answer, m.Why.Cause)
			}
		}
	}
	for others, want := range map[int]string{43: fmt.Sprint([]search.Kind{search.OneUnavailable}), 60: "[]"} { // a node takes ten of them
		j, web := crowded{others: others, pods: 1, cpu: "4", request: "370m", kind: "Deployment", spec: "  replicas: 5\n  strategy: {rollingUpdate: {maxUnavailable: 0}}\n", pod: apart}.judge(t)
		r := j.Rollouts(web)[0]
		if got := fmt.Sprint(j.Remedies(web, &r)); got != want {
			t.Errorf("remedies beside %d: %s", others, got)
		}
	}
}

// TestPendingPodsTakeRoom checks that pods that are Pending before any change may take the room
// that a rollout or a migration leaves or needs. Only never is then a certain answer.
func TestPendingPodsTakeRoom(t *testing.T) {
	more := `apiVersion: apps/v1
kind: Deployment
metadata: {name: waiting, namespace: x}
spec:
  replicas: 9
  selector: {matchLabels: {app: waiting}}
  template:
    metadata: {labels: {app: waiting}}
    spec: {containers: [{name: c, image: x, resources: {requests: {cpu: 3950m}}}]}
---
apiVersion: kubevirt.io/v1
kind: VirtualMachine
metadata: {name: vm, namespace: x}
spec: {runStrategy: Always, template: {spec: {domain: {devices: {}, resources: {requests: {cpu: 1, memory: 1Gi}}}}}}
`
	for name, c := range map[string]struct {
		spec, pod string
		rolls     diag.Outcome
	}{"free": {spare, "", diag.Always}, "apart": {"  replicas: 5\n  strategy: {rollingUpdate: {maxUnavailable: 0}}\n", apart, diag.Never}} {
		j, web := crowded{cpu: "4", request: "100m", kind: "Deployment", spec: c.spec, pod: c.pod, more: more}.judge(t)
		if r := j.Rollouts(web)[0]; r.Verdict != c.rolls || r.Verdict == diag.Unknown && r.Why.Cause != model.ByPending {
			t.Errorf("%s: %s (%s), want %s", name, r.Verdict, r.Why.Cause, c.rolls)
		}
		for _, w := range j.Workloads() {
			if m := j.Migration(w); w.Kind.VM && (m.Answer != diag.Unknown || m.Why.Cause != model.ByPending) {
				t.Errorf("%s: migration %s (%s)", name, m.Answer, m.Why.Cause)
			}
		}
	}
}

// TestScalingCountsContendersAtTheMaximum has pods that leave room for one another until the autoscaler
// adds its own. Those of the other workload run before that, and stay.
func TestScalingCountsContendersAtTheMaximum(t *testing.T) {
	const nodes = "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus: {allocatable: {cpu: 8, memory: 8Gi, pods: %d}}\n"
	const pods = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: x}\nspec:\n  selector: {matchLabels: {app: %[1]s}}\n  template:\n    metadata: {labels: {app: %[1]s}}\n    spec: {containers: [{name: c, image: x}]}\n"
	for slots, want := range map[int]diag.Outcome{10: diag.Never, 11: diag.Always} {
		j, m := judge(t, fmt.Sprintf(nodes, slots), fmt.Sprintf(pods, "web")+fmt.Sprintf(pods, "other")+"---\n"+strings.Replace(autoscaler, "maxReplicas: 3", "maxReplicas: 10", 1))
		if s := j.Scaling(find(t, m, "web")); s.Answer != want {
			t.Errorf("%d slots: %s (%s), want %s", slots, s.Answer, s.Why.Cause, want)
		}
	}
}

// TestScalingBeginsWhenAllRun has answers that differ from those of an empty cluster, in which the pods of an
// autoscaler may come before others, or others where its own have to be.
func TestScalingBeginsWhenAllRun(t *testing.T) {
	const nodes = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: a, count: %d, labels: {role: a}, allocatable: {cpu: 1, memory: 8Gi, pods: 3}}\n- {name: b, count: 1, allocatable: {cpu: 1, memory: 8Gi, pods: 3}}\n"
	const pods = "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: x}\nspec:\n  replicas: %d\n  selector: {matchLabels: {app: %[1]s}}\n  template:\n    metadata: {labels: {app: %[1]s}}\n    spec: {%[3]s, containers: [{name: c, image: x, resources: {requests: {cpu: %[4]s}}}]}\n"
	const on, apart = "nodeSelector: {role: a}", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}"
	for name, test := range map[string]struct {
		nodes       int
		web, others string
		want        diag.Outcome
	}{
		"the other goes elsewhere": {1, fmt.Sprintf(pods, "web", 1, on, "100m"), fmt.Sprintf(pods, "other", 1, apart, "100m"), diag.Always},
		"the other stays":          {2, fmt.Sprintf(pods, "web", 1, "priority: 0", "1"), fmt.Sprintf(pods, "other", 1, "priority: 0", "700m"), diag.Never},
		"the other may be there":   {2, fmt.Sprintf(pods, "web", 1, on, "600m"), fmt.Sprintf(pods, "other", 1, "priority: 0", "600m"), diag.Never},
		"either node":              {3, fmt.Sprintf(pods, "web", 1, on, "600m"), fmt.Sprintf(pods, "other", 1, "priority: 0", "600m"), diag.Sometimes},
	} {
		j, m := judge(t, fmt.Sprintf(nodes, test.nodes), strings.TrimPrefix(test.web, "---\n")+test.others+"---\n"+autoscaler)
		if s := j.Scaling(find(t, m, "web")); s.Answer != test.want {
			t.Errorf("%s: %s (%s), want %s", name, s.Answer, s.Why.Cause, test.want)
		}
	}
}
