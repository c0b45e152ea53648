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
	most  []int            // how many nodes each pool may add
	more  []map[string]int // nodes added by pool and zone
	down  string           // a node that takes no pods
	bound []load           // pods that are not placed yet although their manifests name a node
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
	_, a.m = judge(a.t, text, a.all())
	a.replay()
}

// all returns all manifests. Those that name a node are of pods that run, or are to be placed.
func (a *autoscaled) all() string {
	if len(a.bound) == 0 {
		return a.manifests()
	}
	return strings.ReplaceAll(a.manifests(), ", status: {phase: Running}", "")
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
	takes := n.Name != a.down && a.state.Filter(w, n) == certificate.Takes
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
		added := 0
		for _, k := range was[i] {
			added += k
		}
		if added >= a.most[i] {
			continue
		}
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
			unchecked := check.Checker{}.Grows(m, w, certificate.Grown{Pods: n, Lost: lost}) == nil
			return search.OnceGrown(m, w, certificate.Grown{Pods: n, Lost: lost}) || unchecked
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
		a := &autoscaled{generator: g, elastic: e, t: t, most: slices.Repeat([]int{topology.Unbounded}, len(e.pools))}
		a.start()
		grown += a.walk(30, asked, most, 0, func(on []string) {
			t.Fatalf("sample %d: %s stays Pending: %s\n%v\n%s%s", i, asked.name, strings.Join(on, ", "), a.more, unbounded, e.manifests())
		})
	}
	t.Logf("%d answers are yes, %d of them about workloads with rules; %d nodes were added", yes, ruled, grown)
	if least := trials.Share(t, 25); yes < least || ruled < least || grown < least {
		t.Error("too few samples tell anything")
	}
}

// accompanied places all pods of others, if the load in question needs some of them, and reports whether
// one of its pods then finds a node or gets one.
func (a *autoscaled) accompanied(asked load) bool {
	if !slices.ContainsFunc(asked.rules, func(r rule) bool { return r.use == "aff" && r.labels != "app: "+asked.name }) {
		return false
	}
	for again := true; again; {
		again = false
		for _, l := range slices.Concat(a.loads, a.bound) {
			has := 0
			for _, p := range a.on {
				if p[0] == l.name {
					has++
				}
			}
			if l.name == asked.name || l.kind == "DaemonSet" || has >= l.replicas {
				continue
			}
			again = a.place(l.name) || l.node == "" && a.grow(l.name) || again
		}
	}
	return a.place(asked.name) || a.grow(asked.name)
}

// start begins with the declared nodes and no pods.
func (a *autoscaled) start() {
	none := make([]map[string]int, len(a.pools))
	for i := range none {
		none[i] = map[string]int{}
	}
	a.on, a.down = nil, ""
	a.resize(none)
}

// walk creates and deletes pods at random, at most a given number of the load in question. It calls
// stuck with all pods if one of these finds no node and gets none. If spare is 1, a node takes no more
// pods at some time. It returns how many nodes were added.
func (a *autoscaled) walk(steps int, asked load, most, spare int, stuck func(on []string)) (grown int) {
	loads := slices.Concat(a.loads, a.bound)
	deletes := a.IntN(30)
	for range steps {
		l := loads[a.IntN(len(loads))]
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
		case spare > 0 && a.down == "" && len(a.m.Topology.Nodes) > 0 && a.chance(10):
			a.down = a.m.Topology.Nodes[a.IntN(len(a.m.Topology.Nodes))].Name
		case a.chance(deletes) && len(a.on) > 0:
			k := a.IntN(len(a.on))
			a.on = slices.Delete(a.on, k, k+1)
			a.replay()
		case l.kind == "DaemonSet":
			a.place(l.name)
		case has >= limit, a.place(l.name):
		case l.node == "" && a.grow(l.name):
			grown++
			if a.chance(70) { // others may take the node
				a.place(l.name)
			}
		case l.name == asked.name && !a.accompanied(asked):
			var on []string
			for _, p := range a.on {
				on = append(on, p[0]+" on "+p[1])
			}
			stuck(on)
		}
	}
	return grown
}

// TestOnceGrownToMax does the same with pools that have a maximum size, and with pods whose manifests
// name their nodes. The clusters are small, so that pods fill them.
func TestOnceGrownToMax(t *testing.T) {
	yes, grown, ruled, spared := 0, 0, 0, 0
	for i := range trials.Seeds(t, trials.Of(t, 600)) {
		g := newGenerator(i, 75)
		e := g.elastic(i%5 > 0)
		most, declared := []int{}, nodeTopology
		for k := range e.pools {
			p := &e.pools[k]
			if p.taint = p.taint && g.chance(30); g.chance(80) {
				p.pool, p.cpu = "p", 1+g.IntN(4)
			}
			if g.chance(60) { // one zone
				z := slices.Sorted(maps.Keys(p.zones))[0]
				p.zones = map[string]int{z: p.zones[z]}
			}
			p.extra = g.IntN(5)
			if g.chance(8) {
				p.extra = topology.Unbounded
			}
			most, declared = append(most, p.extra), declared+p.text(nil, p.extra)
		}
		for k := range e.loads {
			l := &e.loads[k]
			if l.cpu = g.IntN(4); g.chance(70) {
				l.rules = l.rules[:min(len(l.rules), g.IntN(2))]
			}
			if k > 0 && g.chance(25) {
				l.kind, l.rules, l.cpu = "DaemonSet", nil, g.IntN(2)
			}
		}
		if g.chance(20) { // the pool may be full of nodes in a zone that takes no more pods
			e.pools = []elasticPool{{box: box{name: "p0", pool: "p", cpu: 1 + g.IntN(2), pods: -1}, zones: map[string]int{"a": g.IntN(3), "b": g.IntN(2)}, extra: 1 + g.IntN(4)}}
			e.loads, e.running = e.loads[:1], nil
			e.loads[0] = load{kind: "Deployment", name: "web", replicas: 1 + g.IntN(3), cpu: 1, rules: []rule{{use: g.pick("spread", "spread", "anti", "aff"), key: keys[zone], labels: "app: web", skew: 1}}}
			if g.chance(50) { // pods that follow others, or their own
				w := &e.loads[0]
				e.pools[0].cpu, w.cpu = 2+g.IntN(6), g.IntN(2)
				w.rules = []rule{{use: "aff", key: keys[g.IntN(2)], labels: "app: " + g.pick("web", "db", "db")}}
				if g.chance(40) {
					w.rules = append(w.rules, rule{use: "anti", key: keys[host], labels: "app: web"})
				}
				e.loads = append(e.loads, load{kind: "Deployment", name: "db", replicas: 1 + g.IntN(3), cpu: g.IntN(3)})
				if g.chance(50) {
					e.loads[1].rules = []rule{{use: "anti", key: keys[host], labels: "app: db"}}
				}
				if e.pools[0].extra = g.IntN(6); g.chance(50) {
					e.pools[0].extra = topology.Unbounded
				}
			}
			most, declared = []int{e.pools[0].extra}, nodeTopology+e.pools[0].text(nil, e.pools[0].extra)
		}
		a := &autoscaled{generator: g, elastic: e, t: t, most: most}
		if g.chance(60) {
			a.bound = e.running
		}
		_, m := judge(t, declared, a.all())
		loads := slices.Concat(e.loads, a.bound)
		asked := loads[g.IntN(len(loads))]
		w := find(t, m, asked.name)
		for _, c := range []certificate.Grown{{Pods: 2 * asked.replicas, Spare: 1}, {Pods: 2 * asked.replicas}, {Pods: asked.replicas, Spare: 1}, {Pods: asked.replicas}} {
			unchecked := check.Checker{}.Grows(m, w, c) == nil
			if says := search.OnceGrown(m, w, c); !says && !unchecked {
				continue
			}
			if yes++; len(asked.rules) > 0 {
				ruled++
			}
			spared += c.Spare
			for range 4 {
				a.start()
				grown += a.walk(40, asked, c.Pods, c.Spare, func(on []string) {
					t.Fatalf("sample %d, %+v: %s stays Pending: %s\n%v, without %q\n%s%s", i, c, asked.name, strings.Join(on, ", "), a.more, a.down, declared, a.all())
				})
			}
			break
		}
	}
	t.Logf("%d answers are yes, %d of them about workloads with rules and %d about one node less; %d nodes were added", yes, ruled, spared, grown)
	if least := trials.Share(t, 50); yes < least || ruled < least/2 || spared < least/2 || grown < least {
		t.Error("too few samples tell anything")
	}
}
