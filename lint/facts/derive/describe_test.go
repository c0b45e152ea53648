package derive_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/facts/derive"
	"github.com/schedlint/schedlint/lint/sched"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// threeZones has two pools in three zones, and a GPU pool that can grow.
const threeZones = `
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools:
- name: general
  zones: {a: 2, b: 2, c: 2}
  labels: {tier: std}
  allocatable: {cpu: "4", memory: 16Gi, pods: "110"}
- name: gpu
  zones: {a: 1, b: 1}
  max: 4
  labels: {tier: gpu}
  taints:
  - {key: nvidia.com/gpu, value: present, effect: NoSchedule}
  allocatable: {cpu: "8", memory: 32Gi, pods: "110", nvidia.com/gpu: "2"}
- name: tenant
  count: 1
  taints:
  - {key: tenant, value: red, effect: NoSchedule}
  allocatable: {cpu: "2", memory: 8Gi, pods: "110"}
`

// shop has several workloads. web is spread over zones, job runs to completion, train runs on GPUs,
// agent runs on every node, open has a variable, and odd uses another scheduler.
const shop = `
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: red}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {env: prod}, annotations: {note: x}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {pod: y}}
    spec:
      serviceAccountName: web
      priorityClassName: high
      nodeSelector: {tier: std}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}
      containers:
      - name: web
        image: registry.example.com:5000/shop/web:1.2@sha256:abc
        resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {memory: 2Gi}}
      - name: side
        image: nginx
      initContainers:
      - name: init
        image: ${IMAGE}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: train, namespace: shop}
spec: {minReplicas: 2, maxReplicas: 4, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: train}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: train, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec:
      tolerations:
      - {key: nvidia.com/gpu, operator: Exists}
      - {operator: Exists}
      affinity:
        nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: tier, operator: In, values: [gpu]}]}]}}
        podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: train}}}]}
      containers:
      - {name: train, image: example/train:2, resources: {requests: {cpu: "1"}, limits: {nvidia.com/gpu: 1}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: agent, image: agent, resources: {requests: {cpu: 100m}}}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: shop}
spec: {template: {metadata: {labels: {app: job}}, spec: {restartPolicy: Never, containers: [{name: job, image: job, resources: {requests: {cpu: "1"}}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: open, namespace: shop}
spec:
  replicas: ${REPLICAS}
  selector: {matchLabels: {app: open}}
  template:
    metadata: {labels: {app: open}}
    spec:
      affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: open}}}]}}
      topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: open}}}]
      containers: [{name: open, image: open, resources: {requests: {cpu: "1"}}, ports: [{containerPort: 80, hostPort: 80}]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: odd, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: odd}}
  template: {metadata: {labels: {app: odd}}, spec: {schedulerName: mine, containers: [{name: odd, image: odd, resources: {requests: {cpu: "1"}}}]}}
`

// described returns all facts about manifests on nodes.
func described(t testing.TB, nodes, manifests string) *derive.Built {
	t.Helper()
	topo, err := topology.Load(models.Objects(t, nodes))
	if err != nil {
		t.Fatal(err)
	}
	objects := models.Objects(t, manifests)
	set := workload.Load(workload.NewTable(), objects)
	m := sched.New(set, topo)
	m.Scale(1, 1)
	return derive.Facts(derive.Input{
		Model: m, Set: set, Whole: func(string) bool { return true }, Asked: func(string) bool { return true },
		Asks: []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"}, Origin: derive.Origin{Objects: objects},
	})
}

// at returns the value at a path of names and positions in the JSON of facts; "name=x" selects a
// row.
func at(t *testing.T, f *facts.Facts, path string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(f.JSON(), &v); err != nil {
		t.Fatal(err)
	}
	for _, step := range strings.Fields(path) {
		switch x := v.(type) {
		case map[string]any:
			v = x[step]
		case []any:
			keys := strings.Split(step, ",")
			i := slices.IndexFunc(x, func(row any) bool {
				return !slices.ContainsFunc(keys, func(pair string) bool {
					key, value, _ := strings.Cut(pair, "=")
					m, ok := row.(map[string]any)
					return !ok || fmt.Sprint(m[key]) != value
				})
			})
			if i < 0 {
				return "no " + step
			}
			v = x[i]
		}
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	f := described(t, threeZones, shop).Facts
	for _, c := range []struct{ path, want string }{
		{"workloads name=web labels", `{"env":"prod"}`},
		{"workloads name=web labels_known", `true`},
		{"workloads name=web terms_known", `true`},
		{"workloads name=web annotations", `{"note":"x"}`},
		{"workloads name=web pod_labels", `{"app":"web"}`},
		{"workloads name=web pod_annotations", `{"pod":"y"}`},
		{"workloads name=web namespace_labels", `{"kubernetes.io/metadata.name":"shop","team":"red"}`},
		{"workloads name=web service_account", `"web"`},
		{"workloads name=web priority_class", `"high"`},
		{"workloads name=web scheduler", `"default-scheduler"`},
		{"workloads name=odd scheduler", `"mine"`},
		{"workloads name=web usable_min", `6`},
		{"workloads name=web usable_poolless", `0`},
		{"workloads name=web usable_max", `6`},
		{"workloads name=web zones_min", `3`},
		{"workloads name=web pools", `["general"]`},
		{"workloads name=web on_one_node_max", `1`},
		{"workloads name=web in_one_zone_min", `1`},
		{"workloads name=web in_one_zone_max", `1`},
		{"workloads name=train usable_min", `2`},
		{"workloads name=train usable_max", `4`},
		{"workloads name=train growable", `true`},
		{"workloads name=train pods_min", `2`},
		{"workloads name=train pods_max", `4`},
		{"workloads name=train on_one_node_max", `1`},
		{"workloads name=train in_one_zone_max", `2`},
		{"workloads name=train scalers min=2 max", `4`},
		{"workloads name=train pod_requests resource=nvidia.com/gpu value", `1`},
		{"workloads name=web pod_requests resource=cpu value", `500`},
		{"budgets selector=app=web namespace", `"shop"`},
		{"workloads name=open placement_known", `true`},
		{"workloads name=open pods_max", `2147483647`},
		{"workloads name=odd placement_known", `false`},
		{"workloads name=odd usable_max", `2147483647`},
		{"workloads name=odd in_one_zone_max", `2`},
		{"workloads name=web containers name=web registry", `"registry.example.com:5000"`},
		{"workloads name=web containers name=web repository", `"shop/web"`},
		{"workloads name=web containers name=web tag", `"1.2"`},
		{"workloads name=web containers name=web digest", `"sha256:abc"`},
		{"workloads name=web containers name=web requests resource=memory value", `1073741824`},
		{"workloads name=web containers name=web limits resource=memory quantity", `"2Gi"`},
		{"workloads name=web containers name=side registry", `"docker.io"`},
		{"workloads name=web containers name=side repository", `"library/nginx"`},
		{"workloads name=web containers name=init init", `true`},
		{"workloads name=web containers name=init repository", `""`},
		{"workloads name=train tolerations key=nvidia.com/gpu pools", `[]`},
		{"workloads name=train tolerations key=nvidia.com/gpu operator", `"Exists"`},
		{"workloads name=train tolerations key=nvidia.com/gpu effect", `""`},
		{"workloads name=train tolerations key= tolerates_all", `true`},
		{"workloads name=agent tolerations key= pools", `["gpu","tenant"]`},
		{"workloads name=web node_rules key=tier nodes", `6`},
		{"workloads name=train node_rules key=tier values", `["gpu"]`},
		{"workloads name=train node_rules key=tier source", `"nodeAffinity"`},
		{"workloads name=web terms use=spread max_skew", `1`},
		{"workloads name=web terms use=spread domains", `3`},
		{"workloads name=web terms use=spread node_taints_policy", `"Ignore"`},
		{"workloads name=web terms use=spread matches_own", `"always"`},
		{"workloads name=web budgets name=web allowed_max", `1`},
		{"workloads name=web answers fits", `"unknown"`},   // because of open and odd
		{"workloads name=web answers rolls", `"unknown"`},  // because of open and odd
		{"workloads name=web answers drains", `"unknown"`}, // because of open and odd
		{"workloads name=web answers migrates", `"none"`},
		{"workloads name=web answers survives key=topology.kubernetes.io/zone gone", `"unknown"`}, // because of open and odd
		{"workloads name=train answers autoscales", `"unknown"`},
		{"workloads name=agent answers survives key=topology.kubernetes.io/zone gone", `"none"`},
		{"workloads name=agent answers rolls", `"unknown"`}, // because of open and odd
		{"workloads name=job answers survives key=kubernetes.io/hostname gone", `"none"`},
		{"workloads name=job answers drains", `"none"`},
		{"workloads name=job answers rolls", `"none"`},
		{"workloads name=open answers fits", `"unknown"`},
		{"workloads name=open answers survives key=kubernetes.io/hostname gone", `"unknown"`},
		{"pools name=general count", `6`},
		{"pools name=general zones", `["a","b","c"]`},
		{"pools name=gpu max", `4`},
		{"pools name=gpu taints key=nvidia.com/gpu value", `"present"`},
		{"pools name=gpu allocatable resource=nvidia.com/gpu value", `2`},
		{"pools name=tenant namespaces", `["shop"]`},
		{"nodes name=gpu-a-0 zone", `"a"`},
		{"nodes name=gpu-a-0 pool", `"gpu"`},
		{"nodes name=tenant-0 taints key=tenant effect", `"NoSchedule"`},
		// 6 * 4 + 2 * 8 + 2; 3 of web, 2 to 4 of train, 9 of agent, 2 of odd, any number of open
		{"capacity scope=cluster,resource=cpu allocatable", `42000`},
		{"capacity scope=cluster,resource=cpu requested_min", `4400`},
		{"capacity scope=cluster,resource=cpu requested_max", `9007199254740991`},
		{"capacity scope=pool,name=tenant,resource=cpu requested_min", `100`},
		{"capacity scope=pool,name=tenant,resource=cpu requested_max", `2000`},
		{"capacity scope=pool,name=general,resource=cpu requested_min", `2100`},
		{"capacity scope=cluster,resource=cpu losses key=topology.kubernetes.io/zone,value=a left", `26000`},
		{"objects kind=Namespace labels", `{"team":"red"}`},
		{"objects kind=HorizontalPodAutoscaler manifest spec maxReplicas", `4`},
		{"cluster nodes", `9`},
		{"version", `"1.0"`},
	} {
		if got := at(t, f, c.path); got != c.want {
			t.Errorf("%s is %s, want %s", c.path, got, c.want)
		}
	}
	all, _, _ := strings.Cut(shop, "metadata: {name: open,")
	f = described(t, threeZones, all[:strings.LastIndex(all, "---")]).Facts
	for _, path := range []string{"web answers fits", "web answers rolls", "web answers drains", "web answers survives key=topology.kubernetes.io/zone gone", "agent answers rolls"} {
		if got := at(t, f, "workloads name="+path); got != `"always"` {
			t.Errorf("%s is %s of workloads of which all is known", path, got)
		}
	}
}

// TestUnknownTolerations checks that a misspelled value and a variable are unknown, so that no rule
// takes them for a value that the API allows.
func TestUnknownTolerations(t *testing.T) {
	t.Parallel()
	f := described(t, threeZones, `
apiVersion: v1
kind: Pod
metadata: {name: odd}
spec:
  tolerations: [{key: a, operator: Exsts, effect: "${X}"}, {key: b, effect: NoScheduel}]
  containers: [{name: odd, image: odd}]
`).Facts
	for path, want := range map[string]string{"a operator": `"unknown"`, "a effect": `"unknown"`, "b operator": `"Equal"`, "b effect": `"unknown"`} {
		if got := at(t, f, "workloads name=odd tolerations key="+path); got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// TestKindsAreListed checks that the schema lists exactly the kinds that schedlint judges.
func TestKindsAreListed(t *testing.T) {
	t.Parallel()
	var judged []string
	for of := range workload.NewTable() {
		judged = append(judged, of[1])
	}
	field, _ := reflect.TypeFor[facts.Workload]().FieldByName("Kind")
	listed := strings.Fields(field.Tag.Get("enum"))
	slices.Sort(judged)
	slices.Sort(listed)
	if !slices.Equal(judged, listed) {
		t.Errorf("the schema lists %q, expected %q", listed, judged)
	}
}

// TestPodLevelResources checks the resources that pods request besides their containers, and
// whether all of them are known.
func TestPodLevelResources(t *testing.T) {
	t.Parallel()
	const pod = `{apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: shop}, spec: {resources: %s, containers: [{name: c, image: c, resources: %s}]}}`
	for _, c := range []struct{ pod, container, requests, limits, known string }{
		{"{}", "{requests: {cpu: 1}}", "", "", "true"},
		{"{requests: {cpu: 2}, limits: {memory: 1Gi}}", "{}", "cpu 2", "memory 1Gi", "true"},
		{"{requests: {cpu: '${CPU}'}}", "{}", "", "", "false"},
		{"{}", "{limits: {memory: '${MEMORY}'}}", "", "", "false"},
		{"{}", "'${RESOURCES}'", "", "", "false"},
	} {
		w := rowOf(described(t, threeZones, fmt.Sprintf(pod, "p", c.pod, c.container)), "p")
		of := func(all []facts.ResourceAmount) string {
			var texts []string
			for _, r := range all {
				texts = append(texts, r.Resource+" "+r.Quantity)
			}
			return strings.Join(texts, ", ")
		}
		if got := []string{of(w.PodLevelRequests), of(w.PodLevelLimits), fmt.Sprint(w.ResourcesKnown)}; !slices.Equal(got, []string{c.requests, c.limits, c.known}) {
			t.Errorf("%s and %s: %v", c.pod, c.container, got)
		}
	}
}

// TestListsAreWhole checks that every list of questions has a row for each workload, or for each of
// its rules, and that exactly the unanswered questions are unknown.
func TestListsAreWhole(t *testing.T) {
	t.Parallel()
	f := described(t, threeZones, shop).Facts
	known := map[string]string{ // the workloads with a row, and their outcomes
		"sharing":       "agent none, job none, odd unknown, open unknown, train always, web always",
		"eligibility":   "agent always, job always, odd unknown, open unknown, train always, web always",
		"requests":      "agent always, job always, odd unknown, open unknown, train always, train always, web always, web always",
		"anti_affinity": "open unknown, train always",
		"spreads":       "open unknown, web always",
		"host_ports":    "open unknown",
		"room":          "agent none, job always, odd unknown, open unknown, train always, web always",
		"rollouts":      "agent unknown, job none, odd unknown, open unknown, train unknown, web unknown",
		"skews":         "agent always, job none, odd none, open unknown, train none, web sometimes",
		"drains":        "agent none, job none, odd unknown, open unknown, train sometimes, web unknown",
		"losses": "agent none, agent none, job none, job none, odd unknown, odd unknown, open unknown, open unknown, " +
			"train unknown, train unknown, web never, web unknown, web unknown",
		"migrations":  "",
		"autoscalers": "train unknown",
	}
	all := reflect.ValueOf(f).Elem()
	for i := range all.NumField() {
		list := all.Type().Field(i).Tag.Get("json")
		want, asked := known[list]
		if !asked {
			continue
		}
		var got []string
		for j := range all.Field(i).Len() {
			row := all.Field(i).Index(j)
			got = append(got, fmt.Sprintf("%s %s", f.Workloads[row.FieldByName("W").Int()].Name, row.FieldByName("Outcome")))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s\n%s", list, diff)
		}
	}
}

// TestEveryRowHasAPlace checks that a finding about any row, including nested rows, has a location.
func TestEveryRowHasAPlace(t *testing.T) {
	t.Parallel()
	b := described(t, threeZones, shop)
	for id, row := range b.Rows() {
		if row.Value != nil && b.Subject(id).Location.IsZero() {
			t.Errorf("a row of %s has no place: %+v", row.List, row.Value)
		}
	}
	for _, c := range []struct {
		path string
		id   int
		line string
	}{
		{"resources requests cpu", rowOf(b, "web").Containers[0].ID, "        resources: {requests: {cpu: 500m"},
		{"resources requests absent", rowOf(b, "web").Containers[0].ID, "        resources: {requests: {cpu: 500m"},
		{"image", rowOf(b, "web").Containers[0].ID, "        image: registry.example.com"},
		{"absent", rowOf(b, "web").Containers[0].ID, "      - name: web"},
		{"spec template spec containers 1 image", rowOf(b, "web").ID, "        image: nginx"},
		{"spec template spec containers side", rowOf(b, "web").ID, "      - name: side"},
		{"effect", b.Facts.Pools[1].Taints[0].ID, "  - {key: nvidia.com/gpu"},
		{"zones", b.Facts.Pools[0].ID, "  zones: {a: 2, b: 2, c: 2}"},
		{"spec maxUnavailable", rowOf(b, "web").Budgets[0].ID, "spec: {maxUnavailable: 1, selector"},
		{"metadata labels team", b.Facts.Objects[0].ID, "metadata: {name: shop, labels: {team: red}}"},
	} {
		s := b.Subject(c.id).At(strings.Fields(c.path))
		text := shop
		if strings.HasPrefix(c.line, "  -") || strings.HasPrefix(c.line, "  zones") {
			text = threeZones
		}
		if line := strings.Split(text, "\n")[s.Line-1]; !strings.HasPrefix(line, c.line) {
			t.Errorf("%s is at %q, want %q", c.path, line, c.line)
		}
	}
}

func rowOf(b *derive.Built, name string) *facts.Workload {
	return &b.Workloads[slices.IndexFunc(b.Workloads, func(w facts.Workload) bool { return w.Name == name })]
}

// TestOnlyWhatIsReadIsMade checks that descriptions are built only if a rule reads them.
func TestOnlyWhatIsReadIsMade(t *testing.T) {
	t.Parallel()
	topo, err := topology.Load(models.Objects(t, threeZones))
	if err != nil {
		t.Fatal(err)
	}
	set := workload.Load(workload.NewTable(), models.Objects(t, shop))
	steps := func(whole func(string) bool) (int, *facts.Facts) {
		m := sched.New(set, topo)
		m.Scale(1, 1)
		f := derive.Facts(derive.Input{Model: m, Set: set, Whole: whole})
		return m.Run().Spent(), f.Facts
	}
	none, f := steps(nil)
	if n := len(f.Pools) + len(f.Nodes) + len(f.Capacity) + len(f.Objects); n > 0 || slices.ContainsFunc(f.Workloads, func(w facts.Workload) bool { return w.Terms != nil }) {
		t.Errorf("nobody reads what is described")
	}
	one, f := steps(func(path string) bool { return path == "workloads" || path == "workloads.labels" })
	if rowOfFacts(f, "web").Labels["env"] != "prod" || len(rowOfFacts(f, "web").Terms) > 0 || len(f.Sharing) > 1 {
		t.Errorf("labels alone are read")
	}
	if one > none+1000*len(f.Workloads) {
		t.Errorf("labels take %d steps", one-none)
	}
	_, all := steps(func(string) bool { return true })
	for _, field := range []string{"pools.workloads", "pools.namespaces"} {
		_, f = steps(func(path string) bool { return path == "pools" || path == field })
		if f.Pools[0].Name != "general" || !slices.Equal(f.Pools[0].Workloads, all.Pools[0].Workloads) || !slices.Equal(f.Pools[0].Namespaces, all.Pools[0].Namespaces) {
			t.Errorf("%s alone is read: %v of %v, want %v of %v", field,
				f.Pools[0].Workloads, f.Pools[0].Namespaces, all.Pools[0].Workloads, all.Pools[0].Namespaces)
		}
	}
}

func rowOfFacts(f *facts.Facts, name string) *facts.Workload {
	return &f.Workloads[slices.IndexFunc(f.Workloads, func(w facts.Workload) bool { return w.Name == name })]
}

// TestNodesWithoutSlots checks that a node with 0 allocatable pods accepts no pod, even if it has
// other resources, and that the finding gives this reason.
func TestNodesWithoutSlots(t *testing.T) {
	t.Parallel()
	nodes := func(pools string) string {
		return "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n" + pools
	}
	const full, small = "- {name: full, count: 2, allocatable: {cpu: \"4\", pods: \"0\"}}\n", "- {name: small, count: 1, allocatable: {cpu: 500m, pods: \"9\"}}\n"
	app := func(kind, resources string) string {
		return "apiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: a}\nspec:\n  selector: {matchLabels: {app: a}}\n" +
			"  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a, resources: {" + resources + "}}]}}\n"
	}
	for _, c := range []struct{ nodes, app, want string }{
		{full, app("Deployment", ""), "pods 1 never 0"},
		{full, app("Deployment", "requests: {cpu: 1}"), "cpu 1 always 2, pods 1 never 0"},
		{full + small, app("Deployment", ""), "pods 1 always 1"},
		{full + small, app("Deployment", "requests: {cpu: 1}"), "cpu 1 always 2, pods 1 always 1, cpu+pods never 0"},
		{small, app("Deployment", ""), ""},
		{full + small, app("DaemonSet", ""), "pods 1 never 1"},
	} {
		var got []string
		for _, r := range described(t, nodes(c.nodes), c.app).Requests {
			what := r.Resource + " " + r.Request
			if len(r.Together) > 0 {
				what = r.Together[0].Resource + "+" + r.Together[1].Resource
			}
			got = append(got, fmt.Sprint(what, " ", r.Outcome, " ", r.Fitting))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s on\n%s: %v, want %s", c.app, c.nodes, got, c.want)
		}
	}
}
