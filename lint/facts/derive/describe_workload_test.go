package derive_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/schedlint/schedlint/lint/facts"
)

// zonesAndRegions has nodes with and without labels, and a pool that grows in zone c.
const zonesAndRegions = `
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools:
- {name: arm, zones: {a: 1}, labels: {topology.kubernetes.io/region: eu, kubernetes.io/arch: arm64, tier: std}}
- {name: amd, zones: {b: 2}, labels: {topology.kubernetes.io/region: eu, kubernetes.io/arch: amd64, tier: std}}
- {name: burst, zones: {c: 0, d: 0}, max: 4, labels: {topology.kubernetes.io/region: us, kubernetes.io/arch: amd64, tier: std}, taints: [{key: burst, value: "1", effect: NoSchedule}]}
- {name: plain, count: 1, labels: {tier: plain}, taints: [{key: soft, value: "1", effect: PreferNoSchedule}]}
`

// pod returns a Deployment of two pods with the given fields of the pod and of its container.
func pod(spec, container string) string {
	return fmt.Sprintf("---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: shop}, spec: {replicas: 2, selector: {matchLabels: {app: a}},"+
		" template: {metadata: {labels: {app: a}}, spec: {%s containers: [{name: a, image: a, %s}]}}}}\n", spec, container)
}

// TestNodesOfWorkloads checks the names of the zones, regions, architectures and pools that pods can
// use, and those that a taint keeps them off.
func TestNodesOfWorkloads(t *testing.T) {
	t.Parallel()
	const tolerates = "tolerations: [{key: burst, operator: Exists}],"
	for _, c := range []struct{ spec, want string }{
		{"nodeSelector: {tier: std},", "[a b] [a b] true [eu] [eu] true [amd64 arm64] [amd64 arm64] true [burst]"},
		{tolerates + "nodeSelector: {tier: std},", "[a b] [a b c d] true [eu] [eu us] true [amd64 arm64] [amd64 arm64] true []"},
		{tolerates + "nodeSelector: {topology.kubernetes.io/zone: c},", "[] [c] true [] [us] true [] [amd64] true []"},
		{"nodeSelector: {topology.kubernetes.io/zone: c},", "[] [] true [] [] true [] [] true [burst]"},
		{"", "[a b] [a b] false [eu] [eu] false [amd64 arm64] [amd64 arm64] true [burst]"}, // plain has no zone and no region
		{"nodeSelector: {tier: '${TIER}'},", "[] [] false [] [] false [] [] false []"},
		{"schedulerName: mine,", "[] [] false [] [] false [] [] false []"},
		{"schedulingGates: [{name: wait}],", "[] [] false [] [] false [] [] false []"},
	} {
		w := rowOf(described(t, zonesAndRegions, pod(c.spec, "")), "a")
		got := fmt.Sprint(w.Zones, w.ZonesPossible, w.ZonesKnown, w.Regions, w.RegionsPossible, w.RegionsKnown, w.Architectures, w.ArchitecturesPossible, w.ArchitecturesKnown, w.TaintedPools)
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.spec, got, c.want)
		}
	}
}

// TestPodsOfDaemonSets checks that a DaemonSet has a pod for each usable node.
func TestPodsOfDaemonSets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ spec, want string }{
		{"", "4 4, 1 1 on a node"},
		{"tolerations: [{operator: Exists}],", "4 8, 1 1 on a node"},
		{"nodeSelector: {tier: plain},", "1 1, 1 1 on a node"},
		{"nodeSelector: {tier: none},", "0 0, 0 0 on a node"},
		{"nodeSelector: {tier: '${TIER}'},", "0 2147483647, 0 0 on a node"},
	} {
		w := rowOf(described(t, zonesAndRegions, daemonSet("a", c.spec, "")), "a")
		if got := fmt.Sprintf("%d %d, %d %d on a node", w.PodsMin, w.PodsMax, w.OnOneNodeMin, w.OnOneNodeMax); got != c.want {
			t.Errorf("%s: %s, want %s", c.spec, got, c.want)
		}
	}
}

// TestMostOnANode checks how many pods of a workload with a spread constraint may be on one node and in one
// zone of a pool that grows.
func TestMostOnANode(t *testing.T) {
	t.Parallel()
	const nodes = "{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [{name: w, zones: {a: 1, b: %d}, min: 1, max: 4, allocatable: {cpu: 4, memory: 8Gi, pods: 110}}]}"
	for _, c := range []struct {
		inB    int // nodes
		spread string
		want   string
	}{
		{0, "maxSkew: 1, ", "4 on a node, 4 in a zone"}, // before zone b has a node
		{1, "maxSkew: 1, ", "2 on a node, 2 in a zone"},
		{1, "maxSkew: 1, minDomains: 2, ", "2 on a node, 2 in a zone"},
		{0, "maxSkew: 1, minDomains: 2, ", "4 on a node, 4 in a zone"}, // not limited where there are fewer domains at first
	} {
		w := rowOf(described(t, fmt.Sprintf(nodes, c.inB), strings.Replace(pod("topologySpreadConstraints: [{"+c.spread+"topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a}}}],", ""), "replicas: 2", "replicas: 4", 1)), "a")
		if got := fmt.Sprintf("%d on a node, %d in a zone", w.OnOneNodeMax, w.InOneZoneMax); got != c.want {
			t.Errorf("%s: %s, want %s", c.spread, got, c.want)
		}
	}
}

// TestHostFields checks what pods share with their node, the time that they have to stop, and their
// ports.
func TestHostFields(t *testing.T) {
	t.Parallel()
	const ports = "ports: [{name: web, containerPort: 80}, {containerPort: 81, hostPort: 8081, protocol: UDP, hostIP: 10.0.0.1}]"
	for _, c := range []struct{ spec, container, want string }{
		{"", ports, "false false false true 30..30 [web 80 0 TCP  true, 81 8081 UDP 10.0.0.1 true] true"},
		{"hostNetwork: true, hostPID: true,", ports, "true true false true 30..30 [web 80 80 TCP  true, 81 8081 UDP 10.0.0.1 true] true"},
		{"hostIPC: true, hostPID: false,", "", "false false true true 30..30 [] true"},
		{"hostNetwork: '${HOST}',", ports, "false false false false 30..30 [web 80 0 TCP  false, 81 8081 UDP 10.0.0.1 true] true"},
		{"hostPID: '${HOST}', hostNetwork: true,", "", "true false false false 30..30 [] true"},
		{"terminationGracePeriodSeconds: 600,", "ports: '${PORTS}'", "false false false true 600..600 [] false"},
		{"terminationGracePeriodSeconds: 0,", "ports: [{containerPort: '${PORT}'}, {containerPort: 80, hostPort: '${PORT}'}]",
			"false false false true 0..0 [ 0 0 TCP  false,  80 0 TCP  false] true"},
		{"terminationGracePeriodSeconds: '${GRACE}',", "", "false false false true 0..2147483647 [] true"},
	} {
		w := rowOf(described(t, threeZones, pod(c.spec, c.container)), "a")
		var ports []string
		for _, p := range w.Containers[0].Ports {
			ports = append(ports, strings.TrimPrefix(fmt.Sprint(p.Name, " ", p.ContainerPort, " ", p.HostPort, " ", p.Protocol, " ", p.HostIP, " ", p.Known), " "))
		}
		got := fmt.Sprintf("%v %v %v %v %d..%d [%s] %v", w.HostNetwork, w.HostPID, w.HostIPC, w.HostKnown, w.GraceSecondsMin, w.GraceSecondsMax,
			strings.Join(ports, ", "), w.Containers[0].PortsKnown)
		if got != strings.ReplaceAll(strings.ReplaceAll(c.want, "[ ", "["), ",  ", ", ") {
			t.Errorf("%s %s: %s, want %s", c.spec, c.container, got, c.want)
		}
	}
}

// TestPriorityClassDeclared checks when a PriorityClass is said to exist, and the node names.
func TestPriorityClassDeclared(t *testing.T) {
	t.Parallel()
	const class = "---\n{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: '%s'}, value: 10}\n"
	for _, c := range []struct{ spec, classes, want string }{
		{"", "", "always"},
		{"priorityClassName: system-node-critical,", "", "always"},
		{"priorityClassName: high,", fmt.Sprintf(class, "high"), "always"},
		{"priorityClassName: high,", fmt.Sprintf(class, "low"), "never"},
		{"priorityClassName: high,", fmt.Sprintf(class, "${NAME}"), "unknown"},
		{"priorityClassName: '${CLASS}',", fmt.Sprintf(class, "low"), "unknown"},
		{"priorityClassName: {},", "", "unknown"},
	} {
		if got := rowOf(described(t, threeZones, pod(c.spec, "")+c.classes), "a").PriorityClassDeclared; string(got) != c.want {
			t.Errorf("%s and %s: %s, want %s", c.spec, c.classes, got, c.want)
		}
	}
	const bound = "---\n{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: shop}, spec: {nodeName: general-a-0, containers: [{name: a, image: a}]}, status: {phase: %s}}\n"
	b := described(t, threeZones, pod("nodeName: general-b-0,", "")+fmt.Sprintf(bound, "runs", "Running")+fmt.Sprintf(bound, "waits", "Pending"))
	for name, want := range map[string]string{"a": "general-b-0", "runs": "", "waits": "general-a-0"} {
		if got := rowOf(b, name).NodeName; got != want {
			t.Errorf("%s: node %q, want %q", name, got, want)
		}
	}
}

// TestUnhealthyPolicy checks the unhealthyPodEvictionPolicy of budgets.
func TestUnhealthyPolicy(t *testing.T) {
	t.Parallel()
	const budget = "---\n{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a, namespace: shop}, spec: {maxUnavailable: 1, %s selector: {matchLabels: {app: a}}}}\n"
	for policy, want := range map[string]string{
		"": "IfHealthyBudget", "unhealthyPodEvictionPolicy: IfHealthyBudget,": "IfHealthyBudget", "unhealthyPodEvictionPolicy: AlwaysAllow,": "AlwaysAllow",
		"unhealthyPodEvictionPolicy: '${POLICY}',": "unknown",
	} {
		b := described(t, threeZones, pod("", "")+fmt.Sprintf(budget, policy))
		var rows []facts.PodBudget
		rows = append(rows, rowOf(b, "a").Budgets...)
		if len(rows) != 1 || rows[0].UnhealthyPolicy != want || len(b.Budgets) != 1 || b.Budgets[0].UnhealthyPolicy != want {
			t.Errorf("%s: %+v and %+v, want %s", policy, rows, b.Budgets, want)
		}
	}
}

// TestLabelsOfNodes checks that facts have the declared labels of nodes and those that the kubelet
// sets, and no label of the engine.
func TestLabelsOfNodes(t *testing.T) {
	t.Parallel()
	nodes := described(t, zonesAndRegions, pod("", "")).Facts.Nodes
	if len(nodes) != 4 {
		t.Fatalf("%d nodes, want 4", len(nodes))
	}
	for _, n := range nodes {
		for key := range n.Labels {
			if errs := validation.IsQualifiedName(key); len(errs) > 0 {
				t.Errorf("node %s has the label %q: %v", n.Name, key, errs)
			}
		}
	}
}
