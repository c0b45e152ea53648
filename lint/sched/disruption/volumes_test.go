package disruption_test

import (
	"fmt"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// boundSet returns a StatefulSet of a class and one PersistentVolume for each affinity, which lists
// conditions like "zone In [a]". A volume without conditions does not exist.
func boundSet(class, provisioner string, affinities ...string) string {
	text := fmt.Sprintf("---\n{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: %d, selector: {matchLabels: {app: web}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: %s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}], template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: c}]}}}}\n", len(affinities), class)
	if provisioner != "" {
		text += fmt.Sprintf("---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s}, provisioner: %s, volumeBindingMode: WaitForFirstConsumer}\n", class, provisioner)
	}
	for i, conditions := range affinities {
		if conditions != "" {
			text += fmt.Sprintf("---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: web-%[1]d}, spec: {storageClassName: %[2]s, accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, csi: {driver: x, volumeHandle: web-%[1]d}, claimRef: {namespace: default, name: data-web-%[1]d}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [%[3]s]}]}}}}\n", i, class, conditions)
		}
	}
	return text
}

// in returns a condition on a node label.
func in(key, values string) string {
	return "{key: " + key + ", operator: In, values: [" + values + "]}"
}

// TestPinsOfExistingVolumes checks which label tells where the pods of a StatefulSet can move if their
// volumes exist.
func TestPinsOfExistingVolumes(t *testing.T) {
	nodes := ""
	for i, b := range []box{{zone: "a", rack: "r"}, {zone: "a", rack: "s"}, {zone: "b", rack: "r"}, {zone: "c", rack: "s"}, {zone: "c", rack: "s"}} {
		b.name, b.host, b.cpu, b.pods = fmt.Sprint("n", i), fmt.Sprint("n", i), -1, -1
		b.more = ", topology.kubernetes.io/region: eu"
		nodes += b.String()
	}
	region := in("topology.kubernetes.io/region", "eu")
	for name, v := range map[string]struct {
		class, provisioner string
		affinities         []string
		want               model.Pin
	}{
		"zones":                       {"zonal", "ebs.csi.aws.com", []string{in(keys[zone], "a"), in(keys[zone], "c")}, model.Pin{Key: keys[zone], Bound: true}},
		"zones in a region":           {"zonal", "pd.csi.storage.gke.io", []string{region + ", " + in(keys[zone], "a"), region + ", " + in(keys[zone], "b")}, model.Pin{Key: keys[zone], Bound: true}},
		"label of a driver":           {"zonal", "ebs.csi.aws.com", []string{in("topology.ebs.csi.aws.com/zone", "a"), in("topology.ebs.csi.aws.com/zone", "b")}, model.Pin{Key: keys[zone], Bound: true}},
		"class that nothing declares": {"any", "", []string{in(keys[zone], "a"), in(keys[zone], "b")}, model.Pin{Key: keys[zone], Bound: true}},
		"nodes":                       {"local", "rancher.io/local-path", []string{in(keys[host], "n0"), in(keys[host], "n4")}, model.Pin{Key: keys[host], Bound: true}},
		"free class, bound":           {"free", "driver.longhorn.io", []string{in(keys[host], "n0"), in(keys[host], "n4")}, model.Pin{Key: keys[host], Bound: true}},
		"one is not made yet":         {"zonal", "ebs.csi.aws.com", []string{in(keys[zone], "a"), ""}, model.Pin{Key: keys[zone]}},
		"one of an unknown class is not made yet": {"any", "", []string{in(keys[zone], "a"), ""}, model.Pin{Key: keys[zone], Open: "StorageClass any, which is not declared", Vague: true}},
		"two zones":            {"zonal", "ebs.csi.aws.com", []string{in(keys[zone], "a, b"), in(keys[zone], "c")}, model.Pin{Vague: true}},
		"zone and rack":        {"free", "driver.longhorn.io", []string{in(keys[zone], "a") + ", " + in(keys[rack], "r"), in(keys[zone], "c")}, model.Pin{Vague: true}},
		"one without affinity": {"free", "driver.longhorn.io", []string{in(keys[zone], "a"), ""}, model.Pin{Vague: true}},
	} {
		t.Run(name, func(t *testing.T) {
			_, m := judge(t, nodes, boundSet(v.class, v.provisioner, v.affinities...))
			if got := m.PinOf(find(t, m, "web")); got != v.want {
				t.Errorf("%+v, want %+v", got, v.want)
			}
		})
	}
}

// TestExistingVolumesInLargeCluster checks that the few nodes that stand for many in a question still
// include those that can use the volumes of each pod.
func TestExistingVolumesInLargeCluster(t *testing.T) {
	nodes := ""
	for i := range 36 {
		nodes += box{name: fmt.Sprintf("n%02d", i), host: fmt.Sprintf("n%02d", i), zone: string("abc"[i/12]), cpu: 2, pods: -1}.String()
	}
	text := boundSet("free", "driver.longhorn.io", in(keys[zone], "c"), in(keys[zone], "b"), in(keys[zone], "c"))
	other := load{kind: "Deployment", name: "other", replicas: 2, cpu: 1, rules: []rule{{use: "aff", key: keys[host], labels: "app: web"}}}
	j, m := judge(t, nodes, text+other.manifest())
	if d := j.Drain(find(t, m, "web")); d.Answer != diag.Always {
		t.Errorf("drain: %+v", d)
	}
	for _, name := range []string{"web", "other"} {
		if r := j.Rollouts(find(t, m, name))[0]; r.Verdict != diag.Always {
			t.Errorf("rollout of %s: %+v", name, r)
		}
	}
	want := map[string]diag.Outcome{"a": diag.Always, "b": diag.Never, "c": diag.Never}
	for _, s := range j.Survives(find(t, m, "web"), keys[zone]) {
		if s.Meaning != certificate.Gone {
			continue
		}
		if s.Verdict != want[s.Value] || s.Hits() != (s.Value != "a") || s.Verdict == diag.Never && s.Waits != keys[zone] {
			t.Errorf("loss of zone %s: %s (%+v), waits %q", s.Value, s.Verdict, s.Why, s.Waits)
		}
	}
}
