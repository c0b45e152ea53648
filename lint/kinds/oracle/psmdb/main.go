// Command psmdb records the pods that Percona's own code makes of random MongoDB clusters:
//
//	go run . | gzip -n > ../../testdata/recorded-psmdb.jsonl.gz
package main

import (
	"context"
	"log"
	"os"

	"github.com/go-logr/logr"
	api "github.com/percona/percona-server-mongodb-operator/pkg/apis/psmdb/v1"
	"github.com/percona/percona-server-mongodb-operator/pkg/naming"
	"github.com/percona/percona-server-mongodb-operator/pkg/psmdb"
	"github.com/percona/percona-server-mongodb-operator/pkg/psmdb/config"
	"github.com/percona/percona-server-mongodb-operator/pkg/version"
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/kinds/oracle/cases"
)

func main() {
	err := cases.Record(os.Stdout, "github.com/percona/percona-server-mongodb-operator", 200, generate, build)
	if err != nil {
		log.Fatal(err)
	}
}

func generate(r *cases.Random) cases.Object {
	spec := cases.Object{
		"crVersion": "1.22.0", "image": "mongod", "unsafeFlags": cases.Object{"replsetSize": true, "mongosSize": true},
	}
	var sets []cases.Object
	for _, name := range []string{"rs0", "rs1"}[:1+r.IntN(2)] {
		sets = append(sets, replset(r, name))
	}
	spec["replsets"] = sets
	if r.Maybe(2) {
		mongos := members(r, "mongos", "")
		mongos["size"] = 1 + r.IntN(3)
		config := replset(r, "cfg")
		delete(config, "name")
		delete(config, "arbiter")
		delete(config, "nonvoting")
		spec["sharding"] = cases.Object{"enabled": true, "configsvrReplSet": config, "mongos": mongos}
	}
	if r.Maybe(3) {
		spec["schedulerName"] = "default-scheduler"
	}
	if r.Maybe(4) {
		spec["backup"] = cases.Object{"enabled": true, "image": "backup", "resources": r.Resources()}
	}
	return cases.Object{
		"apiVersion": "psmdb.percona.com/v1", "kind": "PerconaServerMongoDB",
		"metadata": cases.Object{"name": "docs", "namespace": "apps"}, "spec": spec,
	}
}

func replset(r *cases.Random, name string) cases.Object {
	claim := cases.Object{"resources": cases.Object{"requests": cases.Object{"storage": "3Gi"}}}
	set := members(r, "mongod", name)
	set["name"] = name
	set["size"] = 1 + r.IntN(5)
	set["volumeSpec"] = cases.Object{"persistentVolumeClaim": claim}
	if r.Maybe(4) {
		arbiter := members(r, "arbiter", name)
		arbiter["enabled"], arbiter["size"] = r.Maybe(2), 1
		set["arbiter"] = arbiter
	}
	if r.Maybe(4) {
		nonvoting := members(r, "nonVoting", name)
		nonvoting["enabled"], nonvoting["size"] = r.Maybe(2), 1+r.IntN(2)
		set["nonvoting"] = nonvoting
	}
	return set
}

// members returns what all kinds of members have.
func members(r *cases.Random, component, replset string) cases.Object {
	own := map[string]string{"app.kubernetes.io/instance": "docs", "app.kubernetes.io/component": component}
	if replset != "" && r.Maybe(2) {
		own["app.kubernetes.io/replset"] = replset
	}
	made := r.Set(cases.Object{}, map[string]func() any{
		"affinity": func() any {
			affinity := cases.Object{}
			if !r.Maybe(4) {
				affinity["antiAffinityTopologyKey"] = cases.Pick(r, "none", "None", "kubernetes.io/hostname", "rack",
					"topology.kubernetes.io/zone", "topology.kubernetes.io/region")
			}
			if r.Maybe(3) {
				affinity["advanced"] = r.Affinity(own)
			}
			return affinity
		},
		"labels": func() any {
			labels := r.Labels()
			if r.Maybe(4) && component != "mongos" {
				labels["app.kubernetes.io/instance"] = "own"
			}
			return labels
		},
		"topologySpreadConstraints": func() any { return r.Spread(own) },
		"nodeSelector":              func() any { return r.NodeSelector() },
		"tolerations":               func() any { return r.Tolerations() },
		"priorityClassName":         func() any { return "high" },
		"resources":                 func() any { return r.Resources() },
	})
	if r.Maybe(4) {
		made["sidecars"] = []cases.Object{{"name": "side", "image": "side", "resources": r.Resources()}}
	}
	return made
}

func build(cr *api.PerconaServerMongoDB) ([]cases.Pod, error) {
	ctx := context.Background()
	if err := cr.CheckNSetDefaults(ctx, version.PlatformKubernetes); err != nil {
		return nil, err
	}
	sets := cr.Spec.Replsets
	if cr.Spec.Sharding.Enabled {
		cr.Spec.Sharding.ConfigsvrReplSet.ClusterRole = api.ClusterRoleConfigSvr
		sets = append([]*api.ReplsetSpec{cr.Spec.Sharding.ConfigsvrReplSet}, sets...)
	}
	var pods []cases.Pod
	add := func(set *api.ReplsetSpec, suffix string, labels map[string]string) error {
		if set.ClusterRole == api.ClusterRoleConfigSvr {
			labels[naming.LabelKubernetesComponent] = api.ConfigReplSetName
		}
		secrets := psmdb.StatefulSpecSecretParams{UsersSecret: &corev1.Secret{}, SSLSecret: &corev1.Secret{}}
		made, err := psmdb.StatefulSpec(ctx, cr, set, labels, "init", psmdb.StatefulConfigParams{}, secrets)
		if err != nil {
			return err
		}
		name := cr.Name + "-" + set.Name + suffix
		pods = append(pods, cases.Of(name, *made.Replicas, made.Template.ObjectMeta, made.Template.Spec))
		return nil
	}
	for _, set := range sets {
		if err := add(set, "", naming.MongodLabels(cr, set)); err != nil {
			return nil, err
		}
		if set.Arbiter.Enabled {
			if err := add(set, "-arbiter", naming.ArbiterLabels(cr, set)); err != nil {
				return nil, err
			}
		}
		if set.NonVoting.Enabled {
			if err := add(set, "-nv", naming.NonVotingLabels(cr, set)); err != nil {
				return nil, err
			}
		}
	}
	if cr.Spec.Sharding.Enabled {
		template, err := psmdb.MongosTemplateSpec(cr, "init", logr.Discard(), config.CustomConfig{}, nil)
		if err != nil {
			return nil, err
		}
		size := cr.Spec.Sharding.Mongos.Size
		pods = append(pods, cases.Of(cr.Name+"-mongos", size, template.ObjectMeta, template.Spec))
	}
	return pods, nil
}
