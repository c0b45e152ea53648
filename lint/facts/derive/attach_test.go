package derive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/lint/facts"
)

// claimed returns a workload whose pods use claims of the namespace shop. The argument spec holds
// fields of the workload's spec, and pod those of the pod's spec.
func claimed(kind, name, spec, pod string, claims ...string) string {
	var volumes []string
	for _, c := range claims {
		volumes = append(volumes, fmt.Sprintf("{name: %[1]s, persistentVolumeClaim: {claimName: %[1]s}}", c))
	}
	return fmt.Sprintf("---\n{apiVersion: apps/v1, kind: %[1]s, metadata: {name: %[2]s, namespace: shop}, spec: {%[3]s selector: {matchLabels: {app: %[2]s}},"+
		" template: {metadata: {labels: {app: %[2]s}}, spec: {%[4]s containers: [{name: a, image: a}], volumes: [%[5]s]}}}}\n", kind, name, spec, pod, strings.Join(volumes, ", "))
}

// claim returns a claim of the namespace shop, with more fields of its spec.
func claim(name, class, modes, more string) string {
	return fmt.Sprintf("---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: shop}, spec: {storageClassName: %s, accessModes: [%s], resources: {requests: {storage: 5Gi}}%s}}\n", name, class, modes, more)
}

// volume returns a PersistentVolume that a driver makes for a claim of the namespace shop.
func volume(name, of, driver, modes string) string {
	return fmt.Sprintf("---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s}, spec: {capacity: {storage: 10Gi}, accessModes: [%s], claimRef: {namespace: shop, name: %s}, csi: {driver: %s, volumeHandle: x}}}\n", name, modes, of, driver)
}

// storageClasses declares a class for each way in which volumes are attached.
var storageClasses = func() (all string) {
	for name, provisioner := range map[string]string{
		"ebs": "ebs.csi.aws.com", "longhorn": "driver.longhorn.io", "nfs": "nfs.csi.k8s.io", "efs": "efs.csi.aws.com", "local": "rancher.io/local-path", "own": "example.com/own", "hetzner": "csi.hetzner.cloud",
	} {
		all += fmt.Sprintf("---\n{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s}, provisioner: %s}\n", name, provisioner)
	}
	return all
}()

// TestVolumeClaims checks the claims of pods.
func TestVolumeClaims(t *testing.T) {
	t.Parallel()
	db := claimed("StatefulSet", "db", "volumeClaimTemplates: [{metadata: {name: wal}, spec: {storageClassName: local, accessModes: [ReadWriteOncePod], resources: {requests: {storage: 1Gi}}}}],",
		"", "data", "bound", "absent")
	db = strings.Replace(db, "volumes: [", "volumes: [{name: tmp, ephemeral: {volumeClaimTemplate: {spec: {storageClassName: nfs, accessModes: [ReadWriteOnce]}}}}, ", 1)
	all := rowOf(described(t, threeZones, storageClasses+db+claim("data", "ebs", "ReadWriteOnce", "")+claim("bound", "ebs", "ReadWriteOnce, ReadWriteMany", "")+
		volume("pv-1", "bound", "nfs.csi.k8s.io", "ReadWriteOnce, ReadWriteMany")), "db").VolumeClaims
	for i := range all {
		all[i].ID = 0 // depends on the rows before it
	}
	if diff := cmp.Diff([]facts.VolumeClaim{
		{Name: "wal-db", Template: true, Class: "local", Size: "1Gi", Modes: []string{"ReadWriteOncePod"}, Pinned: "node", Attach: "free"},
		{Name: "tmp", Ephemeral: true, Class: "nfs", Modes: []string{"ReadWriteOnce"}, Pinned: "free", Attach: "free"},
		{Name: "data", Class: "ebs", Size: "5Gi", Modes: []string{"ReadWriteOnce"}, Pinned: "zone", Attach: "single-node", Shared: true},
		{Name: "bound", Class: "ebs", Size: "5Gi", Modes: []string{"ReadWriteOnce", "ReadWriteMany"}, Bound: true, Volume: "pv-1", Pinned: "zone", Attach: "free", Shared: true},
		{Name: "absent", Modes: []string{}, Pinned: "unknown", Attach: "unknown", Shared: true},
	}, all); diff != "" {
		t.Error(diff)
	}
}

// TestAttachments checks whether pods that use a claim can all run, which depends on how the volume
// is attached, and on where the pods may be.
func TestAttachments(t *testing.T) {
	t.Parallel()
	const (
		three    = "{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [{name: w, zones: {a: 2, b: 1}, allocatable: {cpu: 4}}]}"
		each     = "{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [{name: w, zones: {a: 1, b: 1, c: 1}}]}"
		one      = "{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [{name: w, count: 1}]}"
		grows    = "{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [{name: w, count: 1, max: 3}]}"
		regions  = "{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [{name: w, zones: {a: 1}, labels: {topology.kubernetes.io/region: r1}}, {name: v, zones: {a: 1}, labels: {topology.kubernetes.io/region: r2}}]}"
		region   = "{apiVersion: schedlint.dev/v1alpha1, kind: NodeTopology, pools: [{name: w, zones: {a: 1, b: 1}, labels: {topology.kubernetes.io/region: r1}}]}"
		recreate = "strategy: {type: Recreate},"
		surgeOf0 = "strategy: {rollingUpdate: {maxSurge: 0}},"
		rwo      = "ReadWriteOnce"
	)
	term := func(use, app string) string {
		return fmt.Sprintf("affinity: {%s: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: %s}}}]}},", use, app)
	}
	apart := func(app string) string { return term("podAntiAffinity", app) }
	web := func(spec, pod string) string { return claimed("Deployment", "web", spec, pod, "data") }
	api := func(spec, pod string) string { return claimed("Deployment", "api", spec, pod, "data") }
	ebs, longhorn := claim("data", "ebs", rwo, ""), claim("data", "longhorn", rwo, "")
	zonal := func(zone string) string { return "nodeSelector: {topology.kubernetes.io/zone: " + zone + "}," }
	for of, c := range map[string]struct{ nodes, manifests, want string }{
		"rollout":                        {three, ebs + web("", ""), "web sometimes rollout data"},
		"Longhorn":                       {three, longhorn + web("", ""), "web sometimes rollout data"},
		"Recreate":                       {three, ebs + web(recreate, ""), "web always data"},
		"maxSurge 0":                     {three, ebs + web(surgeOf0, ""), "web always data"},
		"an old pod may go first":        {three, ebs + web("strategy: {rollingUpdate: {maxUnavailable: 1}},", ""), "web always data"},
		"strategy unknown":               {three, ebs + web("strategy: {type: '${X}'},", ""), "web always data"},
		"StatefulSet":                    {three, ebs + claimed("StatefulSet", "web", "", "", "data"), "web always data"},
		"StatefulSet, 2 pods":            {three, ebs + claimed("StatefulSet", "web", "replicas: 2,", "", "data"), "web sometimes pods data"},
		"replicas":                       {three, ebs + web("replicas: 2,"+recreate, ""), "web sometimes pods data"},
		"no replicas":                    {three, ebs + web("replicas: 0,", ""), "web none data"},
		"paused":                         {three, ebs + web("replicas: 2, paused: true,", ""), "web none data"},
		"kept apart":                     {three, ebs + web("replicas: 2,"+recreate, apart("web")), "web never apart data"},
		"an unknown number of pods":      {three, ebs + web("replicas: '${N}',", apart("web")), "web unknown data"},
		"perhaps kept apart":             {three, ebs + web("replicas: 2,", apart("'${APP}'")), "web sometimes pods data"},
		"kept together":                  {three, ebs + web("replicas: 2,", term("podAffinity", "web")), "web unknown data"},
		"no room on one node":            {three, ebs + strings.Replace(web("replicas: 2,", ""), "image: a}", "image: a, resources: {requests: {cpu: 3}}}", 1), "web never apart data"},
		"host port":                      {three, ebs + strings.Replace(web("replicas: 2,", ""), "image: a}", "image: a, ports: [{containerPort: 1, hostPort: 1}]}", 1), "web never apart data"},
		"DaemonSet":                      {three, ebs + claimed("DaemonSet", "web", "", "", "data"), "web never per-node data"},
		"DaemonSet, one node":            {three, ebs + claimed("DaemonSet", "web", "", zonal("b"), "data"), "web always data"},
		"one node":                       {one, ebs + web("replicas: 2,", ""), "web always data"},
		"one node that can use it":       {three, ebs + web("replicas: 2,", zonal("b")), "web always data"},
		"a node with each zone's volume": {each, ebs + web("replicas: 2,", ""), "web always data"},
		"a node in each volume's region": {regions, claim("data", "hetzner", rwo, "") + web("replicas: 2,", ""), "web always data"},
		"two nodes in a volume's region": {region, claim("data", "hetzner", rwo, "") + web("replicas: 2,", ""), "web sometimes pods data"},
		"no zones":                       {each, longhorn + web("replicas: 2,", ""), "web sometimes pods data"},
		"a pool that grows":              {grows, longhorn + web("replicas: 2,", ""), "web sometimes pods data"},
		"no nodes":                       {"", ebs + web("replicas: 2,", apart("web")), "web unknown data"},
		"NFS":                            {three, claim("data", "nfs", rwo, "") + web("replicas: 2,", apart("web")), "web always data"},
		"local-path":                     {three, claim("data", "local", rwo, "") + web("replicas: 2,", apart("web")), "web always data"},
		"EFS, ReadWriteMany":             {three, claim("data", "efs", "ReadWriteMany", "") + web("replicas: 2,", apart("web")), "web always data"},
		"ReadWriteMany":                  {three, claim("data", "longhorn", rwo+", ReadWriteMany", "") + web("replicas: 2,", apart("web")), "web always data"},
		"ReadWriteOncePod":               {three, claim("data", "longhorn", "ReadWriteOncePod", "") + web("replicas: 2,", apart("web")), "web never once data"},
		"ReadWriteOncePod, one pod":      {three, claim("data", "longhorn", "ReadWriteOncePod", "") + web("", ""), "web always data"},
		"ReadWriteOncePod, preempted":    {three, claim("data", "longhorn", "ReadWriteOncePod", "") + web(recreate, "") + api(recreate, "priorityClassName: system-cluster-critical,"), "api unknown data; web unknown data"},
		"mode unknown":                   {three, claim("data", "longhorn", "'${MODE}'", "") + web("replicas: 2,", apart("web")), "web unknown data"},
		"driver unknown":                 {three, claim("data", "own", rwo, "") + web("replicas: 2,", apart("web")), "web unknown data"},
		"class undeclared":               {three, claim("data", "other", rwo, "") + web("replicas: 2,", apart("web")), "web unknown data"},
		"claim undeclared":               {three, web("replicas: 2,", apart("web")), "web unknown data"},
		"bound":                          {three, claim("data", "''", rwo, "") + volume("pv", "data", "csi.hetzner.cloud", rwo) + web("", ""), "web sometimes rollout data"},
		"bound, ReadWriteMany":           {three, ebs + volume("pv", "data", "ebs.csi.aws.com", rwo+", ReadWriteMany") + web("", ""), "web always data"},
		"bound to another driver":        {three, ebs + volume("pv", "data", "nfs.csi.k8s.io", rwo) + web("", ""), "web always data"},
		"bound to an undeclared volume":  {three, claim("data", "ebs", rwo, ", volumeName: pv") + web("replicas: 2,", apart("web")), "web unknown data"},
		"two workloads":                  {three, ebs + web(recreate, "") + api(recreate, ""), "api sometimes pods data web"},
		"two workloads kept apart":       {three, ebs + web(recreate, "") + api(recreate, apart("web")), "api never apart data web"},
		"two workloads in two zones":     {three, longhorn + web(recreate, zonal("a")) + api(recreate, zonal("b")), "api never apart data web"},
		"two workloads with one port": {three, ebs + strings.ReplaceAll(web(recreate, "")+api(recreate, ""), "image: a}", "image: a, ports: [{containerPort: 1, hostPort: 1}]}"),
			"api never apart data web"},
		"two workloads kept together": {three, ebs + web(recreate, "") + api(recreate, term("podAffinity", "web")), "api unknown data web"},
		"two workloads, one unknown":  {three, ebs + web(recreate, "") + api("replicas: '${N}',"+recreate, ""), "api unknown data web"},
		"two workloads, one idle":     {three, ebs + web("", "") + api("replicas: 0,", ""), "web sometimes rollout data"},
		"two namespaces":              {three, ebs + web(recreate, "") + strings.Replace(api(recreate, ""), "namespace: shop", "namespace: other", 1), "api unknown data; web always data"},
		"two claims": {three, ebs + claim("logs", "ebs", rwo, "") + claim("cache", "nfs", rwo, "") + claimed("Deployment", "web", "", "", "data", "logs", "cache"),
			"web sometimes rollout data,logs; web always cache"},
		"a variable for the name": {three, ebs + strings.ReplaceAll(web(recreate, "")+api(recreate, ""), "claimName: data", "claimName: '${CLAIM}'"), "api unknown ${CLAIM}; web unknown ${CLAIM}"},
		"a claim twice":           {three, ebs + claimed("Deployment", "web", recreate, "", "data", "data"), "web always data"},
		"claim of each":           {three, claimed("StatefulSet", "web", "replicas: 2, volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: ebs, accessModes: [ReadWriteOnce]}}],", apart("web")), ""},
		"pods that end":           {three, ebs + strings.Replace(strings.Replace(web("parallelism: 2, completions: 2,", "restartPolicy: Never,"), "apps/v1, kind: Deployment", "batch/v1, kind: Job", 1), "selector: {matchLabels: {app: web}},", "", 1), ""},
		"a pod that runs":         {three, ebs + "---\n{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {nodeName: w-a-0, containers: [{name: a, image: a}], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Running}}\n", ""},
	} {
		f := described(t, c.nodes, storageClasses+c.manifests).Facts
		name := func(w int) string { return f.Workloads[w].Name }
		var got []string
		for _, r := range f.Attachments {
			text := strings.Join(strings.Fields(fmt.Sprint(name(r.W), " ", r.Outcome, " ", r.Cause, " ", strings.Join(r.Claims, ","))), " ")
			for _, w := range r.Others {
				text += " " + name(w)
			}
			got = append(got, text)
		}
		if all := strings.Join(got, "; "); all != c.want {
			t.Errorf("%s: %s, want %s", of, all, c.want)
		}
	}
}

// TestAttachmentFixes checks which repairs are suggested.
func TestAttachmentFixes(t *testing.T) {
	t.Parallel()
	const nodes = "{apiVersion: v1, kind: NodeList, items: [{metadata: {name: a, labels: {kubernetes.io/hostname: a}}}, {metadata: {name: b, labels: {kubernetes.io/hostname: b}}}, {metadata: {name: c, labels: {kubernetes.io/hostname: c}}}]}"
	const rollout = "apiVersion: argoproj.io/v1alpha1, kind: Rollout"
	web := func(kind, spec string) string { return claimed(kind, "web", spec, "", "data") }
	argo := func(strategy string) string {
		return strings.Replace(web("Deployment", "strategy: {"+strategy+"},"), "apiVersion: apps/v1, kind: Deployment", rollout, 1)
	}
	for manifests, want := range map[string]string{
		web("Deployment", ""):                 "Recreate, maxSurge: 0, ReadWriteMany",
		argo("canary: {}"):                    "maxSurge: 0, ReadWriteMany",
		argo("blueGreen: {activeService: a}"): "ReadWriteMany",
		web("Deployment", "replicas: 2,"):     "a StatefulSet, ReadWriteMany",
		web("StatefulSet", "replicas: 2,"):    "use volumeClaimTemplates, ReadWriteMany",
		web("DaemonSet", ""):                  "ReadWriteMany",
		web("Deployment", "") + claimed("Deployment", "api", "", "", "data"): "required pod affinity, ReadWriteMany",
		web("Deployment", "") + claimed("Deployment", "api", "", "nodeSelector: {kubernetes.io/hostname: a},", "data") +
			claimed("Deployment", "app", "", "nodeSelector: {kubernetes.io/hostname: b},", "data"): "ReadWriteMany",
	} {
		b := described(t, nodes, storageClasses+claim("data", "longhorn", "ReadWriteOnce", "")+manifests)
		fixes := b.Subject(b.Attachments[0].ID).Fixes
		words := strings.Split(want, ", ")
		for i := range max(len(words), len(fixes)) {
			if i >= len(words) || i >= len(fixes) || !strings.Contains(fixes[i].Description, words[i]) {
				t.Errorf("%s\n%v, want %s", manifests, fixes, want)
				break
			}
		}
	}
}
