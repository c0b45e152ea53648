package search

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// alike are the nodes in classes of those that are alike to some workloads, of which no
// more than so many pods are on a node: equal in what node-level filters say, in what
// the pods can use of what they ask for (T19), and in the domains that other nodes share.
func alike(m *model.Model, ws []*workload.Workload, pods int) [][]int32 {
	return alikeBy(m, ws, pods, "").nodes
}

// classes are the nodes in classes, in their order. Classes that differ in nothing are
// the same.
type classes struct {
	nodes [][]int32
}

// alikeBy is alike where one more key, if there is one, tells nodes apart.
func alikeBy(m *model.Model, ws []*workload.Workload, pods int, key string) *classes {
	signatures, resources, keys := asked(m, ws)
	if key != "" && !slices.Contains(keys, key) {
		keys = append(keys, key)
		slices.Sort(keys)
	}
	id := strings.Join([]string{strings.Join(signatures, "\x01"), strings.Join(resources, "\x01"), strings.Join(keys, "\x01")}, "\x02")
	tables := *model.KeepForNodes(m, func() *equalTables { return &equalTables{} })
	t := tables[id]
	if t == nil {
		t = equalNodes(m, ws, resources, keys)
		tables[id] = t
	}
	return t.merged(m, sizingOf(m, ws, resources, pods))
}

// sizing is what some pods ask for, resource by resource, and how much of each one pod
// asks for if all ask for the same: then nodes are equal that take as many of them.
type sizing struct {
	demands []demand
	each    []int64
}

// sizingOf is that of workloads of which no more than so many pods are on a node.
func sizingOf(m *model.Model, ws []*workload.Workload, resources []string, pods int) sizing {
	at := make(map[corev1.ResourceName]int, len(resources))
	for i, r := range resources {
		at[corev1.ResourceName(r)] = i
	}
	most := make([]int64, len(resources))
	s := sizing{demands: make([]demand, len(resources))}
	same := true
	for _, w := range ws {
		g := m.Groups[w]
		same = same && g.Request == m.Groups[ws[0]].Request
		for i := range g.Requests {
			r := &g.Requests[i]
			s.demands[at[r.Name]] = s.demands[at[r.Name]].with(r.Amount, 1)
			most[at[r.Name]] = max(most[at[r.Name]], r.Amount)
		}
	}
	slots := at[corev1.ResourcePods]
	s.demands[slots], most[slots] = demand{grain: 1}, 1
	for i := range s.demands {
		s.demands[i].total = saturated(0, most[i], pods)
	}
	if same {
		s.each = most
	}
	return s
}

// usable is what the pods can use of a resource.
func (s *sizing) usable(i int, has int64) int64 {
	return s.demands[i].usable(has)
}

// tells reports whether the pods can use more of one size of a resource than of another.
func (s *sizing) tells(i int, r sizeRange) bool {
	return s.usable(i, r.least) != s.usable(i, r.most)
}

// count is how many pods that all ask for the same a node takes.
func (s *sizing) count(sizes []int64) int64 {
	count := int64(math.MaxInt64)
	for i, each := range s.each {
		if each > 0 && sizes[i] != math.MaxInt64 {
			count = min(count, max(0, s.usable(i, sizes[i]))/each)
		}
	}
	return count
}

// equalTables are those of the nodes of a model, by what nodes are told apart by.
type equalTables map[string]*equalTable

// equalTable is the nodes in classes of those that are equal to some workloads, with
// sizes to the byte.
type equalTable struct {
	classes [][]int32
	// shape numbers what a class is but for sizes, and sizes are what its nodes have of
	// each resource; ranges are those of the sizes of each shape.
	shape  []int
	sizes  [][]int64
	ranges [][]sizeRange
	// known are the classes that are left of these, by what is merged.
	known map[string]*classes
}

// sizeRange is the least and the most that the nodes of a shape have of a resource.
type sizeRange struct{ least, most int64 }

func (r sizeRange) with(has int64) sizeRange { return sizeRange{min(r.least, has), max(r.most, has)} }

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
	t := &equalTable{known: map[string]*classes{}}
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
			numbers[string(text)] = class
			t.add(shape, sizesOf(offers, n))
		}
		t.classes[class] = append(t.classes[class], int32(n))
	}
	return t
}

// add adds a class without nodes.
func (t *equalTable) add(shape int, sizes []int64) {
	t.classes, t.shape, t.sizes = append(t.classes, nil), append(t.shape, shape), append(t.sizes, sizes)
	if shape == len(t.ranges) {
		t.ranges = append(t.ranges, make([]sizeRange, len(sizes)))
		for i, has := range sizes {
			t.ranges[shape][i] = sizeRange{has, has}
		}
	}
	for i, has := range sizes {
		t.ranges[shape][i] = t.ranges[shape][i].with(has)
	}
}

func sizesOf(offers [][]int64, n int) []int64 {
	sizes := make([]int64, len(offers))
	for i, has := range offers {
		sizes[i] = has[n]
	}
	return sizes
}

// merged merges classes of nodes of which some pods can use the same (T19).
func (t *equalTable) merged(m *model.Model, s sizing) *classes {
	m.Run().Spend(1 + len(t.ranges)*len(s.demands)/model.PerStep)
	told := make([]bool, len(t.ranges)) // the shapes that sizes tell apart further
	some := false
	for shape, ranges := range t.ranges {
		for i, r := range ranges {
			told[shape] = told[shape] || s.tells(i, r)
		}
		some = some || told[shape]
	}
	if !some {
		return t.put(m, t.shape, "")
	}
	m.Run().Spend(len(t.classes) * (1 + len(s.demands)) / model.PerStep)
	numbers := map[string]int{}
	to := make([]int, len(t.classes))
	var text []byte
	for class, shape := range t.shape {
		text = binary.AppendUvarint(text[:0], uint64(shape))
		switch {
		case !told[shape]:
		case s.each != nil:
			text = binary.AppendVarint(text, s.count(t.sizes[class]))
		default:
			for i, has := range t.sizes[class] {
				text = binary.AppendVarint(text, s.usable(i, has))
			}
		}
		number, known := numbers[string(text)]
		if !known {
			number = len(numbers)
			numbers[string(text)] = number
		}
		to[class] = number
	}
	return t.put(m, to, fmt.Sprint(to))
}

// put puts the nodes in classes by the number that each class has.
func (t *equalTable) put(m *model.Model, to []int, id string) *classes {
	if known := t.known[id]; known != nil {
		return known
	}
	m.Run().Spend(len(m.Topology.Nodes) / model.PerStep)
	all := &classes{}
	for class, number := range to {
		if number == len(all.nodes) {
			all.nodes = append(all.nodes, nil)
		}
		all.nodes[number] = append(all.nodes[number], t.classes[class]...)
	}
	for _, nodes := range all.nodes {
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
