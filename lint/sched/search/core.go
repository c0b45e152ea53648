package search

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Atom is one member of a core: a term, or another part of a workload.
type Atom struct {
	Workload *workload.Workload
	// Term is set for terms. Otherwise Part names the part.
	Term *model.Term
	Part Part
}

// Core is a minimal set of rules, numbers and node facts that cannot all be met: if any one of them
// is dropped, all pods of the question can be placed. Repairs are changes that let the pods be
// placed.
type Core struct {
	Atoms   []Atom
	Repairs []Repair
}

// Repair is a way to resolve a contradiction: fewer replicas of a workload, more nodes like an
// existing one, atoms to drop, or the topology key that an atom probably means.
//
// Opens is parallel to Atoms. If dropping a selector or taints removes the only condition that
// excludes nodes, the entry is that condition. Otherwise it is nil.
type Repair struct {
	Workload *workload.Workload
	Replicas int
	Nodes    int
	Like     *topology.Node
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
	PartReplicas Part = "replicas" // the number of pods
)

var parts = []Part{PartSelector, PartTaints, PartRequests, PartSlots, PartPorts, PartReplicas}

// coreSteps is the step limit of each decision while a core is minimized.
const coreSteps = 1_000_000

// maxTogether is the maximum number of workloads in the search for a core.
const maxTogether = 40

// newRelaxation returns a relaxation that covers only the given workloads and drops nothing yet.
func newRelaxation(group map[*workload.Workload]bool) *relaxation {
	return &relaxation{terms: map[*model.Term]bool{}, parts: map[*workload.Workload]map[Part]bool{}, count: map[*workload.Workload]int{}, only: group}
}

// question is asked again and again while a core is minimized: can all pods of one workload, or of
// all workloads, be placed?
type question struct {
	m *model.Model
	// of is the workload, or nil for all. contend is false for the rules alone.
	of      *workload.Workload
	contend bool
}

// possible reports whether some run places the pods of the question.
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

// Explain returns the core of a workload whose pods can never all be placed. Other workloads of its
// component may be part of the contradiction. It returns nil if the budget is too small to minimize
// the core.
func Explain(m *model.Model, w *workload.Workload, d *certificate.Decision) (core *Core) {
	m.Ask([]*workload.Workload{w}, WhyQuestion, min(eachOf(m, d, w), m.Part([]*workload.Workload{w})), func() { core = explain(m, w, d) })
	return core
}

// eachOf returns the share of a component's budget that one of its workloads gets.
func eachOf(m *model.Model, d *certificate.Decision, w *workload.Workload) int {
	group := d.Groups[w]
	if len(group) == 0 {
		return m.Budget([]*workload.Workload{w})
	}
	if d.Each == nil {
		d.Each = map[*workload.Workload]int{}
	}
	return model.Cached(d.Each, group[0], func() int { return m.Each(group) })
}

func explain(m *model.Model, w *workload.Workload, d *certificate.Decision) *Core {
	if p := m.Permanent(); p != m && !w.Finite() {
		return explain(p, w, d)
	}
	q := question{m: m, of: w, contend: true}
	group := dependencies(m, w)
	relax := newRelaxation(group)
	if w.Finite() { // pods that run to completion are never placed only if not a single one finds a node
		relax.count[w] = 1
	}
	if len(group) > maxTogether || q.possible(relax) != model.No { // other workloads of its component are part of the contradiction
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
	for _, o := range m.InOrder(group, nil) { // the workload itself comes last, so that the core is about it if possible
		if o != w {
			all = append(all, o)
		}
	}
	return q.core(relax, append(all, w))
}

// dependencies returns a workload, the workloads that its required affinity and spread constraints
// select, and the dependencies of those workloads in turn. Without them the workload might be
// harder to place.
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

// ExplainTogether returns workloads that can never all be placed although each of them can, and
// their core.
func ExplainTogether(m *model.Model, d *certificate.Decision) ([]*workload.Workload, *Core) {
	if p := m.Permanent(); p != m {
		return ExplainTogether(p, d)
	}
	q := question{m: m, contend: true}
	seen := map[*workload.Workload]bool{}
	for i := range d.Workloads {
		w := d.Workloads[i].Workload
		if seen[w] {
			continue
		}
		group := together(d, w)
		maps.Copy(seen, group)
		if len(group) == 1 {
			continue
		}
		var ws []*workload.Workload
		var core *Core
		of := slices.Collect(maps.Keys(group))
		m.Ask(of, WhyQuestion, m.Bounds(of), func() { ws, core = q.among(group) })
		if core != nil {
			return ws, core
		}
	}
	return nil, nil
}

// among returns the workloads of a group that contradict each other, and their core.
func (q question) among(group map[*workload.Workload]bool) ([]*workload.Workload, *Core) {
	relax := newRelaxation(group)
	if q.possible(relax) != model.No {
		return nil, nil
	}
	owners := q.members(relax)
	relax, ok := q.fewest(relax, owners)
	if !ok {
		return nil, nil
	}
	owners = relax.remaining(owners)
	return owners, q.core(relax, owners)
}

// remaining returns the workloads that still have pods.
func (r *relaxation) remaining(ws []*workload.Workload) []*workload.Workload {
	return slices.DeleteFunc(slices.Clone(ws), func(w *workload.Workload) bool {
		n, counted := r.count[w]
		return counted && n <= 0
	})
}

// core minimizes a contradiction and tries repairs.
func (q question) core(relax *relaxation, ws []*workload.Workload) *Core {
	atoms := q.smaller(relax, ws)
	if atoms == nil {
		return nil
	}
	core := &Core{Atoms: atoms}
	q.m.Run().Within(q.m.Run().Left()/4*3, func() { core.Repairs = q.repairs(relax, ws, atoms) })
	return core
}

// smaller drops, one by one, the atoms that the contradiction does not need. It returns nil if one
// of the decisions runs out of steps.
func (q question) smaller(relax *relaxation, ws []*workload.Workload) []Atom {
	core := []Atom{}
	for _, atom := range q.atoms(relax, ws) {
		without := relax.and(atom)
		if atom.Part == PartReplicas && !q.free(without) {
			continue // others need its pods, and would be harder to place without them
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

// together returns the workloads in the component of w.
func together(d *certificate.Decision, w *workload.Workload) map[*workload.Workload]bool {
	group := setOf(d.Groups[w])
	group[w] = true
	return group
}

// atoms lists the atoms that may be dropped. The pods of the workload in question are not among
// them, because the question is about these pods.
func (q question) atoms(relax *relaxation, ws []*workload.Workload) []Atom {
	var list []Atom
	for _, w := range ws {
		for _, p := range parts {
			none := p == PartPorts && len(q.m.Groups[w].HostPorts) == 0
			if !none && (p != PartReplicas || q.of != nil && q.of != w) {
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

// and returns the relaxation with one more atom dropped.
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

// free reports whether no remaining affinity or spread selects the workloads whose pods are
// dropped. If so, dropping the pods cannot make other pods harder to place.
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

// relaxation drops parts of the input, to show which parts a verdict depends on. A nil relaxation
// drops nothing.
type relaxation struct {
	terms map[*model.Term]bool
	parts map[*workload.Workload]map[Part]bool
	count map[*workload.Workload]int
	// extra is the number of additional pods that a DaemonSet has on each node.
	extra map[*workload.Workload]int
	// only is the set of workloads that take part, or nil for all.
	only  map[*workload.Workload]bool
	nodes []*topology.Node
	// keys holds topology keys that replace those of terms.
	keys map[*model.Term]string
}

func (r *relaxation) clone() *relaxation {
	more := *r
	more.terms, more.parts, more.count = maps.Clone(r.terms), maps.Clone(r.parts), maps.Clone(r.count)
	return &more
}

// key returns the topology key of a term under the relaxation.
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

// pods returns the number of pods of a group under the relaxation.
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

// beside returns the number of additional pods that a DaemonSet has on each node.
func (r *relaxation) beside(g *model.Group) int {
	if r == nil {
		return 0
	}
	return r.extra[g.Origin()]
}

// alone reports whether the workload in question needs peers, its pods may not come first, and no
// participating workload can be its peer (T20). If so, none of its pods can be placed, and no
// instance is needed to find that out.
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

// answerByCounts answers for pods that have no rules about other pods and have the nodes to
// themselves. Each node takes the pods that fit it, in any order, so no instance is needed.
func (q question) answerByCounts(relax *relaxation) (answer model.Answer, ok bool) {
	g := q.m.Groups[q.of]
	if q.of == nil || !q.contend || len(relax.only) != 1 || !relax.only[q.of] || len(q.m.Running) > 0 || len(relax.nodes) > 0 || q.m.Split() != q.m {
		return model.Maybe, false
	}
	ports := len(g.HostPorts) > 0 && !relax.without(g, PartPorts)
	if ports || g.Kind.PerNode() || g.Spec.NodeName != "" || !model.Modelled(g) || len(q.m.Apart) > 0 ||
		slices.ContainsFunc(g.Terms, func(t *model.Term) bool { return t.Hard && !relax.dropped(t) }) {
		return model.Maybe, false
	}
	if relax.roomFor(q.m, g) < relax.pods(g) {
		return model.No, true
	}
	return model.Yes, true
}

// roomFor returns how many pods of a group the empty nodes take. It stops counting once all pods of
// the group fit.
func (r *relaxation) roomFor(m *model.Model, g *model.Group) int {
	requests, slots := g.Requests, &model.Request{Name: corev1.ResourcePods, Amount: 1}
	if r.without(g, PartRequests) {
		requests = nil
	}
	selector, taints := r.without(g, PartSelector), r.without(g, PartTaints)
	pods, room := r.pods(g), 0
	for n, p := range m.Eligible(g.Workload).Nodes {
		if room >= pods {
			break
		}
		m.Run().Spend(1 + len(requests)/model.PerStep)
		if !p.Name || !p.Selector && !selector || !(p.Taints && p.Schedulable) && !taints {
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

// fitting returns how many pods fit a node by one of their requests, at most the given number.
func fitting(n *topology.Node, r *model.Request, most int) int {
	has, judged := model.Offered(n, r)
	if !judged || r.Amount == 0 {
		return most
	}
	return int(min(int64(most), max(0, has/r.Amount)))
}
