package search_test

import (
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/models"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// requesting returns a Deployment with the given name, replicas, requests and additional fields of
// its pod spec.
func requesting(name string, replicas int, requests, more string) string {
	return strings.NewReplacer("NAME", name, "REPLICAS", string(rune('0'+replicas)), "REQUESTS", requests, "MORE", more).Replace(`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: d}
spec:
  replicas: REPLICAS
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers: [{name: main, image: x, resources: {requests: {REQUESTS}, limits: {REQUESTS}}}]
      MORE
`)
}

const besideGPU = `affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: gpu}}}]}}`

// TestUnlisted checks which verdicts stay unknown because pods request a resource that no node
// lists, and which do not.
func TestUnlisted(t *testing.T) {
	const nodes = `
apiVersion: schedlint.dev/v1alpha1
kind: NodeTopology
pools:
- {name: a, count: 2, allocatable: {cpu: "4", pods: "110"}}
`
	const listed = "- {name: b, count: 0, allocatable: {example.com/gpu: \"1\"}}\n"
	gpu := requesting("gpu", 2, "cpu: 1, example.com/gpu: 1", "")
	for _, c := range []struct {
		name, nodes, manifests string
		want                   map[string]diag.Outcome
		whole                  diag.Outcome
	}{
		{"unknown", nodes, gpu, map[string]diag.Outcome{"gpu": diag.Unknown}, diag.Unknown},
		{"listed by a pool without nodes", nodes + listed, gpu, map[string]diag.Outcome{"gpu": diag.Never}, diag.Never},
		{"no list at all", "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: a, count: 2}]\n", gpu, map[string]diag.Outcome{"gpu": diag.Always}, diag.Always},
		{"others have room beside them", nodes, gpu + requesting("web", 2, "cpu: 1", ""), map[string]diag.Outcome{"gpu": diag.Unknown, "web": diag.Always}, diag.Unknown},
		{"others may find the room taken", nodes, gpu + requesting("web", 3, "cpu: 2", ""), map[string]diag.Outcome{"gpu": diag.Unknown, "web": diag.Unknown}, diag.Unknown},
		{"others need them", nodes, gpu + requesting("near", 2, "cpu: 1", besideGPU), map[string]diag.Outcome{"gpu": diag.Unknown, "near": diag.Unknown}, diag.Unknown},
		{"too large in any case", nodes, requesting("gpu", 2, "cpu: 9, example.com/gpu: 1", ""), map[string]diag.Outcome{"gpu": diag.Never}, diag.Never},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := models.Of(t, c.nodes, c.manifests)
			d := search.Decide(m, search.Options{})
			if d.Verdict != c.whole {
				t.Errorf("%s, want %s", d.Verdict, c.whole)
			}
			for _, w := range d.Workloads {
				name := w.Workload.Object.Name
				if w.Verdict != c.want[name] || w.Verdict == diag.Unknown && w.Why.Name != "example.com/gpu" {
					t.Errorf("%s: %s (%+v), want %s", name, w.Verdict, w.Why, c.want[name])
				}
			}
			m, _ = modelOf(t, c.nodes, c.manifests)
			if d := search.Decide(m, search.Options{}); d.Verdict == diag.Unknown {
				t.Error("undetermined although the lists are complete")
			}
		})
	}
}

// TestWholeLists checks which lists of resources count as complete for the resources that
// Kubernetes itself defines.
func TestWholeLists(t *testing.T) {
	node := func(meta, list string) string {
		return "apiVersion: v1\nkind: Node\nmetadata: {name: a" + meta + "}\nstatus: {" + list + "}\n"
	}
	const uid, short, long = ", uid: 5b9c", `allocatable: {cpu: "4", pods: "110"}`, `allocatable: {cpu: "4", memory: 8Gi, ephemeral-storage: 9Gi, pods: "110"}`
	const pool = "apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools: [{name: a, count: 1, %s}]\n"
	for _, c := range []struct {
		name, nodes, requests string
		want                  diag.Outcome
	}{
		{"a whole list", node("", long), "hugepages-2Mi: 2Mi, cpu: 1", diag.Never},
		{"a whole list of capacity", node("", strings.Replace(long, "allocatable", "capacity", 1)), "hugepages-2Mi: 2Mi, cpu: 1", diag.Never},
		{"a whole list with it", node("", strings.Replace(long, "{cpu", "{hugepages-2Mi: 4Mi, cpu", 1)), "hugepages-2Mi: 2Mi, cpu: 1", diag.Always},
		{"a native name with a domain", node("", long), "kubernetes.io/batch-memory: 1", diag.Never},
		{"a short list by hand", node("", short), "memory: 2Gi", diag.Always},
		{"a short list of an API server", node(uid, short), "memory: 2Gi", diag.Never},
		{"an API server's node without a list", node(uid, ""), "memory: 2Gi, hugepages-2Mi: 2Mi", diag.Always},
		{"a pool", strings.Replace(pool, "%s", long, 1), "hugepages-2Mi: 2Mi, cpu: 1", diag.Always},
		{"an extended one", node(uid, long), "example.com/gpu: 1", diag.Unknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := models.Of(t, c.nodes, requesting("web", 1, c.requests, ""))
			if d := search.Decide(m, search.Options{}); d.Verdict != c.want {
				t.Errorf("%s, want %s", d.Verdict, c.want)
			}
			w := m.Workloads[0]
			if fits := bound.RequestFits(m, w).Fitting > 0; fits != (c.want != diag.Never) {
				t.Errorf("linting says it fits: %t, and the verdict is %s", fits, c.want)
			}
			s := check.NewState(m)
			if takes := s.Filter(w, m.Topology.Nodes[0]) == certificate.Takes; takes != (c.want != diag.Never) {
				t.Errorf("the filters take it: %t, and the verdict is %s", takes, c.want)
			}
		})
	}
}
