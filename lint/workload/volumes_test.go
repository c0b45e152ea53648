package workload

import (
	"strconv"
	"strings"
	"testing"
)

// volumesOf describes what restricts the pods of the first workload in a text.
func volumesOf(t *testing.T, text string) string {
	t.Helper()
	w := loadSet(t, text).Workloads[0]
	out := ReachText(w.Reaches)
	if w.OrdinalReaches != nil {
		for i := range 3 {
			out += " " + strconv.Itoa(i) + ":" + ReachText(w.OrdinalReaches.At(i))
		}
	}
	return out
}

func TestReaches(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: shop}\nspec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}\n---\n"
	const set = "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\nspec: {replicas: 2, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c}]}}, " +
		"volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}\n---\n"
	claim := func(more string) string {
		return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}" + more + "}\n---\n"
	}
	volume := func(name, of, zone, more string) string {
		return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + name + "}\nspec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], claimRef: {namespace: shop, name: " + of + "}, " +
			"nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: z, operator: In, values: [" + zone + "]}]}]}}" + more + "}\n---\n"
	}
	class := func(more string) string {
		return "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast" + more + "\n---\n"
	}
	topologies := "}\nvolumeBindingMode: WaitForFirstConsumer\nallowedTopologies: [{matchLabelExpressions: [{key: z, values: [a, b]}]}, {}]"
	in := func(zone string) string { return `&""|[{"z" "In" ["` + zone + `"]}]` }
	for name, row := range map[string]struct{ text, want string }{
		"no volume":                   {pod + claim(""), ""},
		"volumeName":                  {pod + claim(", volumeName: pv") + volume("pv", "data", "a", ""), in("a")},
		"claimRef":                    {pod + claim("") + volume("pv", "data", "a", ""), in("a")},
		"claimRef, undeclared claim":  {pod + volume("pv", "data", "a", ""), in("a")},
		"undeclared volume":           {pod + claim(", volumeName: pv"), `&"PersistentVolume pv, which is not declared"`},
		"volume of another claim":     {pod + claim(", volumeName: pv") + volume("pv", "other", "a", ""), `&"PersistentVolume pv, which is bound to another claim"`},
		"too small":                   {pod + claim("") + strings.Replace(volume("pv", "data", "a", ""), "10Gi", "1Gi", 1), `&"PersistentVolume pv, whose size or modes do not satisfy it"`},
		"block":                       {pod + claim("") + volume("pv", "data", "a", ", volumeMode: Block"), `&"PersistentVolume pv, whose size or modes do not satisfy it"`},
		"zone labels":                 {pod + claim("") + strings.Replace(volume("pv", "data", "a", ""), "name: pv", "name: pv, labels: {topology.kubernetes.io/zone: x__y}", 1), `&"" "topology.kubernetes.io/zone"=["x" "y"]|[{"z" "In" ["a"]}]`},
		"ordinals":                    {set + volume("pv0", "data-db-0", "a", "") + volume("pv1", "data-db-1", "b", ""), " 0:" + in("a") + " 1:" + in("b") + " 2:"},
		"equal ordinals":              {set + volume("pv0", "data-db-0", "a", "") + volume("pv1", "data-db-1", "a", ""), in("a")},
		"one ordinal":                 {set + volume("pv1", "data-db-1", "b", ""), " 0: 1:" + in("b") + " 2:"},
		"not an ordinal":              {set + volume("pv1", "data-db-01", "b", ""), ""},
		"allowedTopologies":           {set + class(topologies), `&""|[{"z" "In" ["a" "b"]}]|[]`},
		"allowedTopologies, bound":    {set + class(topologies) + volume("pv0", "data-db-0", "c", ""), " 0:" + in("c") + ` 1:&""|[{"z" "In" ["a" "b"]}]|[] 2:&""|[{"z" "In" ["a" "b"]}]|[]`},
		"Immediate":                   {set + class(strings.Replace(topologies, "WaitForFirstConsumer", "Immediate", 1)), `&"StorageClass fast, which makes volumes before their pods are scheduled"`},
		"the default class":           {pod + claim("") + class(`, annotations: {storageclass.kubernetes.io/is-default-class: "true"}`+topologies), `&""|[{"z" "In" ["a" "b"]}]|[]`},
		"not the default class":       {pod + claim("") + class(topologies), ""},
		"ephemeral":                   {strings.Replace(pod, "persistentVolumeClaim: {claimName: data}", "ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}", 1) + class(topologies), `&""|[{"z" "In" ["a" "b"]}]|[]`},
		"a running pod":               {strings.Replace(pod, "spec: {", "status: {phase: Running}\nspec: {nodeName: x, ", 1) + volume("pv", "data", "a", ""), ""},
		"a placeholder for the claim": {strings.ReplaceAll(pod, "claimName: data", `claimName: "${CLAIM}"`) + volume("pv", "data", "a", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := volumesOf(t, row.text)
			if got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}
