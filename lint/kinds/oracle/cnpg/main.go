// Command cnpg records the pods that CloudNativePG's own code makes of random Clusters:
//
//	go run . | gzip -n > ../../testdata/recorded-cnpg.jsonl.gz
package main

import (
	"context"
	"log"
	"os"

	apiv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/cloudnative-pg/cloudnative-pg/pkg/specs"
	"github.com/cloudnative-pg/cloudnative-pg/pkg/utils"
	"github.com/schedlint/schedlint/lint/kinds/oracle/cases"
)

func main() {
	err := cases.Record(os.Stdout, "github.com/cloudnative-pg/cloudnative-pg", 200, generate, build)
	if err != nil {
		log.Fatal(err)
	}
}

func generate(r *cases.Random) cases.Object {
	own := map[string]string{"cnpg.io/cluster": "shop"}
	affinity := r.Set(cases.Object{}, map[string]func() any{
		"podAntiAffinityType": func() any { return cases.Pick(r, "required", "required", "preferred") },
		"topologyKey": func() any {
			return cases.Pick(r, "topology.kubernetes.io/zone", "kubernetes.io/hostname", "")
		},
		"nodeSelector":              func() any { return r.NodeSelector() },
		"nodeAffinity":              func() any { return r.NodeAffinity() },
		"tolerations":               func() any { return r.Tolerations() },
		"additionalPodAffinity":     func() any { return r.PodAffinity(own) },
		"additionalPodAntiAffinity": func() any { return r.PodAntiAffinity(own) },
	})
	if r.Maybe(3) {
		affinity["enablePodAntiAffinity"] = r.Maybe(2)
	}
	spec := r.Set(cases.Object{"storage": cases.Object{"size": "1Gi"}, "instances": 1 + r.IntN(5)},
		map[string]func() any{
			"topologySpreadConstraints": func() any { return r.Spread(own) },
			"priorityClassName":         func() any { return "high" },
			"schedulerName":             func() any { return "default-scheduler" },
			"resources":                 func() any { return r.Resources() },
			"inheritedMetadata":         func() any { return cases.Object{"labels": r.Labels()} },
		})
	if !r.Maybe(5) {
		spec["affinity"] = affinity
	}
	metadata := cases.Object{"name": "shop", "namespace": "apps"}
	if r.Maybe(3) {
		metadata["labels"] = r.Labels()
	}
	return cases.Object{
		"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "metadata": metadata, "spec": spec,
	}
}

// build returns the first instance: the others differ in their names and cnpg.io/instanceName.
func build(cluster *apiv1.Cluster) ([]cases.Pod, error) {
	cluster.SetDefaults()
	pod, err := specs.NewInstance(context.Background(), *cluster, 1, true)
	if err != nil {
		return nil, err
	}
	utils.InheritLabels(&pod.ObjectMeta, cluster.Labels, cluster.GetFixedInheritedLabels(), inherits{})
	replicas := int32(cluster.Spec.Instances) //nolint:gosec // at most 5
	return []cases.Pod{cases.Of(pod.Name, replicas, pod.ObjectMeta, pod.Spec)}, nil
}

// inherits is the operator's configuration by default: pods inherit no labels or annotations of their
// Cluster but those of spec.inheritedMetadata.
type inherits struct{}

func (inherits) IsAnnotationInherited(string) bool { return false }
func (inherits) IsLabelInherited(string) bool      { return false }
