package search

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// pod group is pods that are alike in everything that decides placement: those of a
// workload, or the one that a DaemonSet has on one node.
type podGroup struct {
	g    *model.Group
	pods int
	// kubelet is set for pods that are bound by their manifest: they meet the
	// kubelet's admission only (R-P8).
	kubelet bool
	// pinned is the only node of a pod of a DaemonSet.
	pinned int
	// nodes are those that pass the node-level filters and hold at least one
	// pod when empty. Pod groups with equal node rules and requests share the set.
	nodes *nodeSet
	// ask is what a pod asks of each resource of the instance.
	ask []int64
	// apart lists what keeps a pod out of a domain: pods of another pod group, or of
	// its own, in the same domain of a key. It is symmetric (R-A5 to R-A7).
	apart []exclusion
	// near are the keys of required affinity, met by pods of the pod groups in
	// company; first is set if a pod may be the first one (R-A9 to R-A14).
	near    []int
	company []located
	first   bool
	// spreads are the hard constraints; keys all their keys, which a node needs.
	spreads []*constraint
	keys    []int
	keysID  string // equal for equal keys
	// ports are those that a pod takes on its node, taken the same in order, and
	// clashes, in order, those of which one is enough to keep it off.
	ports, taken, clashes []int
	// after is the pod group that has to be placed before this one is created, or nil;
	// placed is how many pods are in place.
	after  *podGroup
	placed int
	// unsure are pod groups of which nobody can tell whether a hard term of this one
	// selects them: it asks for a label value that only the cluster knows.
	unsure []int
	// open is set if a hard term may count on pods that take no part.
	open bool
	// cost is how many steps it takes to ask whether a node takes a pod, and moved
	// how many to place one.
	cost, moved int
}

// exclusion is a key and a pod group that must not share its domains, as far as its
// pods are at that place.
type exclusion struct{ key, unit, place int }

// located is a pod group, as far as its pods are at a place: an index to the instance's
// places, of which the first is everywhere.
type located struct{ unit, place int }

// constraint is a hard spread constraint ready to be evaluated (R-T1 to R-T7).
type constraint struct {
	key, maxSkew, minDomains int
	// self is 1 if the pod counts itself.
	self int
	// counted marks the nodes whose pods count; domains are their values.
	counted []bool
	domains []int
	// watch are the pod groups whose pods count.
	watch []located
	// count is the number of counting pods in each domain of the key, in the
	// current state of the instance.
	count []int32
}

// instance is a Model made of numbers: nodes, keys and pod groups are indices, and a
// state is how many pods of each pod group are on each node.
type instance struct {
	m     *model.Model
	nodes []*topology.Node
	keys  []string
	keyAt map[string]int
	// domain is the domain of a node for a key, or -1; sizes is their number.
	domain [][]int32
	sizes  []int
	units  []*podGroup
	// resources by index; free is what each node has left, math.MaxInt64 where
	// it is not judged. The last one is the slots for pods.
	resources []corev1.ResourceName
	free      []int64
	// rest is free with nothing but running pods in place, which are listed.
	rest    []int64
	running []step
	// in counts pods by pod group and node for the pod groups that a search is about;
	// byDomain by key, pod group and domain where some rule asks for it, which counts
	// lists by pod group; portsOn counts by port and node.
	in        [][]int32
	byDomain  map[exclusion]*counter
	counts    [][]keyed
	hostPorts []model.HostPort
	portsOn   []*counter
	sets      map[string]*nodeSet
	unitsOf   map[*workload.Workload][]int
	included  map[model.DomainKey]*inclusion
	watchers  [][]watcher
	// places are sets of nodes: pods of a pod group may match a selector on some nodes
	// only, whose zone they get as a label. The first is nil, for all nodes.
	places [][]bool
	// contend is unset for the rules verdict, where pods do not contend.
	contend bool
	relax   *relaxation
	doubts  []model.Doubt
	company []bool // pod groups whose pods others need near, once somebody asked
}

// keyed is a counter of one pod group at a place, and its key.
type keyed struct {
	key, place int
	*counter
}

// watcher is a constraint that counts the pods of a pod group at a place.
type watcher struct {
	*constraint
	place int
}

// newArena compiles a model. Workloads that are refused, finished or not
// modelled take no part; running pods are in place.
func newInstance(m *model.Model, contend bool, relax *relaxation) *instance {
	a := &instance{m: m, nodes: m.Topology.Nodes, byDomain: map[exclusion]*counter{}, keyAt: map[string]int{}, contend: contend, relax: relax,
		sets: map[string]*nodeSet{}, unitsOf: map[*workload.Workload][]int{}, included: map[model.DomainKey]*inclusion{}, places: [][]bool{nil}}
	m.Run().Spend(model.StepsPerArena)
	if relax != nil {
		a.nodes = slices.Concat(a.nodes, relax.nodes)
	}
	for _, w := range takingPart(m, relax) {
		if g := m.Groups[w]; model.Modelled(g) {
			a.addUnits(g)
		}
	}
	a.addResources()
	a.counts = make([][]keyed, len(a.units))
	for i := range a.units {
		a.relate(i)
	}
	a.addApart()
	a.addPorts()
	a.in = make([][]int32, len(a.units))
	a.watchers = make([][]watcher, len(a.units))
	for _, u := range a.units {
		for _, c := range u.spreads {
			for _, v := range c.watch {
				a.watchers[v.unit] = append(a.watchers[v.unit], watcher{c, v.place})
			}
		}
	}
	for i, u := range a.units {
		u.cost, u.moved = u.asking(), 1+(len(u.ports)+len(a.counts[i])+len(a.watchers[i]))/model.PerStep
	}
	for i, u := range a.units {
		if u.g.Running {
			for _, n := range u.nodes.list {
				a.place(i, int(n))
				a.running = append(a.running, step{i, int(n)})
			}
		}
	}
	a.rest = slices.Clone(a.free)
	return a
}

// asking is how many steps it takes to hold the rules of a pod group against a node.
func (u *podGroup) asking() int {
	rules := len(u.clashes) + len(u.apart) + len(u.near)*(1+len(u.company)) + len(u.keys)
	for _, c := range u.spreads {
		rules += len(c.domains)
	}
	return 1 + rules/model.PerStep
}

// addUnits adds the pods of a group: a DaemonSet has a pod group for every node that
// its controller chooses (R-N29, R-N31).
func (a *instance) addUnits(g *model.Group) {
	if g.Kind.PerNode() {
		for n, p := range a.passes(g) {
			if p.All() && !a.relax.gone(g) {
				a.addUnit(&podGroup{g: g, pods: 1, kubelet: g.Spec.NodeName != "", pinned: n, nodes: &nodeSet{list: []int32{int32(n)}, one: n}})
			}
		}
		return
	}
	u := &podGroup{g: g, pods: a.relax.pods(g), kubelet: g.Spec.NodeName != ""}
	if g.After != nil {
		u.after = a.units[a.unitsOf[g.After][0]]
	}
	a.addUnit(u)
}

func (a *instance) addUnit(u *podGroup) {
	a.unitsOf[u.g.Workload] = append(a.unitsOf[u.g.Workload], len(a.units))
	a.units = append(a.units, u)
}

// nodesFor is the set of nodes for the pods of a pod group: those that pass the
// filters, less those that are too small. Most sets need nothing taken away.
func (a *instance) nodesFor(u *podGroup) *nodeSet {
	base := a.passing(u.g)
	if u.g.Running || a.roomEverywhere(u, base) {
		return base
	}
	id := u.g.Signature + "|" + u.g.Request + "|" + a.relaxed(u.g)
	if s := a.sets[id]; s != nil {
		return s
	}
	a.m.Run().Spend(1 + len(a.nodes)/model.PerStep)
	s := &nodeSet{has: make([]bool, len(a.nodes)), one: -1}
	for _, n := range base.list {
		if a.fits(u, int(n)) {
			s.has[n] = true
			s.list = append(s.list, n)
		}
	}
	a.sets[id] = s
	return s
}

// relaxed tells apart workloads that a relaxation may treat each in its way.
func (a *instance) relaxed(g *model.Group) string {
	if !a.relax.treats(g) && !g.Running {
		return ""
	}
	return g.Object.Namespace + "/" + g.Object.Kind + "/" + g.Object.Name
}

// passing are the nodes that pass the node-level filters.
func (a *instance) passing(g *model.Group) *nodeSet {
	id := g.Signature + "|" + a.relaxed(g)
	if s := a.sets[id]; s != nil {
		return s
	}
	a.m.Run().Spend(len(a.nodes) * (1 + len(a.resources)) / model.PerStep)
	s := &nodeSet{has: make([]bool, len(a.nodes)), one: -1, least: make([]int64, len(a.resources))}
	for r := range s.least {
		s.least[r] = math.MaxInt64
	}
	for n, p := range a.passes(g) {
		if g.Running && p.Name || !g.Running && p.All() {
			s.has[n] = true
			s.list = append(s.list, int32(n))
			for r, free := range a.left(n) {
				s.least[r] = min(s.least[r], free)
			}
		}
	}
	a.sets[id] = s
	return s
}

func (a *instance) roomEverywhere(u *podGroup, s *nodeSet) bool {
	for r, ask := range u.ask {
		if ask > 0 && ask > s.least[r] {
			return false
		}
	}
	return true
}

func (a *instance) key(name string) int {
	if i, known := a.keyAt[name]; known {
		return i
	}
	a.m.Run().Spend(1 + len(a.nodes)/model.PerStep)
	a.keyAt[name] = len(a.keys)
	a.keys = append(a.keys, name)
	domain, size := a.m.Numbered(name, a.nodes)
	a.domain, a.sizes = append(a.domain, domain), append(a.sizes, size)
	return len(a.keys) - 1
}

// addResources lists the resources that somebody asks for, slots for pods
// last, and what the nodes offer.
func (a *instance) addResources() {
	index := map[corev1.ResourceName]int{}
	for _, u := range a.units {
		for _, r := range a.requests(u) {
			if _, ok := index[r.Name]; !ok {
				index[r.Name] = len(a.resources)
				a.resources = append(a.resources, r.Name)
			}
		}
	}
	a.resources = append(a.resources, corev1.ResourcePods)
	slots := len(a.resources) - 1
	a.m.Run().Spend(len(a.resources) * (len(a.units) + len(a.nodes)) / (2 * model.PerStep))
	for _, u := range a.units {
		u.ask = make([]int64, len(a.resources))
		if !a.relax.without(u.g, atomSlots) {
			u.ask[slots] = 1
		}
		for _, r := range a.requests(u) {
			u.ask[index[r.Name]] = r.Amount
		}
	}
	a.free = make([]int64, len(a.nodes)*len(a.resources))
	for r, name := range a.resources {
		for n, amount := range a.m.Offers(name, a.nodes) {
			a.free[n*len(a.resources)+r] = amount
		}
	}
	for _, u := range a.units {
		if u.kubelet {
			a.forgetUnlisted(u, index)
		}
	}
	for _, u := range a.units { // nodes that are too small even when empty
		if u.nodes == nil {
			u.nodes = a.nodesFor(u)
		} else if !a.fits(u, u.nodes.one) {
			u.nodes = &nodeSet{one: -1}
		}
	}
}

// forgetUnlisted drops extended resources that the one node which a kubelet
// pod may be on does not list.
func (a *instance) forgetUnlisted(u *podGroup, index map[corev1.ResourceName]int) {
	for n, node := range a.nodes {
		if node.Name != u.g.Spec.NodeName {
			continue
		}
		for name, i := range index {
			if _, listed := a.nodes[n].Allocatable[name]; !listed && model.Extended(name) {
				u.ask[i] = 0
			}
		}
	}
}
