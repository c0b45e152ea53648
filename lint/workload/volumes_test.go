package workload

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/storage"
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
	for _, e := range w.Early {
		if e.Claim.Open == "" {
			out += fmt.Sprintf(" early %q", e.Values)
		}
		if e.Differs {
			out += " differs"
		}
	}
	for _, c := range w.Claims {
		if c.TracksCapacity {
			out += " tracked"
		}
		if c.Static != nil {
			out += " static"
			for _, v := range c.Static.Volumes {
				out += " " + v.Name
			}
			if c.Static.Part {
				out += " of others"
			}
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
	early := func(provisioner, zones string) string {
		text := class("}\nprovisioner: " + provisioner)
		if zones != "" {
			text = strings.Replace(text, "\n---", "\nallowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: ["+zones+"]}]}]\n---", 1)
		}
		return text
	}
	const none, unknown = ", storageClassName: ''", `&"the PersistentVolume for claim data, which is not known"`
	free := func(name, size string) string {
		return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + name + "}\nspec: {capacity: {storage: " + size + "}, accessModes: [ReadWriteOnce], nfs: {server: nas}}\n---\n"
	}
	rival := func(size string) string {
		return strings.NewReplacer("name: data", "name: rival", "5Gi", size).Replace(claim(none))
	}
	const local = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: kubernetes.io/no-provisioner\nvolumeBindingMode: WaitForFirstConsumer\n---\n"
	at := func(name, node string) string { // a volume on the disk of a node
		return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: " + name + "}\nspec: {capacity: {storage: 10Gi}, accessModes: [ReadWriteOnce], storageClassName: fast, local: {path: /d}, " +
			"nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [" + node + "]}]}]}}}\n---\n"
	}
	const which, zonal = `&"which of the declared PersistentVolumes claim data-db gets"`, `&""|[{"topology.kubernetes.io/zone" "In" ["a"]}]`
	anywhere := func(name string) string {
		return strings.Replace(free(name, "10Gi"), "nfs:", "storageClassName: fast, nfs:", 1)
	}
	in := func(zone string) string { return `&""|[{"z" "In" ["` + zone + `"]}]` }
	for name, row := range map[string]struct{ text, want string }{
		"no volume":                    {pod + claim(""), ""},
		"no class":                     {pod + claim(none), unknown},
		"no class, a volume":           {pod + claim(none) + free("a", "5Gi"), ""},
		"no class, small volume":       {pod + claim(none) + free("a", "4Gi"), unknown},
		"no class, one for two":        {pod + claim(none) + free("a", "5Gi") + rival("5Gi"), unknown},
		"no class, a smaller one":      {pod + claim(none) + free("a", "5Gi") + free("b", "3Gi") + rival("3Gi"), ""},
		"no class, a larger one":       {pod + claim(none) + free("a", "5Gi") + free("b", "9Gi") + rival("8Gi"), ""},
		"no class, two larger ones":    {pod + claim(none) + free("b", "9Gi") + rival("8Gi"), unknown},
		"no class, of each pod":        {strings.Replace(set, "storageClassName: fast", "storageClassName: ''", 1) + free("a", "5Gi"), strings.Replace(unknown, "claim data", "claim data-db", 1)},
		"no class, and of each pod":    {pod + strings.Replace(set, "storageClassName: fast", "storageClassName: ''", 1) + claim(none) + free("a", "5Gi") + free("b", "5Gi"), unknown},
		"no class, a selector":         {pod + claim(none+", selector: {matchLabels: {a: b}}") + free("a", "5Gi"), unknown},
		"volumeName":                   {pod + claim(", volumeName: pv") + volume("pv", "data", "a", ""), in("a")},
		"claimRef":                     {pod + claim("") + volume("pv", "data", "a", ""), in("a")},
		"claimRef, undeclared claim":   {pod + volume("pv", "data", "a", ""), in("a")},
		"undeclared volume":            {pod + claim(", volumeName: pv"), `&"PersistentVolume pv, which is not declared"`},
		"volume of another claim":      {pod + claim(", volumeName: pv") + volume("pv", "other", "a", ""), `&"PersistentVolume pv, which is bound to another claim"`},
		"too small":                    {pod + claim("") + strings.Replace(volume("pv", "data", "a", ""), "10Gi", "1Gi", 1), `&"PersistentVolume pv, whose size or modes do not satisfy it"`},
		"block":                        {pod + claim("") + volume("pv", "data", "a", ", volumeMode: Block"), `&"PersistentVolume pv, whose size or modes do not satisfy it"`},
		"of no class, class asked":     {pod + claim(", volumeName: pv, storageClassName: fast") + strings.Replace(volume("pv", "", "a", ""), "claimRef: {namespace: shop, name: }, ", "", 1), `&"PersistentVolume pv, which has another storage class"`},
		"of the class asked":           {pod + claim(", volumeName: pv, storageClassName: fast") + strings.Replace(volume("pv", "", "a", ", storageClassName: fast"), "claimRef: {namespace: shop, name: }, ", "", 1), in("a")},
		"held by two":                  {pod + claim("") + volume("pv", "data", "a", "") + volume("pw", "data", "a", ""), `&"several PersistentVolumes, whose claimRef names it"`},
		"a variable affinity":          {pod + claim("") + volume("pv", "data", `"${Z}"`, ""), `&"PersistentVolume pv, whose nodeAffinity cannot be read"`},
		"a variable zone label":        {pod + claim("") + strings.Replace(volume("pv", "data", "a", ""), "name: pv", `name: pv, labels: {topology.kubernetes.io/zone: "${Z}"}`, 1), `&"PersistentVolume pv, whose label topology.kubernetes.io/zone is not known"|[{"z" "In" ["a"]}]`},
		"no class, a bound rival":      {pod + claim(none) + free("a", "5Gi") + strings.Replace(rival("5Gi"), "5Gi}}", "5Gi}}, volumeName: b", 1), ""},
		"no class, a rival of a class": {pod + claim(none) + free("a", "5Gi") + strings.NewReplacer("name: data", "name: rival").Replace(claim(", storageClassName: fast")), ""},
		"no class, sets that overlap": {pod + claim(none) + free("a", "5Gi") + strings.Replace(free("b", "9Gi"), "[ReadWriteOnce]", "[ReadWriteOnce, ReadOnlyMany]", 1) +
			strings.Replace(free("c", "3Gi"), "ReadWriteOnce", "ReadOnlyMany", 1) + strings.Replace(rival("3Gi"), "ReadWriteOnce", "ReadOnlyMany", 1), unknown},
		"Immediate, variable zones":       {set + early("ebs.csi.aws.com", "'${Z}'"), `&"StorageClass fast, which makes volumes before their pods are scheduled" early []`},
		"Immediate, other key":            {set + strings.Replace(early("ebs.csi.aws.com", "a"), "topology.kubernetes.io/zone", "rack", 1), `&"StorageClass fast, which makes volumes before their pods are scheduled" early []`},
		"Immediate, one of another class": {set + early("ebs.csi.aws.com", "a") + strings.Replace(claim(", storageClassName: slow"), "name: data", "name: data-db-1", 1), " 0:" + zonal + " 1: 2:" + zonal + ` early ["a"] differs`},
		"Immediate, one of the class":     {set + early("ebs.csi.aws.com", "a") + strings.Replace(claim(", storageClassName: fast"), "name: data", "name: data-db-1", 1), zonal + ` early ["a"]`},
		"Immediate, one of no pod":        {set + early("ebs.csi.aws.com", "a") + strings.Replace(claim(", storageClassName: slow"), "name: data", "name: data-db-2", 1), zonal + ` early ["a"]`},
		"free space":                      {set + class("}\nvolumeBindingMode: WaitForFirstConsumer") + "apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: a}\nstorageClassName: fast\n---\n", " tracked"},
		"free space of others":            {set + class("}\nvolumeBindingMode: WaitForFirstConsumer") + "apiVersion: storage.k8s.io/v1\nkind: CSIStorageCapacity\nmetadata: {name: a}\nstorageClassName: slow\n---\n", ""},
		"local":                           {set + local + at("a", "n1") + at("b", "n2"), " static a b"},
		"local, small":                    {set + local + at("a", "n1") + strings.Replace(at("b", "n2"), "10Gi", "1Mi", 1), " static a of others"},
		"local, one claim":                {pod + claim(", storageClassName: fast") + local + at("a", "n1"), " static a"},
		"local, claim being deleted":      {pod + strings.Replace(claim(", storageClassName: fast"), "namespace: shop", "namespace: shop, deletionTimestamp: 2026-01-01T00:00:00Z", 1) + local + at("a", "n1"), `&"claim data, which is being deleted"` + strings.Replace(which, "-db", "", 1)},
		"local, variable size":            {strings.Replace(set, "1Gi", "'${SIZE}'", 1) + local + at("a", "n1"), which},
		"local, variable mode":            {strings.Replace(set, "storageClassName: fast", "storageClassName: fast, volumeMode: '${MODE}'", 1) + local + at("a", "n1"), which},
		"local, size not known":           {set + local + at("a", "n1") + strings.Replace(at("b", "n2"), "10Gi", "'${SIZE}'", 1), which},
		"local, also in a zone":           {set + local + at("a", "n1") + strings.Replace(at("b", "n2"), "name: b", "name: b, labels: {topology.kubernetes.io/zone: z}", 1), which},
		"local, two terms":                {set + local + at("a", "n1") + strings.Replace(at("b", "n2"), "[n2]}]}", "[n2]}]}, {matchExpressions: [{key: x, operator: Exists}]}", 1), which},
		"local, two expressions":          {set + local + at("a", "n1") + strings.Replace(at("b", "n2"), "[n2]}", "[n2]}, {key: x, operator: Exists}", 1), which},
		"local, not In":                   {set + local + at("a", "n1") + strings.Replace(at("b", "n2"), "operator: In", "operator: NotIn", 1), which},
		"local, fields":                   {set + local + at("a", "n1") + strings.Replace(at("b", "n2"), "[{matchExpressions", "[{matchFields: [{key: metadata.name, operator: In, values: [n2]}], matchExpressions", 1), which},
		"local, declared in two ways":     {set + local + at("a", "n1") + at("b", "n2") + at("b", "n3"), which},
		"local, some anywhere":            {set + local + at("a", "n1") + anywhere("b"), which},
		"anywhere":                        {set + local + anywhere("a") + anywhere("b"), " static a b"},
		"zone labels":                     {pod + claim("") + strings.Replace(volume("pv", "data", "a", ""), "name: pv", "name: pv, labels: {topology.kubernetes.io/zone: x__y}", 1), `&"" "topology.kubernetes.io/zone"=["x" "y"]|[{"z" "In" ["a"]}]`},
		"ordinals":                        {set + volume("pv0", "data-db-0", "a", "") + volume("pv1", "data-db-1", "b", ""), " 0:" + in("a") + " 1:" + in("b") + " 2:"},
		"equal ordinals":                  {set + volume("pv0", "data-db-0", "a", "") + volume("pv1", "data-db-1", "a", ""), in("a")},
		"one ordinal":                     {set + volume("pv1", "data-db-1", "b", ""), " 0: 1:" + in("b") + " 2:"},
		"not an ordinal":                  {set + volume("pv1", "data-db-01", "b", ""), ""},
		"allowedTopologies":               {set + class(topologies), `&""|[{"z" "In" ["a" "b"]}]|[]`},
		"allowedTopologies, bound":        {set + class(topologies) + volume("pv0", "data-db-0", "c", ""), " 0:" + in("c") + ` 1:&""|[{"z" "In" ["a" "b"]}]|[] 2:&""|[{"z" "In" ["a" "b"]}]|[]`},
		"Immediate":                       {set + class(strings.Replace(topologies, "WaitForFirstConsumer", "Immediate", 1)), `&"StorageClass fast, which makes volumes before their pods are scheduled"`},
		"Immediate, zones":                {set + early("ebs.csi.aws.com", "a, b"), `&""|[{"topology.kubernetes.io/zone" "In" ["a" "b"]}] early ["a" "b"]`},
		"Immediate, all zones":            {set + early("ebs.csi.aws.com", ""), ` early []`},
		"Immediate, bound":                {set + early("ebs.csi.aws.com", "a") + volume("pv0", "data-db-0", "c", "") + volume("pv1", "data-db-1", "c", ""), in("c")},
		"Immediate, network":              {set + early("nfs.csi.k8s.io", "a"), `&"StorageClass fast, which makes volumes before their pods are scheduled"`},
		"Immediate, two zones":            {set + strings.Replace(early("pd.csi.storage.gke.io", "a"), "provisioner", "parameters: {replication-type: regional-pd}\nprovisioner", 1), `&"StorageClass fast, which makes volumes before their pods are scheduled" early []`},
		"a variable":                      {set + strings.Replace(class(topologies), "[a, b]", "[\"${Z}\"]", 1), `&"StorageClass fast, whose allowedTopologies cannot be read"`},
		"the default class":               {pod + claim("") + class(`, annotations: {storageclass.kubernetes.io/is-default-class: "true"}`+topologies), `&""|[{"z" "In" ["a" "b"]}]|[]`},
		"not the default class":           {pod + claim("") + class(topologies), ""},
		"ephemeral":                       {strings.Replace(pod, "persistentVolumeClaim: {claimName: data}", "ephemeral: {volumeClaimTemplate: {spec: {storageClassName: fast}}}", 1) + class(topologies), `&""|[{"z" "In" ["a" "b"]}]|[]`},
		"a class in an annotation":        {pod + strings.Replace(claim(""), "namespace: shop", "namespace: shop, annotations: {volume.beta.kubernetes.io/storage-class: fast}", 1) + class(topologies), `&""|[{"z" "In" ["a" "b"]}]|[]`},
		"annotation of a template":        {strings.NewReplacer("{metadata: {name: data}", "{metadata: {name: data, annotations: {volume.beta.kubernetes.io/storage-class: fast}}", "storageClassName: fast", "storageClassName: slow").Replace(set) + class(topologies), `&""|[{"z" "In" ["a" "b"]}]|[]`},
		"annotation, ephemeral":           {strings.Replace(pod, "persistentVolumeClaim: {claimName: data}", "ephemeral: {volumeClaimTemplate: {metadata: {annotations: {volume.beta.kubernetes.io/storage-class: fast}}, spec: {}}}", 1) + class(topologies), `&""|[{"z" "In" ["a" "b"]}]|[]`},
		"a running pod":                   {strings.Replace(pod, "spec: {", "status: {phase: Running}\nspec: {nodeName: x, ", 1) + volume("pv", "data", "a", ""), ""},
		"a placeholder for the claim":     {strings.ReplaceAll(pod, "claimName: data", `claimName: "${CLAIM}"`) + volume("pv", "data", "a", ""), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := volumesOf(t, row.text)
			if got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

// TestBind checks which of the objects of the tree and of the cluster counts, and what the user says.
func TestBind(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}], volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]}\n---\n"
	claim := func(spec string) string {
		return "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data}\nspec: {accessModes: [ReadWriteOnce]" + spec + "}\n---\n"
	}
	volume := func(zone string) string {
		return "apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: pv, labels: {topology.kubernetes.io/zone: " + zone + "}}\nspec: {accessModes: [ReadWriteOnce], claimRef: {name: data}}\n---\n"
	}
	class := func(name, provisioner, more string) string {
		return "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: " + name + more + "}\nprovisioner: " + provisioner + "\n---\n"
	}
	const standard = `, annotations: {storageclass.kubernetes.io/is-default-class: "true"}`
	said := storage.Declared{Classes: map[string]storage.Behavior{"fast": {Pinned: storage.PinNode}, "both": {Pinned: storage.PinTwoZones}, "slow": {Attach: storage.AttachFree}, "wide": {Pinned: storage.PinRegion}}}
	for name, row := range map[string]struct {
		tree, cluster string
		declared      storage.Declared
		want          string
	}{
		"undeclared class":                 {pod + claim(", storageClassName: x"), "", said, "topology.kubernetes.io/zone StorageClass x, which is not declared"},
		"no class":                         {pod + claim(""), "", said, "topology.kubernetes.io/zone the default StorageClass, which is not declared"},
		"the user names the default class": {pod + claim(""), "", storage.Declared{Default: "fast"}.Over(said), "kubernetes.io/hostname "},
		"its class is declared":            {pod + claim(""), class("x", "driver.longhorn.io", ""), storage.Declared{Default: "x"}, " "},
		"a default class of the cluster":   {pod + claim(""), class("x", "ebs.csi.aws.com", standard), said, "topology.kubernetes.io/zone "},
		"the tree changes a class":         {pod + claim("") + class("x", "driver.longhorn.io", standard), class("x", "ebs.csi.aws.com", standard), said, " "},
		"only other parameters differ":     {pod + claim(", storageClassName: x") + class("x", "driver.longhorn.io", "") + class("x", "driver.longhorn.io\nparameters: {numberOfReplicas: '2'}", ""), "", said, " "},
		"parameters that matter":           {pod + claim(", storageClassName: x") + class("x", "driver.longhorn.io", "") + class("x", "driver.longhorn.io\nparameters: {dataLocality: strict-local}", ""), "", said, "topology.kubernetes.io/zone StorageClass x, which is declared in different ways"},
		"provisioners that differ":         {pod + claim(", storageClassName: x") + class("x", "nfs.csi.k8s.io", "") + class("x", "smb.csi.k8s.io", ""), "", said, "topology.kubernetes.io/zone StorageClass x, which is declared in different ways"},
		"binding modes that differ":        {pod + claim(", storageClassName: x") + class("x", "nfs.csi.k8s.io", "") + class("x", "nfs.csi.k8s.io\nvolumeBindingMode: WaitForFirstConsumer", ""), "", said, "topology.kubernetes.io/zone StorageClass x, which is declared in different ways"},
		"topologies that differ":           {pod + claim(", storageClassName: x") + class("x", "nfs.csi.k8s.io", "") + class("x", "nfs.csi.k8s.io\nallowedTopologies: [{}]", ""), "", said, "topology.kubernetes.io/zone StorageClass x, which is declared in different ways"},
		"the default in one of two":        {pod + claim("") + class("x", "nfs.csi.k8s.io", standard) + class("x", "nfs.csi.k8s.io", ""), "", said, "topology.kubernetes.io/zone the default StorageClass, which is not declared"},
		"what the user says wins":          {pod + claim(", storageClassName: fast") + class("fast", "ebs.csi.aws.com", ""), "", said, "kubernetes.io/hostname "},
		"what the user leaves out":         {pod + claim(", storageClassName: slow") + class("slow", "ebs.csi.aws.com", ""), "", said, "topology.kubernetes.io/zone "},
		"attach alone":                     {pod + claim(", storageClassName: slow"), "", said, "topology.kubernetes.io/zone StorageClass slow, which is not declared"},
		"two zones":                        {pod + claim(", storageClassName: both"), "", said, "topology.kubernetes.io/zone which two zones the volumes of StorageClass both are in"},
		"a region":                         {pod + claim(", storageClassName: wide"), "", said, "topology.kubernetes.io/region "},
		"a new volume for each pod":        {strings.Replace(pod, "persistentVolumeClaim: {claimName: data}", "ephemeral: {volumeClaimTemplate: {spec: {storageClassName: x}}}", 1) + class("x", "ebs.csi.aws.com", ""), "", said, " "},
		"a claim of the cluster":           {pod, claim(", storageClassName: fast"), said, "kubernetes.io/hostname "},
		"an unbound claim of both":         {pod + claim(", storageClassName: x"), claim(", storageClassName: fast"), said, "topology.kubernetes.io/zone StorageClass x, which is not declared"},
		"a bound claim of both":            {pod + claim(", storageClassName: x"), claim(", storageClassName: fast, volumeName: pv") + volume("b"), said, ` &"" "topology.kubernetes.io/zone"=["b"]`},
		"a volume of both":                 {pod + claim("") + volume("a"), volume("b"), said, ` &"" "topology.kubernetes.io/zone"=["b"]`},
	} {
		t.Run(name, func(t *testing.T) {
			set := loadSet(t, row.tree)
			var stored []*source.Object
			if row.cluster != "" {
				stored = loadSet(t, row.cluster).storing
			}
			w := set.Workloads[0]
			for range 2 { // binding again changes nothing
				NewReader(NewTable()).Bind(set, stored, row.declared)
				if got := w.Pin + " " + w.OpenPin + ReachText(w.Reaches); got != row.want {
					t.Errorf("got  %s\nwant %s", got, row.want)
				}
			}
			if len(w.Claims[0].Modes) > 1 {
				t.Errorf("modes %v", w.Claims[0].Modes)
			}
		})
	}
}
