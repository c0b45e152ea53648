package check

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// nodeSets computes which nodes a group's pods may be on and how the domains of these nodes nest.
// It caches whatever stays the same while runs are replayed.
type nodeSets struct {
	filters
	sets    map[string]*sited
	reached map[*model.Group][]int
	nested  map[string]bool
}

// newNodeSets returns node sets with only the running pods in place. If a node loss is given, the
// running pods that the loss removes are omitted.
func newNodeSets(lost *absence, m *model.Model, contend bool) *nodeSets {
	return &nodeSets{newFilters(newBooks(lost, m), contend), map[string]*sited{}, map[*model.Group][]int{}, map[string]bool{}}
}

func (ns *nodeSets) count(g *model.Group) int {
	if g.Kind.PerNode() {
		return len(ns.sites(g))
	}
	return g.Count.N
}

func (ns *nodeSets) marked(nodes []int) []bool {
	in := make([]bool, len(ns.on))
	for _, n := range nodes {
		in[n] = true
	}
	return in
}

// reaches reports whether a group's pods may be on one of the marked nodes.
func (ns *nodeSets) reaches(g *model.Group, in []bool) bool {
	return slices.ContainsFunc(ns.reachable(g), func(n int) bool { return in[n] })
}

// currentNodes returns the nodes that a group's pods may be on. For a running group, it returns the
// group's node.
func (ns *nodeSets) currentNodes(g *model.Group) []int {
	if !g.Running {
		return ns.sites(g)
	}
	n, known := ns.m.IndexOf(g.Spec.NodeName)
	if !known {
		return nil
	}
	return []int{n}
}

// byDomain groups nodes by their value of a key. It returns the nodes that lack the key
// separately.
func byDomain(m *model.Model, nodes []int, key string) (by map[string][]int, without []int) {
	by = map[string][]int{}
	for _, n := range nodes {
		if value, ok := m.Topology.Nodes[n].Labels[key]; ok {
			by[value] = append(by[value], n)
		} else {
			without = append(without, n)
		}
	}
	m.Run().Spend(len(nodes) / model.PerStep)
	return by, without
}

// refines reports whether no domain of the inner key is partly inside a domain of the outer key.
func (ns *nodeSets) refines(nodes []int, inner, outer string) bool {
	by, _ := byDomain(ns.m, nodes, inner)
	for _, members := range by {
		around, outside := byDomain(ns.m, members, outer)
		if len(around) > 1 || len(around) == 1 && len(outside) > 0 {
			return false
		}
	}
	return true
}

// carriesAll reports whether a node has the keys for all hard affinity and spread terms.
func (ns *nodeSets) carriesAll(g *model.Group, n int) bool {
	labels := ns.m.Topology.Nodes[n].Labels
	return model.Carries(labels, model.HardKeys(g)) && !slices.ContainsFunc(g.HardAffinity(), func(t *model.Term) bool { return !model.Carries(labels, []string{t.Key}) })
}

// only returns the nodes that a member's pods may be on. A member for one node of a DaemonSet has
// only this node.
func (ns *nodeSets) only(m certificate.Member) []int {
	if m.Node < 0 {
		return ns.sites(m.G)
	}
	return slices.DeleteFunc([]int{m.Node}, func(n int) bool { return !slices.Contains(ns.sites(m.G), n) })
}

// nests reports whether any two domains of the keys are disjoint or nested on a group's nodes.
func (ns *nodeSets) nests(g *model.Group, keys []string) bool {
	return len(keys) < 2 || lazy.Cached(ns.nested, ns.sited(g).name+"|"+strings.Join(keys, ","), func() bool {
		nest := true
		for i := range keys {
			for _, other := range keys[:i] {
				nest = nest && laminar(ns.m, ns.sites(g), keys[i], other)
			}
		}
		return nest
	})
}

// laminar reports whether any two domains of the keys a and b are disjoint or nested on the nodes.
func laminar(m *model.Model, nodes []int, a, b string) bool {
	inA, inB, both := map[string]int{}, map[string]int{}, map[[2]string]int{}
	for _, n := range nodes {
		labels := m.Topology.Nodes[n].Labels
		x, hasA := labels[a]
		y, hasB := labels[b]
		if hasA {
			inA[x]++
		}
		if hasB {
			inB[y]++
		}
		if hasA && hasB {
			both[[2]string{x, y}]++
		}
	}
	for pair, common := range both {
		if common < min(inA[pair[0]], inB[pair[1]]) {
			return false
		}
	}
	return true
}

// inside reports whether, on a group's nodes, no domain of the inner key is partly inside a domain
// of the outer key.
func (ns *nodeSets) inside(g *model.Group, inner, outer string) bool {
	id := ns.sited(g).name + "|" + inner + " in " + outer
	return lazy.Cached(ns.nested, id, func() bool { return ns.refines(ns.sites(g), inner, outer) })
}

// sites returns the nodes that pass a group's node-level filters and, when empty, fit one of its
// pods.
func (ns *nodeSets) sites(g *model.Group) []int { return ns.sited(g).list }

// sited is a set of nodes with a name that identifies it. least holds the smallest amount of each
// resource on any of these nodes.
type sited struct {
	name  string
	list  []int
	least map[corev1.ResourceName]int64
}

func (ns *nodeSets) sited(g *model.Group) *sited {
	// The nodes that pass the node-level filters and have a pod slot.
	all := ns.sets[g.Signature]
	if all == nil {
		all = &sited{name: g.Signature, least: map[corev1.ResourceName]int64{}}
		for n, p := range ns.m.Eligible(g.Workload).Nodes {
			if most, _ := model.Fits(ns.m.Topology.Nodes[n], nil); p.All() && most > 0 {
				all.list = append(all.list, n)
			}
		}
		ns.sets[g.Signature] = all
	}
	for i := range g.Requests {
		name := g.Requests[i].Name
		if _, known := all.least[name]; known {
			continue
		}
		least := int64(model.Unbounded) << 24
		offers := ns.m.Offers(name, ns.m.Topology.Nodes)
		for _, n := range all.list {
			least = min(least, offers[n]) // larger than the initial value if the node is not judged
		}
		all.least[name] = least
	}
	if !slices.ContainsFunc(g.Requests, func(r model.Request) bool {
		least, judged := all.least[r.Name]
		return judged && r.Amount > least
	}) {
		return all
	}
	id := g.Signature + "|" + g.Request
	return lazy.Cached(ns.sets, id, func() *sited {
		small := func(n int) bool { return !model.Holds(ns.m.Topology.Nodes[n], g) }
		return &sited{name: id, list: slices.DeleteFunc(slices.Clone(all.list), small)}
	})
}

// reachable returns the nodes that a group's pods may ever be on.
func (ns *nodeSets) reachable(g *model.Group) []int {
	if len(ns.running) == 0 {
		return ns.sites(g)
	}
	return lazy.Cached(ns.reached, g, func() []int { return ns.lasting(g, ns.sites(g)) })
}

// lasting returns the given nodes without those that running pods block permanently. If no pods are
// running, it omits nodes that lack a key of a hard spread constraint.
func (ns *nodeSets) lasting(g *model.Group, nodes []int) []int {
	keys := model.HardKeys(g)
	if len(ns.running) == 0 && len(keys) == 0 {
		return nodes
	}
	if len(ns.running) == 0 && ns.absent == nil && g.Spec.NodeName == "" {
		ns.m.Run().Spend(1 + len(nodes)/model.PerStep)
		return slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return !model.Carries(ns.m.Topology.Nodes[n].Labels, keys) })
	}
	return slices.DeleteFunc(slices.Clone(nodes), func(n int) bool { return ns.blocked(g, n) })
}

// domainID returns a string that is equal for nodes in the same domains for all terms. It also
// reports whether the node has every term's key.
func domainID(n *topology.Node, terms []*model.Term) (id string, complete bool) {
	complete = true
	for _, t := range terms {
		value, ok := n.Labels[t.Key]
		complete = complete && ok
		id += value + "\x00"
	}
	return id, complete
}

// neverPlacedGroups is the set of groups whose pods are never placed, because the pods that they
// require are never placed either (T20).
type neverPlacedGroups map[*model.Group]bool

// neverPlaced reports whether a group's pods are never placed. In that case, required affinity
// demands peers, none of the group's pods can come first, and all possible peers are never placed.
func (ns *nodeSets) neverPlaced(g *model.Group) bool {
	return (*model.Keep(ns.m, ns.followers))[g]
}

// followers returns the groups that are never placed. It starts with the groups whose pods cannot
// come first. It repeatedly removes groups that can have a peer outside the set.
func (ns *nodeSets) followers() *neverPlacedGroups {
	all := neverPlacedGroups{}
	var left []*model.Group
	for _, w := range ns.m.Workloads {
		if g := ns.m.Groups[w]; ns.m.Present(g) && ns.cannotLead(g) {
			all[g] = true
			left = append(left, g)
		}
	}
	for changed := true; changed; {
		before := len(left)
		left = slices.DeleteFunc(left, func(g *model.Group) bool {
			hard := g.HardAffinity()
			ns.m.Run().Spend(1 + len(ns.selects[hard[0]]))
			if slices.ContainsFunc(ns.selects[hard[0]], func(o *workload.Workload) bool {
				return !all[ns.m.Groups[o]] && !slices.ContainsFunc(hard[1:], func(t *model.Term) bool { return !slices.Contains(ns.selects[t], o) })
			}) {
				delete(all, g)
				return true
			}
			return false
		})
		changed = len(left) < before
	}
	return &all
}

// cannotLead reports whether a group's pods require other pods, and none of them can come first. It
// must be certain which pods they require.
func (ns *nodeSets) cannotLead(g *model.Group) bool {
	hard := g.HardAffinity()
	if len(hard) == 0 || g.Running || g.Spec.NodeName != "" || len(ns.m.Doubts([]*workload.Workload{g.Workload})) > 0 {
		return false
	}
	return slices.ContainsFunc(hard, func(t *model.Term) bool {
		return !ns.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true})
	})
}

// coming returns the maximum number of pods that a group can have in place.
func (ns *nodeSets) coming(g *model.Group) int {
	if ns.neverPlaced(g) {
		return 0
	}
	return ns.count(g)
}

// comes reports whether a group has pods that may still be placed.
func (ns *nodeSets) comes(g *model.Group) bool { return g.Placeable() && !ns.neverPlaced(g) }

// pairs evaluates the rules between two groups' pods on given nodes.
type pairs struct{ *nodeSets }

// beside returns how many DaemonSet pods on other nodes share a domain of some key with the
// member's node.
func (p *pairs) beside(m certificate.Member, keys []string) int {
	count := 0
	for _, n := range p.sites(m.G) {
		if n != m.Node && slices.ContainsFunc(keys, func(k string) bool { return model.SameDomain(p.m.Topology.Nodes[n], p.m.Topology.Nodes[m.Node], k) }) {
			count++
		}
	}
	return count
}

func portsClash(m *model.Model, g, o *model.Group) bool {
	m.Run().Spend(1 + (len(g.HostPorts)+len(o.HostPorts))/model.PerStep)
	if len(g.HostPorts) == 0 || len(o.HostPorts) == 0 {
		return false
	}
	if len(g.HostPorts)*len(o.HostPorts) <= model.PerStep {
		return slices.ContainsFunc(g.HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(o.HostPorts, p.Conflicts) })
	}
	byNumber := map[int32][]model.HostPort{}
	for _, p := range o.HostPorts {
		byNumber[p.Port] = append(byNumber[p.Port], p)
	}
	return slices.ContainsFunc(g.HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(byNumber[p.Port], p.Conflicts) })
}

// apartOn returns the keys on which a group's pods always exclude each other.
func (p *pairs) apartOn(g *model.Group) []string {
	var keys []string
	if g.Spec.NodeName != "" {
		return nil // the kubelet ignores affinity
	}
	for _, a := range p.against[g.Workload] {
		if a.w == g.Workload && !slices.Contains(keys, a.key) {
			keys = append(keys, a.key)
		}
	}
	for t := range g.Hard(model.AntiAffinity) {
		if !slices.Contains(keys, t.Key) && p.surely(t, g, g) {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

// excludesAt reports whether a pod of o on any of the given nodes always keeps incoming pods of g
// out of its own domain of a key.
func (p *pairs) excludesAt(g, o *model.Group, key string, nodes []int) bool {
	for t := range g.Hard(model.AntiAffinity) {
		if t.Key == key && p.surelyAt(t, g, o, nodes) {
			return true
		}
	}
	return slices.Contains(p.against[g.Workload], against{o.Workload, key})
}

// surely reports whether a term selects the pods of o wherever they are.
func (p *pairs) surely(t *model.Term, g, o *model.Group) bool {
	return p.surelyAt(t, g, o, p.sites(o))
}

func (p *pairs) surelyAt(t *model.Term, g, o *model.Group, nodes []int) bool {
	if !t.Sel.Local() {
		return slices.Contains(p.selects[t], o.Workload)
	}
	return !slices.ContainsFunc(nodes, func(n int) bool {
		return !p.m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true, At: p.m.Topology.Nodes[n]})
	})
}

// companions reports whether some other workload's pods match all of a group's required affinity
// terms.
func (p *pairs) companions(g *model.Group) bool {
	hard := g.HardAffinity()
	return len(hard) > 0 && slices.ContainsFunc(p.selects[hard[0]], func(o *workload.Workload) bool {
		if o == g.Workload {
			return false
		}
		if !model.Local(hard) {
			return selectedByAll(p.m, hard, g, o, nil)
		}
		return slices.ContainsFunc(p.sites(p.m.Groups[o]), func(n int) bool { return selectedByAll(p.m, hard, g, o, p.m.Topology.Nodes[n]) })
	})
}

// within reports whether a group's single spread constraint counts only the group's own pods. The
// group's anti-affinity must keep pods apart only within the constraint's domains (T3).
func (p *pairs) within(g *model.Group) bool {
	var t *model.Term
	for of := range g.Hard(model.Spread) {
		t = of
	}
	return p.keeps(g, t)
}

// keeps is like within, but applies to one of several spread constraints.
func (p *pairs) keeps(g *model.Group, t *model.Term) bool {
	if t.Sel.Form != model.FormSet || !p.surely(t, g, g) || !p.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true}) || p.watches(g, t) {
		return false
	}
	return !slices.ContainsFunc(p.apartOn(g), func(k string) bool { return !p.inside(g, k, t.Key) })
}

// watches reports whether a spread constraint also counts other workloads' pods.
func (p *pairs) watches(g *model.Group, t *model.Term) bool {
	return t.Sel.Form == model.FormSet && slices.ContainsFunc(p.selects[t], func(o *workload.Workload) bool { return o != g.Workload && !o.Terminating() })
}
