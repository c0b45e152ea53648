package simulate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// nodes returns nodes with 4 CPU and 8 GiB. Each text has a name and further labels.
func nodes(texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		name, labels, _ := strings.Cut(text, " ")
		fmt.Fprintf(&b, "---\napiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {kubernetes.io/hostname: %s, %s}}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 20}}\n", name, name, labels)
	}
	return b.String()
}

// deployment returns a Deployment of pods that request 1 CPU and 2 GiB, which is balanced on the
// nodes, unless the rest of the spec says otherwise.
func deployment(name string, replicas int, spec string) string {
	if !strings.Contains(spec, "containers:") {
		spec = "containers: [{name: c, image: c, resources: {requests: {cpu: 1, memory: 2Gi}}}], " + spec
	}
	return fmt.Sprintf("---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s, namespace: d}\nspec: {replicas: %d, selector: {matchLabels: {app: %s}}, template: {metadata: {labels: {app: %s}}, spec: {%s}}}\n", name, replicas, name, name, spec)
}

func named(t *testing.T, m *model.Model, name string) *workload.Workload {
	t.Helper()
	for _, w := range m.Split().Workloads {
		if w.Object.Name == name {
			return w
		}
	}
	t.Fatalf("no workload %s", name)
	return nil
}

// TestBest checks which nodes score best for a pod of web. Further pods are put in place before, as
// in "db@a web@b".
func TestBest(t *testing.T) {
	const apart = `affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, podAffinityTerm: {topologyKey: %s, labelSelector: {matchLabels: {app: %s}}}}]}}`
	zones := nodes("a topology.kubernetes.io/zone: p", "b topology.kubernetes.io/zone: p", "c topology.kubernetes.io/zone: q")
	for _, c := range []struct{ name, nodes, manifests, placed, want string }{
		{"an empty cluster", nodes("a", "b"), deployment("web", 2, ""), "", "a b"},
		{"least allocated", nodes("a", "b"), deployment("web", 2, "") + deployment("db", 1, ""), "db@a", "b"},
		{"spread over nodes by default", nodes("a", "b"), deployment("web", 2, "") + deployment("db", 1, ""), "web@a db@b db@b", "b"},
		{"spread over zones by default", zones, deployment("web", 2, ""), "web@a", "c"},
		{"constraints replace the default", nodes("a", "b"), deployment("web", 3, "topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]") + deployment("db", 1, ""), "web@a db@b db@b", "a"},
		{"hard constraints replace the default", nodes("a", "b"), deployment("web", 3, "topologySpreadConstraints: [{topologyKey: kubernetes.io/hostname, maxSkew: 2, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]") + deployment("db", 1, ""), "web@a db@b db@b", "a"},
		{"balance", nodes("a", "b"), deployment("web", 1, "containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]") + deployment("db", 1, "containers: [{name: c, image: c, resources: {requests: {memory: 2Gi}}}]") + deployment("kv", 1, "containers: [{name: c, image: c, resources: {requests: {cpu: 1}}}]"), "db@a kv@b", "a"},
		{"a container without requests counts", nodes("a", "b"), deployment("web", 1, "") + deployment("db", 1, "containers: [{name: c, image: c}]"), "db@a", "b"},
		{"preferred anti-affinity", nodes("a", "b"), deployment("web", 1, fmt.Sprintf(apart, "kubernetes.io/hostname", "kv")) + deployment("kv", 1, "containers: [{name: c, image: c}]") + deployment("db", 1, ""), "kv@a db@b db@b", "b"},
		{"preferred anti-affinity of a pod in place", nodes("a", "b"), deployment("web", 1, "") + deployment("kv", 1, "containers: [{name: c, image: c}], "+fmt.Sprintf(apart, "kubernetes.io/hostname", "web")) + deployment("db", 1, ""), "kv@a db@b db@b", "b"},
		{"required affinity of a pod in place attracts", nodes("a", "b"), deployment("web", 1, "") + deployment("kv", 1, "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: web}}}]}}"), "kv@a", "a"},
		{"preferred node affinity", nodes("a disk: ssd", "b"), deployment("web", 1, "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: disk, operator: In, values: [ssd]}]}}]}}") + deployment("db", 1, ""), "db@a db@a", "a"},
		{"taints weigh more than node affinity", strings.Replace(nodes("a disk: ssd", "b"), "status:", "spec: {taints: [{key: k, effect: PreferNoSchedule}]}\nstatus:", 1), deployment("web", 1, "affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: disk, operator: Exists}]}}]}}"), "", "b"},
		{"a tolerated taint", strings.Replace(nodes("a", "b"), "status:", "spec: {taints: [{key: k, effect: PreferNoSchedule}]}\nstatus:", 1), deployment("web", 1, "tolerations: [{key: k, operator: Exists}]"), "", "a b"},
		{"a node without the key scores 0", nodes("a rack: r", "b"), deployment("web", 1, "topologySpreadConstraints: [{topologyKey: rack, maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]"), "", "a"},
		{"a Service for each pod ends the default", nodes("a", "b"), strings.Replace(deployment("web", 2, ""), "Deployment", "StatefulSet", 1) + service("d", "statefulset.kubernetes.io/pod-name: web-0") + service("d", "statefulset.kubernetes.io/pod-name: web-1") + deployment("db", 1, ""), "web@a db@b db@b", "a"},
		{"a bare pod has its Service", nodes("a", "b"), "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: d, labels: {app: db}}\nspec: {containers: [{name: c, image: c}]}\n" + service("d", "app: db") + deployment("db", 1, "containers: [{name: c, image: c}]") + deployment("kv", 1, ""), "db@a kv@b kv@b", "b"},
		{"a Service of another namespace", nodes("a", "b"), "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: d, labels: {app: db}}\nspec: {containers: [{name: c, image: c}]}\n" + service("e", "app: db") + deployment("db", 1, "containers: [{name: c, image: c}]") + deployment("kv", 1, ""), "db@a kv@b kv@b", "a"},
		{"no node takes the pod", nodes("a"), deployment("web", 1, "nodeSelector: {disk: ssd}"), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := models.Of(t, c.nodes, c.manifests)
			s := NewState(m)
			for pod := range strings.FieldsSeq(c.placed) {
				name, node, _ := strings.Cut(pod, "@")
				n, _ := m.IndexOf(node)
				s.Bind(named(t, m, name), n)
			}
			check := func() {
				t.Helper()
				var got []string
				for _, n := range s.Best(named(t, m, "web")) {
					got = append(got, m.Topology.Nodes[n].Name)
				}
				if slices.Sort(got); strings.Join(got, " ") != c.want {
					t.Errorf("best nodes are %v, want %s", got, c.want)
				}
			}
			check()
			for range 2 { // the counts follow pods that leave
				for n := range m.Topology.Nodes {
					s.Bind(named(t, m, "web"), n)
				}
			}
			s.Undo(len(s.journal) - 2*len(m.Topology.Nodes))
			check()
			if why := s.Why(named(t, m, "web")); why.Given() {
				t.Errorf("unknown: %+v", why)
			}
		})
	}
}

func service(namespace, selector string) string {
	return fmt.Sprintf("---\napiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: %s}\nspec: {selector: {%s}}\n", namespace, selector)
}

// TestSample checks how many nodes the scheduler scores, and where it goes on.
func TestSample(t *testing.T) {
	for _, c := range []struct{ all, want, next int }{{99, 99, 0}, {100, 100, 0}, {150, 100, 100}, {400, 188, 188}, {1000, 420, 420}, {7000, 350, 350}} {
		var texts []string
		for i := range c.all {
			texts = append(texts, fmt.Sprintf("n%04d zone: z", i))
		}
		m, _ := models.Of(t, nodes(texts...), deployment("web", 1, ""))
		s := NewState(m)
		if s.feasible(s.of[named(t, m, "web")]); len(s.found) != c.want || s.next != c.next {
			t.Errorf("%d nodes: %d are scored and the next search starts at %d, want %d and %d", c.all, len(s.found), s.next, c.want, c.next)
		}
	}
	m, _ := models.Of(t, nodes("a topology.kubernetes.io/zone: p", "b topology.kubernetes.io/zone: p", "c topology.kubernetes.io/zone: q"), deployment("web", 1, ""))
	if order := NewState(m).order; !slices.Equal(order, []int{0, 2, 1}) {
		t.Errorf("the order of nodes is %v, want one of each zone in turn", order)
	}
}

// TestState drains a node: its pods leave one by one and are placed again.
func TestState(t *testing.T) {
	m, _ := models.Of(t, nodes("a", "b", "c"), deployment("web", 4, "")+deployment("db", 6, ""))
	s, d := NewState(m), NewDraw("drain", 0)
	web, db := named(t, m, "web"), named(t, m, "db")
	for range 2 {
		s.Bind(web, 0)
		s.Bind(web, 1)
	}
	start := s.Mark()
	s.closed[0] = true
	for range 2 {
		s.move(s.of[web], 0, -1)
		if n, ok := s.Place(web, d); !ok || n != 2 {
			t.Errorf("the pod goes to %d, %v, want node c", n, ok)
		}
	}
	placed := 0
	for range 6 {
		if _, ok := s.Place(db, d); ok {
			placed++
		}
	}
	if placed != 4 {
		t.Errorf("%d pods of db find a node, want 4", placed)
	}
	s.Undo(start)
	if got := [3]int{len(s.on[0]), len(s.on[1]), len(s.on[2])}; got != [3]int{2, 2, 0} || s.loads[2].real != (amounts{}) {
		t.Errorf("after Undo the nodes have %v pods", got)
	}
}

// TestServiceOfPlaceholder checks a label whose value a later tool replaces: whether a Service selects the pods, and
// so what spreads them by default, is not known. Labels with a value ask only the Services that ask for it.
func TestServiceOfPlaceholder(t *testing.T) {
	node := "apiVersion: v1\nkind: Node\nmetadata: {name: a, labels: {kubernetes.io/hostname: a}}\nstatus: {allocatable: {cpu: 4, memory: 8Gi, pods: 9}}\n"
	for tier, unknown := range map[string]bool{"${TIER}": true, "front": false, "back": false} {
		pod := "---\napiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: d, labels: {tier: \"" + tier + "\"}}\nspec: {containers: [{name: c, image: c}]}\n"
		m, _ := models.Of(t, node, pod+service("d", "tier: front"))
		if why := NewState(m).Why(named(t, m, "web")); why.Given() != unknown {
			t.Errorf("%s: %+v", tier, why)
		}
	}
}
