package search

import (
	"fmt"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// compiler turns a model into an instance. Its fields are not needed afterwards.
type compiler struct {
	*state
	relax    *relaxation
	keyAt    map[string]int
	sets     map[string]*nodeSet
	included map[model.DomainKey]*inclusion
	demands  []classes.Demand // by resource
}

// newState compiles a model and places the running pods. It omits workloads that are rejected,
// finished or not modeled.
func newState(m *model.Model, contend bool, relax *relaxation) *state {
	a := &state{
		instance: instance{m: m, nodes: m.Topology.Nodes, contend: contend, unitsOf: map[*workload.Workload][]int{}, places: [][]bool{nil}},
		byDomain: map[exclusion]*counter{}, known: map[placeID]*place{}, daemons: map[*model.Group][]int{},
	}
	b := &compiler{state: a, relax: relax, keyAt: map[string]int{}, sets: map[string]*nodeSet{}, included: map[model.DomainKey]*inclusion{}}
	m.Run().Spend(model.StepsPerArena)
	part := m.Workloads
	if relax != nil {
		a.nodes = slices.Concat(a.nodes, relax.nodes)
	}
	if relax != nil && relax.only != nil {
		part = m.InOrder(relax.only, m.Running())
	}
	for _, w := range part {
		if g := m.Groups[w]; model.Modelled(g) {
			b.addUnits(g)
		}
	}
	b.addResources()
	a.counts = make([][]keyed, len(a.units))
	for i := range a.units {
		b.relate(i)
	}
	a.findUnplaceable()
	b.addApart()
	b.addPorts()
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
		rules := len(u.clashes) + len(u.exclusions) + len(u.affinityKeys)*(1+len(u.peers)) + len(u.keys)
		for _, c := range u.spreads {
			rules += len(c.domains)
		}
		u.cost, u.moved = 1+rules/model.PerStep, 1+(len(u.ports)+len(a.counts[i])+len(a.watchers[i]))/model.PerStep
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

// addUnits adds a group's pods. For a DaemonSet, it adds one pod group for each node that the
// controller chooses (R-N29, R-N31).
func (b *compiler) addUnits(g *model.Group) {
	if g.Kind.PerNode() {
		for n, p := range b.passes(g) {
			if p.All() && !b.relax.gone(g) {
				b.addUnit(&podGroup{g: g, pods: 1 + b.relax.beside(g), kubelet: g.Spec.NodeName != "", pinned: n, nodes: &nodeSet{list: []int32{int32(n)}, one: n}})
			}
		}
		return
	}
	u := &podGroup{g: g, pods: b.relax.pods(g), kubelet: g.Spec.NodeName != ""}
	if g.After != nil {
		u.createdAfter = b.units[b.unitsOf[g.After][0]]
	}
	b.addUnit(u)
}

func (b *compiler) addUnit(u *podGroup) {
	b.unitsOf[u.g.Workload] = append(b.unitsOf[u.g.Workload], len(b.units))
	b.units = append(b.units, u)
}

// nodesFor returns the nodes that pass the filters and are large enough for one of the pod group's
// pods. If no node is too small, pod groups share one set.
func (b *compiler) nodesFor(u *podGroup) *nodeSet {
	base := b.passing(u.g)
	small := false // whether some node may be too small
	for r, ask := range u.ask {
		small = small || ask > 0 && ask > base.least[r]
	}
	if u.g.Running || !small {
		return base
	}
	id := u.g.Signature + "|" + u.g.Request + "|" + b.relaxed(u.g)
	return lazy.Cached(b.sets, id, func() *nodeSet {
		b.m.Run().Spend(1 + len(b.nodes)/model.PerStep)
		s := &nodeSet{has: make([]bool, len(b.nodes)), one: -1}
		for _, n := range base.list {
			if b.fits(u, int(n)) {
				s.has[n] = true
				s.list = append(s.list, n)
			}
		}
		return s
	})
}

// relaxed returns a string that differs between workloads that the relaxation treats differently.
func (b *compiler) relaxed(g *model.Group) string {
	if !b.relax.treats(g) && !g.Running {
		return ""
	}
	return g.Object.Namespace + "/" + g.Object.Kind + "/" + g.Object.Name
}

func (b *compiler) passing(g *model.Group) *nodeSet {
	id := g.Signature + "|" + b.relaxed(g)
	return lazy.Cached(b.sets, id, func() *nodeSet {
		p := b.passers(g)
		s := &nodeSet{list: p.list, has: p.has, one: -1, least: make([]int64, len(b.resources))}
		for r, name := range b.resources {
			least, known := p.least[name]
			if !known {
				b.m.Run().Spend(1 + len(p.list)/(4*model.PerStep))
				least = math.MaxInt64
				offers := b.m.Offers(name, b.nodes)
				for _, n := range p.list {
					least = min(least, offers[n])
				}
				p.least[name] = least
			}
			s.least[r] = b.demands[r].Usable(least)
		}
		return s
	})
}

// passers holds the nodes that pass the node-level filters for pods with the same signature. It
// also holds the smallest amount of each resource on any of these nodes.
type passers struct {
	list  []int32
	has   []bool
	least map[corev1.ResourceName]int64
}

// keptPassers caches, by pod signature, which of a model's nodes pass the node-level filters.
type keptPassers map[string]*passers

const maxPassers = 64

func (b *compiler) passers(g *model.Group) *passers {
	kept := *model.KeepForNodes(b.m, func() *keptPassers { return &keptPassers{} })
	shared := len(b.nodes) == len(b.m.Topology.Nodes) && b.relaxed(g) == ""
	if p := kept[g.Signature]; p != nil && shared {
		return p
	}
	b.m.Run().Spend(1 + len(b.nodes)/(2*model.PerStep))
	p := &passers{has: make([]bool, len(b.nodes)), least: map[corev1.ResourceName]int64{}}
	for n, by := range b.passes(g) {
		if g.Running && by.Name || !g.Running && by.All() {
			p.has[n] = true
			p.list = append(p.list, int32(n))
		}
	}
	if shared && len(kept) < maxPassers {
		kept[g.Signature] = p
	}
	return p
}

func (b *compiler) key(name string) int {
	if i, known := b.keyAt[name]; known {
		return i
	}
	b.m.Run().Spend(1 + len(b.nodes)/model.PerStep)
	b.keyAt[name] = len(b.keys)
	b.keys = append(b.keys, name)
	domain, size := b.m.Numbered(name, b.nodes)
	b.domain, b.sizes = append(b.domain, domain), append(b.sizes, size)
	return len(b.keys) - 1
}

// addResources lists the requested resources and the amounts that the nodes offer. Pod slots are
// the last resource.
func (b *compiler) addResources() {
	index := map[corev1.ResourceName]int{}
	for _, u := range b.units {
		for _, r := range b.requests(u) {
			if _, ok := index[r.Name]; !ok {
				index[r.Name] = len(b.resources)
				b.resources = append(b.resources, r.Name)
			}
		}
	}
	b.resources = append(b.resources, corev1.ResourcePods)
	slots := len(b.resources) - 1
	b.m.Run().Spend(len(b.resources) * (len(b.units) + len(b.nodes)) / (2 * model.PerStep))
	for _, u := range b.units {
		u.ask = make([]int64, len(b.resources))
		if !b.relax.without(u.g, PartSlots) {
			u.ask[slots] = 1
		}
		for _, r := range b.requests(u) {
			u.ask[index[r.Name]] = r.Amount
		}
	}
	b.demands = make([]classes.Demand, len(b.resources))
	for _, u := range b.units {
		for r, ask := range u.ask {
			b.demands[r] = b.demands[r].With(ask, max(1, u.pods))
		}
	}
	b.free = make([]int64, len(b.nodes)*len(b.resources))
	for r, name := range b.resources {
		for n, amount := range b.m.Offers(name, b.nodes) {
			b.free[n*len(b.resources)+r] = b.demands[r].Usable(amount)
		}
	}
	for _, u := range b.units {
		if u.kubelet {
			b.forgetUnlisted(u, index)
		}
	}
	for _, u := range b.units { // exclude nodes that are too small even when empty
		if u.nodes == nil {
			u.nodes = b.nodesFor(u)
		} else if !b.fits(u, u.nodes.one) {
			u.nodes = &nodeSet{one: -1}
		}
	}
}

// forgetUnlisted drops a kubelet pod's requests for extended resources that the pod's node does not
// list.
func (b *compiler) forgetUnlisted(u *podGroup, index map[corev1.ResourceName]int) {
	for n, node := range b.nodes {
		if node.Name != u.g.Spec.NodeName {
			continue
		}
		for name, i := range index {
			if _, listed := b.nodes[n].Allocatable[name]; !listed && model.Extended(name) {
				u.ask[i] = 0
			}
		}
	}
}

// requests returns the requests of one pod in a group.
func (b *compiler) requests(u *podGroup) []model.Request {
	return b.relax.requests(u.g)
}

// passes returns the node-level filter results for every node in the instance.
func (b *compiler) passes(g *model.Group) []model.Passes {
	all := b.m.Eligible(g.Workload).Nodes
	selector, taints, cordons := b.relax.without(g, PartSelector), b.relax.without(g, PartTaints), b.relax.without(g, partCordons)
	volumes := b.relax.without(g, PartVolumes)
	if len(all) == len(b.nodes) && !selector && !taints && !cordons && !volumes {
		return all
	}
	b.m.Run().Spend(model.StepsPerTerm + len(b.nodes)/model.PerStep + (len(b.nodes)-len(all))*model.PerStep)
	relaxed := append([]model.Passes(nil), all...)
	f := model.NewFilter(g.Workload)
	for _, n := range b.nodes[len(all):] {
		relaxed = append(relaxed, f.Passes(n))
	}
	for i := range relaxed {
		p := &relaxed[i]
		if cordons && !p.All() {
			*p = f.Passes(model.Uncordoned(b.nodes[i]))
		}
		p.Selector = p.Selector || selector
		p.Taints, p.Schedulable = p.Taints || taints, p.Schedulable || taints
		p.Volume, p.Zone = p.Volume || volumes, p.Zone || volumes
	}
	return relaxed
}

// relate resolves a pod group's rules to the pod groups that they select.
func (b *compiler) relate(i int) {
	u := b.units[i]
	b.m.Run().Spend(model.StepsPerTerm * len(u.g.Terms))
	var near, spreads []*model.Term
	for _, t := range u.g.Terms {
		if !t.Hard || b.relax.dropped(t) {
			continue
		}
		b.doubt(i, t)
		if more := b.m.LeansOn(t, u.g); len(more) > 0 {
			u.open, b.doubts = true, append(b.doubts, more...)
		}
		switch {
		case t.Use == model.AntiAffinity: // applies in both directions, except that nothing keeps a bound pod out
			k := b.key(b.relax.key(t))
			for _, j := range b.selected([]*model.Term{t}, u, true) {
				b.exclude(i, exclusion{k, j.unit, j.place})
			}
			for _, j := range b.selected([]*model.Term{t}, u, false) {
				b.exclude(j.unit, exclusion{k, i, 0})
			}
		case u.kubelet: // the kubelet ignores the pod's own affinity and spread
		case t.Use == model.Affinity:
			near = append(near, t)
		case t.Use == model.Spread:
			u.keys, spreads = append(u.keys, b.key(b.relax.key(t))), append(spreads, t)
		}
	}
	for _, t := range spreads {
		u.spreads = append(u.spreads, b.constraint(i, t))
	}
	if len(near) > 0 {
		u := b.units[i]
		u.first = true
		for _, t := range near {
			u.affinityKeys = append(u.affinityKeys, b.key(b.relax.key(t)))
			u.first = u.first && b.m.Selects(t, u.g.Workload, u.g.Workload, model.Asks{Self: true, Incoming: true})
		}
		u.peers = b.selected(near, u, true)
		for _, j := range u.peers {
			for _, k := range u.affinityKeys {
				b.counter(exclusion{k, j.unit, j.place})
			}
		}
	}
}

// doubt records the pod groups that a term may or may not select. It also records the exclusions
// that apply if the term selects them.
func (b *compiler) doubt(i int, t *model.Term) {
	u := b.units[i]
	for w, key := range b.m.Doubtful(t, u.g.Workload) {
		if len(b.unitsOf[w]) == 0 {
			continue
		}
		u.unsure = append(u.unsure, b.unitsOf[w]...)
		b.doubts = append(b.doubts, b.m.DoubtAbout(t, u.g.Workload, w, key))
		if t.Use != model.AntiAffinity {
			u.vague = true
			continue
		}
		k := b.key(b.relax.key(t))
		for _, j := range b.unitsOf[w] {
			u.maybe = append(u.maybe, exclusion{k, j, 0})
			b.units[j].maybe = append(b.units[j].maybe, exclusion{k, i, 0})
		}
	}
}

// addPorts numbers the host ports that pods use, and finds the ones that clash.
func (b *compiler) addPorts() {
	index := map[model.HostPort]int{}
	for _, u := range b.units {
		if b.relax.without(u.g, PartPorts) {
			continue
		}
		for _, p := range u.g.HostPorts {
			if _, ok := index[p]; !ok {
				index[p] = len(b.hostPorts)
				b.hostPorts = append(b.hostPorts, p)
				b.portsOn = append(b.portsOn, newCounter(len(b.nodes)))
			}
			u.ports = append(u.ports, index[p])
		}
	}
	byNumber := map[int32][]int{}
	for i, p := range b.hostPorts {
		byNumber[p.Port] = append(byNumber[p.Port], i)
	}
	for _, u := range b.units {
		for _, own := range u.ports {
			for _, p := range byNumber[b.hostPorts[own].Port] {
				b.m.Run().Spend(1)
				if b.hostPorts[own].Conflicts(b.hostPorts[p]) {
					u.clashes = append(u.clashes, p)
				}
			}
		}
		u.taken = slices.Sorted(slices.Values(u.ports))
		slices.Sort(u.clashes)
		u.clashes = slices.Compact(u.clashes)
	}
}

// clashesWith reports whether v's host ports keep u's pods off a node.
func (u *podGroup) clashesWith(v *podGroup) bool {
	for i, j := 0, 0; i < len(u.clashes) && j < len(v.taken); {
		switch d := u.clashes[i] - v.taken[j]; {
		case d == 0:
			return true
		case d < 0:
			i++
		default:
			j++
		}
	}
	return false
}

// selected returns the pod groups that all of the given terms of u select. If incoming is set, a
// pod of u is being scheduled. Otherwise, a pod of u is in place and other pods are being
// scheduled.
func (b *compiler) selected(terms []*model.Term, u *podGroup, incoming bool) []located {
	var units []located
	seen := map[*workload.Workload]bool{}
	for _, list := range b.m.Index.Candidates(terms[0], u.g.Workload) {
		for _, w := range list {
			if b.m.Run().Spend(1); seen[w] {
				continue
			}
			seen[w] = true
			for _, j := range b.unitsOf[w] {
				if place := b.where(terms, u, b.units[j], incoming); place >= 0 {
					units = append(units, located{j, place})
				}
			}
		}
	}
	slices.SortFunc(units, func(x, y located) int { return x.unit - y.unit })
	return units
}

// where returns the number of the node set on which the terms of u select v's pods. It returns -1
// if they select v's pods on no node. The number 0 stands for all nodes. Another number is possible
// only if the terms have a condition on a label that pods inherit from their node.
func (b *compiler) where(terms []*model.Term, u, v *podGroup, incoming bool) int {
	on := func(n *topology.Node) bool {
		return !slices.ContainsFunc(terms, func(t *model.Term) bool {
			return !b.m.Selects(t, u.g.Workload, v.g.Workload, model.Asks{Incoming: incoming, At: n})
		})
	}
	if !incoming || !model.Local(terms) {
		if on(nil) {
			return 0
		}
		return -1
	}
	at, some, all := make([]bool, len(b.nodes)), false, true
	for _, n := range v.nodes.list {
		at[n] = on(b.nodes[n])
		some, all = some || at[n], all && at[n]
	}
	switch {
	case !some:
		return -1
	case all:
		return 0
	}
	if known := slices.IndexFunc(b.places, func(p []bool) bool { return p != nil && slices.Equal(p, at) }); known >= 0 {
		return known
	}
	b.places = append(b.places, at)
	return len(b.places) - 1
}

func (b *compiler) exclude(i int, x exclusion) {
	b.m.Run().Spend(2 + len(b.units[i].exclusions)/model.PerStep)
	if u := b.units[i]; !u.kubelet && !slices.Contains(u.exclusions, x) {
		u.exclusions = append(u.exclusions, x)
		b.counter(x)
	}
}

func (b *compiler) counter(x exclusion) {
	if b.byDomain[x] == nil {
		c := newCounter(b.sizes[x.key])
		b.byDomain[x] = c
		b.counts[x.unit] = append(b.counts[x.unit], keyed{x.key, x.place, c})
	}
}

func (b *compiler) constraint(i int, t *model.Term) *constraint {
	u := b.units[i]
	c := &constraint{key: b.key(b.relax.key(t)), maxSkew: int(t.Constraint.MaxSkew), minDomains: t.MinDomains()}
	if t.Sel.Form == model.FormEmpty || b.m.Selects(t, u.g.Workload, u.g.Workload, model.Asks{Self: true, Incoming: true}) {
		c.self = 1
	}
	in := b.include(u, c, t)
	c.counted, c.domains = in.counted, in.domains
	if t.Sel.Form == model.FormSet {
		c.watch = slices.DeleteFunc(b.selected([]*model.Term{t}, u, true), func(j located) bool { return b.units[j.unit].g.Terminating() })
	}
	c.count = make([]int32, b.sizes[c.key])
	return c
}

// inclusion holds the nodes that a constraint counts, and the domains of these nodes. Equivalent
// workloads with equal constraints share an inclusion.
type inclusion struct {
	counted []bool
	domains []int
}

// include applies the node inclusion policies (plugins/podtopologyspread/common.go,
// matchNodeInclusionPolicies).
func (b *compiler) include(u *podGroup, c *constraint, t *model.Term) *inclusion {
	if u.keysID == "" {
		b.m.Run().Spend(1 + len(u.keys))
		u.keysID = model.ShortID(fmt.Sprint(u.keys))
	}
	id := model.DomainKey{
		Signature: u.g.Signature, Key: b.relax.key(t), Keys: u.keysID,
		HonorAffinity: t.HonorsAffinity(), HonorTaints: t.HonorsTaints(),
	}
	shared := !b.relax.treats(u.g) && !u.g.Kind.PerNode()
	if in := b.included[id]; in != nil && shared {
		return in
	}
	in := &inclusion{counted: make([]bool, len(b.nodes))}
	seen := map[int32]bool{}
	for n, p := range b.passes(u.g) {
		d := b.domain[c.key][n]
		pinned := u.g.Kind.PerNode() && !u.nodes.holds(n)
		if !b.carries(n, u.keys) || id.HonorTaints && !p.Taints || id.HonorAffinity && (!p.Selector || pinned) {
			continue
		}
		if in.counted[n] = true; !seen[d] {
			seen[d] = true
			in.domains = append(in.domains, int(d))
		}
	}
	if shared {
		b.included[id] = in
	}
	return in
}
