package search_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// TestClassesAreAlike asks one model for the classes of many questions in turn, and compares all
// pairs of nodes. Nodes of one class must agree on node rules, on domains that other nodes share,
// and on every set of pods that they take (T19). If all pods have equal requests, nodes of two
// classes must differ in one of these.
func TestClassesAreAlike(t *testing.T) {
	t.Parallel()
	merged, apart := 0, 0
	for number := range trials.Seeds(t, trials.Of(t, 1000)) {
		g := generator{rand.New(rand.NewPCG(23, uint64(number)))}
		m, _ := modelOf(t, classNodes(g), classWorkloads(g))
		for range 40 {
			q := &classQuestion{m: m, pods: 1 + g.IntN(5), key: g.pick("", zoneKey, hostKey, "rack")}
			for _, i := range g.Perm(len(m.Workloads))[:1+g.IntN(3)] {
				q.ws = append(q.ws, m.Workloads[i])
			}
			of := q.classOf()
			for a := range of {
				for b := range a {
					alike := q.alike(a, b)
					switch {
					case of[a] == of[b] && !alike:
						t.Fatalf("cluster %d: %s and %s are one class to %d pods of %s", number, m.Topology.Nodes[a].Name, m.Topology.Nodes[b].Name, q.pods, q.names())
					case of[a] != of[b] && alike && q.same():
						t.Fatalf("cluster %d: %s and %s are two classes to %d pods of %s", number, m.Topology.Nodes[a].Name, m.Topology.Nodes[b].Name, q.pods, q.names())
					case alike:
						merged++
					default:
						apart++
					}
				}
			}
		}
	}
	if merged < apart/50 || apart < merged/50 {
		t.Errorf("%d pairs are alike and %d are not", merged, apart)
	}
}

func classNodes(g generator) (nodes string) {
	for n := range 6 + g.IntN(20) {
		labels := fmt.Sprintf("%s=n%d,serial=s%d,rack=r%d", hostKey, n, n, n/3)
		if g.chance(80) {
			labels += fmt.Sprintf(",%s=z%d", zoneKey, g.IntN(3))
		}
		if g.chance(50) {
			labels += ",pool=" + g.pick("a", "b")
		}
		var taints []string
		if g.chance(20) {
			taints = append(taints, "dedicated=x:NoSchedule")
		}
		nodes += node(fmt.Sprintf("n%d", n), labels, taints...) +
			fmt.Sprintf("status:\n  allocatable: {cpu: %dm, memory: %dKi, pods: %q}\n", 500*(1+g.IntN(3)), 256*1024*(1+g.IntN(3))+g.IntN(1024), g.pick("3", "10"))
	}
	return nodes
}

func classWorkloads(g generator) (manifests string) {
	for w := range 8 {
		name := fmt.Sprintf("w%d", w)
		spec := g.pick("", "nodeSelector: {pool: a}\n", "nodeSelector: {pool: b}\n", "tolerations: [{operator: Exists}]\n", "nodeName: n1\n", "nodeSelector: {serial: s2}\n")
		spec += g.pick("", ruled([]string{term(hostKey, sel("app="+name))}, nil, nil), ruled([]string{term("rack", sel("app="+name))}, nil, nil), ruled(nil, nil, []string{tsc(zoneKey, sel("app="+name), "")}))
		manifests += named(name, 1+g.IntN(3), spec+fmt.Sprintf("containers: [{name: c, image: c, resources: {requests: {cpu: %s, memory: %s}}}]\n", g.pick("100m", "250m", "500m"), g.pick("64Mi", "256Mi", "100M")))
	}
	return manifests
}

// classQuestion asks which nodes are equivalent for a number of pods of some workloads.
type classQuestion struct {
	m    *model.Model
	ws   []*workload.Workload
	pods int
	key  string
}

func (q *classQuestion) names() (names []string) {
	for _, w := range q.ws {
		names = append(names, w.Object.Name)
	}
	return names
}

// same reports whether all pods have the same requests.
func (q *classQuestion) same() bool {
	return !slices.ContainsFunc(q.ws, func(w *workload.Workload) bool {
		return !slices.Equal(q.m.Groups[w].Requests, q.m.Groups[q.ws[0]].Requests)
	})
}

func (q *classQuestion) classOf() []int {
	of := make([]int, len(q.m.Topology.Nodes))
	for c, nodes := range classes.Of(q.m, q.ws, q.pods, q.key).Nodes {
		for _, n := range nodes {
			of[n] = c
		}
	}
	return of
}

func (q *classQuestion) alike(a, b int) bool {
	keys := []string{q.key}
	for _, w := range q.ws {
		e := q.m.Eligible(w)
		if e.Nodes[a] != e.Nodes[b] {
			return false
		}
		for _, t := range q.m.Groups[w].Terms {
			if t.Hard {
				keys = append(keys, t.Key)
			}
		}
	}
	for _, key := range keys {
		if key != "" && q.domain(a, key) != q.domain(b, key) {
			return false
		}
	}
	return q.takeTheSame(a, b, q.pods, map[corev1.ResourceName]int64{}, q.ws)
}

// domain returns the value of a key, or "alone" if no other node has the value and no rule may name
// it.
func (q *classQuestion) domain(n int, key string) string {
	value, has := q.m.Topology.Nodes[n].Labels[key]
	alone := !slices.ContainsFunc(q.m.Topology.Nodes, func(o *topology.Node) bool { return o != q.m.Topology.Nodes[n] && o.Labels[key] == value })
	if has && alone && !model.BoundLabel(key) {
		return "alone"
	}
	return fmt.Sprint(has, value)
}

// takeTheSame reports whether two nodes take the same sets of up to pods additional pods, if pods
// with the given requests are already there.
func (q *classQuestion) takeTheSame(a, b, pods int, asked map[corev1.ResourceName]int64, ws []*workload.Workload) bool {
	if q.takes(a, asked) != q.takes(b, asked) {
		return false
	}
	if pods == 0 {
		return true
	}
	for i, w := range ws {
		more := map[corev1.ResourceName]int64{corev1.ResourcePods: asked[corev1.ResourcePods] + 1}
		for _, r := range q.m.Groups[w].Requests {
			more[r.Name] = asked[r.Name] + r.Amount
		}
		for name, amount := range asked {
			more[name] = max(more[name], amount)
		}
		if !q.takeTheSame(a, b, pods-1, more, ws[i:]) {
			return false
		}
	}
	return true
}

func (q *classQuestion) takes(n int, asked map[corev1.ResourceName]int64) bool {
	for name, amount := range asked {
		if amount > q.m.Offers(name, q.m.Topology.Nodes)[n] {
			return false
		}
	}
	return true
}
