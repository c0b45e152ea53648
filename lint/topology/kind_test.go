package topology

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

const kindHead = "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n"

// TestKindPatches applies each form of patch to the worker of a cluster, or to its control planes.
func TestKindPatches(t *testing.T) {
	merge := func(lines ...string) string {
		return "  kubeadmConfigPatches:\n  - |\n    " + strings.Join(lines, "\n    ") + "\n"
	}
	operations := func(document string, lines ...string) string {
		return "  kubeadmConfigPatchesJSON6902:\n  - kind: " + document + "\n    patch: |\n      " + strings.Join(lines, "\n      ") + "\n"
	}
	join, init := "kind: JoinConfiguration", "kind: InitConfiguration"
	for _, row := range []struct{ role, patch, want string }{
		{"worker", "", "tier=a"},
		{"worker", merge(join, "nodeRegistration: {kubeletExtraArgs: {node-labels: 'x=1,y='}}"), "x=1 y="},
		{"worker", merge(join, "nodeRegistration: {kubeletExtraArgs: [{name: node-labels, value: 'x=1'}]}"), "x=1"},
		{"worker", merge(join, "nodeRegistration: {kubeletExtraArgs: {node-labels: null}}"), ""},
		{"worker", merge(init, "nodeRegistration: {kubeletExtraArgs: {node-labels: 'x=1'}}"), "tier=a"},
		{"worker", merge(join, "nodeRegistration: {taints: [{key: k, value: v, effect: NoSchedule}]}"), "tier=a k=v:NoSchedule"},
		{"worker", merge(join, "nodeRegistration: {taints: [{key: k, effect: NoSchedule}], kubeletExtraArgs: {register-with-taints: 'f=:NoExecute'}}"), "tier=a f:NoExecute"},
		{"worker", merge(join, "nodeRegistration: {kubeletExtraArgs: {register-with-taints: 'f:NoExecute', v: '4'}}", "---", join, "nodeRegistration: {kubeletExtraArgs: {register-with-taints: null}}"), "tier=a"},
		{"worker", merge("kind: ClusterConfiguration", "apiServer: {extraArgs: {v: '4'}}"), "tier=a"},
		{"worker", operations("JoinConfiguration", "- {op: add, path: /nodeRegistration/kubeletExtraArgs/node-labels, value: 'x=1'}"), "x=1"},
		{"worker", operations("JoinConfiguration", "- {op: add, path: /nodeRegistration/kubeletExtraArgs/-, value: {name: node-labels, value: 'x=1'}}"), "tier=a x=1"},
		{"worker", operations("JoinConfiguration", "- {op: replace, path: /nodeRegistration/kubeletExtraArgs, value: {v: '4'}}"), ""},
		{"worker", operations("JoinConfiguration", "- {op: add, path: /nodeRegistration/taints, value: []}", "- {op: add, path: /nodeRegistration/taints/-, value: {key: k, effect: NoSchedule}}"), "tier=a k:NoSchedule"},
		{"worker", operations("JoinConfiguration", "- {op: replace, path: /discovery/tlsBootstrapToken, value: x}", "- {op: replace, path: /nodeRegistration/criSocket, value: x}"), "tier=a"},
		{"worker", operations("InitConfiguration", "- {op: add, path: /nodeRegistration/taints, value: [{key: k, effect: NoSchedule}]}"), "tier=a"},
		{"control-plane", "", "tier=a node-role.kubernetes.io/control-plane:NoSchedule"},
		{"control-plane", merge(join, "nodeRegistration: {taints: []}"), "tier=a"},
		{"control-plane", merge(join, "nodeRegistration: {taints: null}"), "tier=a node-role.kubernetes.io/control-plane:NoSchedule"},
		{"control-plane", merge(init, "nodeRegistration: {taints: []}"), "tier=a node-role.kubernetes.io/control-plane:NoSchedule"},
		{"control-plane", merge(join, "nodeRegistration: {kubeletExtraArgs: {register-with-taints: 'f:NoExecute'}}"), "tier=a node-role.kubernetes.io/control-plane:NoSchedule f:NoExecute"},
		{"control-plane", operations("JoinConfiguration", "- {op: remove, path: /nodeRegistration/taints}"), "tier=a node-role.kubernetes.io/control-plane:NoSchedule"},
	} {
		topo := must(t, kindHead+"nodes:\n- role: control-plane\n- role: "+row.role+"\n  labels: {tier: a}\n"+row.patch)
		n := topo.Nodes[1]
		var words []string
		for _, key := range slices.Sorted(maps.Keys(n.Labels)) {
			if len(key) < 8 && key != Cluster { // those of kubeadm and the kubelet are longer
				words = append(words, key+"="+n.Labels[key])
			}
		}
		for _, taint := range n.Taints {
			words = append(words, taint.ToString())
		}
		if got := strings.Join(words, " "); got != row.want {
			t.Errorf("%s\n%s\ngot %s, want %s", row.role, row.patch, got, row.want)
		}
	}
}

// TestKindClusters checks names, and what kind takes from the only node of a cluster.
func TestKindClusters(t *testing.T) {
	for text, want := range map[string]string{
		"": "kind-control-plane control",
		"nodes: [{labels: {node-role.kubernetes.io/worker: ''}}]": "kind-control-plane control",
		"name: dev\nnodes: [{}, {role: worker}]":                  "dev-control-plane control balancers node-role.kubernetes.io/control-plane:NoSchedule, dev-worker",
		"nodes: [{}]\nkubeadmConfigPatches:\n- |\n  kind: InitConfiguration\n  nodeRegistration:\n    taints:\n    - {key: node-role.kubernetes.io/control-plane, effect: NoExecute}\n    - {key: a, effect: NoSchedule}\n": "kind-control-plane control a:NoSchedule",
	} {
		topo := must(t, kindHead+text)
		var all []string
		for _, n := range topo.Nodes {
			words := n.Name
			if _, is := n.Labels[controlPlane]; is {
				words += " control"
			}
			if _, is := n.Labels[corev1.LabelNodeExcludeBalancers]; is {
				words += " balancers"
			}
			for _, taint := range n.Taints {
				words += " " + taint.ToString()
			}
			all = append(all, words)
		}
		if got := strings.Join(all, ", "); got != want {
			t.Errorf("%s\ngot %s, want %s", text, got, want)
		}
		if !topo.Uncertain(corev1.LabelArchStable) || topo.Uncertain(corev1.LabelTopologyZone) || len(topo.Stored) != 1 || topo.Stored[0].Name != "standard" {
			t.Errorf("%s: got %+v", text, topo)
		}
	}
}

// TestOpenLabels says which labels of the nodes that eksctl makes are not known.
func TestOpenLabels(t *testing.T) {
	zone, arch, kind := corev1.LabelTopologyZone, corev1.LabelArchStable, corev1.LabelInstanceTypeStable
	for group, want := range map[string]string{
		"instanceType: m5.large":                                                zone,
		"instanceType: m5.large, availabilityZones: [a, b]":                     "",
		"instanceType: m5.large, availabilityZones: [a, b], desiredCapacity: 3": zone,
		"instanceType: m5.large, availabilityZones: [a, a], desiredCapacity: 3": "",
		"instanceType: m5.large, availabilityZones: [a], subnets: [s]":          zone,
		"instanceTypes: [m5.large, m5.xlarge], availabilityZones: [a]":          kind,
		"instanceTypes: [m5.large, m6g.large], availabilityZones: [a]":          kind + " " + arch,
		"availabilityZones: [a]":                                                kind + " " + arch,
	} {
		topo := must(t, "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c, region: r}\nmanagedNodeGroups:\n- {name: g, "+group+"}\n")
		var got []string
		for _, key := range []string{zone, kind, arch, corev1.LabelTopologyRegion, eksGroup, corev1.LabelHostname, corev1.LabelOSStable} {
			if topo.Uncertain(key) {
				got = append(got, key)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", group, got, want)
		}
		if !topo.Uncertain(corev1.LabelFailureDomainBetaZone) || !topo.Uncertain("topology.k8s.aws/zone-id") {
			t.Errorf("%s: cloud providers set these as well", group)
		}
	}
}

func TestGraviton(t *testing.T) {
	for text, want := range map[string]bool{
		"a1.large m6g.large c7gn.xlarge t4g.micro im4gn.large is4gen.large g5g.xlarge x2gd.large r8gd.large hpc7g.16xlarge":      true,
		"m5.large t3.micro g4dn.xlarge g6.xlarge gr6.4xlarge p4de.24xlarge u-6tb1.metal m7i-flex.large trn1.2xlarge inf2.xlarge": false,
	} {
		for word := range strings.FieldsSeq(text) {
			if graviton(word) != want {
				t.Errorf("%s: want %v", word, want)
			}
		}
	}
}

// TestEksctlFields checks that no field of eksctl is taken for a misspelt one
// (eksctl-io/eksctl 99984adb pkg/apis/eksctl.io/v1alpha5/types.go).
func TestEksctlFields(t *testing.T) {
	text := "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmetadata: {name: c, tags: {}, annotations: {}}\n"
	for word := range strings.FieldsSeq(`kubernetesNetworkConfig iam iamIdentityMappings identityProviders accessConfig vpc addons addonsConfig
		privateCluster localZones cloudWatch secretsEncryption gitops outpost controlPlaneScalingConfig zonalShiftConfig kubeAPIServerConfig
		kubeSchedulerConfig kubeControllerManagerConfig capabilities upgradePolicy`) {
		text += word + ": {}\n"
	}
	for i, list := range []string{"nodeGroups", "managedNodeGroups"} {
		text += fmt.Sprintf("%s:\n- name: g%d\n", list, i)
		for word := range strings.FieldsSeq(`instancePrefix instanceName volumeSize ssh privateNetworking tags iam ami securityGroups maxPodsPerNode asgSuspendProcesses
			ebsOptimized volumeType volumeName volumeEncrypted volumeKmsKeyID volumeIOPS volumeThroughput additionalVolumes propagateASGTags disableIMDSv1
			disablePodIMDS placement efaEnabled instanceSelector bottlerocket enableDetailedMonitoring instanceMarketOptions asgMetricsCollection cpuCredits
			classicLoadBalancerNames targetGroupARNs updateConfig clusterDNS containerRuntime maxInstanceLifetime enclaveEnabled launchTemplate
			releaseVersion nodeRepairConfig`) {
			text += "  " + word + ": {}\n"
		}
	}
	must(t, text)
}

// TestKindFields checks that no field of kind or kubeadm is taken for a misspelt one
// (kubernetes-sigs/kind fed26882 pkg/apis/config/v1alpha4/types.go; k8s.io/kubernetes
// cmd/kubeadm/app/apis/kubeadm/v1beta4/types.go).
func TestKindFields(t *testing.T) {
	must(t, kindHead+`networking: {}
featureGates: {}
runtimeConfig: {}
containerdConfigPatches: []
containerdConfigPatchesJSON6902: []
nodes: [{image: a, extraMounts: [], extraPortMappings: []}]
kubeadmConfigPatchesJSON6902: [{kind: ClusterConfiguration, name: a, namespace: b, patch: '[]'}]
kubeadmConfigPatches:
- |
  {kind: JoinConfiguration, metadata: {}, bootstrapTokens: [], dryRun: true, localAPIEndpoint: {}, certificateKey: a, patches: {}, timeouts: {}, caCertPath: a, discovery: {}, controlPlane: {},
    nodeRegistration: {criSocket: a, ignorePreflightErrors: [], imagePullPolicy: a, imagePullSerial: true}}
`)
}
