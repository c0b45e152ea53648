package search

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/bound"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Kinds groups the declared nodes by kind. Nodes of the same kind are equivalent for a given set of
// workloads. For each topology key, they are either all in one domain or each alone in a domain.
type Kinds struct {
	m     *model.Model
	of    []int32   // kind of each node
	nodes [][]int32 // nodes of each kind
	// domains holds, for each key, every kind's domain. The domain is -1 if the nodes lack the key,
	// and alone if each node has its own domain.
	domains map[string][]int32
	losses  []*DomainLoss
	// offers caches how much of each resource the kinds offer.
	offers map[corev1.ResourceName]*offered
}

// offered lists how many nodes of each kind offer which amount of a resource. The smallest amount
// comes first. Nodes with an unknown amount are omitted.
type offered struct {
	name  corev1.ResourceName
	sizes []offer
}

// offer is a number of nodes of one kind. The field has is the smallest amount on any of them.
type offer struct {
	kind  int32
	has   int64
	nodes int
}

// sizeStep limits how much sizes differ within an offer. No node may exceed the smallest node by
// more than this fraction of its own size.
const sizeStep = 1.0 / 64

func (k *Kinds) offered(name corev1.ResourceName) *offered {
	return lazy.Cached(k.offers, name, func() *offered {
		o := &offered{name: name}
		offers := k.m.Offers(name, k.m.Topology.Nodes)
		last := make([]int, len(k.nodes)) // for each kind, the index after its last offer so far
		for _, n := range k.ascending(name, offers) {
			kind, has := k.of[n], offers[n]
			if i := last[kind] - 1; i >= 0 && has-o.sizes[i].has <= int64(float64(has)*sizeStep) {
				o.sizes[i].nodes++
				continue
			}
			o.sizes = append(o.sizes, offer{kind, has, 1})
			last[kind] = len(o.sizes)
		}
		return o
	})
}

// ascents caches a model's nodes sorted by their amounts of each resource.
type ascents map[corev1.ResourceName][]int32

// ascending lists the nodes in ascending order of their amounts of a resource. It omits nodes with
// an unknown amount.
func (k *Kinds) ascending(name corev1.ResourceName, offers []int64) []int32 {
	kept := *model.KeepForNodes(k.m, func() *ascents { return &ascents{} })
	return lazy.Cached(kept, name, func() []int32 {
		var nodes []int32
		for n, has := range offers {
			if has != math.MaxInt64 {
				nodes = append(nodes, int32(n))
			}
		}
		slices.SortStableFunc(nodes, func(x, y int32) int { return cmp.Compare(offers[x], offers[y]) })
		return nodes
	})
}

// alone marks a kind in which each node has its own domain.
const alone = -2

// DomainLoss describes the loss of a whole domain or a single node.
type DomainLoss struct {
	// Value is the value of the topology key, or the node name.
	Value string
	// lost lists the lost nodes. If a single node is lost, `like` lists all nodes of its kind. If a
	// domain is lost, both lists are equal.
	nodes      []*topology.Node
	lost, like []int32
	// names caches the result of Nodes.
	names []string
	// taken counts the lost nodes of each kind. `any` counts the lost nodes that can be of any
	// kind.
	taken map[int32]int
	any   int
}

// Nodes returns the names of all lost nodes.
func (b *DomainLoss) Nodes() []string {
	if b.names == nil && len(b.lost) > 0 {
		b.names = b.namesOf(b.lost)
	}
	return b.names
}

// Like returns the names of all lost nodes. If a single node is lost, it returns the names of all
// nodes of the same kind.
func (b *DomainLoss) Like() []string { return b.namesOf(b.like) }

// Alike returns how many names Like returns.
func (b *DomainLoss) Alike() int { return len(b.like) }

func (b *DomainLoss) namesOf(nodes []int32) []string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = b.nodes[n].Name
	}
	return names
}

// AnyNode is the loss of one arbitrary node.
var AnyNode = &DomainLoss{any: 1}

// keptKinds caches a model's kinds by key and node classes.
type keptKinds map[kindsKey]*Kinds

type kindsKey struct {
	key     string
	classes *classes.Classes
}

// KindsOf groups nodes that are equivalent for the workloads into kinds. It also lists the possible
// losses of a domain of the key. pods is the maximum number of the workloads' pods on one node.
func KindsOf(m *model.Model, ws []*workload.Workload, pods int, key string) *Kinds {
	id := kindsKey{key, classes.Of(m, ws, pods, key)}
	kept := *model.KeepForNodes(m, func() *keptKinds { return &keptKinds{} })
	if k := kept[id]; k != nil {
		mine := *k
		mine.m = m
		return &mine
	}
	k := &Kinds{m: m, of: make([]int32, len(m.Topology.Nodes)), nodes: id.classes.Nodes, domains: map[string][]int32{}, offers: map[corev1.ResourceName]*offered{}}
	for c, nodes := range k.nodes {
		for _, n := range nodes {
			k.of[n] = int32(c)
		}
	}
	if key == corev1.LabelHostname {
		for c, nodes := range k.nodes {
			value := m.Topology.Nodes[nodes[0]].Name
			k.losses = append(k.losses, &DomainLoss{Value: value, nodes: m.Topology.Nodes, lost: nodes[:1], like: nodes, taken: map[int32]int{int32(c): 1}})
		}
	} else { // domains in the order of their first nodes
		domain, size := m.Numbered(key, m.Topology.Nodes)
		members := make([][]int32, size)
		for n, d := range domain {
			if d >= 0 {
				members[d] = append(members[d], int32(n))
			}
		}
		for _, nodes := range members {
			b := &DomainLoss{Value: m.Topology.Nodes[nodes[0]].Labels[key], nodes: m.Topology.Nodes, lost: nodes, like: nodes, taken: map[int32]int{}}
			for _, n := range nodes {
				b.taken[k.of[n]]++
			}
			k.losses = append(k.losses, b)
		}
	}
	base := *k
	base.m = nil // drops this call's model; later calls set their own
	kept[id] = &base
	return k
}

// Losses returns the possible losses, one for each domain of the key. For the hostname label, it
// returns one loss for each kind of node.
func (k *Kinds) Losses() []*DomainLoss { return k.losses }

// domain returns each kind's domain of a key. The nodes of a kind must either share a domain or
// each be alone in a domain.
func (k *Kinds) domain(key string) []int32 {
	return lazy.Cached(k.domains, key, func() []int32 {
		domain, size := k.m.Numbered(key, k.m.Topology.Nodes)
		members := make([]int, size)
		for _, d := range domain {
			if d >= 0 {
				members[d]++
			}
		}
		all := make([]int32, len(k.nodes))
		for c, nodes := range k.nodes {
			if all[c] = domain[nodes[0]]; all[c] >= 0 && members[all[c]] == 1 {
				all[c] = alone
			}
		}
		return all
	})
}

// Room decides most losses by counting the nodes of each kind. Tests compare the results with an
// enumeration of all placements and repairs (package disruption).

// Room holds how many of a workload's pods fit on each kind of node.
type Room struct {
	*Kinds
	p      *bound.Problem
	pods   int
	caps   []int // pods that fit on an empty node of each kind; 0 if pods may not run there
	asks   []closableNodes
	others []*contenders // see present
}

// closableNodes holds the nodes' amounts of a resource, and the amount that one pod requests.
type closableNodes struct {
	*offered
	ask int64
}

// Room returns the Room for w, which must be one of the workloads for which the kinds were built.
func (k *Kinds) Room(w *workload.Workload, pods int) *Room {
	k.m.Run().Spend(len(k.nodes))
	g := k.m.Groups[w]
	r := &Room{Kinds: k, p: bound.ProblemOf(k.m, g), pods: pods, caps: make([]int, len(k.nodes))}
	c, e, keys := bound.Capacities(k.m, g), k.m.Eligible(w), model.HardKeys(g)
	for i, nodes := range k.nodes {
		n := int(nodes[0])
		if e.Nodes[n].All() && model.Carries(k.m.Topology.Nodes[n].Labels, keys) {
			if r.caps[i] = min(c.At(n), pods); len(g.HostPorts) > 0 {
				r.caps[i] = min(r.caps[i], 1)
			}
		}
	}
	return r
}

// Hit reports whether any pod may be on a lost node.
func (r *Room) Hit(b *DomainLoss) bool {
	for c := range b.taken {
		if r.caps[c] > 0 {
			return true
		}
	}
	return false
}

// Within reports whether all nodes that accept a pod belong to a domain of the key.
func (r *Room) Within(key string) bool {
	for c, nodes := range r.nodes {
		if _, has := r.m.Topology.Nodes[nodes[0]].Labels[key]; r.caps[c] > 0 && !has && key != corev1.LabelHostname {
			return false
		}
	}
	return true
}

// Several reports whether more than one pod may be on lost nodes.
func (r *Room) Several(b *DomainLoss) bool {
	for c, taken := range b.taken {
		if taken*r.per(int(c)) > 1 {
			return true
		}
	}
	return len(b.taken) > 1
}

// Left reports whether a node that accepts a pod when empty remains after the loss.
func (r *Room) Left(b *DomainLoss) bool { return r.open(b, nil, 0) > 0 }

// Single decides the outcome of a loss for a workload that interacts with no other workload. The
// workload must have simple rules: either anti-affinity on nested keys, or one spread constraint
// that counts only its own pods.
func (r *Room) Single(b *DomainLoss, l certificate.Loss) (v diag.Outcome, pending int, ok bool) {
	switch {
	case !bound.QuickApplies(r.p.G) || len(r.p.G.HardAffinity()) > 0 || !plain(r.m, r.p.G):
		return "", 0, false
	case len(r.p.Spreads) == 0:
		return r.keptApart(b, l)
	case len(r.p.Spreads) == 1:
		return r.spread(b, l)
	}
	return "", 0, false
}

// plain reports whether it is certain which of the group's own pods its hard terms select.
func plain(m *model.Model, g *model.Group) bool {
	return !slices.ContainsFunc(g.Terms, func(t *model.Term) bool {
		return t.Hard && m.Peer(t, g.Workload, g.Workload) == model.Maybe
	})
}

// keptApart decides the outcome of a loss if only the number of pods matters, because the
// placements are the independent sets of a laminar matroid (T1). A repair ends with a maximal
// placement on the remaining nodes. All maximal placements have the same number of pods, which the
// method room computes.
//
// A pod on an unreachable node closes its domain. If the domain has room outside the lost nodes,
// one pod fewer fits there. In the worst case, every such domain has a pod on an unreachable node.
// If there are fewer pods than such domains, every pod is in one of them. Some placement reaches
// this case, because any allowed set of pods can be extended to a maximal placement.
func (r *Room) keptApart(b *DomainLoss, l certificate.Loss) (v diag.Outcome, pending int, ok bool) {
	// shared holds the domains of the only anti-affinity key with several nodes in a domain, or is
	// nil. If a node is alone in its domain, r.per allows at most one pod on it.
	var shared []int32
	for _, key := range r.p.Keys {
		if !r.coarse(key) {
			continue
		}
		if shared != nil {
			return "", 0, false
		}
		shared = r.domain(key)
	}
	left := r.room(shared, func(c int32) int { return len(r.nodes[c]) - b.taken[c] })
	switch {
	case left < r.pods:
		return diag.Never, r.pods - left, true
	case !l.Returns(r.p.G.Workload):
		return diag.Sometimes, min(r.pods, r.room(shared, func(c int32) int { return b.taken[c] })), true
	}
	if l.Meaning == certificate.Unreachable && shared != nil {
		if left -= min(r.pods, r.unreachable(b, shared)); left < r.pods {
			return diag.Sometimes, r.pods - left, true
		}
	}
	return diag.Always, 0, true
}

// unreachable counts the domains that have room both on lost nodes and on other nodes.
func (r *Room) unreachable(b *DomainLoss, shared []int32) int {
	r.m.Run().Spend(1 + len(shared)/model.PerStep)
	lost, beside := map[int32]bool{}, map[int32]bool{}
	for c, d := range shared {
		if d < 0 || r.caps[c] == 0 {
			continue
		}
		taken := b.taken[int32(c)]
		lost[d], beside[d] = lost[d] || taken > 0, beside[d] || taken < len(r.nodes[c])
	}
	both := 0
	for d := range lost {
		if lost[d] && beside[d] {
			both++
		}
	}
	return both
}

// per returns how many pods fit on a node of a kind. It returns at most one if the node is in a
// domain of an anti-affinity key.
func (r *Room) per(c int) int {
	for _, key := range r.p.Keys {
		if r.domain(key)[c] != -1 {
			return min(r.caps[c], 1)
		}
	}
	return r.caps[c]
}

// room returns how many pods fit on the given number of nodes of each kind.
func (r *Room) room(shared []int32, nodes func(c int32) int) int {
	r.m.Run().Spend(1 + len(r.nodes)/model.PerStep)
	sum := 0
	seen := map[int32]bool{}
	for c := range r.nodes {
		n := nodes(int32(c))
		most := r.per(c)
		switch {
		case n == 0 || most == 0:
		case shared != nil && shared[c] >= 0:
			if !seen[shared[c]] {
				seen[shared[c]] = true
				sum++
			}
		default:
			sum += n * most
		}
	}
	return sum
}

// merge returns a model in which indistinguishable workloads are merged into one. Such workloads
// request the same resources on the same nodes. They have no hard rules about other pods, and no
// other pods have hard rules about them. A state then needs to know only how many of their pods are
// on each node. If there is nothing to merge, merge returns m itself. unmerge, deal and share
// translate results back.
func merge(m *model.Model) *model.Model {
	classes := equals(m)
	if len(classes) == len(m.Workloads) {
		return m
	}
	p := *m
	p.Workloads, p.Groups, p.Members, p.Kept = nil, maps.Clone(m.Groups), map[*workload.Workload][]*workload.Workload{}, map[any]any{}
	p.StandFor = nil // it holds indices into Workloads
	for _, members := range classes {
		w := members[0]
		if len(members) > 1 {
			one, g := *w, *m.Groups[w]
			one.Count.N = 0
			for _, o := range members {
				one.Count.N += o.Count.N
			}
			w, g.Workload = &one, &one
			p.Groups[w], p.Members[w] = &g, members
		}
		p.Workloads = append(p.Workloads, w)
	}
	p.Index, p.Parts, p.WithoutFinite = model.NewLabelIndex(p.Workloads), &p, &p
	return &p
}

// equals divides the workloads into classes whose members have equal pods, in model order.
func equals(m *model.Model) [][]*workload.Workload {
	ruled := map[*workload.Workload]bool{} // workloads that have a hard rule or that a hard rule selects
	for _, p := range m.Apart {
		ruled[p.A], ruled[p.B] = true, true
	}
	for _, w := range m.Workloads {
		for t := range m.Groups[w].HardTerms() {
			ruled[w] = true
			for _, list := range m.Index.Candidates(t, w) {
				for _, o := range list {
					ruled[o] = ruled[o] || m.Peer(t, w, o) != model.No || m.Selects(t, w, o, model.Asks{Incoming: true})
				}
			}
		}
	}
	at := map[string]int{}
	var classes [][]*workload.Workload
	for _, w := range m.Workloads {
		g := m.Groups[w]
		plain := g.Placeable() && g.Whole == nil && !g.Kind.PerNode() && g.Count.N > 0 && !g.Terminating()
		if !plain || ruled[w] || len(g.HostPorts) > 0 || g.Spec.NodeName != "" {
			classes = append(classes, []*workload.Workload{w})
			continue
		}
		id := fmt.Sprintf("%s|%s", g.Signature, g.Request)
		if i, known := at[id]; known {
			classes[i] = append(classes[i], w)
			continue
		}
		at[id] = len(classes)
		classes = append(classes, []*workload.Workload{w})
	}
	return classes
}

// unmerge replaces merged workloads with their members.
func unmerge(m *model.Model, ws []*workload.Workload) []*workload.Workload {
	if len(m.Members) == 0 {
		return ws
	}
	var all []*workload.Workload
	for _, w := range ws {
		if members := m.Members[w]; members != nil {
			all = append(all, members...)
		} else {
			all = append(all, w)
		}
	}
	return all
}

// deal distributes a run's pods among the members of each class in turn, until each member has all
// of its pods. A class's pods are interchangeable within a run.
func deal(m *model.Model, run []certificate.Placed) []certificate.Placed {
	if len(m.Members) == 0 {
		return run
	}
	run = slices.Clone(run)
	given := map[*workload.Workload]int{}
	for i, p := range run {
		k := given[p.Workload]
		given[p.Workload]++
		for _, w := range m.Members[p.Workload] {
			if k < w.Count.N {
				run[i].Workload = w
				break
			}
			k -= w.Count.N
		}
	}
	return run
}

// share derives each member's tally from the tally of its class. In the best run, the placed pods
// may all belong to one member. In the worst run, the other members' pods may be placed first. Only
// the remaining pods are certain for that member.
func share(m *model.Model, all map[*workload.Workload]tally) {
	for class, members := range m.Members {
		t := all[class]
		for _, w := range members {
			n, others := w.Count.N, t.pods-w.Count.N
			own := t
			own.pods, own.most, own.least = n, min(n, t.most), max(0, t.least-others)
			own.best, own.worst = min(n, t.best), max(0, t.worst-others)
			all[w] = own
		}
	}
}
