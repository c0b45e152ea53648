package search

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Kinds are the declared nodes by kind: those of one kind are alike to some
// workloads and in one domain of a key, unless each is the only one of its own.
type Kinds struct {
	m     *model.Model
	of    []int32   // by node
	nodes [][]int32 // by kind
	// domains are those of each kind by key: -1 is none, alone one for each node.
	domains map[string][]int32
	losses  []*DomainLoss
	// offers are what the kinds have of each resource, once asked.
	offers map[corev1.ResourceName]*offered
}

// offered is how many nodes of which kinds have at least so much of a resource, of those
// that say so the ones with the least first.
type offered struct {
	name  corev1.ResourceName
	sizes []offer
}

// offer is nodes of one kind of which the smallest has so much.
type offer struct {
	kind  int32
	has   int64
	nodes int
}

// sizeStep is how much more of its own size a node may have and count as the smallest.
const sizeStep = 1.0 / 64

func (k *Kinds) offered(name corev1.ResourceName) *offered {
	if known := k.offers[name]; known != nil {
		return known
	}
	o := &offered{name: name}
	offers := k.m.Offers(name, k.m.Topology.Nodes)
	last := make([]int, len(k.nodes)) // offers of each kind so far end before
	for _, n := range k.ascending(name, offers) {
		kind, has := k.of[n], offers[n]
		if i := last[kind] - 1; i >= 0 && has-o.sizes[i].has <= int64(float64(has)*sizeStep) {
			o.sizes[i].nodes++
			continue
		}
		o.sizes = append(o.sizes, offer{kind, has, 1})
		last[kind] = len(o.sizes)
	}
	k.offers[name] = o
	return o
}

// ascents are the nodes of a model by how much they have of a resource.
type ascents map[corev1.ResourceName][]int32

// ascending lists the nodes by what they have of a resource, without those of which that is
// not judged.
func (k *Kinds) ascending(name corev1.ResourceName, offers []int64) []int32 {
	kept := *model.KeepForNodes(k.m, func() *ascents { return &ascents{} })
	if known, ok := kept[name]; ok {
		return known
	}
	var nodes []int32
	for n, has := range offers {
		if has != math.MaxInt64 {
			nodes = append(nodes, int32(n))
		}
	}
	slices.SortStableFunc(nodes, func(x, y int32) int { return cmp.Compare(offers[x], offers[y]) })
	kept[name] = nodes
	return nodes
}

// alone stands for the domains of nodes that are each the only one in theirs.
const alone = -2

// DomainLoss is the loss of a domain, or of one node.
type DomainLoss struct {
	// Value is the value of the key, or the name of the node.
	Value string
	// lost are all nodes that are lost, and like those of which each can stand for the
	// node that is lost, or else the same.
	nodes      []*topology.Node
	lost, like []int32
	// taken is how many nodes of each kind are lost, any how many of whatever kind.
	taken map[int32]int
	any   int
}

// Nodes are the names of all nodes that are lost.
func (b *DomainLoss) Nodes() []string { return b.names(b.lost) }

// Like are the names of the nodes of which each can stand for the node that is lost, or
// else of all that are; Alike is how many there are.
func (b *DomainLoss) Like() []string { return b.names(b.like) }

// Alike is how many nodes Like names.
func (b *DomainLoss) Alike() int { return len(b.like) }

func (b *DomainLoss) names(nodes []int32) []string {
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = b.nodes[n].Name
	}
	return names
}

// AnyNode is the loss of one node, whichever.
var AnyNode = &DomainLoss{any: 1}

// keptKinds are those of a model that are kept, by the key and the classes of nodes.
type keptKinds map[kindsKey]*Kinds

type kindsKey struct {
	key     string
	classes *classes.Classes
}

// KindsOf groups the nodes as workloads see them, for losses by a key. There are no more
// than so many pods of them on a node.
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
		k.addNodes()
	} else {
		k.addDomains(key)
	}
	base := *k
	base.m = nil // which asks: others will
	kept[id] = &base
	return k
}

// Losses are the losses that there are, one of each kind.
func (k *Kinds) Losses() []*DomainLoss { return k.losses }

// addNodes lists the losses of single nodes.
func (k *Kinds) addNodes() {
	for c, nodes := range k.nodes {
		value := k.m.Topology.Nodes[nodes[0]].Name
		k.losses = append(k.losses, &DomainLoss{Value: value, nodes: k.m.Topology.Nodes, lost: nodes[:1], like: nodes, taken: map[int32]int{int32(c): 1}})
	}
}

// addDomains lists the losses of domains in the order of their first nodes.
func (k *Kinds) addDomains(key string) {
	domain, size := k.m.Numbered(key, k.m.Topology.Nodes)
	members := make([][]int32, size)
	for n, d := range domain {
		if d >= 0 {
			members[d] = append(members[d], int32(n))
		}
	}
	for _, nodes := range members {
		b := &DomainLoss{Value: k.m.Topology.Nodes[nodes[0]].Labels[key], nodes: k.m.Topology.Nodes, lost: nodes, like: nodes, taken: map[int32]int{}}
		for _, n := range nodes {
			b.taken[k.of[n]]++
		}
		k.losses = append(k.losses, b)
	}
}

// domain lists the domain of each kind for a key by which its nodes are alike.
func (k *Kinds) domain(key string) []int32 {
	if known := k.domains[key]; known != nil {
		return known
	}
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
	k.domains[key] = all
	return all
}
