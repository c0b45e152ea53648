package search

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// addApart enters the pairs that are kept apart by no term of a manifest.
func (b *compiler) addApart() {
	for _, p := range b.m.Apart {
		k := b.key(p.Key)
		of := map[*workload.Workload][]int{}
		b.m.Run().Spend(len(b.units) / model.PerStep)
		for i, u := range b.units {
			if o := u.g.Origin(); o == p.A || o == p.B {
				of[o] = append(of[o], i)
			}
		}
		for _, i := range of[p.A] {
			for _, j := range of[p.B] {
				b.exclude(i, exclusion{k, j, 0})
				b.exclude(j, exclusion{k, i, 0})
			}
		}
	}
}

// Components splits workloads into groups that have to do with one another by
// hard rules and host ports and, with contend, because they may fill a node
// between them. Extra is how many pods a workload may have for a while beyond
// its number. Workloads that take no part in decisions are in no group, nor are
// those whose pods end by themselves.
func Components(m *model.Model, extra map[*workload.Workload]int, contend bool) [][]*workload.Workload {
	m = m.Permanent()
	relax := leaveOut(nil)
	for w, n := range extra {
		if !w.Kind.PerNode() {
			relax.count[w] = w.Count.N + n
		}
	}
	a := newState(m.Split(), contend, relax)
	for _, u := range a.units {
		if u.g.Kind.PerNode() { // so many more on every node
			u.pods += extra[u.g.Origin()]
		}
	}
	return byOwner(interactions{a}.components())
}

// byOwner is the workloads of components. The pods of a DaemonSet may be in
// several, which are one group then.
func byOwner(components []component) [][]*workload.Workload {
	var all [][]*workload.Workload
	in := map[*workload.Workload]int{}
	for _, c := range components {
		root := len(all)
		all = append(all, nil)
		for _, w := range c.owners {
			g, known := in[w]
			if !known {
				g = root
				in[w], all[g] = g, append(all[g], w)
			}
			if g != root {
				for _, o := range all[root] {
					in[o] = g
				}
				all[g], all[root], root = append(all[g], all[root]...), nil, g
			}
		}
	}
	return slices.DeleteFunc(all, func(g []*workload.Workload) bool { return len(g) == 0 })
}

// Few are nodes that stand for all: of nodes that are alike to the workloads
// only so many are kept, as no more than there are pods ever take part. What
// tell says of a node keeps it apart from others; nil says nothing. A DaemonSet
// has pods on all of them, so where rules see how many of these there are in a
// domain, all nodes stay.
func Few(m *model.Model, ws []*workload.Workload, keep int, tell func(*topology.Node) string) []*topology.Node {
	if countsDaemons(m, ws) {
		return slices.Clone(m.Topology.Nodes)
	}
	for _, w := range ws {
		for _, t := range m.Groups[w].Terms {
			if t.Use == model.Spread && t.Hard {
				keep = max(keep, t.MinDomains())
			}
		}
	}
	var few []int32
	for _, members := range alike(m, ws) {
		if tell == nil {
			few = append(few, members[:min(keep, len(members))]...)
			continue
		}
		count := map[string]int{}
		for _, n := range members {
			told := tell(m.Topology.Nodes[n])
			if count[told]++; count[told] <= keep {
				few = append(few, n)
			}
		}
	}
	slices.Sort(few)
	nodes := make([]*topology.Node, len(few))
	for i, n := range few {
		nodes[i] = m.Topology.Nodes[n]
	}
	return nodes
}

// countsDaemons reports whether a hard rule of a DaemonSet, or one that may
// select its pods, is about domains of several nodes, or about how many pods
// there are elsewhere.
func countsDaemons(m *model.Model, ws []*workload.Workload) bool {
	m.Run().Spend(1 + len(ws)/model.PerStep)
	var daemons []*workload.Workload
	for _, w := range ws {
		if w.Kind.PerNode() {
			daemons = append(daemons, w)
		}
	}
	if len(daemons) == 0 {
		return false
	}
	return slices.ContainsFunc(ws, func(w *workload.Workload) bool {
		m.Run().Spend(1)
		return slices.ContainsFunc(m.Groups[w].Terms, func(t *model.Term) bool {
			return t.Hard && slices.ContainsFunc(daemons, func(d *workload.Workload) bool {
				return w == d && t.Use != model.AntiAffinity || (w == d || m.Peer(t, w, d) != model.No) && !m.NodeByNode(t.Key, nil)
			})
		})
	})
}

// alike are the nodes in classes of those that are alike to some workloads:
// equal in what node-level filters say, in what they can use of what is asked for
// (T19), and in the domains that other nodes share. Many workloads ask for the same, so
// it is kept.
func alike(m *model.Model, ws []*workload.Workload) [][]int32 {
	classes, _ := alikeBy(m, ws, "")
	return classes
}

// alikeBy is alike where one more key, if there is one, tells nodes apart. The
// name is that of what they were told apart by.
func alikeBy(m *model.Model, ws []*workload.Workload, key string) (classes [][]int32, id string) {
	signatures, resources, keys := asked(m, ws)
	if key != "" && !slices.Contains(keys, key) {
		keys = append(keys, key)
		slices.Sort(keys)
	}
	id = strings.Join([]string{strings.Join(signatures, "\x01"), strings.Join(resources, "\x01"), strings.Join(keys, "\x01")}, "\x02")
	tables := *model.KeepForNodes(m, func() *equalTables { return &equalTables{} })
	t := tables[id]
	if t == nil {
		t = equalNodes(m, ws, resources, keys)
		tables[id] = t
	}
	grains := grainsOf(m, ws, resources)
	if len(t.classes) == t.shapes || !slices.ContainsFunc(grains, func(g grain) bool { return g > 1 }) {
		return t.classes, id // no two classes differ in sizes alone
	}
	merged := t.merged(m, grains)
	if len(merged) == len(t.classes) {
		return t.classes, id
	}
	return merged, fmt.Sprint(id, "\x02", grains)
}

// equalTables are those of the nodes of a model, by what nodes are told apart by.
type equalTables map[string]*equalTable

// equalTable is the nodes in classes of those that are equal to some workloads, with
// sizes to the byte.
type equalTable struct {
	classes [][]int32
	// shape numbers what a class is but for sizes, of which there are shapes, and sizes
	// are what its nodes have of each resource.
	shape  []int
	shapes int
	sizes  [][]int64
	// known are the classes that are left if sizes count in grains.
	known map[string][][]int32
}

func equalNodes(m *model.Model, ws []*workload.Workload, resources, keys []string) *equalTable {
	m.Run().Spend(len(m.Topology.Nodes) * (2 + len(keys) + len(resources)))
	texts := make([][]byte, len(m.Topology.Nodes))
	describeFilters(m, texts, ws)
	for _, k := range keys {
		describeDomains(m, texts, k)
	}
	offers := make([][]int64, len(resources))
	for i, r := range resources {
		offers[i] = m.Offers(corev1.ResourceName(r), m.Topology.Nodes)
	}
	t := &equalTable{known: map[string][][]int32{}}
	shapes, numbers := map[string]int{}, map[string]int{}
	for n, text := range texts {
		shape, known := shapes[string(text)]
		if !known {
			shape = len(shapes)
			shapes[string(text)] = shape
		}
		for _, has := range offers {
			text = binary.AppendVarint(text, has[n])
		}
		class, known := numbers[string(text)]
		if !known {
			class = len(t.classes)
			numbers[string(text)], t.classes, t.shape = class, append(t.classes, nil), append(t.shape, shape)
			t.sizes = append(t.sizes, sizesOf(offers, n))
		}
		t.classes[class] = append(t.classes[class], int32(n))
	}
	t.shapes = len(shapes)
	return t
}

func sizesOf(offers [][]int64, n int) []int64 {
	sizes := make([]int64, len(offers))
	for i, has := range offers {
		sizes[i] = has[n]
	}
	return sizes
}

// merged merges classes of nodes of which pods that ask for resources in some grains can
// use the same (T19). Nodes and classes stay in their order.
func (t *equalTable) merged(m *model.Model, grains []grain) [][]int32 {
	id := fmt.Sprint(grains)
	if known := t.known[id]; known != nil {
		return known
	}
	m.Run().Spend((len(m.Topology.Nodes) + len(t.classes)*(1+len(grains))) / model.PerStep)
	numbers := map[string]int{}
	var all [][]int32
	var text []byte
	for class, nodes := range t.classes {
		text = binary.AppendUvarint(text[:0], uint64(t.shape[class]))
		for i, has := range t.sizes[class] {
			text = binary.AppendVarint(text, grains[i].usable(has))
		}
		number, known := numbers[string(text)]
		if !known {
			number = len(all)
			numbers[string(text)], all = number, append(all, nil)
		}
		all[number] = append(all[number], nodes...)
	}
	for _, nodes := range all {
		slices.Sort(nodes)
	}
	t.known[id] = all
	return all
}

func describeFilters(m *model.Model, texts [][]byte, ws []*workload.Workload) {
	seen := map[string]bool{}
	for _, w := range ws {
		g := m.Groups[w]
		if seen[g.Signature] {
			continue
		}
		seen[g.Signature] = true
		m.Run().Spend(len(texts))
		for n, p := range m.Eligible(w).Nodes {
			texts[n] = append(texts[n], flag(p.Name), flag(p.Selector), flag(p.Taints), flag(p.Schedulable))
		}
	}
}

// describeDomains tells nodes apart by their domain, unless it is theirs alone.
func describeDomains(m *model.Model, texts [][]byte, key string) {
	domain, size := m.Numbered(key, m.Topology.Nodes)
	members := make([]int, size)
	for _, d := range domain {
		if d >= 0 {
			members[d]++
		}
	}
	for n, d := range domain {
		if d >= 0 && members[d] == 1 && !model.BoundLabel(key) {
			d = -2
		}
		texts[n] = binary.AppendVarint(texts[n], int64(d))
	}
}

// grainsOf are the grains in which workloads ask for resources.
func grainsOf(m *model.Model, ws []*workload.Workload, resources []string) []grain {
	at := make(map[corev1.ResourceName]int, len(resources))
	for i, r := range resources {
		at[corev1.ResourceName(r)] = i
	}
	grains := make([]grain, len(resources))
	for _, w := range ws {
		for i := range m.Groups[w].Requests {
			r := &m.Groups[w].Requests[i]
			grains[at[r.Name]] = grains[at[r.Name]].with(r.Amount)
		}
	}
	return grains
}

// asked are the node rules, the resources and the labels by which workloads
// tell nodes apart. A pod that is in place or bound tells its node by its name.
func asked(m *model.Model, ws []*workload.Workload) (signatures, resources, keys []string) {
	m.Run().Spend(4 * len(ws))
	resources = []string{string(corev1.ResourcePods)}
	for _, w := range ws {
		g := m.Groups[w]
		signatures = append(signatures, g.Signature)
		for _, r := range g.Requests {
			resources = append(resources, string(r.Name))
		}
		for _, t := range g.Terms {
			if !t.Hard {
				continue
			}
			keys = append(keys, t.Key)
			for _, r := range t.Sel.Reqs {
				if model.BoundLabel(r.Key) {
					keys = append(keys, r.Key)
				}
			}
		}
	}
	for _, list := range []*[]string{&signatures, &resources, &keys} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return signatures, resources, keys
}
