package check_test

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
)

// two is a node in each of two zones. Rows insert text for n0.
const two = `{apiVersion: v1, kind: Node, metadata: {name: n0, labels: {kubernetes.io/hostname: n0, topology.kubernetes.io/zone: a, x: u}}, spec: {}, status: {allocatable: {cpu: "4", pods: "9"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {kubernetes.io/hostname: n1, topology.kubernetes.io/zone: b, x: u}}, spec: {}, status: {allocatable: {cpu: "4", pods: "9"}}}
`

// pod returns a Pod in namespace d. If on is not empty, it runs there.
func pod(name, labels, on, spec string) string {
	if !strings.Contains(spec, "containers:") {
		spec += ", containers: [{name: c, image: c}]"
	}
	if on != "" {
		spec += ", nodeName: " + on
	}
	text := "---\n{apiVersion: v1, kind: Pod, metadata: {name: " + name + ", namespace: d, labels: {" + labels + "}}, spec: {" + strings.TrimPrefix(spec, ", ") + "}"
	if on != "" {
		text += ", status: {phase: Running}"
	}
	return text + "}\n"
}

func container(more string) string { return "containers: [{name: c, image: c, " + more + "}]" }

func cpu(n string) string { return container("resources: {requests: {cpu: \"" + n + "\"}}") }

func port(more string) string {
	return container("ports: [{containerPort: 80, hostPort: 80" + more + "}]")
}

// affinity returns a required term. The use is podAffinity or podAntiAffinity.
func affinity(use, key, selector string) string {
	return "affinity: {" + use + ": {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: " + key + ", labelSelector: {matchLabels: {" + selector + "}}}]}}"
}

func spread(key, more string) string {
	return "topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: " + key + ", labelSelector: {matchLabels: {app: web}}" + more + "}]"
}

const (
	zone = "topology.kubernetes.io/zone"
	host = "kubernetes.io/hostname"
	// claimed is a pod's volume, a bound claim and its volume.
	claimed = "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]"
	bound   = `---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: v, labels: {}}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], csi: {driver: d, volumeHandle: v}, claimRef: {namespace: d, name: c}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a, b]}]}]}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: d}, spec: {resources: {requests: {storage: 1Gi}}, accessModes: [ReadWriteOnce], storageClassName: '', volumeName: v}}
`
)

// TestEachFilterRefuses has states in which a single filter refuses a pod on node n0. With one
// replacement in the input, the node takes the pod. So a filter that is lenient fails a row, and one
// that is too strict, too.
func TestEachFilterRefuses(t *testing.T) {
	const web = "app: web"
	for name, v := range map[string]struct {
		reason   certificate.Reason
		node     [2]string // replacement in the nodes
		before   string    // other objects
		spec     string    // of the pod
		old, new string    // makes the node take the pod
	}{
		"name":                     {certificate.RefusedByName, [2]string{}, "", "nodeName: n1", "nodeName: n1", "nodeName: n0"},
		"taint":                    {certificate.RefusedByTaint, [2]string{"spec: {}", "spec: {taints: [{key: k, effect: NoSchedule}]}"}, "", "", "NoSchedule", "PreferNoSchedule"},
		"selector":                 {certificate.RefusedBySelector, [2]string{}, "", "nodeSelector: {x: w}", "x: w", "x: u"},
		"cordon":                   {certificate.RefusedByCordon, [2]string{"spec: {}", "spec: {unschedulable: true}"}, "", "", "true", "false"},
		"port":                     {certificate.RefusedByPort, [2]string{}, pod("a", "a: b", "n0", port("")), port(", protocol: TCP"), "TCP", "UDP"},
		"port of another address":  {certificate.RefusedByPort, [2]string{}, pod("a", "a: b", "n0", port(", hostIP: 0.0.0.0")), port(", hostIP: 127.0.0.1"), "0.0.0.0", "127.0.0.2"},
		"request":                  {certificate.RefusedByResources, [2]string{}, "", cpu("5"), `"5"`, `"4"`},
		"request beside a pod":     {certificate.RefusedByResources, [2]string{}, pod("a", "a: b", "n0", cpu("3")), cpu("2"), `"3"`, `"2"`},
		"slot":                     {certificate.RefusedByResources, [2]string{`"9"`, `"1"`}, pod("a", "a: b", "n0", ""), "", `pods: "1"`, `pods: "2"`},
		"extended resource":        {certificate.RefusedByResources, [2]string{}, "", container("resources: {requests: {e/r: 1}, limits: {e/r: 1}}"), `allocatable: {cpu`, `allocatable: {e/r: 1, cpu`},
		"claim of one pod":         {certificate.RefusedByRestrictions, [2]string{}, strings.ReplaceAll(bound, "accessModes: [ReadWriteOnce]", "accessModes: [ReadWriteOncePod]") + pod("a", "a: b", "n1", claimed), claimed, "[ReadWriteOncePod]", "[ReadWriteOnce]"},
		"volume limit":             {certificate.RefusedByLimits, [2]string{"spec: {}", "spec: {}"}, bound + pod("a", "a: b", "n0", "volumes: [{name: v, csi: {driver: e}}]"), claimed, "count: 0", "count: 1"},
		"volume elsewhere":         {certificate.RefusedByVolume, [2]string{}, strings.Replace(bound, "[a, b]", "[b]", 1), claimed, "[b]", "[a, b]"},
		"zone of a volume":         {certificate.RefusedByZone, [2]string{}, strings.Replace(bound, "labels: {}", "labels: {topology.kubernetes.io/zone: b}", 1), claimed, "labels: {topology.kubernetes.io/zone: b}", "labels: {}"},
		"own anti-affinity":        {certificate.RefusedByAffinity, [2]string{}, pod("a", web, "n0", ""), affinity("podAntiAffinity", host, web), "{app: web}}, spec: {cont", "{app: db}}, spec: {cont"},
		"anti-affinity of another": {certificate.RefusedByAffinity, [2]string{}, pod("a", "a: b", "n0", affinity("podAntiAffinity", host, web)), "", "{app: web}}}]", "{app: db}}}]"},
		"anti-affinity by zone":    {certificate.RefusedByAffinity, [2]string{"n0, topology.kubernetes.io/zone: a", "n0, topology.kubernetes.io/zone: b"}, pod("a", web, "n1", ""), affinity("podAntiAffinity", zone, web), "topologyKey: " + zone, "topologyKey: " + host},
		"required affinity":        {certificate.RefusedByAffinity, [2]string{}, pod("a", "app: db", "n1", ""), affinity("podAffinity", zone, "app: db"), "nodeName: n1", "nodeName: n0"},
		"no pod to be near":        {certificate.RefusedByAffinity, [2]string{}, "", affinity("podAffinity", zone, "app: db"), "{app: db}}}]", "{app: web}}}]"},
		"affinity without the key": {certificate.RefusedByAffinity, [2]string{}, "", affinity("podAffinity", "rack", web), "topologyKey: rack", "topologyKey: x"},
		"both terms select a peer": {certificate.RefusedByAffinity, [2]string{}, pod("a", "app: db", "n0", "") + pod("b", "tier: s", "n0", ""), strings.Replace(affinity("podAffinity", zone, "app: db"), "}}}]", "}}}, {topologyKey: "+zone+", labelSelector: {matchLabels: {tier: s}}}]", 1), "{app: db}}, spec: {cont", "{app: db, tier: s}}, spec: {cont"},
		"namespace of a term":      {certificate.RefusedByAffinity, [2]string{}, pod("a", web, "n0", ""), strings.Replace(affinity("podAntiAffinity", host, web), "topologyKey", "namespaces: [d], topologyKey", 1), "[d]", "[e]"},
		"spread":                   {certificate.RefusedBySpread, [2]string{}, pod("a", web, "n0", ""), spread(zone, ""), "nodeName: n0", "nodeName: n1"},
		"spread with maxSkew":      {certificate.RefusedBySpread, [2]string{}, pod("a", web, "n0", ""), spread(zone, ""), "maxSkew: 1", "maxSkew: 2"},
		"spread with minDomains":   {certificate.RefusedBySpread, [2]string{}, pod("a", web, "n0", "") + pod("b", web, "n1", ""), spread(zone, ", minDomains: 3"), "minDomains: 3", "minDomains: 2"},
		"spread without the key":   {certificate.RefusedBySpread, [2]string{}, "", spread("rack", ""), "topologyKey: rack", "topologyKey: x"},
		"spread counts a taint":    {certificate.RefusedBySpread, [2]string{"zone: b, x: u}}, spec: {}", "zone: b, x: u}}, spec: {taints: [{key: k, effect: NoSchedule}]}"}, pod("a", web, "n0", ""), spread(zone, ", nodeTaintsPolicy: Ignore"), "Policy: Ignore", "Policy: Honor"},
		"spread counts a selector": {certificate.RefusedBySpread, [2]string{"zone: b, x: u", "zone: b, x: w"}, pod("a", web, "n0", ""), "nodeSelector: {x: u}, " + spread(zone, ", nodeAffinityPolicy: Ignore"), "Policy: Ignore", "Policy: Honor"},
		"spread counts itself":     {certificate.RefusedBySpread, [2]string{}, pod("a", web, "n0", ""), spread(zone, ""), "name: self, namespace: d, labels: {app: web}", "name: self, namespace: d, labels: {app: db}"},
		"spread counts running":    {certificate.RefusedBySpread, [2]string{}, strings.Replace(pod("a", web, "n0", ""), "namespace: d", "namespace: d, annotations: {}", 1), spread(zone, ""), "annotations: {}", `deletionTimestamp: "2026-01-01T00:00:00Z"`},
	} {
		t.Run(name, func(t *testing.T) {
			nodes := two
			if v.node[0] != "" {
				nodes = strings.Replace(two, v.node[0], v.node[1], 1)
			}
			if name == "volume limit" {
				nodes += "---\n{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: n0}, spec: {drivers: [{name: d, nodeID: n0, allocatable: {count: 0}}]}}\n"
			}
			manifests := v.before + pod("self", web, "", v.spec)
			answer := func(nodes, manifests string) certificate.Reason {
				m, set := models.Of(t, nodes, manifests)
				m.Topology.Extended.Complete = true
				for _, w := range set.Workloads {
					if w.Object.Name == "self" {
						return check.NewState(m).Filter(w, m.Topology.Nodes[0])
					}
				}
				t.Fatal("no pod")
				return ""
			}
			if got := answer(nodes, manifests); got != v.reason {
				t.Errorf("refused by %q, want %q", got, v.reason)
			}
			if !strings.Contains(nodes+manifests, v.old) {
				t.Fatalf("%q is not in the input\n%s%s", v.old, nodes, manifests)
			}
			if got := answer(strings.Replace(nodes, v.old, v.new, 1), strings.ReplaceAll(manifests, v.old, v.new)); got != certificate.Takes {
				t.Errorf("with %s refused by %q, but it takes the pod", v.new, got)
			}
		})
	}
}
