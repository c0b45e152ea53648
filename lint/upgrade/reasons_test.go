package upgrade_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/upgrade"
)

// deployment returns a Deployment whose pods have a label app, and further lines of its pods.
func deployment(name string, replicas int, pods string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %[1]s, namespace: shop}\nspec:\n  replicas: %[2]d\n  selector: {matchLabels: {app: %[1]s}}\n"+
		"  template:\n    metadata: {labels: {app: %[1]s, team: a}}\n    spec:\n      %[3]s\n", name, replicas, pods)
}

// set returns a StatefulSet.
func set(name string, replicas int, pods string) string {
	return strings.Replace(deployment(name, replicas, pods), "kind: Deployment", "kind: StatefulSet", 1)
}

// machines returns machines of which three fit on a node.
func machines(n int) (all []string) {
	for i := range n {
		all = append(all, machine(fmt.Sprintf("m%d", i), "4Gi", "evictionStrategy: LiveMigrate"))
	}
	return all
}

// budget returns a PodDisruptionBudget.
func budget(name, spec, selector string) string {
	return fmt.Sprintf("apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %s, namespace: shop}\nspec: {%s, selector: %s}\n", name, spec, selector)
}

// machine returns a VirtualMachine that migrates, with the given memory and further fields.
func machine(name, memory, fields string) string {
	return fmt.Sprintf("apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata: {name: %[1]s, namespace: shop}\nspec:\n  runStrategy: Always\n  template:\n    metadata: {labels: {app: %[1]s, team: a}}\n"+
		"    spec: {%[3]s, domain: {devices: {}, memory: {guest: %[2]s}}}\n", name, memory, fields)
}

// apart returns required anti-affinity.
func apart(key, selector string) string {
	return fmt.Sprintf("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: %s, labelSelector: %s}]}}", key, selector)
}

func yaml(documents ...string) string { return strings.Join(documents, "---\n") }

const (
	small    = "containers: [{name: c, image: registry.example.com/c, resources: {requests: {cpu: 100m}}}]"
	half     = "containers: [{name: c, image: registry.example.com/c, resources: {requests: {cpu: \"2\"}}}]"
	most     = "containers: [{name: c, image: registry.example.com/c, resources: {requests: {cpu: \"3\"}}}]"
	twice    = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}, {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web, team: a}}}]}}"
	beside   = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: web}}}, {topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: api}}}]}}"
	more     = "\n      " // separates fields of pods
	hostname = "kubernetes.io/hostname"
	zone     = "topology.kubernetes.io/zone"
	web      = "{matchLabels: {app: web}}"
	api      = "{matchLabels: {app: api}}"
	avoids   = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{%s: [{key: %s, operator: NotIn, values: [w-1]}]}]}}}"
	other    = "---\napiVersion: v1\nkind: Node\nmetadata: {name: w-1, labels: {kubernetes.io/hostname: w-1}}\nstatus: {allocatable: {cpu: \"4\", memory: 16Gi, pods: \"110\"}}\n"
	team     = "{matchLabels: {team: a}}"
)

// pools returns pools of nodes with 4 CPUs, of which each argument has the further fields.
func pools(each ...string) string {
	out := "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n"
	for i, fields := range each {
		out += fmt.Sprintf("- {name: p%d, allocatable: {cpu: \"4\", memory: 16Gi, pods: \"110\"}, %s}\n", i, fields)
	}
	return out
}

// TestReasons checks what answers about pool p0 say. A row with several texts has all of them.
func TestReasons(t *testing.T) {
	three := pools("count: 3")
	for _, c := range []struct{ name, nodes, manifests, verdict, texts string }{
		{"plain", three, deployment("web", 3, small), "always", ""},
		{"no nodes", pools("count: 0", "count: 1"), deployment("web", 3, small), "none", ""},
		{"no node that a pool without a limit could add", pools("count: 0, max: 2", "count: 1"), deployment("web", 3, small), "unknown", "its max is above its count"},

		// The pool.
		{"max above count", pools("count: 3, max: 4"), deployment("web", 3, small), "unknown", "the pool may grow while it is upgraded: its max is above its count"},
		{"max equal to count", pools("count: 3, max: 3"), deployment("web", 3, small), "always", ""},
		{"reserved", pools("count: 3, reserved: {cpu: 100m}"), deployment("web", 3, small), "unknown", "other pods run on its nodes (reserved)"},
		{"cordoned", pools("count: 3, unschedulable: true", "count: 1"), deployment("web", 3, small), "unknown", "its nodes are not in service"},
		{"taint of a broken node", pools("count: 3, taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]", "count: 1"), deployment("web", 3, small), "unknown", "its nodes are not in service"},
		{"another pool grows", pools("count: 3", "count: 1, max: 2"), deployment("web", 3, small), "unknown", "another pool that its pods may use can grow"},
		{"another pool grows for others", pools("count: 3", "count: 1, max: 2, taints: [{key: t, effect: NoSchedule}]"), deployment("web", 3, small), "always", ""},
		{"many zones", pools("zones: {a: 3, b: 3, c: 3, d: 3, e: 3, f: 3}, upgrade: {unavailable: 6, surge: 6, zone: any, cordon: all}"), yaml(deployment("web", 2, small+more+apart(zone, web)), budget("b", "maxUnavailable: 1", web)), "unknown", "there are more than 400 sets of usable nodes"},

		// One workload.
		{"declared twice", three, yaml(deployment("web", 3, small), deployment("web", 2, small)), "unknown", "it is declared twice, differently"},
		{"declared twice alike", three, yaml(deployment("web", 3, small), deployment("web", 3, small)), "always", ""},
		{"avoids a host name", pools("count: 3") + other, deployment("web", 3, small+more+fmt.Sprintf(avoids, "matchExpressions", hostname)), "unknown", "its pods name their nodes, and new nodes have other names"},
		{"avoids a node by field", pools("count: 3") + other, deployment("web", 3, small+more+fmt.Sprintf(avoids, "matchFields", "metadata.name")), "unknown", "its pods name their nodes, and new nodes have other names"},
		{"runs in place", pools("count: 3") + other, yaml(deployment("web", 3, small), "apiVersion: v1\nkind: Pod\nmetadata: {name: old, namespace: shop, uid: \"1\"}\nspec: {nodeName: w-1, "+small+"}\nstatus: {phase: Running}\n"), "unknown", "Pod shop/old runs on w-1: pods that are in place already are not followed"},
		{"selects a label", pools("count: 3, labels: {disk: ssd}"), deployment("web", 1, small+more+"nodeSelector: {disk: ssd}"), "always", ""},
		{"quota", three, yaml(deployment("web", 3, small), "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q, namespace: shop}\nspec: {hard: {pods: \"4\"}}\n"), "unknown", "a ResourceQuota may keep new pods from being created"},
		{"operator", three, "apiVersion: monitoring.coreos.com/v1\nkind: Alertmanager\nmetadata: {name: main, namespace: shop}\nspec: {replicas: 2, resources: {requests: {cpu: \"8\"}}}\n", "unknown", "the operator prometheus-operator may protect its pods by further budgets"},

		// Budgets.
		{"budget with room", three, yaml(deployment("web", 3, small), budget("b", "minAvailable: 2", web)), "always", ""},
		{"budget without room", three, yaml(deployment("web", 3, small), budget("b", "minAvailable: 3", web)), "never", "the budget never allows an eviction while all pods run"},
		{"two budgets", three, yaml(deployment("web", 3, small), budget("b", "maxUnavailable: 1", web), budget("c", "maxUnavailable: 1", team)), "never", "PodDisruptionBudget shop/c selects the same pods"},
		{"one of two workloads has two budgets elsewhere", pools("count: 3", "count: 1"), yaml(deployment("web", 3, small), budget("b", "maxUnavailable: 1", web), budget("c", "maxUnavailable: 1", team)), "unknown", "another budget selects the same pods"},
		{"budget declared twice", three, yaml(deployment("web", 3, small), budget("b", "maxUnavailable: 1", web), budget("b", "maxUnavailable: 2", web)), "unknown", "it is not known what the budget allows"},
		{"budget of an autoscaler's least number", three, yaml(deployment("web", 2, small), budget("b", "minAvailable: 2", web),
			"apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop}\nspec: {minReplicas: 2, maxReplicas: 4, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n"), "unknown", "the budget allows no eviction while there are few pods"},
		{"budget of a Job", three, yaml("apiVersion: batch/v1\nkind: Job\nmetadata: {name: load, namespace: shop}\nspec: {template: {metadata: {labels: {app: web}}, spec: {restartPolicy: Never, "+small+"}}}\n", budget("b", "minAvailable: 0", web)), "unknown", "the budget selects pods that end"},
		{"budget of a DaemonSet", three, yaml(deployment("web", 3, small), "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: agent, namespace: shop}\nspec:\n  selector: {matchLabels: {app: agent}}\n  template: {metadata: {labels: {app: agent, team: a}}, spec: {"+small+"}}\n", budget("b", "minAvailable: 2", team)), "unknown", "the budget also selects pods of DaemonSet shop/agent"},

		// Several pods for the same budget.
		{"one budget, one part does not fit", pools("count: 2, upgrade: {unavailable: 1}"), yaml(deployment("web", 2, half), deployment("api", 2, half), budget("b", "maxUnavailable: 1", team)), "unknown", "in some scheduling order, pods stay Pending"},
		{"one budget, room for one more", pools("count: 3, upgrade: {unavailable: 1}"), yaml(deployment("web", 2, half), deployment("api", 2, half), budget("b", "maxUnavailable: 1", team)), "always", ""},
		{"one budget, the other part does not fit", pools("count: 3, labels: {disk: ssd}, upgrade: {unavailable: 1}", "count: 1, taints: [{key: t, effect: NoSchedule}]"), yaml(deployment("web", 2, small), deployment("api", 3, half+more+apart(hostname, "{matchLabels: {app: api}}")), budget("b", "maxUnavailable: 1", team)), "unknown", "the budget also selects Deployment shop/api: its pods do not fit"},
		{"one budget, the other part has an affinity", pools("count: 2, upgrade: {unavailable: 1}", "count: 1, labels: {disk: ssd}"), yaml(deployment("web", 2, small), deployment("api", 2, small+more+"nodeSelector: {disk: ssd}"+more+strings.Replace(apart(hostname, "{matchLabels: {app: api}}"), "podAntiAffinity", "podAffinity", 1)), budget("b", "maxUnavailable: 1", team)), "unknown", "the budget also selects Deployment shop/api, which has required affinity or a spread constraint"},
		{"apart by zone, one budget", pools("zones: {a: 2, b: 2}"), yaml(deployment("web", 2, most+more+apart(zone, web)), deployment("api", 2, most+more+apart(zone, api)), budget("b", "maxUnavailable: 1", team)), "unknown", "by a larger domain than the node may keep pods away while others wait for the same budget"},
		{"apart by zone, two at a time", pools("zones: {a: 2, b: 2}, upgrade: {surge: 2}"), yaml(deployment("web", 2, most+more+apart(zone, web)), deployment("api", 2, most+more+apart(zone, api)), budget("b", "maxUnavailable: 1", web), budget("c", "maxUnavailable: 1", api)), "always", ""},
		{"apart by zone by two rules, two at a time", pools("zones: {a: 2, b: 2}, upgrade: {surge: 2}"), yaml(deployment("web", 2, most+more+twice), deployment("api", 2, most+more+apart(zone, api)), budget("b", "maxUnavailable: 1", web)), "unknown", "pods on several drained nodes may keep each other away by required anti-affinity"},
		{"apart by zone by two rules, one at a time", pools("zones: {a: 2, b: 2}, upgrade: {surge: 1}"), yaml(deployment("web", 2, most+more+twice), deployment("api", 2, most+more+apart(zone, api)), budget("b", "maxUnavailable: 1", web)), "always", ""},

		// Machines.
		{"machines migrate", pools("count: 3"), yaml(machine("one", "4Gi", "evictionStrategy: LiveMigrate"), machine("two", "4Gi", "evictionStrategy: LiveMigrate")), "always", ""},
		{"machine that does not migrate", three, machine("one", "4Gi", "evictionStrategy: None"), "unknown", "evictionStrategy is not LiveMigrate"},
		{"a budget of machines", three, yaml(machine("one", "4Gi", "evictionStrategy: LiveMigrate"), budget("b", "minAvailable: 0", team)), "unknown", "the budget selects machines, for which KubeVirt makes budgets"},
		{"no node for one machine", pools("count: 1"), machine("one", "10Gi", "evictionStrategy: LiveMigrate"), "always", ""},
		{"one machine stays on the only node", pools("count: 1, upgrade: {unavailable: 1}"), machine("one", "10Gi", "evictionStrategy: LiveMigrate"), "never", "1 pod that budgets and live migration keep running does not fit"},

		// No node is left while the only one is drained.
		{"no usable node for the pods that stay", pools("count: 1, upgrade: {unavailable: 1}"), yaml(deployment("web", 2, small), budget("b", "maxUnavailable: 1", web)), "never", "1 pod that budgets and live migration keep running does not fit"},
		{"no usable node for the only pod", pools("count: 1, upgrade: {unavailable: 1}"), yaml(deployment("web", 1, small), budget("b", "maxUnavailable: 1", web)), "always", ""},
		{"no usable node for one budget of two", pools("count: 1, upgrade: {unavailable: 1}"), yaml(deployment("web", 1, small), deployment("api", 1, small), budget("b", "maxUnavailable: 1", team)), "unknown", "no node is usable"},

		// A zone matters to no pod, so only the number of nodes does.
		{"one node of two zones is left", pools("zones: {a: 1, b: 1}, upgrade: {unavailable: 1}"), yaml(deployment("web", 2, most), budget("b", "maxUnavailable: 1", web)), "always", ""},
		{"one node of two zones is too few", pools("zones: {a: 1, b: 1}, upgrade: {unavailable: 1}"), yaml(deployment("web", 3, most), budget("b", "maxUnavailable: 1", web)), "never", "2 pods that budgets and live migration keep running do not fit"},
		{"two more nodes in two zones", pools("zones: {a: 1, b: 1}, upgrade: {surge: 2}"), yaml(deployment("web", 2, most), budget("b", "maxUnavailable: 1", web)), "always", ""},
		{"a zone without nodes", pools("zones: {a: 2, b: 0}"), machine("one", "10Gi", "evictionStrategy: LiveMigrate"), "always", ""},

		{"pods of one set tell each other apart", pools("count: 4, upgrade: {surge: 1}"), yaml(set("db", 2, most+more+apart(hostname, "{matchExpressions: [{key: apps.kubernetes.io/pod-index, operator: In, values: [\"0\"]}]}")), deployment("web", 2, most+more+apart(hostname, api)), budget("b", "maxUnavailable: 1", "{matchLabels: {app: db}}")), "unknown", "required anti-affinity distinguishes pods of one workload"},
		{"others may be on nodes that another pool adds", pools("zones: {a: 2, b: 2}", "zones: {a: 1}, max: 2, labels: {extra: here}, taints: [{key: t, effect: NoSchedule}]"), yaml(deployment("web", 2, most+more+beside), deployment("api", 1, most+more+"nodeSelector: {extra: here}\n      tolerations: [{key: t, operator: Exists}]"), deployment("old", 2, most+more+apart(zone, "{matchLabels: {app: old}}")), budget("b", "maxUnavailable: 1", web)), "unknown", "pods on nodes that another pool may add may keep others away"},
		{"a local disk", three, machine("one", "1Gi", "evictionStrategy: LiveMigrate, volumes: [{name: d, hostDisk: {path: /d, type: Disk}}]"), "never", "a drain waits for the machine to migrate, and a device keeps it on its node"},
		{"six machines", pools("count: 2, upgrade: {unavailable: 1}"), yaml(machines(6)...), "never", "6 pods that budgets and live migration keep running do not fit on the nodes that exist once an old one is gone: VirtualMachine shop/m0, VirtualMachine shop/m1, VirtualMachine shop/m2, VirtualMachine shop/m3, VirtualMachine shop/m4 and 1 more\n"},
		{"five machines", pools("count: 2, upgrade: {unavailable: 1}"), yaml(machines(5)...), "never", "VirtualMachine shop/m3, VirtualMachine shop/m4\n"},
	} {
		t.Run(c.name, func(t *testing.T) { reasons(t, c.nodes, c.manifests, c.verdict, c.texts) })
	}
}

// reasons checks an answer about pool p0.
func reasons(t *testing.T, nodes, manifests, verdict, texts string) {
	c, pool := cluster(t, nodes, manifests)
	answer := upgrade.Of(c, pool, upgrade.SettingsOf(pool))
	var why strings.Builder
	for _, x := range answer.Why {
		fmt.Fprintln(&why, x.Workload, x.Budget, x.Text)
	}
	if answer.Verdict != verdict || !strings.Contains(why.String(), texts) || (texts == "") != (why.Len() == 0) {
		t.Errorf("%s, want %s and %q:\n%swaits: %v", answer.Verdict, verdict, texts, why.String(), answer.Waits)
	}
}

// cluster returns a cluster and its pool p0.
func cluster(t *testing.T, nodes, manifests string) (*upgrade.Cluster, *topology.Pool) {
	m, set := models.Of(t, nodes, manifests)
	i := slices.IndexFunc(m.Topology.Pools, func(p *topology.Pool) bool { return p.Name == "p0" })
	return &upgrade.Cluster{Topology: m.Topology, Set: set, Factor: 1, Scale: func(m *model.Model) { m.Scale(1000, 1) }}, m.Topology.Pools[i]
}

// TestSteps checks that an answer that needs more steps than there are is unknown.
func TestSteps(t *testing.T) {
	c, pool := cluster(t, pools("count: 3"), deployment("web", 3, small))
	for _, factor := range []float64{0, 1} {
		c.Factor = factor
		answer := upgrade.Of(c, pool, upgrade.SettingsOf(pool))
		if open := len(answer.Why) == 1 && answer.Why[0].Text == "the step budget does not allow an answer"; open != (factor == 0) {
			t.Errorf("factor %v: %s %v", factor, answer.Verdict, answer.Why)
		}
	}
}

// TestSuffices checks which changes are named.
func TestSuffices(t *testing.T) {
	blocked := func(n int) string {
		var all []string
		for i := range n {
			name := fmt.Sprintf("w%d", i)
			all = append(all, deployment(name, 2, small), budget(name, "minAvailable: 2", fmt.Sprintf("{matchLabels: {app: %s}}", name)))
		}
		return yaml(all...)
	}
	for _, c := range []struct {
		name, nodes, manifests string
		want                   []string
	}{
		{"nothing for yes", pools("count: 3"), deployment("web", 3, small), nil},
		{"four budgets", pools("count: 3"), blocked(4), []string{
			"maxUnavailable: 1 in PodDisruptionBudget shop/w0, PodDisruptionBudget shop/w1, PodDisruptionBudget shop/w2, PodDisruptionBudget shop/w3",
			"one more replica of Deployment shop/w0, Deployment shop/w1, Deployment shop/w2, Deployment shop/w3"}},
		{"five budgets", pools("count: 3"), blocked(5), nil},
		{"two at a time", pools("zones: {a: 3, b: 1}, upgrade: {unavailable: 2}"), yaml(deployment("web", 4, most), budget("b", "maxUnavailable: 1", web)), []string{
			"surge: 2, unavailable: 0", "surge: 1, unavailable: 0 (one node at a time)", "one more node in pool p0, in zone b"}},
	} {
		cluster, pool := cluster(t, c.nodes, c.manifests)
		settings := upgrade.SettingsOf(pool)
		answer := upgrade.Of(cluster, pool, settings)
		if got := upgrade.Suffices(cluster, pool, settings, answer); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s %q, want %q; %v", c.name, answer.Verdict, got, c.want, answer.Why)
		}
	}
}
