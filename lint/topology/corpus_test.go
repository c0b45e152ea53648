//go:build ci

package topology

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// shared is a directory with topologies next to the checkout. It exists only in .ci/run.
const shared = "../../../shared/topologies"

// TestForeignTopologies compares topologies with the comments at the top of their files.
func TestForeignTopologies(t *testing.T) {
	for name, want := range map[string]string{
		"bare-metal-no-zone-labels.yaml": "9 nodes, 3 usable in 0 zones, 3 control, 1 cordoned, 5 tainted NoSchedule, 0 deprecated zones; bm-worker-3 is called otherwise",
		"eks-3az.yaml":                   "8 nodes, 6 usable in 3 zones, 0 control, 0 cordoned, 2 tainted NoSchedule, 8 deprecated zones",
		"kind-3-workers.yaml":            "4 nodes, 3 usable in 0 zones, 1 control, 0 cordoned, 1 tainted NoSchedule, 0 deprecated zones",
		"six-nodes-three-zones.yaml":     "7 nodes, 6 usable in 3 zones, 1 control, 0 cordoned, 1 tainted NoSchedule, 0 deprecated zones",
	} {
		text, err := os.ReadFile(filepath.Join(shared, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := census(must(t, string(text))); got != want {
			t.Errorf("%s\n got %s\nwant %s", name, got, want)
		}
	}
}

// census returns the number of nodes with each of the properties that the comments mention.
func census(topo *Topology) string {
	usable, control, cordoned, tainted, old, zones, odd := 0, 0, 0, 0, 0, map[string]bool{}, ""
	for _, n := range topo.Nodes {
		hard := slices.ContainsFunc(n.Taints, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectNoSchedule })
		for key := range n.Labels {
			switch key {
			case "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master":
				control++
			case corev1.LabelFailureDomainBetaZone:
				old++
			}
		}
		switch {
		case n.Unschedulable:
			cordoned++
		case hard:
			tainted++
		default:
			usable++
			if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" {
				zones[zone] = true
			}
		}
		if n.Labels[corev1.LabelHostname] != n.Name {
			odd += "; " + n.Name + " is called otherwise"
		}
	}
	return fmt.Sprintf("%d nodes, %d usable in %d zones, %d control, %d cordoned, %d tainted NoSchedule, %d deprecated zones%s",
		len(topo.Nodes), usable, len(zones), control, cordoned, tainted, old, odd)
}
