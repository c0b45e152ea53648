//go:build ci

package metamorphic

import (
	"testing"

	"github.com/schedlint/schedlint/fixtures/linttest"
)

// TestExplainCorpus explains every finding in some manifests of other projects.
func TestExplainCorpus(t *testing.T) {
	dir, e, count := linttest.Corpus(t), linttest.Engine(t), map[string]int{}
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
