package derive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// daemonSet returns a DaemonSet with the given fields of the pod and requests of its container.
func daemonSet(name, spec, requests string) string {
	return fmt.Sprintf("---\n{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: %[1]s, namespace: shop}, spec: {selector: {matchLabels: {app: %[1]s}},"+
		" template: {metadata: {labels: {app: %[1]s}}, spec: {%[2]s containers: [{name: a, image: a, resources: {requests: {%[3]s}}}]}}}}\n", name, spec, requests)
}

// TestDaemonSetShares checks the node of a pool where DaemonSets request the largest part.
func TestDaemonSetShares(t *testing.T) {
	t.Parallel()
	const node = "---\n{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {eks.amazonaws.com/nodegroup: g, disk: %s}}, status: {allocatable: {%s}}}\n"
	large, small := fmt.Sprintf(node, "n-a", "ssd", "cpu: 16, memory: 8Gi"), fmt.Sprintf(node, "n-z", "hdd", "cpu: 2, memory: 64Gi")
	const grows = "---\n{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [{name: g, zones: {a: %d, b: 0}, max: 4, allocatable: {cpu: 4}}]}\n"
	agent := daemonSet("agent", "", "cpu: 1500m, memory: 1Gi")
	for _, c := range []struct{ nodes, manifests, want string }{
		{large + small, agent, "cpu n-z 1500/2000, memory n-a 1073741824/8589934592"},
		{small + large, agent, "cpu n-z 1500/2000, memory n-a 1073741824/8589934592"},
		{large + small, agent + daemonSet("ssd", "nodeSelector: {disk: ssd},", "cpu: 12"), "cpu n-a 13500/16000, memory n-a 1073741824/8589934592"},
		{large + small, daemonSet("open", "", "cpu: '${CPU}', memory: 1Gi"), "cpu n-a 0/16000, memory n-a 0/8589934592"}, // a variable hides the requests beside it
		{large + small, agent + daemonSet("open", "nodeSelector: {disk: '${DISK}'},", "cpu: 2"), "cpu n-z 1500/2000, memory n-a 1073741824/8589934592"},
		{large + small, daemonSet("other", "schedulerName: mine,", "cpu: 2"), "cpu n-a 0/16000, memory n-a 0/8589934592"},
		{fmt.Sprintf(grows, 0), agent, "cpu  1500/4000"},
		{fmt.Sprintf(grows, 1), agent, "cpu g-a-0 1500/4000"},
		{fmt.Sprintf(grows, 1), daemonSet("b", "nodeSelector: {topology.kubernetes.io/zone: b},", "cpu: 1"), "cpu  1000/4000"},
		{fmt.Sprintf(node, "n1", "ssd", ""), agent, ""},
	} {
		var got []string
		b := described(t, c.nodes, c.manifests)
		for _, s := range b.Pools[0].DaemonSets {
			at := b.Subject(s.ID).Location.Line
			if line := strings.Split(c.nodes, "\n")[at-1]; s.Node != "" && !strings.Contains(line, strings.TrimSuffix(s.Node, "-a-0")) {
				t.Errorf("the share of %s is at %s", s.Node, line)
			}
			got = append(got, fmt.Sprintf("%s %s %d/%d", s.Resource, s.Node, s.RequestedMin, s.Allocatable))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s on\n%s: %s, want %s", c.manifests, c.nodes, strings.Join(got, ", "), c.want)
		}
	}
}

// TestToleratesAll checks which tolerations are said to open all nodes.
func TestToleratesAll(t *testing.T) {
	t.Parallel()
	for tolerations, want := range map[string][]bool{
		"{operator: Exists}": {true},
		"{operator: Exists}, {operator: Exists, effect: NoSchedule}":                                                     {true, false},
		"{operator: Exists, effect: NoExecute}, {operator: Exists, effect: NoSchedule}":                                  {false, true},
		"{operator: Exists, effect: NoExecute, tolerationSeconds: 9}, {operator: Exists, effect: NoSchedule}":            {false, false},
		"{key: a, operator: Exists, effect: NoExecute}, {operator: Exists, effect: NoSchedule}":                          {false, false},
		"{operator: Exists, effect: NoExecute, tolerationSeconds: '${SECONDS}'}, {operator: Exists, effect: NoSchedule}": {false, false},
		"{operator: Exists, effect: '${EFFECT}'}, {operator: Exists, effect: NoSchedule}":                                {false, false},
		"{operator: Exists, effect: PreferNoSchedule}":                                                                   {false},
	} {
		var got []bool
		for _, x := range rowOf(described(t, threeZones, daemonSet("a", "tolerations: ["+tolerations+"],", "")), "a").Tolerations {
			if got = append(got, x.ToleratesAll); x.Known == (strings.Contains(tolerations, "$") && len(got) == 1) {
				t.Errorf("%s: known is %v", tolerations, x.Known)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", tolerations, got, want)
		}
	}
}
