package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// books records the pods in place and the counts that the filters need. The counts are
// kept by label values, so a run takes time linear in its length.
type books struct {
	m *model.Model
	*relations
	// here counts the pods of a workload in a domain of a key, for the keys by which some
	// term selects them.
	here map[place3]int
	// total counts the pods of a workload on nodes that carry such a key.
	total map[keyOf]int
	// on is the load of each node, nil for an empty one.
	on []*load
	// placed counts the pods of a workload; running marks the nodes with running pods.
	placed  map[*workload.Workload]int
	running map[int]bool
	// counts is the number of pods that a spread constraint counts in a domain.
	counts map[*model.Term]map[string]int
	// absent is set after a loss of nodes.
	absent *absence
}

// load holds the pods on one node, the resources they use and the ports they take. One
// node has few workloads and resources, so these are lists.
type load struct {
	pods  []podsOf
	used  []usedOf
	ports map[model.HostPort]int
}

// podsOf is a number of pods of a workload, usedOf an amount used of a resource.
type podsOf struct {
	w    *workload.Workload
	pods int
}

type usedOf struct {
	name   corev1.ResourceName
	amount int64
}

// uses returns how much of a resource is used; a nil load uses nothing.
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

// use adds a used amount of a resource.
func (l *load) use(name corev1.ResourceName, amount int64) {
	i := slices.IndexFunc(l.used, func(u usedOf) bool { return u.name == name })
	if i < 0 {
		i, l.used = len(l.used), append(l.used, usedOf{name: name})
	}
	l.used[i].amount += amount
}

// pods returns how many pods of a workload are on a node.
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

// newBooks enters the running pods, or what remains of them if nodes are lost.
func newBooks(lost *absence, m *model.Model) books {
	b := books{
		m: m, relations: related(m), absent: lost, on: make([]*load, len(m.Topology.Nodes)), here: map[place3]int{}, total: map[keyOf]int{},
		placed: map[*workload.Workload]int{}, running: map[int]bool{}, counts: map[*model.Term]map[string]int{},
	}
	for _, w := range m.Workloads {
		if g := m.Groups[w]; w.Running && model.Modelled(g) {
			if n, ok := m.IndexOf(w.Spec.NodeName); ok {
				b.survive(g, n)
				b.running[n] = true
			}
		}
	}
	return b
}

// add enters a pod into the books, remove removes it.
func (b *books) add(g *model.Group, n int)    { b.enter(g, n, 1) }
func (b *books) remove(g *model.Group, n int) { b.enter(g, n, -1) }

func (b *books) enter(g *model.Group, n, by int) {
	b.book(g, n, by)
	b.tally(g, n, by)
}

// book enters a pod for everything except spread constraints.
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

// tally enters a pod for the spread constraints that count it.
func (b *books) tally(g *model.Group, n, by int) {
	node := b.m.Topology.Nodes[n]
	for _, s := range b.watched[g.Workload] {
		if g.Terminating() || pinnedSpread(s.g, s.t) || s.t.Sel.Form != model.FormSet || !b.counted(s.g, s.t, n, n) || !b.m.Selects(s.t, s.g.Workload, g.Workload, model.Asks{Incoming: true, At: node}) {
			continue
		}
		if b.counts[s.t] == nil {
			b.counts[s.t] = map[string]int{}
		}
		b.counts[s.t][node.Labels[s.t.Key]] += by
	}
}

// counted reports whether the pods on node n count for a constraint of a pod that is to
// go to node to.
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

// survive enters a pod that was in place before a loss, as far as it still counts.
func (b *books) survive(g *model.Group, n int) {
	switch {
	case !b.absent.from(n), g.Kind.PerNode() && b.absent.meaning != certificate.Gone:
		b.add(g, n)
	case b.absent.meaning == certificate.Unreachable:
		b.book(g, n, 1) // terminating: no spread counts it (R-T4)
	}
}

// waits reports whether a pod is not created yet because a pod of lower ordinal is
// missing (R-W11).
func (b *books) waits(g *model.Group) bool {
	return slices.ContainsFunc(model.Before(b.m, g), func(w *workload.Workload) bool { return b.placed[w] == 0 })
}
