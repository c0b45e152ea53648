package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
)

// TestAdviceOrder checks which fixes lint and place offer, and in which order: what keeps all that
// is asked for first, then what weakens a rule, then what takes service away.
func TestAdviceOrder(t *testing.T) {
	t.Parallel()
	const (
		size  = "allocatable: {cpu: 2, memory: 8Gi, pods: 110}"
		label = "labelSelector: {matchLabels: {app: web}}"
		apart = ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, " + label + "}]}}"
		zones = ", topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, " + label + "}]"
		soft  = "set whenUnsatisfiable: ScheduleAnyway for the spread of Deployment shop/web on topology.kubernetes.io/"
		share = "make the anti-affinity preferred if pods may share a kubernetes.io/hostname value"
		alone = "make the anti-affinity of Deployment shop/web on kubernetes.io/hostname preferred"
		skew  = "set whenUnsatisfiable: ScheduleAnyway if a larger skew is acceptable"
		honor = "set nodeTaintsPolicy: Honor so that tainted nodes do not count as empty domains"
		old   = "name: old, zones: {a: 2, b: 2, c: 2}, unschedulable: true"
		again = "name: new, zones: {a: 2, b: 2}"
	)
	tainted := func(key string) string { return "name: w, count: 3, taints: [{key: " + key + ", effect: NoSchedule}]" }
	for name, c := range map[string]struct {
		replicas    int
		pod, cpu    string
		pools       []string
		more        string // further objects
		lint, place []string
	}{
		"anti-affinity of 7 on 6 nodes": {
			replicas: 7, pod: apart, pools: []string{"name: w, count: 6"},
			lint:  []string{"add 2 eligible nodes", share, "set replicas to 5 (with 6, a rollout or node drain can get stuck)"},
			place: []string{"add 2 more nodes like w-0", alone, "set replicas of Deployment shop/web to 5 (with 6, a rollout or node drain can get stuck)"},
		},
		"six replicas, and room for one": {
			replicas: 6, pod: apart, pools: []string{"name: w, count: 1"},
			lint:  []string{"add 6 eligible nodes", share},
			place: []string{"add 6 more nodes like w-0", alone},
		},
		"a missing toleration": {
			replicas: 3, pools: []string{tainted("dedicated")},
			lint:  []string{"tolerate the taint dedicated:NoSchedule (w-0, w-1, w-2)"},
			place: []string{"tolerate the taint dedicated:NoSchedule of w-0, w-1, w-2 in Deployment shop/web, or remove it"},
		},
		"cordoned nodes": {
			replicas: 3, pools: []string{"name: w, count: 3, unschedulable: true"},
			lint:  []string{"uncordon w-0, w-1, w-2"},
			place: []string{"uncordon w-0, w-1, w-2"},
		},
		"nodes with only the taint of a cordon": {
			replicas: 3, pools: []string{tainted("node.kubernetes.io/unschedulable")},
			lint:  []string{"uncordon w-0, w-1, w-2"},
			place: []string{"uncordon w-0, w-1, w-2"},
		},
		"nodes that are not in service": {
			replicas: 3, pools: []string{tainted("node.kubernetes.io/disk-pressure")},
			lint:  []string{"add nodes without the taint node.kubernetes.io/disk-pressure:NoSchedule"},
			place: []string{"add nodes without the taint node.kubernetes.io/disk-pressure:NoSchedule"},
		},
		"nodes that are about to be deleted beside tainted ones": {
			replicas: 3, pools: []string{tainted("dedicated"), "name: x, count: 1, taints: [{key: ToBeDeletedByClusterAutoscaler, effect: NoSchedule}]"},
			lint:  []string{"tolerate the taint dedicated:NoSchedule (w-0, w-1, w-2)"},
			place: []string{"tolerate the taint dedicated:NoSchedule of w-0, w-1, w-2 in Deployment shop/web, or remove it"},
		},
		"tainted and cordoned nodes": {
			replicas: 4, pod: apart, pools: []string{"name: w, count: 3", "name: x, count: 2, taints: [{key: dedicated, effect: NoSchedule}]", "name: old, count: 3, unschedulable: true"},
			lint: []string{"add 2 eligible nodes", share, "set replicas to 2 (with 3, a rollout or node drain can get stuck)"},
			place: []string{
				"tolerate the taint dedicated:NoSchedule of x-0, x-1 in Deployment shop/web, or remove it", "uncordon old-0, old-1, old-2", "add 2 more nodes like w-0",
				alone, "set replicas of Deployment shop/web to 2 (with 3, a rollout or node drain can get stuck)",
			},
		},
		"a zone with cordoned nodes only": {
			replicas: 6, pod: zones, pools: []string{old, again},
			lint:  []string{"add 2 eligible nodes with topology.kubernetes.io/zone=c", honor, skew},
			place: []string{"uncordon old-a-0, old-a-1, old-b-0 and 3 more", "add 2 more nodes like new-a-0 with topology.kubernetes.io/zone=c", soft + "zone"},
		},
		"too few zones": {
			replicas: 6, pod: strings.Replace(zones, "maxSkew: 1", "maxSkew: 1, minDomains: 3", 1), pools: []string{again},
			lint:  []string{"add 2 eligible nodes with the same new topology.kubernetes.io/zone value", "set minDomains to 2", skew},
			place: []string{soft + "zone"},
		},
		"a misspelled key": {
			replicas: 3, pod: strings.ReplaceAll(zones, "zone", "zoen"), pools: []string{"name: w, zones: {a: 2, b: 2, c: 2}"},
			lint: []string{"set topology.kubernetes.io/zone"},
			place: []string{
				"set topologyKey: topology.kubernetes.io/zone for the spread of Deployment shop/web on topology.kubernetes.io/zoen", soft + "zoen",
			},
		},
		"a request beyond all nodes": {
			replicas: 2, cpu: "3", pools: []string{"name: w, count: 2"},
			lint:  []string{"request at most 2 cpu, or add a node with at least 3"},
			place: []string{"lower the requests of Deployment shop/web"},
		},
		"a pod too many": {
			replicas: 7, cpu: "1", pools: []string{"name: w, count: 3"},
			lint: []string{"request less cpu or add nodes", "set replicas to 4 (with 6, a rollout or node drain can get stuck)"},
			place: []string{
				"lower the requests of Deployment shop/web", "add 2 more nodes like w-0",
				"set replicas of Deployment shop/web to 4 (with 6, a rollout or node drain can get stuck)",
			},
		},
		"a stuck rollout": {
			replicas: 3, pod: apart, pools: []string{"name: w, count: 3"},
			lint: []string{
				"add matchLabelKeys: [pod-template-hash] to the required anti-affinity so that it applies within one revision only", "add an eligible node",
				"set maxUnavailable: 1 and maxSurge: 0 so an old pod is removed before its replacement is created",
			},
			place: []string{},
		},
		"a budget without disruptions": {
			replicas: 3, pools: []string{"name: w, count: 4"},
			more: "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\nspec: {minAvailable: 3, selector: {matchLabels: {app: web}}}\n",
			lint: []string{"add a replica or set maxUnavailable: 1 instead"}, place: []string{},
		},
		"an autoscaler beyond the nodes": {
			replicas: 3, pod: apart, pools: []string{"name: w, count: 8"},
			more: "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop}\nspec: {minReplicas: 3, maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}\n",
			lint: []string{"add nodes or an autoscaled node pool", "lower the maximum to 7"}, place: []string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cpu := c.cpu
			if cpu == "" {
				cpu = "10m"
			}
			nodes := "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n"
			for _, pool := range c.pools {
				nodes += "- {" + pool + ", " + size + "}\n"
			}
			writeFiles(t, dir, map[string]string{"nodes.yaml": nodes, "web.yaml": fmt.Sprintf(
				"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: %d\n  selector: {matchLabels: {app: web}}\n  template:\n"+
					"    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: example.com/web, resources: {requests: {cpu: %s}}}]%s}\n", c.replicas, cpu, c.pod) + c.more})
			report, err := run(t, dir, []string{"nodes.yaml"}, "web.yaml")
			if err != nil {
				t.Fatal(err)
			}
			var fixes []string
			for _, d := range report.Diagnostics {
				if d.Rule == "replicas-share-a-node" || d.Rule == "drain-leaves-pods-pending" {
					continue // these have one fix each
				}
				for _, f := range d.Fixes {
					fixes = append(fixes, f.Description)
				}
			}
			if diff := cmp.Diff(c.lint, fixes); diff != "" {
				t.Errorf("lint (-want +got):\n%s", diff)
			}
			repairs := []string{}
			for _, w := range linttest.Place(t, lint.Options{Dir: dir, Root: dir, Topology: []string{"nodes.yaml"}, Paths: []string{"web.yaml"}}).Workloads {
				repairs = append(repairs, w.Repairs...)
			}
			if diff := cmp.Diff(c.place, repairs); diff != "" {
				t.Errorf("place (-want +got):\n%s", diff)
			}
		})
	}
}
