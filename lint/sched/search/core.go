package search

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Atom is one element of a core: a term or another part of a workload.
type Atom struct {
	Workload *workload.Workload
	// Term is set for terms. Otherwise Part names the part.
	Term *model.Term
	Part Part
}

// Core is a minimal set of rules, numbers and node facts that cannot all be satisfied. If one of
// them is dropped, all pods in question can be placed. Repairs lists changes with the same effect.
type Core struct {
	Atoms   []Atom
	Repairs []Repair
	// Among lists the workloads whose pods conflict, if the question is about several. Some of them
	// may have no atom.
	Among []*workload.Workload
}

// Repair is one way to resolve a contradiction: fewer replicas, more nodes like an existing one,
// dropped atoms, or another topology key that was probably meant.
//
// The first entries of Further, as many as Nodes, are the nodes to add. Like is the node that they
// are copies of. If Domain is not "", it is a topology key and the copies may have other values.
//
// Opens has one entry for each entry of Atoms. For a selector or taints, the entry is the condition
// that excludes the most nodes, or nil. For any other atom, the entry is nil.
type Repair struct {
	Workload *workload.Workload
	Replicas int
	Nodes    int
	Like     *topology.Node
	Further  []*topology.Node
	Domain   string
	Atoms    []Atom
	Opens    []*model.Exclusion
	Key      string
}

// Part names a part of a workload other than a term.
type Part string

// The parts of a workload.
const (
	PartSelector Part = "selector" // nodeSelector and required node affinity
	PartTaints   Part = "taints"   // taints that are not tolerated, and cordons
	PartRequests Part = "requests"
	PartSlots    Part = "slots" // the pod slot on a node
	PartPorts    Part = "ports"
	PartVolumes  Part = "volumes"  // claims whose volumes can be used on some nodes only
	PartReplicas Part = "replicas" // the number of pods
)

// partCordons is dropped to find repairs. A core counts cordons as taints.
const partCordons = "cordons"

var parts = []Part{PartSelector, PartTaints, PartRequests, PartSlots, PartPorts, PartVolumes, PartReplicas}

// coreSteps is the step limit for each decision in the search for a core.
const coreSteps = 1_000_000

// maxTogether is the maximum number of workloads in a search for a core.
const maxTogether = 40

// newRelaxation returns a relaxation that covers only the given workloads and drops nothing.
func newRelaxation(group map[*workload.Workload]bool) *relaxation {
	return &relaxation{terms: map[*model.Term]bool{}, parts: map[*workload.Workload]map[Part]bool{}, count: map[*workload.Workload]int{}, only: group}
}

// question asks whether all pods of one workload, or of all workloads, can be placed. The search
// for a core asks the question under different relaxations.
type question struct {
	m *model.Model
	// `of` is the workload in question, or nil for all workloads. If contend is false, pods do not
	// compete for resources.
	of      *workload.Workload
	contend bool
}

// possible reports whether some run places all pods in question.
func (q question) possible(relax *relaxation) model.Answer {
	if q.of != nil && q.alone(relax) {
		return model.No
	}
	if answer, counted := q.answerByCounts(relax); counted {
		return answer
	}
	return q.decideByInstance(relax)
}

func (q question) decideByInstance(relax *relaxation) model.Answer {
	d := decideInstance(newState(q.m.Split(), q.contend, relax), Options{Steps: coreSteps}, false)
	if q.of == nil {
		switch d.whole() {
		case diag.Never:
			return model.No
		case diag.Unknown:
			return model.Maybe
		}
		return model.Yes
	}
	t := d.tallies()[q.of]
	switch {
	case t.most < t.pods:
		return model.No
	case t.unclear && t.best < t.pods:
		return model.Maybe
	}
	return model.Yes
}

// WhyQuestion describes the search for a core in messages about an exhausted budget.
const WhyQuestion = "the smallest set of conflicting constraints"

// Explain returns the core for a workload whose pods can never all be placed. The core may involve
// other workloads in the same component. Explain returns nil if the budget is too small.
func Explain(m *model.Model, w *workload.Workload, d *certificate.Decision) (core *Core) {
	m.Ask([]*workload.Workload{w}, WhyQuestion, min(eachOf(m, d, w), m.Part([]*workload.Workload{w})), func() {
		if core = explain(largest(m), w, d); core == nil && m.Topology.Elastic() {
			core = explain(m, w, d)
		}
	})
	return core
}

// largest returns a model in which every pool has its maximum size, or m if that is too many nodes. A
// conflict there explains why pods stay Pending at any size.
func largest(m *model.Model) *model.Model {
	nodes, _, ok := m.Grown()
	if !ok || len(nodes)-len(m.Topology.Nodes) > maxGrowth {
		return m
	}
	return m.Variant(m.Workloads, nodes)
}

// eachOf returns the share of the component's budget that a workload gets.
func eachOf(m *model.Model, d *certificate.Decision, w *workload.Workload) int {
	group := d.Groups[w]
	if len(group) == 0 {
		return m.Budget([]*workload.Workload{w})
	}
	if d.Each == nil {
		d.Each = map[*workload.Workload]int{}
	}
	return lazy.Cached(d.Each, group[0], func() int { return m.Each(group) })
}

func explain(m *model.Model, w *workload.Workload, d *certificate.Decision) *Core {
	if p := m.Permanent(); p != m && !w.Finite() {
		return explain(p, w, d)
	}
	q := question{m: m, of: w, contend: true}
	group := dependencies(m, w)
	relax := newRelaxation(group)
	if w.Finite() { // never means that not even one of its pods finds a node
		relax.count[w] = 1
	}
	if len(group) > maxTogether || q.possible(relax) != model.No { // other workloads in its component take part in the contradiction
		if len(d.Groups[w]) > maxTogether {
			return nil
		}
		group = together(d, w)
		count := relax.count
		relax = newRelaxation(group)
		if relax.count = count; q.possible(relax) != model.No {
			return nil
		}
	}
	var all []*workload.Workload
	for _, o := range m.InOrder(group, nil) { // the workload itself comes last, so that the core involves it if possible
		if o != w {
			all = append(all, o)
		}
	}
	return q.core(relax, append(all, w))
}

// dependencies returns a workload, the workloads that its required affinity and spread constraints
// select, and their own dependencies. Without any of them, the workload might be harder to place.
func dependencies(m *model.Model, w *workload.Workload) map[*workload.Workload]bool {
	group, queue := map[*workload.Workload]bool{w: true}, []*workload.Workload{w}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		for _, t := range m.Groups[next].Terms {
			if !t.Hard || t.Use == model.AntiAffinity {
				continue
			}
			for _, o := range m.Others(t, next, true) {
				if !group[o] {
					group[o] = true
					queue = append(queue, o)
				}
			}
		}
	}
	return group
}

// ExplainTogether returns workloads that can never all be placed together, and their core. It returns
// nil if the budget is too small.
func ExplainTogether(m *model.Model, d *certificate.Decision) ([]*workload.Workload, *Core) {
	for i := range d.Short {
		if c, _ := explainShort(m, &d.Short[i]); c != nil {
			return c.Workloads, c.Core
		}
	}
	return nil, nil
}

// ExplainShort explains why the pods of several workloads can never all be placed. It returns nil if the
// budget is too small.
func ExplainShort(m *model.Model, s *certificate.Short) *Conflict {
	c, relax := explainShort(m, s)
	if c == nil {
		return nil
	}
	m = m.Permanent()
	for _, w := range c.Workloads {
		n := w.Count.N
		if w.Kind.PerNode() {
			n = m.Eligible(w).Count
		}
		c.Pods += n
	}
	c.Most = c.Pods - 1
	m.Ask(c.Workloads, WhyQuestion, m.Bounds(c.Workloads), func() {
		most := 0
		for _, o := range decideInstance(newState(m.Split(), true, relax), Options{Steps: coreSteps}, false).outcomes {
			most += o.most
		}
		c.Most = min(c.Most, most)
	})
	return c
}

func explainShort(m *model.Model, s *certificate.Short) (c *Conflict, relax *relaxation) {
	if len(s.Workloads) < 2 {
		return nil, nil
	}
	m = m.Permanent()
	m.Ask(s.Workloads, WhyQuestion, m.Bounds(s.Workloads), func() {
		if c, relax = (question{m: largest(m), contend: true}).among(lists.Set(s.Workloads)); c == nil && m.Topology.Elastic() {
			c, relax = question{m: m, contend: true}.among(lists.Set(s.Workloads))
		}
	})
	return c, relax
}

// among returns the conflict of the workloads in a group that contradict each other, without its numbers
// of pods, and the relaxation that leaves only these workloads.
func (q question) among(group map[*workload.Workload]bool) (*Conflict, *relaxation) {
	relax := newRelaxation(group)
	if q.possible(relax) != model.No {
		return nil, nil
	}
	owners := q.members(relax)
	relax, ok := q.fewest(relax, owners)
	if !ok {
		return nil, nil
	}
	c := &Conflict{Workloads: relax.remaining(owners)}
	if c.Core = q.core(relax, c.Workloads); c.Core == nil {
		return nil, nil
	}
	c.Core.Among = c.Workloads
	return c, relax
}

// remaining returns the workloads that still have pods under the relaxation.
func (r *relaxation) remaining(ws []*workload.Workload) []*workload.Workload {
	return slices.DeleteFunc(slices.Clone(ws), func(w *workload.Workload) bool {
		n, counted := r.count[w]
		return counted && n <= 0
	})
}

// core minimizes a contradiction and looks for repairs.
func (q question) core(relax *relaxation, ws []*workload.Workload) *Core {
	atoms := q.smaller(relax, ws)
	if atoms == nil {
		return nil
	}
	core := &Core{Atoms: atoms}
	q.m.Run().Within(q.m.Run().Left()/4*3, func() {
		tries := map[Kind][]func() []Repair{}
		add := func(k Kind, try func() []Repair) { tries[k] = append(tries[k], try) }
		for _, atom := range atoms[:min(len(atoms), maxParts)] {
			add(CorrectName, func() []Repair { return q.renamed(relax, atom) })
			add(kindOf(atom), func() []Repair { return q.without(relax, atom) })
		}
		add(MoreNodes, func() []Repair { return q.furtherNodes(relax, ws) })
		for _, w := range ws {
			if q.of == nil || q.of == w {
				add(FewerPods, func() []Repair { return q.fewer(relax, w) })
			}
		}
		var repairs []Repair
		for _, k := range sorting.Keys(tries) {
			for _, try := range tries[k] {
				repairs = append(repairs, try()...)
			}
		}
		if len(repairs) == 0 {
			repairs = append(repairs, q.several(relax, atoms)...)
		}
		core.Repairs = slices.CompactFunc(repairs, same)
	})
	return core
}

// smaller drops atoms one by one, as long as the contradiction remains. It returns nil if a
// decision runs out of steps.
func (q question) smaller(relax *relaxation, ws []*workload.Workload) []Atom {
	core := []Atom{}
	for _, atom := range q.atoms(relax, ws) {
		without := relax.and(atom)
		if atom.Part == PartReplicas && !q.free(without) {
			continue // other workloads need its pods and would be harder to place without them
		}
		switch q.possible(without) {
		case model.No: // still impossible, so the atom is not part of the core
			relax = without
		case model.Yes:
			core = append(core, atom)
		case model.Maybe:
			return nil
		}
	}
	return core
}

// together returns all workloads in w's component.
func together(d *certificate.Decision, w *workload.Workload) map[*workload.Workload]bool {
	group := lists.Set(d.Groups[w])
	group[w] = true
	return group
}

// atoms lists the atoms that may be dropped. It omits the pods in question, because the question
// needs them.
func (q question) atoms(relax *relaxation, ws []*workload.Workload) []Atom {
	var list []Atom
	for _, w := range ws {
		for _, p := range parts {
			none := p == PartPorts && len(q.m.Groups[w].HostPorts) == 0 || p == PartVolumes && len(w.Reaches) == 0 && w.OrdinalReaches == nil && !q.m.Groups[w].CountsVolumes()
			more := w.Kind.PerNode() && (p == PartSelector || p == PartTaints) // without it there are more pods in question
			if !none && !more && (p != PartReplicas || q.of != nil && q.of != w) {
				list = append(list, Atom{Workload: w, Part: p})
			}
		}
		for _, t := range q.m.Groups[w].Terms {
			if t.Hard && !relax.dropped(t) {
				list = append(list, Atom{Workload: w, Term: t})
			}
		}
	}
	return list
}

// and returns a copy of the relaxation that drops one more atom.
func (r *relaxation) and(atom Atom) *relaxation {
	more := r.clone()
	switch {
	case atom.Term != nil:
		more.terms[atom.Term] = true
	case atom.Part == PartReplicas:
		more.count[atom.Workload] = 0
	default:
		left := maps.Clone(more.parts[atom.Workload])
		if left == nil {
			left = map[Part]bool{}
		}
		left[atom.Part] = true
		more.parts[atom.Workload] = left
	}
	return more
}

// free reports whether no remaining affinity or spread constraint selects the workloads whose pods
// are dropped. Dropping these pods then cannot make other pods harder to place.
func (q question) free(relax *relaxation) bool {
	for w := range relax.only {
		if n, ok := relax.count[w]; ok && n == 0 {
			continue
		}
		for _, t := range q.m.Groups[w].Terms {
			if !t.Hard || t.Use == model.AntiAffinity || relax.dropped(t) {
				continue
			}
			for _, o := range q.m.Others(t, w, true) {
				if n, ok := relax.count[o]; ok && n == 0 && relax.only[o] {
					return false
				}
			}
		}
	}
	return true
}

// relaxation drops parts of the input to find out which of them a verdict depends on. A nil
// relaxation drops nothing.
type relaxation struct {
	terms map[*model.Term]bool
	parts map[*workload.Workload]map[Part]bool
	count map[*workload.Workload]int
	// extra maps a DaemonSet to the number of additional pods that it has on each node.
	extra map[*workload.Workload]int
	// only is the set of participating workloads, or nil for all.
	only  map[*workload.Workload]bool
	nodes []*topology.Node
	// keys maps terms to replacement topology keys.
	keys map[*model.Term]string
}

func (r *relaxation) clone() *relaxation {
	more := *r
	more.terms, more.parts, more.count = maps.Clone(r.terms), maps.Clone(r.parts), maps.Clone(r.count)
	return &more
}

// key returns a term's topology key under the relaxation.
func (r *relaxation) key(t *model.Term) string {
	if r == nil || r.keys == nil {
		return t.Key
	}
	for _, of := range []*model.Term{t, t.Origin} {
		if key, ok := r.keys[of]; ok {
			return key
		}
	}
	return t.Key
}

func (r *relaxation) dropped(t *model.Term) bool {
	return r != nil && (r.terms[t] || t.Origin != nil && r.terms[t.Origin])
}

func (r *relaxation) without(g *model.Group, part Part) bool {
	return r != nil && r.parts[g.Origin()][part]
}

// gone reports whether the relaxation leaves a group without pods.
func (r *relaxation) gone(g *model.Group) bool {
	if r == nil {
		return false
	}
	n, ok := r.count[g.Origin()]
	return ok && n == 0
}

// treats reports whether the relaxation drops parts of a group.
func (r *relaxation) treats(g *model.Group) bool { return r != nil && len(r.parts[g.Origin()]) > 0 }

// pods returns a group's pod count under the relaxation.
func (r *relaxation) pods(g *model.Group) int {
	if r == nil {
		return g.Count.N
	}
	n, ok := r.count[g.Origin()]
	switch {
	case !ok:
		return g.Count.N
	case g.Whole == nil:
		return n
	case g.Position < n:
		return 1
	}
	return 0
}

// beside returns how many additional pods a DaemonSet has on each node.
func (r *relaxation) beside(g *model.Group) int {
	if r == nil {
		return 0
	}
	return r.extra[g.Origin()]
}

// alone reports whether the first pod of the workload in question requires a peer that no
// participating workload can provide. None of its pods can then be placed (T20), and no instance is
// needed.
func (q question) alone(relax *relaxation) bool {
	g := q.m.Groups[q.of]
	if g.Kind.PerNode() || g.Spec.NodeName != "" || g.Running || q.m.Split() != q.m || relax.keys != nil {
		return false
	}
	first, near := true, 0
	peers := map[*workload.Workload]bool{}
	for _, t := range g.Terms {
		if !t.Hard || relax.dropped(t) {
			continue
		}
		if len(q.m.LeansOn(t, g)) > 0 || q.m.MaybeDoubtful(t, q.of) {
			return false
		}
		if t.Use != model.Affinity {
			continue
		}
		near++
		first = first && q.m.Selects(t, q.of, q.of, model.Asks{Self: true, Incoming: true})
		for _, list := range q.m.Index.Candidates(t, q.of) {
			q.m.Run().Spend(1 + len(list)*t.Sel.Cost())
			for _, o := range list {
				if q.m.Peer(t, q.of, o) != model.No || q.m.Selects(t, q.of, o, model.Asks{Incoming: true}) {
					peers[o] = true
				}
			}
		}
	}
	if near == 0 || first || relax.gone(g) {
		return false
	}
	for o := range peers {
		if o != q.of && q.m.Present(q.m.Groups[o]) {
			return false
		}
	}
	return true
}

// answerByCounts answers the question for pods that have the nodes to themselves and have no rules
// about other pods. No instance is needed, because each node accepts as many pods as fit, in any
// order.
func (q question) answerByCounts(relax *relaxation) (answer model.Answer, ok bool) {
	g := q.m.Groups[q.of]
	if q.of == nil || !q.contend || len(relax.only) != 1 || !relax.only[q.of] || len(q.m.Running()) > 0 || len(relax.nodes) > 0 || q.m.Split() != q.m {
		return model.Maybe, false
	}
	ports := len(g.HostPorts) > 0 && !relax.without(g, PartPorts)
	if ports || relax.without(g, partCordons) || g.Kind.PerNode() || g.Spec.NodeName != "" || !model.Modelled(g) || len(q.m.Apart) > 0 ||
		slices.ContainsFunc(g.Terms, func(t *model.Term) bool { return t.Hard && !relax.dropped(t) }) {
		return model.Maybe, false
	}
	if relax.roomFor(q.m, g) < relax.pods(g) {
		return model.No, true
	}
	return model.Yes, true
}

// roomFor returns how many of a group's pods fit on the empty nodes. It stops counting once all of
// them fit.
func (r *relaxation) roomFor(m *model.Model, g *model.Group) int {
	requests, slots := r.requests(g), &model.Request{Name: corev1.ResourcePods, Amount: 1}
	selector, taints, volumes := r.without(g, PartSelector), r.without(g, PartTaints), r.without(g, PartVolumes)
	pods, room := r.pods(g), 0
	for n, p := range m.Eligible(g.Workload).Nodes {
		if room >= pods {
			break
		}
		m.Run().Spend(1 + len(requests)/model.PerStep)
		if !p.Name || !(p.Volume && p.Zone) && !volumes || !p.Selector && !selector || !(p.Taints && p.Schedulable) && !taints {
			continue
		}
		node := m.Topology.Nodes[n]
		fit := pods
		if !r.without(g, PartSlots) {
			fit = min(fit, fitting(node, slots, fit))
		}
		for i := range requests {
			fit = min(fit, fitting(node, &requests[i], fit))
		}
		room += fit
	}
	return room
}

// requests returns what one pod of a group requests. Volumes that are counted are a part of their own.
func (r *relaxation) requests(g *model.Group) []model.Request {
	requests, volumes := r.without(g, PartRequests), r.without(g, PartVolumes)
	if !requests && !volumes {
		return g.Requests
	}
	return slices.DeleteFunc(slices.Clone(g.Requests), func(q model.Request) bool {
		if topology.CountsVolumes(q.Name) {
			return volumes
		}
		return requests
	})
}

// fitting returns how many pods fit on a node when only one request counts. The result is at most
// the given number.
func fitting(n *topology.Node, r *model.Request, most int) int {
	has, judged := model.Offered(n, r)
	if !judged || r.Amount == 0 {
		return most
	}
	return int(min(int64(most), max(0, has/r.Amount)))
}
