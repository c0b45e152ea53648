package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// named is a node with its hostname and more labels.
func named(name, labels string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s, %s}}\n", name, labels)
}

const zone = "topology.kubernetes.io/zone: "

// twoZones is three nodes, two of them in zone a.
var twoZones = named("n0", zone+"a") + named("n1", zone+"a") + named("n2", zone+"b")

// pv is a volume; rest is more of its spec.
func pv(name, meta, rest string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: PersistentVolume\nmetadata: {name: %s, %s}\nspec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce, ReadWriteMany], csi: {driver: d, volumeHandle: %[1]s}, %[3]s}\n", name, meta, rest)
}

// near is the node affinity of a volume for one requirement.
func near(requirement string) string {
	return "nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{" + requirement + "}]}]}}"
}

var inA = near("key: topology.kubernetes.io/zone, operator: In, values: [a]")

// pvc is a claim; rest is more of its spec.
func pvc(name, meta, mode, rest string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s, namespace: d, %s}\nspec: {resources: {requests: {storage: 1Gi}}, accessModes: [%s], %s}\n", name, meta, mode, rest)
}

// sc is a class with dynamic volumes; rest is more of it.
func sc(name, pinned, rest string) string {
	return fmt.Sprintf("---\napiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: %s, annotations: {stub/pinned: %s}}\nprovisioner: example.com/disk\nvolumeBindingMode: WaitForFirstConsumer\n%s\n", name, pinned, rest)
}

// immediate makes a class one whose volumes do not wait for a pod.
func immediate(class string) string {
	return strings.Replace(class, "WaitForFirstConsumer", "Immediate", 1)
}

// app is a Deployment whose pods have a claim; rest is more of the spec of its pods.
func app(name string, replicas int, claim, rest string) string {
	return fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: d}\nspec: {replicas: %d, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {containers: [{name: c, image: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: %[3]s}}], %[4]s}}}\n", name, replicas, claim, rest)
}

// set is a StatefulSet with a claim for each of its pods.
func set(replicas int, policy, class, rest string) string {
	return fmt.Sprintf("---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: s, namespace: d}\nspec: {serviceName: s, podManagementPolicy: %s, replicas: %d, selector: {matchLabels: {app: s}}, template: {metadata: {labels: {app: s}}, spec: {containers: [{name: c, image: c}], %s}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: %s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}\n", policy, replicas, rest, class)
}

const apart = "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {}}]}}"

// TestVolumes explores clusters whose answer follows from what the plugins do with volumes.
func TestVolumes(t *testing.T) {
	claimed := "storageClassName: '', volumeName: v"
	ref := func(name string) string { return "claimRef: {namespace: d, name: " + name + "}, " }
	for name, x := range map[string]struct {
		nodes, manifests string
		verdict          Verdict
		least, most      int
	}{
		"volume in another zone": {twoZones, pv("v", "", ref("c")+inA) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 1, "c", "nodeSelector: {"+zone+"b}"), Never, 0, 0},
		"volume in the zone":     {twoZones, pv("v", "", ref("c")+inA) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 1, "c", "nodeSelector: {"+zone+"a}"), Always, 1, 1},
		"three apart, two nodes": {twoZones, pv("v", "", ref("c")+inA) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 3, "c", apart), Never, 2, 2},
		"not on one node":        {twoZones, pv("v", "", ref("c")+near("key: kubernetes.io/hostname, operator: NotIn, values: [n0]")) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 3, "c", apart), Never, 2, 2},
		// CheckNodeAffinity takes no name of a node, and does without such fields.
		"volume for a node by name":     {twoZones, pv("v", "", ref("c")+"nodeAffinity: {required: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n0]}]}]}}") + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 3, "c", apart), Always, 3, 3},
		"volume not for a node by name": {twoZones, pv("v", "", ref("c")+"nodeAffinity: {required: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: NotIn, values: [n0]}]}]}}") + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 1, "c", "nodeSelector: {kubernetes.io/hostname: n0}"), Always, 1, 1},

		"ReadWriteOncePod, two replicas":  {twoZones, pv("v", "", ref("c")) + pvc("c", "", "ReadWriteOncePod", claimed) + app("w", 2, "c", ""), Never, 1, 1},
		"ReadWriteOncePod, two workloads": {twoZones, pv("v", "", ref("c")) + pvc("c", "", "ReadWriteOncePod", claimed) + app("w", 1, "c", "") + app("x", 1, "c", ""), Never, 1, 1},
		"ReadWriteOncePod, running pod":   {twoZones, pv("v", "", ref("c")) + pvc("c", "", "ReadWriteOncePod", claimed) + app("w", 1, "c", "") + running(""), Never, 0, 0},
		"ReadWriteOncePod, pod that ends": {twoZones, pv("v", "", ref("c")) + pvc("c", "", "ReadWriteOncePod", claimed) + app("w", 1, "c", "") + running("deletionTimestamp: '2026-01-01T00:00:00Z'"), Never, 0, 0},
		"ReadWriteOnce, two replicas":     {twoZones, pv("v", "", ref("c")) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 2, "c", apart), Always, 2, 2},
		"ReadWriteOncePod, one replica":   {twoZones, pv("v", "", ref("c")) + pvc("c", "", "ReadWriteOncePod", claimed) + app("w", 1, "c", ""), Always, 1, 1},

		"zone label":                 {twoZones, pv("v", "labels: {"+zone+"b}", ref("c")) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 3, "c", apart), Never, 1, 1},
		"zones in a label":           {twoZones + named("n3", zone+"c"), pv("v", "labels: {"+zone+"a__b}", ref("c")) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 4, "c", apart), Never, 3, 3},
		"label that does not parse":  {twoZones, pv("v", "labels: {"+zone+"a____b}", ref("c")) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 3, "c", apart), Always, 3, 3},
		"beta label of the volume":   {twoZones, pv("v", "labels: {failure-domain.beta.kubernetes.io/zone: b}", ref("c")) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 3, "c", apart), Never, 1, 1},
		"beta label of the node":     {named("n0", "failure-domain.beta.kubernetes.io/zone: a"), pv("v", "labels: {"+zone+"a}", ref("c")) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 1, "c", ""), Never, 0, 0},
		"nodes without labels":       {named("n0", "") + named("n1", ""), pv("v", "labels: {"+zone+"b}", ref("c")) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 2, "c", apart), Always, 2, 2},
		"node with a region only":    {named("n0", "topology.kubernetes.io/region: r") + named("n1", ""), pv("v", "labels: {"+zone+"b}", ref("c")) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 2, "c", apart), Never, 1, 1},
		"labels of an unbound claim": {twoZones, pv("v", "labels: {"+zone+"b}", "") + sc("k", "free", "") + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 3, "c", apart), Always, 3, 3},

		"claim that is absent":           {twoZones, app("w", 1, "c", ""), Never, 0, 0},
		"volume that is absent":          {twoZones, pvc("c", "", "ReadWriteOnce", claimed) + app("w", 1, "c", ""), Never, 0, 0},
		"volume of another claim":        {twoZones, pv("v", "", ref("e")) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 1, "c", ""), Never, 0, 0},
		"volume of an earlier claim":     {twoZones, pv("v", "", "claimRef: {namespace: d, name: c, uid: '1'}") + pvc("c", "uid: '2'", "ReadWriteOnce", claimed) + app("w", 1, "c", ""), Never, 0, 0},
		"claim that is bound twice":      {twoZones, pv("v", "", ref("e")) + pvc("c", "annotations: {pv.kubernetes.io/bind-completed: 'yes'}", "ReadWriteOnce", claimed) + app("w", 1, "c", ""), Never, 0, 0},
		"claim that is being deleted":    {twoZones, pv("v", "", ref("c")) + pvc("c", "deletionTimestamp: '2026-01-01T00:00:00Z'", "ReadWriteOnce", claimed) + app("w", 1, "c", ""), Never, 0, 0},
		"volume without claimRef":        {twoZones, pv("v", "", inA) + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 3, "c", apart), Never, 2, 2},
		"volume of another class":        {twoZones, pv("v", "", "storageClassName: k") + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 1, "c", ""), Never, 0, 0},
		"its claim, of another class":    {twoZones, pv("v", "", ref("c")+"storageClassName: k") + pvc("c", "", "ReadWriteOnce", claimed) + app("w", 1, "c", ""), Always, 1, 1},
		"claim without volumeName":       {twoZones, pv("v", "", ref("c")+"storageClassName: k, "+inA) + sc("k", "free", "") + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 3, "c", apart), Never, 2, 2},
		"no class and no volume":         {twoZones, pvc("c", "", "ReadWriteOnce", "storageClassName: ''") + app("w", 1, "c", ""), Never, 0, 0},
		"class that is absent":           {twoZones, pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 1, "c", ""), Never, 0, 0},
		"immediate, one zone suits":      {twoZones, immediate(sc("k", "zone", "")) + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 2, "c", apart), OrderDependent, 1, 2},
		"immediate, two claims":          {twoZones, immediate(sc("k", "zone", "")) + set(2, "Parallel", "k", apart), OrderDependent, 1, 2},
		"immediate, allowed zone":        {twoZones, immediate(sc("k", "zone", "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [a]}]}]")) + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 2, "c", apart), Always, 2, 2},
		"immediate, no zone is allowed":  {twoZones, immediate(sc("k", "zone", "allowedTopologies: [{matchLabelExpressions: [{key: none, values: [a]}]}]")) + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 1, "c", ""), Never, 0, 0},
		"delayed, but names a volume":    {twoZones, sc("k", "free", "") + pvc("c", "", "ReadWriteOnce", "storageClassName: k, volumeName: v") + app("w", 1, "c", ""), Never, 0, 0},
		"default class":                  {twoZones, strings.Replace(sc("k", "free", ""), "annotations: {", "annotations: {storageclass.kubernetes.io/is-default-class: 'true', ", 1) + pvc("c", "", "ReadWriteOnce", "") + app("w", 3, "c", apart), Always, 3, 3},
		"pod that names its node":        {twoZones, app("w", 1, "c", "nodeName: n0"), Always, 1, 1},
		"allowed zone":                   {twoZones, sc("k", "free", "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [b]}]}]") + set(3, "Parallel", "k", apart), Never, 1, 1},
		"allowed topologies are ORed":    {twoZones, sc("k", "free", "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [b]}]}, {matchLabelExpressions: [{key: kubernetes.io/hostname, values: [n0]}]}]") + set(3, "Parallel", "k", apart), Never, 2, 2},
		"their expressions are ANDed":    {twoZones, sc("k", "free", "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [a]}, {key: kubernetes.io/hostname, values: [n0, n2]}]}]") + set(3, "Parallel", "k", apart), Never, 1, 1},
		"allowed zone, shared claim":     {twoZones, sc("k", "free", "allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [b]}]}]") + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 3, "c", apart), Always, 3, 3},
		"no allowed topologies":          {twoZones, sc("k", "free", "allowedTopologies: []") + set(3, "Parallel", "k", apart), Always, 3, 3},
		"no provisioner":                 {twoZones, strings.Replace(sc("k", "free", ""), "example.com/disk", "kubernetes.io/no-provisioner", 1) + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 1, "c", ""), Never, 0, 0},
		"allowed topologies once bound":  {twoZones, sc("k", "free", "allowedTopologies: [{matchLabelExpressions: [{key: none, values: [x]}]}]") + pv("v", "", ref("c")+"storageClassName: k") + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 3, "c", apart), Always, 3, 3},
		"free":                           {twoZones, sc("k", "free", "") + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 3, "c", apart), Always, 3, 3},
		"the first pod chooses the zone": {twoZones, sc("k", "zone", "") + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 3, "c", apart), Never, 1, 2},
		"two fit, if the zone is a":      {twoZones, sc("k", "zone", "") + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 2, "c", apart), OrderDependent, 1, 2},
		"the first pod chooses the node": {twoZones, sc("k", "node", "") + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 2, "c", apart), Never, 1, 1},
		"two workloads, one claim":       {twoZones, sc("k", "zone", "") + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + app("w", 1, "c", "") + app("x", 1, "c", "nodeSelector: {"+zone+"b}"), OrderDependent, 1, 2},
		// Each size of volume goes to one claim, and the larger claim needs the larger one.
		"volumes to choose from": {twoZones, sc("k", "free", "allowedTopologies: [{matchLabelExpressions: [{key: none, values: [x]}]}]") + pv("v", "", "storageClassName: k, "+inA) + strings.Replace(pv("w", "", "storageClassName: k"), "1Gi", "2Gi", 1) + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + strings.Replace(pvc("e", "", "ReadWriteOnce", "storageClassName: k"), "1Gi", "2Gi", 1) + app("w", 1, "c", "") + app("x", 1, "e", ""), OrderDependent, 1, 2},

		"ordinals in zones, by claims":   {twoZones, ordinals("a", "b", "b") + set(3, "Parallel", "''", apart), Never, 2, 2},
		"ordinals in zones, one by one":  {twoZones, ordinals("b", "b", "a") + set(3, "OrderedReady", "''", apart), Never, 1, 1},
		"ordinals in zones, all fit":     {twoZones, ordinals("a", "b", "a") + set(3, "OrderedReady", "''", apart), Always, 3, 3},
		"ordinals, some of them dynamic": {twoZones, sc("k", "zone", "") + ordinals("b") + set(3, "Parallel", "k", apart), OrderDependent, 2, 3},
		"claim of the case wins":         {twoZones, sc("k", "free", "") + pvc("data-s-0", "", "ReadWriteOnce", "storageClassName: ''") + set(2, "Parallel", "k", ""), Never, 1, 1},
		"template hides a volume":        {twoZones, sc("k", "free", "") + set(1, "Parallel", "k", "volumes: [{name: data, persistentVolumeClaim: {claimName: none}}]"), Always, 1, 1},
		"the first one waits":            {twoZones, sc("k", "free", "") + pvc("data-s-0", "", "ReadWriteOnce", "storageClassName: ''") + set(2, "OrderedReady", "k", ""), Never, 0, 0},

		"attach limit": {twoZones, "---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: n0}\nspec: {drivers: [{name: d, nodeID: n0, allocatable: {count: 1}}]}\n" + pv("v0", "", ref("c0")) + pv("v1", "", ref("c1")) + pvc("c0", "", "ReadWriteOnce", "storageClassName: '', volumeName: v0") + pvc("c1", "", "ReadWriteOnce", "storageClassName: '', volumeName: v1") + app("w", 2, "c0", "nodeSelector: {kubernetes.io/hostname: n0}") + app("x", 1, "c1", "nodeSelector: {kubernetes.io/hostname: n0}"), Never, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := readCluster(x.nodes, x.manifests)
			if err != nil {
				t.Fatal(err)
			}
			c.complete()
			if len(c.Refused) > 0 {
				t.Fatal(c.Refused)
			}
			truth, err := Explore(t.Context(), newComparer(options{}).World, c, 10000)
			if err != nil {
				t.Fatal(err)
			}
			if truth.Verdict != x.verdict || truth.MinPlaced != x.least || truth.MaxPlaced != x.most {
				t.Errorf("%s, %d to %d; want %s, %d to %d", truth.Verdict, truth.MinPlaced, truth.MaxPlaced, x.verdict, x.least, x.most)
			}
		})
	}
}

// running is a pod in place with the claim c.
func running(meta string) string {
	return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: r, namespace: d, " + meta + "}\nspec: {nodeName: n1, containers: [{name: c, image: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}\nstatus: {phase: Running}\n"
}

// ordinals is the claims and volumes of the first pods of a StatefulSet, by their zones.
func ordinals(zones ...string) string {
	text := ""
	for i, z := range zones {
		name := fmt.Sprintf("data-s-%d", i)
		text += pv("v-"+name, "", "claimRef: {namespace: d, name: "+name+"}, "+near("key: topology.kubernetes.io/zone, operator: In, values: ["+z+"]"))
		text += pvc(name, "", "ReadWriteOnce", "storageClassName: '', volumeName: v-"+name)
	}
	return text
}

// TestRemoveUnbinds takes back placements and compares what is left with what was there before.
func TestRemoveUnbinds(t *testing.T) {
	manifests := sc("k", "zone", "") + pv("v", "", "storageClassName: k") + pvc("c", "", "ReadWriteOnce", "storageClassName: k") + set(2, "Parallel", "k", "volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]")
	c, err := NewCluster(twoZones, manifests)
	if err != nil {
		t.Fatal(err)
	}
	w := newComparer(options{}).World
	if err := w.Load(c); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		var all []string
		for _, o := range slices.Concat(w.storage.claims.List(), w.storage.volumes.List()) {
			all = append(all, fmt.Sprintf("%+v", o))
		}
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
	before, classes := state(), c.Classes()
	w.Place(classes[0], 2)
	between := state()
	w.Place(classes[1], 2)
	if between == before || state() == between || len(w.storage.volumes.List()) != 3 {
		t.Errorf("of two claims of a pod one takes the volume, and one gets a new one: %s", state())
	}
	w.Remove(classes[1], 2)
	if state() != between {
		t.Error("taking the second pod away leaves something")
	}
	w.Remove(classes[0], 2)
	if state() != before {
		t.Error("taking the first pod away leaves something")
	}
}

// TestEmptyTopologyTerm has an empty term of allowedTopologies, which matches no node. The API server
// refuses it as a duplicate of nothing (pkg/apis/storage/validation validateAllowedTopologies).
func TestEmptyTopologyTerm(t *testing.T) {
	manifests := sc("k", "free", "") + set(1, "Parallel", "k", "")
	if _, err := NewCluster(twoZones, strings.Replace(manifests, "WaitForFirstConsumer", "WaitForFirstConsumer\nallowedTopologies: [{}]", 1)); err == nil {
		t.Error("the API server takes an empty term")
	}
	c, err := NewCluster(twoZones, manifests)
	if err != nil {
		t.Fatal(err)
	}
	c.Storage.Classes[0].AllowedTopologies = []corev1.TopologySelectorTerm{{}}
	truth, err := Explore(t.Context(), newComparer(options{}).World, c, 10000)
	if err != nil || truth.Verdict != Never {
		t.Errorf("%+v, %v", truth, err)
	}
}
