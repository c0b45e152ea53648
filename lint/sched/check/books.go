package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// books tracks the pods in place and the counts that the filters need. It keeps counts by label
// value, so replaying a run takes linear time.
type books struct {
	m *model.Model
	*relations
	// here counts the pods of a workload in a domain, for the topology keys of terms that depend on
	// these pods.
	here map[place3]int
	// total counts a workload's pods on all nodes that have the key.
	total map[keyOf]int
	// on has one entry per node. It is the node's load, or nil if the node is empty.
	on []*load
	// placed counts the pods of each workload. running marks the nodes with running pods.
	placed  map[*workload.Workload]int
	running map[int]bool
	// counts holds, for each spread constraint, the number of pods that it counts in each domain.
	counts map[*model.Term]map[string]int
	// absent is the node loss that has happened, or nil.
	absent *absence
}

// load holds a node's pods, used resources and occupied ports, in short lists.
type load struct {
	pods  []podsOf
	used  []usedOf
	ports map[model.HostPort]int
}

// podsOf pairs a workload with a pod count. usedOf pairs a resource with its used amount.
type podsOf struct {
	w    *workload.Workload
	pods int
}

type usedOf struct {
	name   corev1.ResourceName
	amount int64
}

// uses returns the used amount of a resource. A nil load uses no resources.
func (l *load) uses(name corev1.ResourceName) int64 {
	if l == nil {
		return 0
	}
	for i := range l.used {
		if l.used[i].name == name {
			return l.used[i].amount
		}
	}
	return 0
}

func (l *load) use(name corev1.ResourceName, amount int64) {
	i := slices.IndexFunc(l.used, func(u usedOf) bool { return u.name == name })
	if i < 0 {
		i, l.used = len(l.used), append(l.used, usedOf{name: name})
	}
	l.used[i].amount += amount
}

func (b *books) pods(n int, w *workload.Workload) int {
	if b.on[n] != nil {
		for i := range b.on[n].pods {
			if b.on[n].pods[i].w == w {
				return b.on[n].pods[i].pods
			}
		}
	}
	return 0
}

type place3 struct {
	w          *workload.Workload
	key, value string
}

type keyOf struct {
	w   *workload.Workload
	key string
}

// newBooks records the running pods. If a node loss is given, it omits running pods that no longer
// count.
func newBooks(lost *absence, m *model.Model) books {
	b := books{
		m: m, relations: related(m), absent: lost, on: make([]*load, len(m.Topology.Nodes)), here: map[place3]int{}, total: map[keyOf]int{},
		placed: map[*workload.Workload]int{}, running: map[int]bool{}, counts: map[*model.Term]map[string]int{},
	}
	for _, w := range m.Workloads {
		if g := m.Groups[w]; w.Running && model.Modelled(g) {
			if n, ok := m.IndexOf(w.Spec.NodeName); ok {
				b.survive(g, n, 1)
				b.running[n] = true
			}
		}
	}
	return b
}

// add records a pod on a node, and remove undoes that.
func (b *books) add(g *model.Group, n int)    { b.enter(g, n, 1) }
func (b *books) remove(g *model.Group, n int) { b.enter(g, n, -1) }

func (b *books) enter(g *model.Group, n, by int) {
	b.book(g, n, by)
	b.tally(g, n, by)
}

// book adds or removes a pod everywhere except in the counts of spread constraints.
func (b *books) book(g *model.Group, n, by int) {
	node := b.m.Topology.Nodes[n]
	b.m.Run().Spend(1 + len(b.keys) + (len(g.Requests)+len(g.HostPorts))/2)
	for _, key := range b.looked[g.Workload] {
		if value, ok := node.Labels[key]; ok {
			b.here[place3{g.Workload, key, value}] += by
			b.total[keyOf{g.Workload, key}] += by
		}
	}
	b.placed[g.Workload] += by
	on := b.on[n]
	if on == nil {
		on = &load{}
		b.on[n] = on
	}
	i := slices.IndexFunc(on.pods, func(p podsOf) bool { return p.w == g.Workload })
	if i < 0 {
		i, on.pods = len(on.pods), append(on.pods, podsOf{w: g.Workload})
	}
	on.pods[i].pods += by
	on.use(corev1.ResourcePods, int64(by))
	for i := range g.Requests {
		on.use(g.Requests[i].Name, g.Requests[i].Amount*int64(by))
	}
	if on.ports == nil && len(g.HostPorts) > 0 {
		on.ports = map[model.HostPort]int{}
	}
	for _, p := range g.HostPorts {
		on.ports[p] += by
	}
}

// tally adds a pod to the counts of the spread constraints that count it, or removes it from them.
func (b *books) tally(g *model.Group, n, by int) {
	node := b.m.Topology.Nodes[n]
	for _, s := range b.watched[g.Workload] {
		if g.Terminating() || pinnedSpread(s.g, s.t) || s.t.Sel.Form != model.FormSet || !b.counted(s.g, s.t, n, n) || s.t.Sel.Local() && !b.m.Selects(s.t, s.g.Workload, g.Workload, model.Asks{Incoming: true, At: node}) {
			continue
		}
		if b.counts[s.t] == nil {
			b.counts[s.t] = map[string]int{}
		}
		b.counts[s.t][node.Labels[s.t.Key]] += by
	}
}

// counted reports whether a spread constraint of g counts the pods on node n. The argument `to` is
// the node for a new pod of g.
func (b *books) counted(g *model.Group, t *model.Term, n, to int) bool {
	p := b.m.Eligible(g.Workload).Nodes[n]
	switch {
	case !model.Carries(b.m.Topology.Nodes[n].Labels, model.HardKeys(g)):
		return false
	case t.HonorsTaints() && !p.Taints, b.absent.from(n) && (b.absent.meaning == certificate.Gone || t.HonorsTaints()):
		return false
	case t.HonorsAffinity():
		return p.Selector && (!g.Kind.PerNode() || n == to)
	}
	return true
}

// survive adds a pod that was in place before a loss, or removes it again, if the pod still counts.
func (b *books) survive(g *model.Group, n, by int) {
	switch {
	case !b.absent.from(n), g.Kind.PerNode() && b.absent.meaning != certificate.Gone:
		b.enter(g, n, by)
	case b.absent.meaning == certificate.Unreachable:
		b.book(g, n, by) // a terminating pod, which no spread constraint counts (R-T4)
	}
}

// waits reports whether a pod has not been created yet because a pod with a lower ordinal is
// missing (R-W11).
func (b *books) waits(g *model.Group) bool {
	return slices.ContainsFunc(model.Before(b.m, g), func(w *workload.Workload) bool { return b.placed[w] == 0 })
}

// relations holds the workloads that each hard term selects. For each workload, it also holds the
// anti-affinity terms and spread constraints that select the workload.
type relations struct {
	selects map[*model.Term][]*workload.Workload
	// keys lists the topology keys of all hard terms in sorted order. looked lists, for each
	// workload, the keys of the terms that depend on the workload's pods.
	keys    []string
	looked  map[*workload.Workload][]string
	against map[*workload.Workload][]against
	// migrating lists the entries in `against` that come from a migration instead of a term
	// (R-W25).
	migrating map[*workload.Workload][]against
	watched   map[*workload.Workload][]watch // a term with a condition on node labels selects the pods on some nodes
	// users lists the workloads whose pods use a claim that one pod can use at a time, by its name.
	users map[string][]*workload.Workload
	// doubted lists pairs of workloads that an anti-affinity term may or may not keep apart. Only
	// the cluster knows the facts that decide this. vague marks workloads with any other rule that
	// depends on such facts.
	doubted map[*workload.Workload][]against
	vague   map[*workload.Workload]bool
}

type against struct {
	w   *workload.Workload
	key string
}

type watch struct {
	g *model.Group
	t *model.Term
}

// related computes the relations of a model once for all checks.
func related(m *model.Model) *relations {
	return model.Keep(m, func() *relations {
		all := &relations{
			selects: map[*model.Term][]*workload.Workload{}, looked: map[*workload.Workload][]string{}, watched: map[*workload.Workload][]watch{},
			against: map[*workload.Workload][]against{}, migrating: map[*workload.Workload][]against{},
			doubted: map[*workload.Workload][]against{}, vague: map[*workload.Workload]bool{}, users: map[string][]*workload.Workload{},
		}
		for _, w := range m.Workloads {
			if g := m.Groups[w]; m.Present(g) {
				for _, claim := range w.OncePod {
					all.users[claim] = append(all.users[claim], w)
				}
				all.learn(m, g)
			}
		}
		for _, p := range m.Apart { // exclusions that do not come from manifest terms
			all.keys = append(all.keys, p.Key)
			m.Number()
			for _, i := range m.StandFor[p.A] {
				for _, j := range m.StandFor[p.B] {
					x, y := m.Workloads[i], m.Workloads[j]
					for _, pair := range [][2]*workload.Workload{{x, y}, {y, x}} {
						a := against{pair[1], p.Key}
						all.against[pair[0]] = append(all.against[pair[0]], a)
						all.migrating[pair[0]] = append(all.migrating[pair[0]], a)
						all.look(pair[0], p.Key)
					}
				}
			}
		}
		slices.Sort(all.keys)
		all.keys = slices.Compact(all.keys)
		return all
	})
}

// maySelect reports whether a term selects pods of o on some node that can hold such a pod.
func maySelect(m *model.Model, t *model.Term, g, o *model.Group) bool {
	if !t.Sel.Local() {
		return m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true})
	}
	for n, p := range m.Eligible(o.Workload).Nodes {
		node := m.Topology.Nodes[n]
		if (o.Running && p.Name || p.All() && model.Holds(node, o)) && m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true, At: node}) {
			return true
		}
	}
	return false
}

// learn records the workloads that a group's hard terms select.
func (v *relations) learn(m *model.Model, g *model.Group) {
	for t := range g.HardTerms() {
		v.keys = append(v.keys, t.Key)
		m.Run().Spend(model.StepsPerTerm)
		for o := range m.Doubtful(t, g.Workload) { // workloads that the term may select, depending on facts that only the cluster knows
			switch {
			case !m.Present(m.Groups[o]):
			case t.Use != model.AntiAffinity:
				v.vague[g.Workload] = true
			default:
				v.doubted[g.Workload] = append(v.doubted[g.Workload], against{o, t.Key})
				if o != g.Workload {
					v.doubted[o] = append(v.doubted[o], against{g.Workload, t.Key})
				}
			}
		}
		for _, list := range m.Index.Candidates(t, g.Workload) {
			for _, o := range list {
				if !m.Present(m.Groups[o]) {
					continue
				}
				if maySelect(m, t, g, m.Groups[o]) {
					v.selects[t] = append(v.selects[t], o)
					if t.Use == model.Spread {
						v.watched[o] = append(v.watched[o], watch{g, t})
					} else {
						v.look(o, t.Key)
					}
				}
				if t.Use == model.AntiAffinity && m.Selects(t, g.Workload, o, model.Asks{}) {
					v.against[o] = append(v.against[o], against{g.Workload, t.Key})
					v.look(g.Workload, t.Key)
				}
			}
		}
	}
}

// look records that a term depends on a workload's pods in the domains of a key.
func (v *relations) look(w *workload.Workload, key string) {
	if !slices.Contains(v.looked[w], key) {
		v.looked[w] = append(v.looked[w], key)
	}
}
