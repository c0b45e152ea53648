// Command eck records the pods that Elastic Cloud on Kubernetes' own code makes of random
// Elasticsearch clusters:
//
//	go run . | gzip -n > ../../testdata/recorded-eck.jsonl.gz
package main

import (
	"context"
	"log"
	"os"

	commonv1 "github.com/elastic/cloud-on-k8s/v3/pkg/apis/common/v1"
	esv1 "github.com/elastic/cloud-on-k8s/v3/pkg/apis/elasticsearch/v1"
	"github.com/elastic/cloud-on-k8s/v3/pkg/controller/common/metadata"
	"github.com/elastic/cloud-on-k8s/v3/pkg/controller/common/version"
	"github.com/elastic/cloud-on-k8s/v3/pkg/controller/elasticsearch/label"
	"github.com/elastic/cloud-on-k8s/v3/pkg/controller/elasticsearch/nodespec"
	"github.com/elastic/cloud-on-k8s/v3/pkg/controller/elasticsearch/settings"
	"github.com/elastic/cloud-on-k8s/v3/pkg/controller/elasticsearch/stackconfig"
	"github.com/elastic/cloud-on-k8s/v3/pkg/utils/k8s"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/schedlint/schedlint/lint/kinds/oracle/cases"
)

func main() {
	if err := cases.Record(os.Stdout, "github.com/elastic/cloud-on-k8s/v3", 200, generate, build); err != nil {
		log.Fatal(err)
	}
}

func generate(r *cases.Random) cases.Object {
	var sets []cases.Object
	for _, name := range []string{"data", "master"}[:1+r.IntN(2)] {
		sets = append(sets, nodeSet(r, name))
	}
	metadata := cases.Object{"name": "logs", "namespace": "apps"}
	if r.Maybe(3) {
		metadata["labels"] = r.Labels()
		metadata["annotations"] = cases.Object{
			"eck.k8s.alpha.elastic.co/propagate-labels": cases.Pick(r, "tier", "*"),
		}
	}
	return cases.Object{
		"apiVersion": "elasticsearch.k8s.elastic.co/v1", "kind": "Elasticsearch", "metadata": metadata,
		"spec": cases.Object{"version": cases.Pick(r, "7.17.0", "8.15.0"), "nodeSets": sets},
	}
}

func nodeSet(r *cases.Random, name string) cases.Object {
	own := map[string]string{"elasticsearch.k8s.elastic.co/cluster-name": "logs"}
	if r.Maybe(2) {
		own["elasticsearch.k8s.elastic.co/statefulset-name"] = "logs-es-" + name
	}
	set := cases.Object{"name": name, "count": 1 + r.IntN(4)}
	if name == "master" {
		set["config"] = cases.Object{"node.roles": []string{"master"}}
	}
	if r.Maybe(3) {
		zones := r.Set(cases.Object{}, map[string]func() any{
			"topologyKey": func() any { return cases.Pick(r, "topology.kubernetes.io/zone", "rack") },
			"zones":       func() any { return []string{"a", "b"} },
		})
		set["zoneAwareness"] = zones
	}
	if r.Maybe(4) {
		set["resources"] = cases.Object{"requests": cases.Object{"memory": "4Gi"}}
	}
	if r.Maybe(5) {
		return set
	}
	spec := r.PodSpec(own)
	if r.Maybe(2) {
		container := cases.Object{"name": "elasticsearch"}
		if r.Maybe(2) {
			container["resources"] = r.Resources()
		}
		spec["containers"] = []cases.Object{container}
	}
	if r.Maybe(8) {
		spec["hostNetwork"] = true
	}
	template := cases.Object{"spec": spec}
	if r.Maybe(3) {
		labels := r.Labels()
		if r.Maybe(3) {
			labels["elasticsearch.k8s.elastic.co/version"] = "own"
		}
		template["metadata"] = cases.Object{"labels": labels}
	}
	set["podTemplate"] = template
	return set
}

func build(es *esv1.Elasticsearch) ([]cases.Pod, error) {
	scripts := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: es.Namespace, Name: esv1.ScriptsConfigMap(es.Name)},
	}
	client := k8s.NewFakeClient(scripts)
	meta := metadata.Propagate(es, metadata.Metadata{Labels: label.NewLabels(k8s.ExtractNamespacedName(es))})
	parsed, err := version.Parse(es.Spec.Version)
	if err != nil {
		return nil, err
	}
	aware := esv1.NodeSetList(es.Spec.NodeSets).HasZoneAwareness()
	var pods []cases.Pod
	for _, set := range es.Spec.NodeSets {
		var user commonv1.Config
		if set.Config != nil {
			user = *set.Config
		}
		config, err := settings.NewMergedESConfig(
			es.Name, parsed, corev1.IPv4Protocol, es.Spec.HTTP, user, nil, false, false, aware, false)
		if err != nil {
			return nil, err
		}
		template, err := nodespec.BuildPodTemplateSpec(context.Background(), client, *es, set, config, nil, true,
			stackconfig.PolicyConfig{}, meta, "", false)
		if err != nil {
			return nil, err
		}
		name := esv1.StatefulSet(es.Name, set.Name)
		pods = append(pods, cases.Of(name, set.Count, template.ObjectMeta, template.Spec))
	}
	return pods, nil
}
