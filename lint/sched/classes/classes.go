package classes

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Classes are the declared nodes in classes of those that are alike to some workloads,
// each in the order of the nodes, and the classes in that of their first nodes. Two
// questions for which the nodes fall into the same classes have one Classes.
type Classes struct {
	Nodes [][]int32
}

// Of puts the nodes in classes for some workloads, of which no more than so many pods are
// on a node: those of one class are equal in what node-level filters say, in what the pods
// can use of what they ask for (T19), and in the domains that other nodes share, of the
// keys of hard rules and of one more key unless it is empty.
func Of(m *model.Model, ws []*workload.Workload, pods int, key string) *Classes {
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
	demands []Demand
	each    []int64
}

// sizingOf is that of workloads of which no more than so many pods are on a node.
func sizingOf(m *model.Model, ws []*workload.Workload, resources []string, pods int) sizing {
	at := make(map[corev1.ResourceName]int, len(resources))
	for i, r := range resources {
		at[corev1.ResourceName(r)] = i
	}
	most := make([]int64, len(resources))
	s := sizing{demands: make([]Demand, len(resources))}
	same := true
	for _, w := range ws {
		g := m.Groups[w]
		same = same && g.Request == m.Groups[ws[0]].Request
		for i := range g.Requests {
			r := &g.Requests[i]
			s.demands[at[r.Name]] = s.demands[at[r.Name]].With(r.Amount, 1)
			most[at[r.Name]] = max(most[at[r.Name]], r.Amount)
		}
	}
	slots := at[corev1.ResourcePods]
	s.demands[slots], most[slots] = Demand{grain: 1}, 1
	for i := range s.demands {
		s.demands[i].total = Sum(0, most[i], pods)
	}
	if same {
		s.each = most
	}
	return s
}

// usable is what the pods can use of a resource.
func (s *sizing) usable(i int, has int64) int64 {
	return s.demands[i].Usable(has)
}

// tells reports whether the pods can use more of one size of a resource than of another.
func (s *sizing) tells(i int, r sizeRange) bool {
	return s.usable(i, r.least) != s.usable(i, r.most)
}

// describe describes sizes as far as the pods can use them.
func (s *sizing) describe(text []byte, sizes []int64) []byte {
	if s.each != nil {
		return binary.AppendVarint(text, s.count(sizes))
	}
	for i, has := range sizes {
		text = binary.AppendVarint(text, s.usable(i, has))
	}
	return text
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
	sizeTable
	classes [][]int32
	// shapes are the classes if sizes tell nothing, once asked.
	shapes *Classes
	// grained are the classes that are left if sizes count in grains, by these.
	grained map[string]*grainedTable
	// known are the classes that are left of these, by the number that each has then.
	known map[string]*Classes
}

// sizeTable is what classes of nodes have.
type sizeTable struct {
	// shape numbers what a class is but for sizes, and sizes are what its nodes have of
	// each resource; ranges are those of the sizes of each shape.
	shape  []int
	sizes  [][]int64
	ranges [][]sizeRange
}

// grainedTable is the classes of a table, merged where the sizes in grains are the same.
type grainedTable struct {
	sizeTable
	of    []int // by class of the table
	known map[string]*Classes
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
	t := &equalTable{known: map[string]*Classes{}, grained: map[string]*grainedTable{}}
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
			numbers[string(text)], t.classes = class, append(t.classes, nil)
			t.add(shape, sizesOf(offers, n))
		}
		t.classes[class] = append(t.classes[class], int32(n))
	}
	return t
}

// add adds a class.
func (t *sizeTable) add(shape int, sizes []int64) {
	t.shape, t.sizes = append(t.shape, shape), append(t.sizes, sizes)
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
func (t *equalTable) merged(m *model.Model, s sizing) *Classes {
	told, some := t.told(m, &s)
	if !some {
		if t.shapes == nil {
			t.shapes = t.put(m, t.shape)
		}
		return t.shapes
	}
	g := t.inGrains(m, &s)
	m.Run().Spend(len(g.shape) * (1 + len(s.demands)) / model.PerStep)
	to, text := numbered(len(g.shape), func(text []byte, class int) []byte {
		shape := g.shape[class]
		text = binary.AppendUvarint(text, uint64(shape))
		if !told[shape] {
			return text
		}
		return s.describe(text, g.sizes[class])
	})
	found := g.known[text]
	if found == nil {
		all := make([]int, len(g.of))
		for class, n := range g.of {
			all[class] = to[n]
		}
		found = t.put(m, all)
		g.known[text] = found
	}
	return found
}

// told tells the shapes whose nodes sizes tell apart further, and whether there are some.
func (t *sizeTable) told(m *model.Model, s *sizing) (told []bool, some bool) {
	m.Run().Spend(1 + len(t.ranges)*len(s.demands)/model.PerStep)
	told = make([]bool, len(t.ranges))
	for shape, ranges := range t.ranges {
		for i, r := range ranges {
			told[shape] = told[shape] || s.tells(i, r)
		}
		some = some || told[shape]
	}
	return told, some
}

// inGrains merges classes that have the same sizes in grains.
func (t *equalTable) inGrains(m *model.Model, s *sizing) *grainedTable {
	var id []byte
	for i := range s.demands {
		id = binary.AppendVarint(id, s.demands[i].grain)
	}
	if known := t.grained[string(id)]; known != nil {
		return known
	}
	m.Run().Spend(len(t.classes) * (1 + len(s.demands)/2))
	endless := sizing{demands: slices.Clone(s.demands)}
	for i := range endless.demands {
		endless.demands[i].total = math.MaxInt64
	}
	g := &grainedTable{known: map[string]*Classes{}}
	g.of, _ = numbered(len(t.classes), func(text []byte, class int) []byte {
		return endless.describe(binary.AppendUvarint(text, uint64(t.shape[class])), t.sizes[class])
	})
	for class, n := range g.of {
		if n == len(g.shape) {
			g.add(t.shape[class], t.sizes[class])
		}
	}
	t.grained[string(id)] = g
	return g
}

// numbered numbers some things by what they look like, in the order in which looks come
// up; all is the numbers as text.
func numbered(n int, look func(text []byte, i int) []byte) (to []int, all string) {
	numbers := map[string]int{}
	to = make([]int, n)
	var text, list []byte
	for i := range to {
		text = look(text[:0], i)
		number, known := numbers[string(text)]
		if !known {
			number = len(numbers)
			numbers[string(text)] = number
		}
		to[i], list = number, binary.AppendUvarint(list, uint64(number))
	}
	return to, string(list)
}

// put puts the nodes in classes by the number that each class has.
func (t *equalTable) put(m *model.Model, to []int) *Classes {
	var id []byte
	for _, n := range to {
		id = binary.AppendUvarint(id, uint64(n))
	}
	if known := t.known[string(id)]; known != nil {
		return known
	}
	m.Run().Spend(len(m.Topology.Nodes) / model.PerStep)
	all := &Classes{}
	for class, number := range to {
		if number == len(all.Nodes) {
			all.Nodes = append(all.Nodes, nil)
		}
		all.Nodes[number] = append(all.Nodes[number], t.classes[class]...)
	}
	for _, nodes := range all.Nodes {
		slices.Sort(nodes)
	}
	t.known[string(id)] = all
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

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
