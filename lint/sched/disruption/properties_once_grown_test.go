package disruption_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/check"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// autoscaled simulates a cluster whose pools gain a node whenever a Pending pod needs one.
type autoscaled struct {
	generator
	elastic
	t     *testing.T
	more  []map[string]int // nodes added by pool and zone
	state *check.State
	m     *model.Model
	on    [][2]string // workload and node of each pod
}

// resize declares the nodes and puts the pods in place again.
func (a *autoscaled) resize(more []map[string]int) {
	a.more = more
	text := nodeTopology
	for i, p := range a.pools {
		text += p.text(more[i], 0)
	}
	_, a.m = judge(a.t, text, a.manifests())
	a.replay()
}

func (a *autoscaled) replay() {
	a.state = check.NewState(a.m)
	for _, p := range a.on {
		i, _ := a.m.IndexOf(p[1])
		a.state.Place(find(a.t, a.m, p[0]), a.m.Topology.Nodes[i])
	}
}

// place puts a pod on a random node that takes it, if there is one.
func (a *autoscaled) place(name string) bool {
	w := find(a.t, a.m, name)
	for _, i := range a.Perm(len(a.m.Topology.Nodes)) {
		n := a.m.Topology.Nodes[i]
		if w.Kind.PerNode() && slices.Contains(a.on, [2]string{name, n.Name}) {
			continue
		}
		if a.placeOn(w, n) {
			return true
		}
	}
	return false
}

func (a *autoscaled) placeOn(w *workload.Workload, n *topology.Node) bool {
	takes := a.state.Filter(w, n) == certificate.Takes
	if takes {
		a.state.Place(w, n)
		a.on = append(a.on, [2]string{w.Object.Name, n.Name})
	}
	return takes
}

// grow adds a random node that would take the pod next to those of DaemonSets, if there is one.
func (a *autoscaled) grow(name string) bool {
	was, on := a.more, len(a.on)
	for _, i := range a.Perm(len(a.pools)) {
		zones := slices.Sorted(maps.Keys(a.pools[i].zones))
		for _, k := range a.Perm(len(zones)) {
			more := slices.Clone(was)
			more[i] = maps.Clone(more[i])
			more[i][zones[k]]++
			old := a.m.Topology.Nodes
			a.resize(more)
			for _, n := range a.m.Topology.Nodes {
				if slices.ContainsFunc(old, func(o *topology.Node) bool { return o.Name == n.Name }) {
					continue
				}
				for _, l := range a.loads {
					if l.kind == "DaemonSet" {
						a.placeOn(find(a.t, a.m, l.name), n)
					}
				}
				if a.state.Filter(find(a.t, a.m, name), n) == certificate.Takes {
					return true
				}
			}
			a.on = a.on[:on]
		}
	}
	a.resize(was)
	return false
}

// TestOnceGrown creates and deletes pods at random, in clusters that grow when a pod is Pending. No
// pod of a workload stays Pending if OnceGrown says so (T33).
func TestOnceGrown(t *testing.T) {
	yes, grown, ruled := 0, 0, 0
	for i := range trials.Seeds(t, trials.Of(t, 600)) {
		g := newGenerator(i, 74)
		e := g.elastic(i%5 > 0)
		wide := elasticPool{box: box{name: "wide", pool: "p", rack: g.pick("", "r", "r"), cpu: g.IntN(5) - 1, pods: -1}, zones: map[string]int{}}
		for _, z := range []string{"a", "b", "c"} {
			if g.chance(80) {
				wide.zones[z] = 0
			}
		}
		e.pools = append(e.pools, wide)
		for k := range e.loads {
			if l := &e.loads[k]; g.chance(60) {
				l.pool, l.rules = "", l.rules[:min(len(l.rules), g.IntN(3))]
			}
			switch l := &e.loads[k]; {
			case k > 0 && g.chance(20):
				l.kind, l.rules = "DaemonSet", nil
			case len(l.rules) > 0 && g.chance(15):
				l.rules[0].labels = "all: pods"
			}
		}
		if l := e.loads; len(l) > 1 && g.chance(10) { // the pods of a DaemonSet count on each new node
			l[0].kind, l[0].rules, l[0].pool, l[0].cpu = "Deployment", []rule{{use: "spread", key: keys[host], labels: "all: pods", skew: 1}}, "", 2
			l[1].kind, l[1].rules, l[1].pool, l[1].cpu = "DaemonSet", nil, "p", 0
			e.pools[0].cpu, e.pools[0].pool, e.pools[0].taint = 1, "q", false
			e.pools = append(e.pools[:1:1], wide)
			e.pools[1].cpu, e.pools[1].zones = 4, map[string]int{"a": 0, "b": 0}
		}
		unbounded := nodeTopology
		for _, p := range e.pools {
			unbounded += p.text(nil, topology.Unbounded)
		}
		_, m := judge(t, unbounded, e.manifests())
		asked, most := e.loads[g.IntN(len(e.loads))], 0
		says := func(n int, lost [2]string) bool { // the check is right by itself, too
			w := find(t, m, asked.name)
			unchecked := check.Checker{}.Grows(m, w, n, lost) == nil
			return search.OnceGrown(m, w, n, lost) || unchecked
		}
		for _, n := range []int{asked.replicas, 2 * asked.replicas} { // an update may double the pods
			if says(n, [2]string{}) {
				most = n
			}
		}
		if lost := g.pick("", "a", "b", "c"); lost != "" {
			if most = 0; says(2*asked.replicas, [2]string{keys[zone], lost}) {
				most = 2 * asked.replicas
			}
			for k := range e.pools {
				delete(e.pools[k].zones, lost)
			}
			e.pools = slices.DeleteFunc(e.pools, func(p elasticPool) bool { return len(p.zones) == 0 })
		}
		if most == 0 {
			continue
		}
		if yes++; len(asked.rules) > 0 {
			ruled++
		}
		a := &autoscaled{generator: g, elastic: e, t: t}
		none := make([]map[string]int, len(e.pools))
		for i := range none {
			none[i] = map[string]int{}
		}
		a.resize(none)
		for range 30 {
			l := e.loads[g.IntN(len(e.loads))]
			has := 0
			for _, p := range a.on {
				if p[0] == l.name {
					has++
				}
			}
			limit := l.replicas
			if l.name == asked.name {
				limit = most
			}
			switch {
			case g.chance(25) && len(a.on) > 0:
				k := g.IntN(len(a.on))
				a.on = slices.Delete(a.on, k, k+1)
				a.replay()
			case l.kind == "DaemonSet":
				a.place(l.name)
			case has >= limit, a.place(l.name):
			case a.grow(l.name):
				grown++
				if g.chance(70) { // others may take the node
					a.place(l.name)
				}
			case l.name == asked.name:
				var on []string
				for _, p := range a.on {
					on = append(on, p[0]+" on "+p[1])
				}
				t.Fatalf("sample %d: %s stays Pending: %s\n%v\n%s%s", i, l.name, strings.Join(on, ", "), a.more, unbounded, e.manifests())
			}
		}
	}
	t.Logf("%d answers are yes, %d of them about workloads with rules; %d nodes were added", yes, ruled, grown)
	if least := trials.Share(t, 25); yes < least || ruled < least || grown < least {
		t.Error("too few samples tell anything")
	}
}
