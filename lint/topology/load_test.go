package topology

import (
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/source"
)

// read loads a topology from a string.
func read(t testing.TB, text string) (*Topology, error) {
	t.Helper()
	dir := t.TempDir()
	set, err := source.Load(source.Options{Dir: dir, Root: dir, Stdin: strings.NewReader(text), Kindless: Kindless}, []string{"-"})
	if err != nil || len(set.Problems) > 0 {
		t.Fatalf("%v %+v\n%s", err, set.Problems, text)
	}
	return Load(set.Objects)
}

// must loads a topology and requires that there are no errors.
func must(t testing.TB, text string) *Topology {
	t.Helper()
	topo, err := read(t, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return topo
}

func names(topo *Topology) string {
	var all []string
	for _, n := range topo.Nodes {
		all = append(all, n.Name)
	}
	return strings.Join(all, " ")
}

const full = `apiVersion: v1
kind: Node
metadata:
  name: one
  uid: 1234
  labels: {kubernetes.io/hostname: one, zone: a, empty: ""}
  annotations: {x: y}
spec:
  providerID: kind://x
  unschedulable: true
  taints:
  - {key: dedicated, value: db, effect: NoSchedule, timeAdded: 2026-01-02T03:04:05Z}
  - {key: slow, effect: PreferNoSchedule}
status:
  allocatable: {cpu: 3900m, memory: 8Gi, pods: 110, example.com/gpu: "2"}
  capacity: {cpu: 4, memory: 9Gi}
  images: [{names: [a], sizeBytes: 1}]
  nodeInfo: {architecture: amd64}
`

func TestNode(t *testing.T) {
	topo := must(t, full)
	n := topo.Nodes[0]
	if n.Name != "one" || !n.Unschedulable || n.Pool != nil || len(n.Labels) != 4 || n.Labels["zone"] != "a" {
		t.Errorf("got %+v", n)
	}
	if n.Span.Line != 4 || n.Span.Column != 3 || n.Span.EndColumn != 12 {
		t.Errorf("declared at %+v", n.Span)
	}
	if len(n.Taints) != 3 || n.Taints[0].Value != "db" || n.Taints[1].Effect != corev1.TaintEffectPreferNoSchedule || n.Taints[2].ToString() != "node.kubernetes.io/unschedulable:NoSchedule" {
		t.Errorf("taints %+v", n.Taints)
	}
	if cpu, gpu := n.Allocatable["cpu"], n.Allocatable["example.com/gpu"]; cpu.MilliValue() != 3900 || gpu.Value() != 2 || len(n.Allocatable) != 4 {
		t.Errorf("allocatable %v", n.Allocatable)
	}
	if topo.Empty() || topo.Elastic() || len(topo.Notes) > 0 {
		t.Errorf("got %+v", topo)
	}
}

// TestResourcesOfNodes checks that capacity is used if a node has no allocatable, and that a node
// with neither has no resources.
func TestResourcesOfNodes(t *testing.T) {
	for status, want := range map[string]string{
		"":                                     "not judged",
		"status: {}\n":                         "not judged",
		"status: {allocatable: {}}\n":          "not judged",
		"status: {capacity: {cpu: 2}}\n":       "2",
		"status: {allocatable: {cpu: 1500m}}":  "1500m",
		"status: {allocatable: {pods: 1}}":     "0",
		"status: {allocatable: , capacity: }":  "not judged",
		"status: {allocatable: {cpu: '1e3m'}}": "1e3m",
	} {
		topo, err := read(t, node+"metadata: {name: one}\n"+status)
		if status == "status: {allocatable: {cpu: '1e3m'}}" {
			if err == nil {
				t.Error("1e3m is no quantity")
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := "not judged"
		if n := topo.Nodes[0]; n.Allocatable != nil {
			cpu := n.Allocatable[corev1.ResourceCPU]
			got = cpu.String()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", status, got, want)
		}
	}
}

// TestSources reads nodes in all forms in which kubectl prints them.
func TestSources(t *testing.T) {
	for name, text := range map[string]string{
		"several documents": "apiVersion: v1\nkind: Node\nmetadata: {name: b}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n",
		"NodeList":          "apiVersion: v1\nkind: NodeList\nitems:\n- metadata: {name: b}\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\n",
		"List":              "apiVersion: v1\nkind: List\nmetadata: {resourceVersion: \"\"}\nitems:\n- {apiVersion: v1, kind: Node, metadata: {name: b}}\n- {apiVersion: v1, kind: Node, metadata: {name: a}}\n",
		"JSON":              `{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "b"}}, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}]}`,
		"other objects":     "apiVersion: v1\nkind: Node\nmetadata: {name: b}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: c}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\napiVersion: example.com/v1\nkind: Node\nmetadata: {name: d}\n---\nkind: Node\nmetadata: {name: e}\n",
		"the same twice":    "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {taints: []}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {}}\n---\napiVersion: v1\nkind: Node\nmetadata: {name: b}\n",
	} {
		if got := names(must(t, text)); got != "a b" {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

const (
	node  = "apiVersion: v1\nkind: Node\n"
	pools = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\n"
	karp  = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\n"
	eks   = "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c, region: r}\n"
)

// slips has a topology with one mistake in every row, and a part of the error.
var slips = []struct{ text, want string }{
	{node + "metadata: {labels: {a: b}}\n", "2:1: a Node needs metadata.name"},
	{node + "metadata:\n  name: 1\n", "4:3: metadata.name: expected a string"},
	{node + "metadata: {name: a, labels: {b: true}}\n", "3:30: metadata.labels.b: expected a string"},
	{node + "metadata: {name: a, labels: [b]}\n", "3:21: metadata.labels: expected a map"},
	{node + "metadata: {name: a}\nspec: {unschedulable: 'yes'}\n", "4:8: spec.unschedulable: expected a boolean"},
	{node + "metadata: {name: a}\nspec:\n  taints:\n  - {key: x, efect: NoSchedule}\n", "6:14: unknown field spec.taints[0].efect; did you mean effect?"},
	{node + "metadata: {name: a}\nspec:\n  taints:\n  - {key: x, effect: NoSchedul}\n", `6:5: taint x has the effect "NoSchedul": expected NoSchedule, PreferNoSchedule or NoExecute`},
	{node + "metadata: {name: a}\nspec:\n  taints:\n  - {effect: NoExecute}\n", "6:5: a taint needs a key"},
	{node + "metadata: {name: a}\nspec: {taints: {key: x}}\n", "4:8: spec.taints: expected a list"},
	{node + "metadata: {name: a}\nstatus: {allocatable: {cpu: 4 cores}}\n", "4:24: status.allocatable.cpu: expected a quantity"},
	{node + "metadata: {name: a}\n---\n" + node + "metadata: {name: a, labels: {b: c}}\n", "7:12: node a is declared differently at <stdin>:3: declare every node once"},
	{node + "metadata: {name: a}\nstatus: {allocatable: {cpu: 1}}\n---\n" + node + "metadata: {name: a}\nstatus: {allocatable: {cpu: 2}}\n", "8:12: node a is declared differently"},

	{kindHead + "node: []\n", "3:1: unknown field node; did you mean nodes?"},
	{"kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha3\n", "a Cluster has the apiVersion kind.x-k8s.io/v1alpha4, found kind.x-k8s.io/v1alpha3"},
	{kindHead + "name: A_b\n", `3:1: a kind cluster needs a name that can be part of a node name, found "A_b"`},
	{kindHead + "name: '${NAME}'\n", "3:1: a kind cluster needs a name"},
	{kindHead + "nodes:\n- {role: master}\n- {role: control-plane}\n", `4:4: nodes[0].role is "master": expected control-plane or worker`},
	{kindHead + "nodes: [{role: worker}]\n", "a kind cluster needs a node with the role control-plane"},
	{kindHead + "nodes:\n- {labels: {a: '${ZONE}'}}\n", `4:13: node kind-control-plane: label a: "${ZONE}"`},
	{kindHead + "nodes:\n- {label: {a: b}}\n", "4:4: unknown field nodes[0].label; did you mean labels?"},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: InitConfiguration\n  nodeRegistration: {taint: []}\n", "6:22: unknown field nodeRegistration.taint; did you mean taints?"},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: InitConfiguration\n  nodeRegistration:\n    name: x\n", "7:5: nodeRegistration.name is not read"},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: InitConfiguration\n  nodeRegistration:\n", "6:3: nodeRegistration: expected a map"},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: InitConfig\n", `5:9: a patch of kubeadm needs a kind such as InitConfiguration or JoinConfiguration, found "InitConfig"`},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: [\n", "4:3: the patch is not YAML"},
	{kindHead + "kubeadmConfigPatches:\n- ${PATCH}\n", "4:3: a patch of kubeadm needs a kind"},
	{kindHead + "kubeadmConfigPatches:\n- |\n  apiVersion: kubeadm.k8s.io/v1beta3\n  kind: InitConfiguration\n  nodeRegistration:\n    taints: []\n", "8:5: kind applies a patch with an apiVersion only if the node image has that version: leave it out"},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: InitConfiguration\n  nodeRegistration:\n    taints: [{key: a, effect: '${EFFECT}'}]\n", `7:14: taint a has the effect "${EFFECT}"`},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: InitConfiguration\n  nodeRegistration: {kubeletExtraArgs: {node-labels: 1}}\n", "6:41: node-labels: expected a string"},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: InitConfiguration\n  nodeRegistration: {kubeletExtraArgs: {register-with-taints: a}}\n", `6:41: taint a has the effect ""`},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: InitConfiguration\n  nodeRegistration: {kubeletExtraArgs: {node-labels: 'a=${B}'}}\n", `6:41: node-labels: label a: "${B}"`},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: InitConfiguration\n  nodeRegistration: {kubeletExtraArgs: {hostname-override: a}}\n", "6:41: the flag hostname-override is not read"},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: InitConfiguration\n  skipPhases: [mark-control-plane]\n", "6:15: the phase mark-control-plane decides labels and taints"},
	{kindHead + "kubeadmConfigPatches:\n- |\n  kind: KubeletConfiguration\n  registerWithTaints: []\n", "6:3: registerWithTaints is not read"},
	{kindHead + "kubeadmConfigPatchesJSON6902:\n- kind: InitConfiguration\n  version: v1beta3\n  patch: |\n    - {op: add, path: /nodeRegistration/taints, value: []}\n", "7:7: kind applies a patch with an apiVersion only"},
	{kindHead + "kubeadmConfigPatchesJSON6902:\n- kind: InitConfiguration\n  patch: |\n    - {op: move, from: /a, path: /nodeRegistration/taints}\n", "6:7: the operation move is not read"},
	{kindHead + "kubeadmConfigPatchesJSON6902:\n- kind: InitConfiguration\n  patch: |\n    - {op: replace, path: /nodeRegistration/kubeletExtraArgs/2/value, value: a=b}\n", "6:7: /nodeRegistration/kubeletExtraArgs/2/value is not read"},

	{"apiVersion: karpenter.sh/v1\nkind: NodePool\nspec: {}\n", "a NodePool needs metadata.name"},
	{karp + "---\n" + karp, "7:12: NodePool a is declared twice, for the first time at <stdin>:3"},
	{karp + "spec:\n  templat: {}\n", "5:3: unknown field spec.templat; did you mean template?"},
	{karp + "spec:\n  template:\n    spec:\n      taint: []\n", "7:7: unknown field spec.template.spec.taint; did you mean taints?"},
	{karp + "spec: {replicas: -1}\n", "4:8: NodePool a: expected 0 to 100000 replicas, found -1"},
	{karp + "spec: {template: {metadata: {labels: {b: '${C}'}}}}\n", `4:39: NodePool a: label b: "${C}"`},
	{karp + "spec: {template: {spec: {taints: [{key: a, effect: Nope}]}}}\n", `taint a has the effect "Nope"`},
	{karp + "spec: {template: {spec: {requirements: [{key: b, operator: Is}]}}}\n", `4:50: NodePool a: requirement on b: "Is": expected In, NotIn`},
	{karp + "spec: {template: {spec: {requirements: [{key: b, operator: In}]}}}\n", "NodePool a: requirement on b: In needs values, at least as many as minValues"},
	{karp + "spec: {template: {spec: {requirements: [{key: b, operator: Gt, values: [c]}]}}}\n", "Gt needs one number that is not negative"},
	{karp + "spec: {template: {spec: {requirements: [{key: b, operator: In, values: ['${C}']}]}}}\n", `4:64: NodePool a: label b: "${C}"`},
	{karp + "spec: {template: {spec: {requirements: [{key: kubernetes.io/os, operator: Lt, values: ['3']}, {key: kubernetes.io/os, operator: In, values: ['4']}]}}}\n", "4:79: NodePool a: no node can meet its requirements on kubernetes.io/os"},
	{karp + "spec: {template: {metadata: {labels: {beta.kubernetes.io/arch: arm64, kubernetes.io/arch: amd64}}}}\n", "3:12: NodePool a: its labels set kubernetes.io/arch to two different values"},
	{karp + "spec: {template: {metadata: {labels: {b: c}}, spec: {requirements: [{key: b, operator: NotIn, values: [c]}]}}}\n", "4:95: NodePool a: no node can meet its requirements on b"},
	{eks + "managedNodeGroup: []\n", "4:1: unknown field managedNodeGroup; did you mean managedNodeGroups?"},
	{eks + "nodeGroups:\n- {name: a, desiredCapacit: 3}\n", "5:13: unknown field nodeGroups[0].desiredCapacit; did you mean desiredCapacity?"},
	{eks + "nodeGroups:\n- {name: a, minsize: 3}\n", "5:13: unknown field nodeGroups[0].minsize; did you mean minSize?"},
	{eks + "nodeGroups:\n- {name: a, desiredCapacity: \"${COUNT}\"}\n", "5:13: nodeGroups[0].desiredCapacity: expected a whole number"},
	{eks + "nodeGroups:\n- {name: a, desiredCapacity: 3, maxSize: 2}\n", "5:13: node group a: expected 0 <= minSize <= desiredCapacity <= maxSize <= 100000, found 3, 3, 2"},
	{eks + "nodeGroups:\n- {name: a}\nmanagedNodeGroups:\n- {name: a}\n", "7:4: node group a is declared twice, for the first time at <stdin>:5"},
	{eks + "nodeGroups:\n- {desiredCapacity: 1}\n", "5:3: a node group needs a name"},
	{eks + "nodeGroups:\n- {name: a, taints: {b: true}}\n", `5:22: taint b has the effect ""`},
	{eks + "managedNodeGroups:\n- {name: a, taints: {b: NoSchedule}}\n", "5:21: taints: expected a list"},
	{eks + "managedNodeGroups:\n- {name: a, availabilityZones: ['${ZONE}']}\n", `5:13: node group a: label topology.kubernetes.io/zone: "${ZONE}"`},
	{eks + "managedNodeGroups:\n- {name: a, labels: {b: '${C}'}}\n", `5:22: node group a: label b: "${C}"`},
	{eks + "managedNodeGroups:\n- {name: a, overrideBootstrapCommand: 'bootstrap.sh'}\n", "5:13: node group a: overrideBootstrapCommand may decide labels and taints"},
	{eks + "managedNodeGroups:\n- {name: a, preBootstrapCommands: ['echo --register-with-taints']}\n", "5:13: node group a: preBootstrapCommands may decide labels and taints"},
	{eks + "nodeGroups:\n- {name: a, kubeletExtraConfig: {registerWithTaints: []}}\n", "5:34: node group a: kubeletExtraConfig.registerWithTaints is not read"},
	{eks + "nodeGroups: [{name: a}]\nfargateProfiles: [{name: b}]\n", "5:1: nodes that fargateProfiles adds are not read: declare the nodes in a NodeTopology"},
	{eks + "autoModeConfig: {enabled: true}\n", "4:1: nodes that autoModeConfig adds are not read"},
	{"apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {region: r}\n", "a ClusterConfig needs metadata.name"},
	{"apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: a..}\n", `3:12: metadata.name: label alpha.eksctl.io/cluster-name: "a.."`},

	{talos + "machine: {type: control}\ncluster: {}\n", "2:10: machine.type is \"control\""},
	{talos + "machine: {nodeLabels: {a: b}}\n", "2:10: machine.type is missing: expected controlplane or worker, or instead of a patch the files that talhelper genconfig"},
	{talos + "machine: {type: worker}\n", "1:1: a Talos node needs a hostname"},
	{talos + "machine: {type: worker, network: {hostname: '${NAME}'}}\n", "1:1: a Talos node needs a hostname"},
	{talosNamed + "---\nkind: KubeNodeConfig\nlabel: {a: b}\n", "7:1: unknown field label; did you mean labels?"},
	{talosNamed + "  nodeLables: {a: b}\n", "5:3: unknown field machine.nodeLables; did you mean nodeLabels?"},
	{talosNamed + "  nodeLabels: {a: '${B}'}\n", "5:16: nodeLabels: label a: \"${B}\""},
	{talosNamed + "  nodeLabels: {a: [b]}\n", "5:16: label a: expected a string"},
	{talhelper + "- hostname: a\n  patches:\n  - |\n    - {op: add, path: /machine/kubelet, value: {extraArgs: {node-labels: a=b}}}\n", "6:7: an operation on /machine/kubelet is not read"},
	{talosNamed + "  nodeTaints: {a: Never}\n", "5:16: taint a has the effect \"Never\""},
	{talosNamed + "  kubelet: {extraArgs: {node-labels: a=b}}\n", "5:25: node-labels is not read: use nodeLabels and nodeTaints"},
	{talosNamed + "  kubelet: {extraConfig: {registerWithTaints: []}}\n", "5:27: registerWithTaints is not read"},
	{talosNamed + "  kubelet: {skipNodeRegistration: true}\n", "5:13: skipNodeRegistration is not read"},
	{talosNamed + "---\nkind: KubeNodeConfig\n$patch: delete\n", "7:1: $patch is not read"},
	{talhelper + "- {hostname: a, nodeLabel: {b: c}}\n", "3:17: unknown field nodes[0].nodeLabel; did you mean nodeLabels?"},
	{talhelper + "- {hostname: a, controlPlane: 'yes'}\n", "3:17: nodes[0].controlPlane: expected a boolean"},
	{talhelper + "- {hostname: '${A}'}\n", "3:4: a Talos node needs a hostname"},
	{talhelper + "- {hostname: a, nodeTaints: {b: '${C}'}}\n", "3:30: taint b has the effect"},
	{talhelper + "- {hostname: a}\n- {hostname: b}\nworker: {nodeLabels: {c: '${D}'}}\n", "5:23: nodeLabels: label c: \"${D}\""},
	{talhelper + "- {hostname: a, patches: ['@./b.yaml']}\n", "3:27: the patch ./b.yaml cannot be read"},
	{talhelper + "- hostname: a\n  patches:\n  - |\n    machine:\n      nodeTaint: {}\n", "7:7: unknown field machine.nodeTaint; did you mean nodeTaints?"},
	{talhelper + "- hostname: a\n  patches:\n  - |\n    - {op: add, path: /machine/nodeLabels/b, value: c}\n", "6:7: an operation on /machine/nodeLabels/b is not read"},
	{talhelper + "- hostname: a\n  patches:\n  - |\n    machine: {nodeLabels: {{{ x }}\n", "5:5: the patch is not YAML, and may decide labels or taints"},

	{machines + "  replicas: '${COUNT}'\n", "5:3: spec.replicas: expected a whole number, found ${COUNT}; replace the variable first, for example with clusterctl generate yaml"},
	{machines + bootstrapped, "3:12: the control plane is not declared"},
	{machines + "  replica: 3\n", "5:3: unknown field spec.replica; did you mean replicas?"},
	{machines + "  replicas: -1\n" + bootstrapped, "3:12: a: expected 0 <= min-size <= replicas <= max-size <= 100000, found -1, -1, -1"},
	{machines + "  template: {spec: {bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: b}}}}\n", "5:44: a: KubeadmConfigTemplate b is not in the node files"},
	{machines + "  template: {spec: {bootstrap: {dataSecretName: b}}}\n", "a: its bootstrap data is not in the node files"},
	{machines + bootstrapped + "spec: {template: {spec: {joinConfiguration: {nodeRegistration: {taint: []}}}}}\n", "10:65: unknown field taint; did you mean taints?"},
	{machines + bootstrapped + "spec: {template: {spec: {joinConfiguration: {nodeRegistration: {taints: [{key: a, effect: '${B}'}]}}}}}\n", "10:74: taint a has the effect"},
	{machines + bootstrapped + "spec: {template: {spec: {joinConfiguration: {nodeRegistration: {kubeletExtraArgs: {node-labels: 'a=${B}'}}}}}}\n", "10:84: node-labels: label a"},
	{machines + bootstrapped + "spec: {template: {spec: {preKubeadmCommands: [sed -i s/node-labels=a/node-labels=b/ /tmp/kubeadm.yaml]}}}\n", "10:26: preKubeadmCommands may decide labels or taints"},
	{machines + strings.ReplaceAll(bootstrapped, "KubeadmConfigTemplate", "EKSConfigTemplate") + "spec: {template: {spec: {kubeletExtraArgs: {node-labels: a=b}}}}\n", "5:44: a: labels or taints in EKSConfigTemplate b are not read"},
	{"apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nmetadata: {name: a}\nspec: {kubeadmConfigSpec: {initConfiguration: {nodeRegistration: {taints: []}}}}\n", "4:27: a: initConfiguration and joinConfiguration differ in labels or taints"},
	{strings.Replace(machines, "{name: a}", "{name: a, annotations: {cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: one, cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size: '3'}}", 1) + bootstrapped, "3:35: cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size: expected a whole number"},
	{strings.Replace(machines, "name: a", "name: A_b", 1) + bootstrapped, `3:12: machines need a name that can be part of a node name, found "A_b"`},
	{machines + bootstrapped + "---\n" + machines + bootstrapped + control, "13:12: a is declared twice, for the first time at <stdin>:3"},
	{capiHead + "kind: Cluster\nmetadata: {name: a}\nspec: {topology: {clas: b}}\n", "4:19: unknown field spec.topology.clas; did you mean class?"},
	{capiHead + "kind: Cluster\nmetadata: {name: a}\nspec: {topology: {class: b}}\n---\n" + capiHead + "kind: ClusterClass\nmetadata: {name: b}\nspec: {controlPlane: {ref: {kind: KubeadmControlPlaneTemplate, name: c}}}\n", "9:28: c is not in the node files"},
	{capiHead + "kind: Cluster\nmetadata: {name: a}\nspec: {topology: {class: b}}\n", "4:18: ClusterClass b is not in the node files"},
	{openshiftHead + "  template: {spec: {taints: [{key: a}]}}\n" + control, `5:30: taint a has the effect ""`},
	{openshiftHead + "  template: {spec: {metadata: {labels: {a: '${B}'}}}}\n" + control, "5:41: a: label a"},

	{csiNode + "spec: {drivers: [{name: d, allocatable: {count: -1}}]}\n", "4:18: driver d has the count -1: expected a number from 0"},
	{csiNode + "spec: {drivers: [{name: d, allocatable: {count: 2}}]}\n---\n" + csiNode + "spec: {drivers: [{name: d, allocatable: {count: 3}}]}\n", "CSINode a is declared twice with different limits"},
	{talosNamed + "---\napiVersion: v1alpha1\nkind: KubeletConfig\nskipNodeRegistration: true\n", "8:1: skipNodeRegistration is not read"},
	{talosNamed + "---\napiVersion: v1alpha1\nkind: KubeletConfig\nconfig: {registerWithTaints: []}\n", "8:10: registerWithTaints is not read"},
	{talosNamed + "---\napiVersion: v1alpha1\nkind: KubeNodeConfig\nskipNodeRegistration: true\n", "8:1: skipNodeRegistration is not read"},
	{talosNamed + "---\napiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels: {tier: [a]}\n", "8:10: label tier: expected a string"},
	{talosNamed + "---\napiVersion: v1alpha1\nkind: KubeNodeConfig\ntaint: {}\n", "8:1: unknown field taint; did you mean taints?"},

	{pools, "2:1: a NodeTopology needs pools, a list of {name, count}"},
	{pools + "pools: []\n", "a NodeTopology needs pools"},
	{pools + "pools: {name: a}\n", "3:1: pools: expected a list"},
	{pools + "pool:\n- {name: a, count: 1}\n", "3:1: unknown field pool; did you mean pools?"},
	{pools + "pools:\n- a\n", "4:3: pools[0]: expected a map"},
	{pools + "pools:\n- {count: 1}\n", `4:3: a pool needs a name that can be part of a node name, found ""`},
	{pools + "pools:\n- {name: A_b, count: 1}\n", `4:4: a pool needs a name that can be part of a node name, found "A_b"`},
	{pools + "pools:\n- {name: a, count: 1}\n- {name: a, count: 2}\n", "5:4: pool a is declared twice, for the first time at <stdin>:4"},
	{pools + "pools:\n- {name: a, count: 1}\n---\n" + pools + "pools:\n- {name: a, count: 1}\n", "9:4: pool a is declared twice, for the first time at <stdin>:4"},
	{pools + "pools:\n- name: a\n  cuont: 1\n", "5:3: unknown field pools[0].cuont; did you mean count?"},
	{pools + "pools:\n- name: a\n  count: three\n", "5:3: pools[0].count: expected a whole number"},
	{pools + "pools:\n- name: a\n  count: 1.5\n", "5:3: pools[0].count: expected a whole number"},
	{pools + "pools:\n- name: a\n", "4:3: pool a needs count, zones or min"},
	{pools + "pools:\n- name: a\n  max: 3\n", "4:3: pool a needs count, zones or min"},
	{pools + "pools:\n- name: a\n  count: -1\n", "5:3: pool a: expected 0 <= min <= count <= max <= 100000, found min -1, count -1, max -1"},
	{pools + "pools:\n- name: a\n  count: 3\n  max: 2\n", "5:3: pool a: expected 0 <= min <= count <= max <= 100000, found min 3, count 3, max 2"},
	{pools + "pools:\n- name: a\n  count: 3\n  min: 4\n", "found min 4, count 3, max 3"},
	{pools + "pools:\n- name: a\n  count: 100001\n", "found min 100001, count 100001, max 100001"},
	{pools + "pools:\n- {name: a, count: 60000}\n- {name: b, count: 60000}\n", "5:4: pool b: the pools add up to more than 100000 nodes"},
	{pools + "pools:\n- name: a\n  zones: {x: 1, y: 2}\n  count: 4\n", "6:3: pool a has count 4, but its zones add up to 3: give count or zones"},
	{pools + "pools:\n- name: a\n  zones: {x: 1, y: -2}\n", `5:17: pool a: zone "y": -2: expected a zone name and a number from 0 to 100000`},
	{pools + "pools:\n- name: a\n  zones: {a b: 1}\n", `5:11: pool a: zone "a b": 1: expected a zone name`},
	{pools + "pools:\n- name: a\n  zones: [x, y]\n", "5:3: pools[0].zones: expected a map"},
	{pools + "pools:\n- name: a\n  zones: {x: y}\n", "5:11: pools[0].zones.x: expected a whole number"},
	{pools + "pools:\n- name: a\n  count: 1\n  labels: {a b: c}\n", "6:12: pool a: label key \"a b\": expected"},
	{pools + "pools:\n- name: a\n  count: 1\n  labels: {a: b/c}\n", "6:12: pool a: label a: \"b/c\": expected at most 63 letters"},
	{pools + "pools:\n- name: a\n  count: 1\n  taints: [{key: x, effect: Never}]\n", `6:12: taint x has the effect "Never"`},
	{pools + "pools:\n- name: a\n  count: 1\n  allocatable: {cpu: 4x}\n", "6:17: pools[0].allocatable.cpu: expected a quantity"},
	{pools + "pools:\n- name: a\n  count: 1\n  allocatable: {cpu: 1e-100000000, memory: '1e-100000000'}\n", "6:36: pools[0].allocatable.memory: expected a quantity of at most 64 characters with an exponent from -100 to 100"},
	{"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus:\n  allocatable: {cpu: '1e100000000'}\n", "5:17: status.allocatable.cpu: expected a quantity of at most"},
	{"apiVersion: v1\nkind: Node\nmetadata: {name: a}\nstatus:\n  capacity: {pods: '1e-100000000'}\n", "5:14: status.capacity.pods: expected a quantity of at most"},
	{pools + "pools: [{name: a, count: 1}]\nstorage:\n  classes: {x: {pinned: rack}}\n", "5:17: storage.classes.x.pinned: expected one of node, zone, zones-2, region, free"},
	{pools + "pools: [{name: a, count: 1}]\nstorage:\n  class: {x: {pinned: zone}}\n", "5:3: unknown field storage.class"},
	{pools + "pools: [{name: a, count: 1}]\nstorage: {classes: {x: {pinned: zone}}}\n---\n" + pools + "pools: [{name: b, count: 1}]\nstorage: {classes: {x: {pinned: node}}}\n", "9:24: StorageClass x is declared differently in another NodeTopology: declare every class once"},
	{pools + "pools: [{name: a, count: 1}]\nstorage: {default: x}\n---\n" + pools + "pools: [{name: b, count: 1}]\nstorage: {default: z}\n", "9:20: the default StorageClass is z here and x in another NodeTopology: declare it once"},
	{pools + "pools:\n- name: a\n  zones: {x: 1}\n  zoneLabels:\n    z: {a: b}\n", `7:5: pool a: zoneLabels: the pool has no zone "z"`},
	{pools + "pools:\n- name: a\n  zones: {x: 1}\n  zoneLabels:\n    x: {a b: c}\n", "7:9: pool a: label key \"a b\": expected"},
	{pools + "pools:\n- name: a\n  count: 1\n  nameLabels: [a b]\n", "6:16: pool a: label key \"a b\": expected"},
	{pools + "pools:\n- name: a\n  count: 1\n  unknownLabels: [a/, a b]\n", "6:23: pool a: label key \"a b\": expected"},
	{pools + "pools:\n- name: a\n  count: 1\n  cost: -0.5\n", "6:3: pools[0].cost: expected a number from zero"},
	{pools + "pools:\n- name: a\n  count: 1\n  cost: .inf\n", "6:3: pools[0].cost: expected a number from zero"},
	{pools + "pools:\n- name: a\n  count: 1\n  upgrade: {surge: 1.5}\n", "6:13: pools[0].upgrade.surge: expected a number or percentage"},
	{pools + "pools:\n- name: a\n  count: 1\n  upgrade: {unavailable: 120%}\n", "6:13: pools[0].upgrade.unavailable: expected a number or percentage"},
	{pools + "pools:\n- name: a\n  count: 1\n  upgrade: {surge: -1}\n", "6:13: pools[0].upgrade.surge: expected a number or percentage"},
	{pools + "pools:\n- name: a\n  count: 1\n  upgrade: {surge: '3'}\n", "6:13: pools[0].upgrade.surge: expected a number or percentage"},
	{pools + "pools:\n- name: a\n  count: 1\n  upgrade: {surge: 0%}\n", "6:3: pool a: upgrade needs a surge or unavailable above 0"},
	{pools + "pools:\n- name: a\n  count: 1\n  upgrade: {surge: 1, zone: other}\n", "6:3: pool a: upgrade: zone: expected same or any, found \"other\""},
	{pools + "pools:\n- name: a\n  count: 1\n  upgrade: {surge: 1, cordon: some}\n", "6:3: pool a: upgrade: cordon: expected drained or all, found \"some\""},
	{pools + "pools:\n- name: a\n  count: 1\n  allocatable: {cpu: 4}\n  reserved: {cpu: 1, memory: 1Gi}\n", "7:22: pool a: reserved: memory needs an amount under allocatable, too"},
	{pools + "nodes:\n- {labels: {a b: c}, allocatable: {cpu: 1}}\n", "4:13: nodes[0]: label key \"a b\": expected"},
	{pools + "nodes:\n- {allocatable: {cpu: one}}\n", "4:18: nodes[0].allocatable.cpu: expected a quantity"},
	{pools + "nodes:\n- {capacity: {cpu: 1}}\n", "4:4: unknown field nodes[0].capacity"},
	{pools + "nodes:\n- {allocatable: {cpu: 1}}\npools: [{name: a, count: 1}]\n", "4:3: no node outside of pools has these labels"},
	{pools + "pools:\n- name: a\n  count: 1\n  capacity: {cpu: -1}\n", "6:14: pool a: capacity: cpu is -1: expected a quantity from 0"},
	{pools + "pools:\n- name: a\n  count: 1\n  allocatable: {cpu: 4}\n  capacity: {cpu: 3}\n", "7:14: pool a: capacity: cpu is 3: expected a quantity from 4"},
	{pools + "pools:\n- name: a\n  count: 1\n  capacity: {cpu: one}\n", "6:14: pools[0].capacity.cpu: expected a quantity"},
	{pools + "pools:\n- name: a\n  count: 1\n  allocatable: {cpu: 4}\n  reserved: {cpu: -1}\n", "7:14: pool a: reserved: cpu is -1: expected a quantity from 0"},
	{pools + "pools:\n- name: a\n  count: 1\n  allocatable: {cpu: 4}\n  reserved: {cpu: one}\n", "7:14: pools[0].reserved.cpu: expected a quantity"},
	{pools + "pools:\n- {name: a-b, count: 1}\n- {name: a, zones: {b: 1}}\n", "5:4: node a-b-0 is declared differently at <stdin>:4"},
}

const (
	talos         = "version: v1alpha1\n"
	csiNode       = "apiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: a}\n"
	talosNamed    = "version: v1alpha1\nmachine:\n  type: worker\n  network: {hostname: a}\n"
	capiHead      = "apiVersion: cluster.x-k8s.io/v1beta1\n"
	machines      = capiHead + "kind: MachineDeployment\nmetadata: {name: a}\nspec:\n"
	bootstrapped  = "  template: {spec: {bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: b}}}}\n---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {name: b}\n"
	openshiftHead = "apiVersion: machine.openshift.io/v1beta1\nkind: MachineSet\nmetadata: {name: a}\nspec:\n"
	control       = "---\n" + pools + "pools: [{name: c, count: 0, labels: {node-role.kubernetes.io/master: ''}}]\n"
	talhelper     = "clusterName: a\nnodes:\n"
)

// TestErrors checks that each mistake causes one error, with its location.
func TestErrors(t *testing.T) {
	for _, row := range slips {
		_, err := read(t, row.text)
		if err == nil {
			t.Errorf("nothing is said of\n%s", row.text)
		} else if !strings.Contains(err.Error(), "<stdin>:"+row.want) && !strings.Contains(err.Error(), row.want) {
			t.Errorf("got %v\nwant %s", err, row.want)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("one mistake, several errors:\n%v", err)
		}
	}
}

// TestAllErrors checks that all errors are reported at once, in file order.
func TestAllErrors(t *testing.T) {
	_, err := read(t, "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: a, zones: {z: -1, y: -1, x: -1}}\n- {name: b}\n---\napiVersion: v1\nkind: Node\n")
	want := []string{`4:21: pool a: zone "z"`, `4:28: pool a: zone "y"`, `4:35: pool a: zone "x"`, "5:4: pool b needs", "8:1: a Node needs"}
	for i, line := range strings.Split(fmt.Sprint(err), "\n") {
		if i >= len(want) || !strings.Contains(line, want[i]) {
			t.Errorf("line %d: %s", i+1, line)
		}
	}
}

func TestSharedHostnames(t *testing.T) {
	named := func(name, hostname string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/hostname: %s}}\n---\n", name, hostname)
	}
	topo := must(t, named("a", "x")+named("b", "x")+named("c", "z")+"apiVersion: v1\nkind: Node\nmetadata: {name: d}\n")
	if len(topo.Notes) != 1 || !strings.HasPrefix(topo.Notes[0], "nodes a and b have the same hostname label x") {
		t.Errorf("notes %q", topo.Notes)
	}
	topo = must(t, "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: p, count: 1000, labels: {kubernetes.io/hostname: x}}\n")
	if len(topo.Notes) != 1 || !strings.HasPrefix(topo.Notes[0], "nodes p-0 and p-1 and p-10 and 997 more have the same hostname label") {
		t.Errorf("notes %q", topo.Notes)
	}
}

func TestDeclares(t *testing.T) {
	for text, want := range map[string]bool{
		"apiVersion: v1\nkind: Node\n":                             true,
		"apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\n": true,
		"kind: Node\n": false,
		"apiVersion: example.com/v1\nkind: Node\n":      false,
		"apiVersion: v1\nkind: NodeTopology\n":          false,
		"apiVersion: karpenter.sh/v1\nkind: NodePool\n": false,
	} {
		set, err := source.Load(source.Options{Dir: "/", Root: "/", Stdin: strings.NewReader(text)}, []string{"-"})
		if err != nil {
			t.Fatal(err)
		}
		if got := Declares(set.Objects[0]); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// TestEmpty covers topologies without nodes, and the nil topology.
func TestEmpty(t *testing.T) {
	var none *Topology
	if !none.Empty() || none.Elastic() || none.Suggest("zone") == "" {
		t.Error("no topology is empty")
	}
	topo := must(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n")
	if !topo.Empty() || len(topo.AllNodeLabels()) > 0 {
		t.Errorf("got %+v", topo)
	}
}

// TestTalosPatches checks what patches of a node leave of its labels and taints.
func TestTalosPatches(t *testing.T) {
	for patch, want := range map[string]string{
		"machine: {nodeLabels: {tier: {$patch: delete}}}":                                  "a linux/",
		"machine: {nodeLabels: {tier: 2}, nodeTaints: {x: NoExecute}}":                     "a linux/ 2 x:NoExecute",
		"- {op: add, path: /machine/kubelet/extraArgs, value: {rotate-certificates: yes}}": "a linux/ front",
		"{{ if .x }}\nkernel: y\n{{ end }}":                                                "a linux/ front",
	} {
		text := talhelper + "- hostname: a\n  nodeLabels: {tier: front}\n  patches:\n  - |\n    " + strings.ReplaceAll(patch, "\n", "\n    ") + "\n"
		if got := describe(must(t, text)); got != want {
			t.Errorf("%s\ngot %s, want %s", patch, got, want)
		}
	}
}

// TestTalosDocuments checks nodes whose names, labels and taints are in other documents of the file. Without
// registerWithFQDN, the name of a node ends at the first dot.
func TestTalosDocuments(t *testing.T) {
	const named = "---\napiVersion: v1alpha1\nkind: HostnameConfig\nhostname: b.example.com\n"
	for documents, want := range map[string]string{
		named: "b linux/",
		named + "---\napiVersion: v1alpha1\nkind: KubeletConfig\nregisterWithFQDN: true\n":                                     "b.example.com linux/",
		named + "---\napiVersion: v1alpha1\nkind: KubeletConfig\nregisterWithFQDN: false\n":                                    "b linux/",
		"---\napiVersion: v1alpha1\nkind: KubeNodeConfig\nregisterWithFQDN: true\nlabels: {tier: 2}\ntaints: {x: NoExecute}\n": "a linux/ 2 x:NoExecute",
		"---\napiVersion: v1alpha1\nkind: KubeNodeConfig\nlabels: {tier: null}\n":                                              "a linux/ ",
	} {
		if got := describe(must(t, talosNamed+documents)); got != want {
			t.Errorf("%s\ngot %s, want %s", documents, got, want)
		}
	}
}

// TestTalosUnknown checks which labels of Talos nodes are not known.
func TestTalosUnknown(t *testing.T) {
	for text, want := range map[string]string{
		talosNamed: "kubernetes.io/arch intel.feature.node.kubernetes.io/gpu extensions.talos.dev/x",
		talosNamed + "  nodeLabels: {node-role.kubernetes.io/worker: '', tier: a}\n":                "tier node-role.kubernetes.io/worker kubernetes.io/arch intel.feature.node.kubernetes.io/gpu extensions.talos.dev/x",
		talosNamed + "  kubelet: {extraArgs: {cloud-provider: external}}\n":                         "topology.kubernetes.io/zone kubernetes.io/arch intel.feature.node.kubernetes.io/gpu extensions.talos.dev/x",
		talosNamed + "cluster: {externalCloudProvider: {enabled: true}}\n":                          "topology.kubernetes.io/zone kubernetes.io/arch intel.feature.node.kubernetes.io/gpu extensions.talos.dev/x",
		talosNamed + "cluster: {externalCloudProvider: {enabled: false}}\n":                         "kubernetes.io/arch intel.feature.node.kubernetes.io/gpu extensions.talos.dev/x",
		talhelper + "- {hostname: a, ignoreHostname: true, machineSpec: {arch: arm64}}\n":           "kubernetes.io/hostname intel.feature.node.kubernetes.io/gpu extensions.talos.dev/x",
		talhelper + "- {hostname: a, nodeLabels: {tier: '{{ .x }}'}, machineSpec: {arch: arm64}}\n": "tier intel.feature.node.kubernetes.io/gpu extensions.talos.dev/x",
	} {
		topo, open := must(t, text), []string{}
		for _, key := range []string{"tier", "node-role.kubernetes.io/worker", "topology.kubernetes.io/zone", "kubernetes.io/hostname", "kubernetes.io/arch", "intel.feature.node.kubernetes.io/gpu", "extensions.talos.dev/x", "kubernetes.io/os"} {
			if topo.Uncertain(key) {
				open = append(open, key)
			}
		}
		if got := strings.Join(open, " "); got != want {
			t.Errorf("%s\ngot %s, want %s", text, got, want)
		}
	}
}

// TestUnknownPoolLabels checks which labels of pools are not known.
func TestUnknownPoolLabels(t *testing.T) {
	class := "spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: b}}}}\n---\napiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {name: b}\n"
	for text, want := range map[string]string{
		karp + "spec: {}\n": "kubernetes.io/os topology.kubernetes.io/region",
		karp + "spec: {template: {spec: {nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: b}}}}\n": "topology.kubernetes.io/region",
		karp + class: "topology.kubernetes.io/region",
		karp + class + "spec: {amiSelectorTerms: [{alias: windows2022@latest}]}\n":                                             "kubernetes.io/os topology.kubernetes.io/region",
		"apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: $A, region: '${B}'}\nnodeGroups: [{name: c}]\n": "topology.kubernetes.io/region alpha.eksctl.io/cluster-name",
		"apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: a, region: b}\nnodeGroups: [{name: c}]\n":       "",
	} {
		topo, open := must(t, text), []string{}
		for _, key := range []string{"kubernetes.io/os", "topology.kubernetes.io/region", "alpha.eksctl.io/cluster-name"} {
			if topo.Uncertain(key) {
				open = append(open, key)
			}
		}
		if got := strings.Join(open, " "); got != want {
			t.Errorf("%s\ngot %s, want %s", text, got, want)
		}
	}
}

// TestFeatureRules checks which labels are not known because of a NodeFeatureRule (R-S19).
func TestFeatureRules(t *testing.T) {
	keys := []string{"feature.node.kubernetes.io/x", "a.feature.node.kubernetes.io/x", "example.com/x", "example.com/y", "tier", "b"}
	all := strings.Join(keys[:4], " ") + " b"
	for rule, want := range map[string]string{
		"{labels: {x: 'true', tier: a}, vars: {b: c}}":                               keys[0],
		"{labels: {example.com/x: '@cpu.model.family'}, taints: [{key: b}]}":         keys[2],
		`{labelsTemplate: "{{ range .pci.device }}c-{{ .class }}=d\n{{ end }}"}`:     keys[0] + " " + keys[1],
		`{labelsTemplate: "{{range .pci.device}}example.com/{{.class}}=d\n{{end}}"}`: strings.Join(keys[:4], " "),
		`{labelsTemplate: "{{ .a }}/b"}`:                                             all,
	} {
		topo := must(t, pools+"pools: [{name: w, count: 1, live: true, labels: {tier: front}}]\n---\n"+node+"metadata: {name: one, labels: {tier: back}}\n")
		set := source.LoadText(source.Options{}, "rule.yaml", []byte("apiVersion: nfd.k8s-sigs.io/v1alpha1\nkind: NodeFeatureRule\nmetadata: {name: r}\nspec: {rules: ["+rule+"]}\n"))
		topo.AddFeatureRules(set.Objects)
		var open []string
		for _, key := range keys {
			if topo.Uncertain(key) {
				open = append(open, key)
			}
		}
		if got := strings.Join(open, " "); got != want {
			t.Errorf("%s\ngot %s, want %s", rule, got, want)
		}
	}
}

// TestReserved checks what pools leave of their resources (R-S20).
func TestReserved(t *testing.T) {
	topo := must(t, pools+"pools: [{name: w, count: 1, max: 2, allocatable: {cpu: 4, memory: 8Gi, pods: 10}, reserved: {cpu: 1500m, memory: 9Gi, pods: 3}}]\n")
	for _, n := range topo.All() {
		a, r := n.Allocatable, n.Reserved
		got := fmt.Sprint(a.Cpu(), a.Memory(), a.Pods(), r.Cpu(), r.Memory(), r.Pods())
		if want := "2500m 0 7 1500m 8Gi 3"; got != want {
			t.Errorf("%s: got %s, want %s", n.Name, got, want)
		}
	}
}

// TestClassPatches checks which patches of a ClusterClass may decide labels or taints.
func TestClassPatches(t *testing.T) {
	text, err := os.ReadFile("../../fixtures/topology/kubeadmcontrolplane.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for patch, refused := range map[string]bool{
		"path: /spec/template/spec/joinConfiguration/nodeRegistration/kubeletExtraArgs/cloud-provider, value: external": false,
		"path: /spec/template/spec/files/-, value: {path: a}":                                                           false,
		"path: /spec/template/spec/joinConfiguration/nodeRegistration/kubeletExtraArgs/node-labels, value: a=b":         true,
		"path: /spec/template/spec/joinConfiguration/nodeRegistration/kubeletExtraArgs/register-node, value: no":        true,
		"path: /spec/template/spec/joinConfiguration/nodeRegistration/kubeletExtraArgs/0/value, value: a=b":             true,
		"path: /spec/template/spec/joinConfiguration/nodeRegistration/kubeletExtraArgs/-, value: {name: v}":             true,
		"path: /spec/template/spec/joinConfiguration/nodeRegistration/kubeletExtraArgs, value: {v: '4'}":                true,
		"path: /spec/template/spec/joinConfiguration, value: {nodeRegistration: {}}":                                    true,
		"path: /spec/template/spec/preKubeadmCommands/-, valueFrom: {template: 'kubectl taint node {{ .b }}'}":          true,
	} {
		_, err := read(t, strings.Replace(string(text), "spec:\n  controlPlane:", "spec:\n  patches: [{name: a, definitions: [{jsonPatches: [{op: add, "+patch+"}]}]}]\n  controlPlane:", 1))
		if (err != nil) != refused {
			t.Errorf("%s: got %v", patch, err)
		}
	}
}
