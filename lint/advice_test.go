package lint_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// outages are the rules that must not fire after the advice is followed.
var outages = []string{
	"anti-affinity-exceeds-domains", "spread-exceeds-skew", "host-port-exceeds-nodes", "cluster-too-small",
	"rollout-deadlock", "rollout-may-deadlock", "drain-leaves-pods-pending", "rejected-by-api", "pods-rejected-by-api",
}

// followed applies advice to a Deployment with the given numbers of pods and nodes. It returns the
// fields of the pod spec, the replicas and the nodes. The result ok is false for advice that names
// no change.
func followed(help, pod string, replicas, nodes int) (newPod string, newReplicas, newNodes int, ok bool) {
	own := "labelSelector: {matchLabels: {app: web}}"
	number := func(form string) (n int, ok bool) {
		m := regexp.MustCompile(form).FindStringSubmatch(help)
		if m == nil {
			return 0, false
		}
		_, err := fmt.Sscan(m[1], &n)
		return n, err == nil
	}
	switch n, isReplicas := number(`^set replicas to (\d+)`); {
	case isReplicas:
		return pod, n, nodes, true
	case strings.HasPrefix(help, "add a topologySpreadConstraint"):
		constraint := "maxSkew: 1, topologyKey: kubernetes.io/hostname, " + own
		for _, part := range []string{"whenUnsatisfiable: DoNotSchedule", "whenUnsatisfiable: ScheduleAnyway", "nodeTaintsPolicy: Honor", "matchLabelKeys: [pod-template-hash]"} {
			if strings.Contains(help, part) {
				constraint += ", " + part
			}
		}
		return pod + ", topologySpreadConstraints: [{" + constraint + "}]", replicas, nodes, true
	case strings.HasPrefix(help, "make the anti-affinity preferred"):
		return ", affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: kubernetes.io/hostname, " + own + "}}]}}", replicas, nodes, true
	}
	if n, ok := number(`^add (\d+) nodes?\b`); ok {
		return pod, replicas, nodes + n, true
	}
	return "", 0, 0, false
}

// TestAdviceHolds follows each help text that names a change, on clusters of several sizes,
// with and without a tainted control plane, and checks that this causes no outage.
func TestAdviceHolds(t *testing.T) {
	t.Parallel()
	const apart = ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}"
	tried := map[string]int{}
	for _, pod := range []string{"", apart} {
		for _, tainted := range []bool{false, true} {
			for _, nodes := range trials.Sample(t, []int{1, 2, 3, 4, 5}, 2) {
				for _, replicas := range trials.Sample(t, []int{2, 3, 4, 5, 6, 7}, 3) {
					name := fmt.Sprintf("%d pods on %d nodes, control plane %v, apart %v", replicas, nodes, tainted, pod != "")
					for _, help := range advice(t, pod, replicas, nodes, tainted) {
						newPod, newReplicas, newNodes, ok := followed(help, pod, replicas, nodes)
						if !ok {
							continue
						}
						tried[strings.Fields(help)[0]]++
						if rules := outagesOf(t, newPod, newReplicas, newNodes, tainted); len(rules) > 0 {
							t.Errorf("%s: %q leads to %v", name, help, rules)
						}
					}
				}
			}
		}
	}
	for _, verb := range []string{"add", "set", "make"} {
		if tried[verb] < 5 && !trials.Few(t) {
			t.Errorf("only %d pieces of advice to %s were tried", tried[verb], verb)
		}
	}
}

// advised writes a Deployment and its nodes and lints them.
func advised(t *testing.T, pod string, replicas, nodes int, tainted bool) (rules, helps []string) {
	t.Helper()
	dir := t.TempDir()
	manifest := fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: %d\n  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    spec: {containers: [{name: web, image: example.com/web}]%s}\n", replicas, pod)
	topology := fmt.Sprintf("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: worker, count: %d}\n", nodes)
	if tainted {
		topology += "- {name: control, count: 1, taints: [{key: node-role.kubernetes.io/control-plane, effect: NoSchedule}]}\n"
	}
	writeFiles(t, dir, map[string]string{"web.yaml": manifest, "nodes.yaml": topology})
	report, err := run(t, dir, []string{"nodes.yaml"}, "web.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Diagnostics {
		rules = append(rules, d.Rule)
		for _, f := range d.Fixes {
			helps = append(helps, f.Description)
		}
	}
	return rules, helps
}

func outagesOf(t *testing.T, pod string, replicas, nodes int, tainted bool) []string {
	rules, _ := advised(t, pod, replicas, nodes, tainted)
	return slices.DeleteFunc(rules, func(rule string) bool { return !slices.Contains(outages, rule) })
}

// advice returns the help of findings about the number of pods or nodes.
func advice(t *testing.T, pod string, replicas, nodes int, tainted bool) []string {
	_, helps := advised(t, pod, replicas, nodes, tainted)
	return helps
}
