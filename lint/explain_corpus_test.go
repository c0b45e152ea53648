package lint_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint"
)

// TestExplainCorpus explains every finding in some manifests of other projects.
func TestExplainCorpus(t *testing.T) {
	dir, e, count := corpus(t), engine(t), map[string]int{}
	for _, v := range []struct{ topology, path string }{
		{"kind-3-workers.yaml", "argoproj__argo-cd/manifests/ha/namespace-install.yaml"},
		{"six-nodes-three-zones.yaml", "argoproj__argo-cd/manifests/ha/namespace-install.yaml"},
		{"six-nodes-three-zones.yaml", "kubevirt__kubevirt.github.io"},
		{"kind-3-workers.yaml", "kubevirt__kubevirt.github.io"},
		{"bare-metal-no-zone-labels.yaml", "kubevirt__kubevirt.github.io"},
		{"eks-3az.yaml", "linkerd__linkerd2"},
		{"kind-3-workers.yaml", "mspnp__aks-baseline"},
		{"kind-3-workers.yaml", "prometheus-operator__kube-prometheus"},
		{"bare-metal-no-zone-labels.yaml", "kubernetes__examples"},
		{"kind-3-workers.yaml", "Altinity__clickhouse-operator"},
	} {
		t.Run(v.topology+"/"+v.path, func(t *testing.T) {
			askedOf(t, e, "", dir, []string{"topologies/" + v.topology}, nil, "corpus/"+v.path).every(t, count)
		})
	}
	t.Log(count)
}

// explained is what is said about a line of the corpus: by rule the rows of the
// first table, as the filters that reject each node.
func explained(t *testing.T, topology, path string, line int) map[string]map[string]string {
	t.Helper()
	a := askedOf(t, engine(t), "", corpus(t), []string{topology}, nil, path)
	x, err := lint.Explain(context.Background(), a.options, lint.Spot{File: path, Line: line})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]string{}
	for _, f := range x.Found {
		rule := ""
		if f.Diagnostic != nil {
			rule = f.Diagnostic.Rule
		}
		all[rule] = map[string]string{}
		for _, r := range f.Tables[0].Rows {
			for _, name := range slices.Concat(r.Runs...) {
				all[rule][name] = strings.Join(r.Filters, " ")
			}
		}
	}
	return all
}

// TestExplainHighAvailability explains what is wrong with three replicas on
// three nodes in the manifests of Argo CD: an update of the proxies, and drains.
func TestExplainHighAvailability(t *testing.T) {
	const path = "corpus/argoproj__argo-cd/manifests/ha/namespace-install.yaml"
	nodes := filepath.Join(t.TempDir(), "nodes.yaml")
	if err := os.WriteFile(nodes, []byte(workers(3, 0)), 0o644); err != nil {
		t.Fatal(err)
	}
	apart := map[string]string{"worker-0": "InterPodAffinity", "worker-1": "InterPodAffinity", "worker-2": "InterPodAffinity"}
	drained := map[string]string{"worker-0": "NodeUnschedulable", "worker-1": "InterPodAffinity", "worker-2": "InterPodAffinity"}
	same(t, "the proxies", explained(t, nodes, path, 2374), map[string]map[string]string{"rollout-deadlock": apart, "drain-leaves-pods-pending": drained})
	same(t, "the servers", explained(t, nodes, path, 3951), map[string]map[string]string{"drain-leaves-pods-pending": drained})
	takes := map[string]string{"worker-0": "", "worker-1": "", "worker-2": ""}
	same(t, "no finding", explained(t, nodes, path, 2300), map[string]map[string]string{"": takes})

	tainted := map[string]string{"kind-control-plane": "TaintToleration", "kind-worker": "InterPodAffinity", "kind-worker2": "InterPodAffinity", "kind-worker3": "InterPodAffinity"}
	if got := explained(t, "topologies/kind-3-workers.yaml", path, 2374)["rollout-deadlock"]; fmt.Sprint(got) != fmt.Sprint(tainted) {
		t.Errorf("on kind: %v, want %v", got, tainted)
	}
}

// TestExplainCustomApp explains what is wrong with the workloads of a post, on
// the nodes that it describes and on three workers.
func TestExplainCustomApp(t *testing.T) {
	const post = "corpus/kubevirt__kubevirt.github.io/2020-02-25-Advanced-scheduling-with-affinity-rules."
	six := func(by string) map[string]string {
		all := map[string]string{"kni-control-plane": "TaintToleration", "kni-worker": by}
		for i := 2; i <= 6; i++ {
			all[fmt.Sprint("kni-worker", i)] = by
		}
		return all
	}
	three := func(by, control string) map[string]string {
		return map[string]string{"kind-control-plane": control, "kind-worker": by, "kind-worker2": by, "kind-worker3": by}
	}
	for _, v := range []struct {
		topology, part, rule string
		line                 int
		want                 map[string]string
	}{
		{"six-nodes-three-zones", "L352.yaml", "rollout-deadlock", 28, six("InterPodAffinity")},
		{"six-nodes-three-zones", "L428.yaml", "affinity-never-satisfied", 26, six("InterPodAffinity")},
		{"kind-3-workers", "L428.yaml", "affinity-never-satisfied", 26, three("InterPodAffinity", "TaintToleration")},
		{"kind-3-workers", "L256.yaml", "no-eligible-node", 22, three("NodeAffinity", "TaintToleration NodeAffinity")},
	} {
		same(t, v.topology+" "+v.part, explained(t, "topologies/"+v.topology+".yaml", post+v.part, v.line), map[string]map[string]string{v.rule: v.want})
	}
}

func same(t *testing.T, what string, got, want map[string]map[string]string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
