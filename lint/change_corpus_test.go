//go:build ci

package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
)

// changeRules are the rules that report on change by default.
var changeRules = []string{
	"rollout-deadlock", "rollout-may-deadlock", "drain-blocked", "drain-leaves-pods-pending", "pdb-selects-no-pod", "vm-cannot-migrate", "vm-labels-never-reach-pods", "autoscaler-exceeds-domains",
}

// corpusChanges lints a part of the corpus with a short topology and returns the rule, name and
// line of each finding about changes.
func corpusChanges(t *testing.T, topology string, paths ...string) []string {
	t.Helper()
	dir := linttest.Corpus(t)
	nodes := filepath.Join(t.TempDir(), "nodes.yaml")
	if err := os.WriteFile(nodes, []byte(topology), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range paths {
		paths[i] = "corpus/" + paths[i]
	}
	report, err := run(t, dir, []string{nodes}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, d := range report.Diagnostics {
		if slices.Contains(changeRules, d.Rule) {
			found = append(found, fmt.Sprintf("%s %s:%d", d.Rule, d.Object.Name, d.Location.Line))
		}
	}
	return found
}

// TestCorpusChange checks the rollouts, budgets, drains and migrations that are known to fail. They
// are reported on the topologies where they fail, and not on others.
func TestCorpusChange(t *testing.T) {
	const argo, post = "argoproj__argo-cd/manifests/ha/namespace-install.yaml", "kubevirt__kubevirt.github.io/2020-02-25-Advanced-scheduling-with-affinity-rules."
	fast := func(zones string) string {
		return "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: slow, zones: {" + zones + "}}\n- {name: fast, zones: {" + zones + "}, labels: {performance: high}}\n"
	}
	npu := func(count int) string {
		return strings.Replace(linttest.Workers(count, 0), "name: worker", "name: worker, labels: {agentpool: npuser01}", 1)
	}
	for _, v := range []struct {
		topology, path string
		want           []string
	}{
		{linttest.Workers(2, 0), argo, []string{
			"rollout-deadlock argocd-repo-server:2502", "drain-leaves-pods-pending argocd-repo-server:2502",
			"rollout-deadlock argocd-server:2940", "drain-leaves-pods-pending argocd-server:2940"}},
		{linttest.Workers(3, 0), argo, []string{
			"rollout-deadlock argocd-redis-ha-haproxy:2374", "drain-leaves-pods-pending argocd-redis-ha-haproxy:2374", "drain-leaves-pods-pending argocd-redis-ha-server:3951"}},
		{linttest.Workers(4, 0), argo, nil},
		{linttest.Workers(6, 3), post + "L352.yaml", []string{"rollout-deadlock varnish-cache:28"}},
		{linttest.Workers(8, 4), post + "L352.yaml", nil},
		{fast("a: 1, b: 1, c: 1"), post + "L256.yaml", []string{"drain-leaves-pods-pending mssql2016replicaset:28", "vm-cannot-migrate mssql2016replicaset:28"}},
		{npu(2), "mspnp__aks-baseline/workload/01-aspnetapp.yaml", []string{"rollout-deadlock aspnetapp-deployment:30", "drain-blocked aspnetapp-pdb:77"}},
		{npu(3), "mspnp__aks-baseline/workload/01-aspnetapp.yaml", []string{"drain-blocked aspnetapp-pdb:77"}},
	} {
		found := corpusChanges(t, v.topology, v.path)
		slices.Sort(found)
		slices.Sort(v.want)
		if !slices.Equal(found, v.want) {
			t.Errorf("%s on\n%sfound %v, want %v", v.path, v.topology, found, v.want)
		}
	}
}

// TestCorpusTraps checks inputs that look faulty but are not, such as rollouts that only wait until
// an old pod is gone, budgets for pods that an operator creates or a patch changes, clusters that
// grow, and files that are not manifests.
func TestCorpusTraps(t *testing.T) {
	pools := linttest.Workers(3, 0) + "- {name: elastic, count: 1, min: 0, max: 10}\n"
	for _, v := range []struct {
		topology, path string
		silent         []string
	}{
		{linttest.Workers(3, 0), "linkerd__linkerd2", []string{"rollout-deadlock", "rollout-may-deadlock", "pdb-selects-no-pod"}},
		{linttest.Workers(2, 0), "kubernetes-sigs__metrics-server", []string{"rollout-deadlock", "rollout-may-deadlock", "pdb-selects-no-pod"}},
		{linttest.Workers(2, 0), "_rendered/kubernetes-sigs__metrics-server~manifests~overlays~release-ha.yaml", []string{"rollout-deadlock", "rollout-may-deadlock"}},
		{linttest.Workers(3, 0), "kubernetes-sigs__vsphere-csi-driver", []string{"rollout-deadlock", "rollout-may-deadlock"}},
		{linttest.Workers(3, 0), "prometheus-operator__kube-prometheus", []string{"pdb-selects-no-pod"}},
		{linttest.Workers(3, 0), "kubevirt__kubevirt/staging", changeRules},
		{pools, "aws-samples__karpenter-blueprints/blueprints/overprovision/dummy-workload.yaml", []string{"rollout-deadlock", "rollout-may-deadlock", "drain-leaves-pods-pending"}},
		{pools, "argoproj__argo-cd/manifests/ha/namespace-install.yaml", []string{"rollout-deadlock", "rollout-may-deadlock", "drain-leaves-pods-pending"}},
	} {
		for _, found := range corpusChanges(t, v.topology, v.path) {
			if rule, _, _ := strings.Cut(found, " "); slices.Contains(v.silent, rule) {
				t.Errorf("%s: found %s", v.path, found)
			}
		}
	}
}
