package topology

import "testing"

// knownKeys maps keys to whether they are plausible.
var knownKeys = map[string]bool{
	"kubernetes.io/hostname":                   true,
	"topology.kubernetes.io/zone":              true,
	"topology.kubernetes.io/region":            true,
	"kubernetes.io/os":                         true,
	"kubernetes.io/arch":                       true,
	"node.kubernetes.io/instance-type":         true,
	"node.kubernetes.io/anything":              true,
	"failure-domain.beta.kubernetes.io/zone":   true,
	"beta.kubernetes.io/arch":                  true,
	"node-role.kubernetes.io/worker":           true,
	"node-role.kubernetes.io/master":           true,
	"kubelet.kubernetes.io/x":                  true,
	"a.node.kubernetes.io/x":                   true,
	"kops.k8s.io/instancegroup":                true,
	"topology.ebs.csi.aws.com/zone":            true,
	"topology.gke.io/zone":                     true,
	"cloud.google.com/gke-nodepool":            true,
	"kubernetes.azure.com/agentpool":           true,
	"karpenter.sh/capacity-type":               true,
	"example.com/rack":                         true,
	"rack":                                     true,
	"performance":                              true,
	"zones":                                    true,
	"zone":                                     false,
	"region":                                   false,
	"hostname":                                 false,
	"kubernetes.io/zone":                       false,
	"kubernetes.io/hostnames":                  false,
	"Kubernetes.io/hostname":                   false,
	"topology.kubernetes.io/hostname":          false,
	"topology.kubernetes.io/rack":              false,
	"topology.kubernets.io/zone":               false,
	"topologies.kubernetes.io/zone":            true, // belongs to a family that anyone may set
	"failure-domain.kubernetes.io/zone":        false,
	"failure-domain.beta.kubernetes.io/rack":   false,
	"failure-domain.alpha.kubernetes.io/zone":  false,
	"topology.beta.kubernetes.io/zone":         false,
	"kubernete.io/hostname":                    false,
	"kubernetes.io":                            true, // a bare word may be the user's own
	"k8s.io/hostname":                          false,
	"beta.kubernetes.io/zone":                  false,
	"beta.kubernetes.io/instance-type":         true,
	"scheduler.alpha.kubernetes.io/x":          true,
	"node.kubernetes.io/windows-build":         true,
	"kubernetes.io/hostname/x":                 false,
	"node-restriction.kubernetes.io/anything":  true,
	"volcano.sh/nodegroup-name":                true,
	"feature.node.kubernetes.io/cpu-hardware":  true,
	"eks.amazonaws.com/nodegroup":              true,
	"nvidia.com/gpu.product":                   true,
	"network.topology.nvidia.com/block":        true,
	"cloud.google.com/gce-topology-block":      true,
	"topology.k8s.aws/zone-id":                 true,
	"failure-domain.beta.kubernetes.io/region": true,
}

func TestKnown(t *testing.T) {
	for key, want := range knownKeys {
		if got := Known(key); got != want {
			t.Errorf("%s: %t", key, got)
		}
	}
}

func TestDeprecated(t *testing.T) {
	for key, want := range map[string]string{
		"failure-domain.beta.kubernetes.io/zone":        "topology.kubernetes.io/zone",
		"failure-domain.beta.kubernetes.io/region":      "topology.kubernetes.io/region",
		"beta.kubernetes.io/arch":                       "kubernetes.io/arch",
		"beta.kubernetes.io/os":                         "kubernetes.io/os",
		"beta.kubernetes.io/instance-type":              "node.kubernetes.io/instance-type",
		"node-role.kubernetes.io/master":                "node-role.kubernetes.io/control-plane",
		"scheduler.alpha.kubernetes.io/preferAvoidPods": "",
	} {
		if got, is := Deprecated(key); !is || got != want {
			t.Errorf("%s: %s %t", key, got, is)
		}
	}
	for _, key := range append(wellKnown(), "zone", "", "node-role.kubernetes.io/control-plane") {
		if _, is := Deprecated(key); is {
			t.Errorf("%s is not deprecated", key)
		}
	}
	for key, replacement := range deprecated {
		if _, is := Deprecated(replacement); is {
			t.Errorf("%s is replaced by %s, which is deprecated too", key, replacement)
		}
	}
}

// declared has topologies in which keys are looked up.
var declared = map[string]string{
	"zoned":      "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: p, zones: {a: 1}, labels: {example.com/rack: r, performance: high}}\n",
	"bare":       "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {kubernetes.io/hostname: a, failure-domain.beta.kubernetes.io/zone: z}}\n",
	"unlabelled": "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n",
	"growing":    "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: p, min: 0, max: 3, labels: {example.com/rack: r}}\n",
}

// suggestions has keys with the keys that were probably meant.
var suggestions = []struct {
	topo, key, want string
}{
	{"", "zone", "topology.kubernetes.io/zone"},
	{"", "hostname", "kubernetes.io/hostname"},
	{"", "topology.kubernetes.io/hostname", "kubernetes.io/hostname"},
	{"", "kubernetes.io/zone", "topology.kubernetes.io/zone"},
	{"", "kubernetes.io/hostnam", "kubernetes.io/hostname"},
	{"", "Kubernetes.io/Hostname", "kubernetes.io/hostname"},
	{"", "topology.kubernets.io/zone", "topology.kubernetes.io/zone"},
	{"", "topology.kubernetes.io/zoen", "topology.kubernetes.io/zone"},
	{"", "failure-domain.kubernetes.io/zone", "topology.kubernetes.io/zone"},
	{"", "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
	{"", "node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"},
	{"", "beta.kubernetes.io/os", "kubernetes.io/os"},
	{"", "rack", ""},
	{"", "", ""},
	{"", "example.com/quite-different", ""},
	{"zoned", "rack", "example.com/rack"},
	{"zoned", "example.com/rak", "example.com/rack"},
	{"zoned", "perfomance", "performance"},
	{"zoned", "zone", "topology.kubernetes.io/zone"},
	{"zoned", "region", ""}, // no node has a region
	{"zoned", "disktype", ""},
	{"zoned", "kubernetes.io/hostname", ""}, // the nodes already have it
	{"bare", "zone", ""},                    // the nodes have only its deprecated name
	{"bare", "hostname", "kubernetes.io/hostname"},
	{"unlabelled", "zone", "topology.kubernetes.io/zone"},
	{"growing", "rack", "example.com/rack"},
}

func TestSuggest(t *testing.T) {
	for _, row := range suggestions {
		var topo *Topology
		if text, ok := declared[row.topo]; ok {
			topo = must(t, text)
		}
		if got := topo.Suggest(row.key); got != row.want {
			t.Errorf("%s: got %q, want %q", row.key, got, row.want)
		}
	}
	// A topology that was not loaded has the same suggestions.
	made := &Topology{Nodes: must(t, declared["zoned"]).Nodes}
	if got := made.Suggest("rack"); got != "example.com/rack" {
		t.Errorf("got %q", got)
	}
}
