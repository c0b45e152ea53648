package classes

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/bits"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// Classes divides the declared nodes into classes that are equivalent for a set of workloads. Nodes
// in a class are in order, and classes are ordered by their first node. Questions with the same
// classes share one Classes value.
type Classes struct {
	Nodes [][]int32
}

// Of divides the nodes into classes for workloads that place at most the given number of pods on a
// node. Nodes in the same class have the same node-level filter results and the same usable
// resources (T19). They share their domains for the keys of hard rules. If key is not empty, they
// also share their domain for key. Domains with a single node are ignored.
func Of(m *model.Model, ws []*workload.Workload, pods int, key string) *Classes {
	all := model.KeepForNodes(m, func() *tables {
		return &tables{
			of: map[string]*table{}, single: map[string]*table{}, units: make([]int32, len(m.Topology.Nodes)), ruled: map[string]bool{},
			grained: map[string]*grained{}, known: map[[sha256.Size]byte]*Classes{},
		}
	})
	t := all.asked(m, ws, key)
	// Nodes of the same shape that have the same usable amounts are one class (T19).
	s := all.sizingOf(m, ws, t.resources, pods)
	all.text = all.text[:0]
	for i := range s.demands {
		all.text = binary.AppendVarint(binary.AppendVarint(all.text, s.demands[i].grain), s.demands[i].total)
	}
	for _, each := range s.each {
		all.text = binary.AppendVarint(all.text, each)
	}
	if known := t.known[string(all.text)]; known != nil {
		return known
	}
	asks := string(all.text)
	if len(t.known) == maxGrained {
		clear(t.known)
	}
	var told []bool
	var some bool
	m.Run().Spend(1 + len(t.ranges)*len(s.demands)/model.PerStep)
	told = make([]bool, len(t.ranges))
	for shape, ranges := range t.ranges {
		for i, r := range ranges {
			told[shape] = told[shape] || s.demands[i].Usable(r.least) != s.demands[i].Usable(r.most)
		}
		some = some || told[shape]
	}
	switch {
	case some:
		t.known[asks] = t.sized(m, all, &s, told)
	case t.shapes == nil:
		t.shapes = all.put(m, t.shape)
		fallthrough
	default:
		t.known[asks] = t.shapes
	}
	return t.known[asks]
}

// tables caches the node tables of one model.
type tables struct {
	// Both maps hold tables. A key in `of` describes the rules and resources by which workloads
	// distinguish nodes. A key in `single` describes the rules of one workload, unsorted.
	of, single map[string]*table
	// text, demands and most are scratch space.
	text    []byte
	demands []Demand
	most    []int64
	// units assigns a unit number to each node. No rule in the tables built so far distinguishes
	// the nodes of a unit. ruled records these rules. grained caches how node sizes divide the
	// units further (see Demand).
	units   []int32
	ruled   map[string]bool
	grained map[string]*grained
	// known holds the existing Classes, keyed by a hash of all nodes' class numbers.
	known map[[sha256.Size]byte]*Classes
}

// maxGrained is the maximum number of entries in tables.grained and in table.known.
const maxGrained = 128

// table divides the nodes by the rules of a set of workloads, ignoring sizes.
type table struct {
	// id identifies the rules and resources. own is set if one of the workloads is bound to a node.
	// Such a table's rules do not divide the units that other workloads use.
	id  string
	own bool
	// shape assigns a shape number to each node. Nodes of one shape differ only in their sizes.
	// offers holds each node's amount of each resource. ranges holds the smallest and largest
	// amounts of each resource within each shape.
	shape     []int32
	resources []string
	offers    [][]int64
	ranges    [][]sizeRange
	// shapes holds the classes for pods that are not affected by node sizes. It is computed on
	// demand. known caches the classes by the pods' demand.
	shapes *Classes
	known  map[string]*Classes
}

// grained groups nodes that no rule distinguishes. The nodes of a group also have equal sizes after
// rounding down to multiples of the grain (see Demand).
type grained struct {
	// `of` maps each node to its group, `first` lists the first node of each group, and sizes holds
	// the first node's amount of each resource.
	of, first []int32
	sizes     [][]int64
	// known caches the Classes that combine these groups, keyed by each group's class number.
	known map[string]*Classes
}

// sizeRange holds the smallest and largest amounts of a resource on the nodes of one shape.
type sizeRange struct{ least, most int64 }

// asked returns the table for a set of workloads and, unless key is empty, for an additional key.
func (all *tables) asked(m *model.Model, ws []*workload.Workload, key string) *table {
	if len(ws) != 1 {
		return all.table(m, ws, asked(m, ws, key))
	}
	g := m.Groups[ws[0]]
	m.Run().Spend(1 + len(g.Terms)/model.PerStep)
	all.text = binary.AppendUvarint(appendText(appendText(all.text[:0], g.Signature), key), uint64(len(g.Requests)))
	for i := range g.Requests {
		all.text = appendText(all.text, g.Requests[i].Name)
	}
	for k := range ruleKeys(g) {
		all.text = appendText(all.text, k)
	}
	t := all.single[string(all.text)]
	if t == nil {
		t = all.table(m, ws, asked(m, ws, key))
		all.single[string(all.text)] = t
	}
	return t
}

// table returns the cached table for the given rules and resources, or builds it.
func (all *tables) table(m *model.Model, ws []*workload.Workload, by *seen) *table {
	var text []byte
	for _, list := range [][]string{by.signatures, by.resources, by.keys} {
		text = binary.AppendUvarint(text, uint64(len(list)))
		for _, x := range list {
			text = appendText(text, x)
		}
	}
	id := string(text)
	return lazy.Cached(all.of, id, func() *table {
		n := len(m.Topology.Nodes)
		m.Run().Spend(n * (2 + len(by.keys) + len(by.resources)/2))
		t := &table{id: id, resources: by.resources, shape: make([]int32, n), known: map[string]*Classes{}}
		t.tellByFilters(m, ws)
		for _, k := range by.keys {
			domain, size := m.Numbered(k, m.Topology.Nodes)
			members := make([]int, size)
			for _, d := range domain {
				if d >= 0 {
					members[d]++
				}
			}
			refine(t.shape, func(n int) int32 {
				if d := domain[n]; d >= 0 && members[d] == 1 && !model.BoundLabel(k) {
					return -2
				}
				return domain[n]
			})
		}
		t.own = slices.ContainsFunc(ws, func(w *workload.Workload) bool { return w.Spec.NodeName != "" })
		if !t.own {
			fresh := false // whether new rules divide the units
			for kind, list := range [][]string{by.signatures, by.keys} {
				for _, x := range list {
					id := fmt.Sprint(kind, x)
					fresh = fresh || !all.ruled[id]
					all.ruled[id] = true
				}
			}
			if fresh {
				m.Run().Spend(len(all.units))
				refine(all.units, func(n int) int32 { return t.shape[n] })
				clear(all.grained)
			}
		}
		for _, r := range by.resources {
			t.offers = append(t.offers, m.Offers(corev1.ResourceName(r), m.Topology.Nodes))
		}
		for n, shape := range t.shape {
			if int(shape) == len(t.ranges) {
				t.ranges = append(t.ranges, make([]sizeRange, len(t.offers)))
				for i, has := range t.offers {
					t.ranges[shape][i] = sizeRange{has[n], has[n]}
				}
			}
			for i, has := range t.offers {
				r := &t.ranges[shape][i]
				r.least, r.most = min(r.least, has[n]), max(r.most, has[n])
			}
		}
		return t
	})
}

// sized returns the classes when node sizes divide the shapes marked in told.
func (t *table) sized(m *model.Model, all *tables, s *sizing, told []bool) *Classes {
	g := all.inGrains(m, t, s)
	m.Run().Spend(len(g.first) * (1 + len(s.demands)) / model.PerStep)
	to, text := numbered(len(g.first), func(text []byte, unit int) []byte {
		shape := t.shape[g.first[unit]]
		text = binary.AppendUvarint(text, uint64(shape))
		if !told[shape] {
			return text
		}
		return s.describe(text, g.sizes[unit])
	})
	return lazy.Cached(g.known, text, func() *Classes {
		of := make([]int32, len(g.of))
		for n, unit := range g.of {
			of[n] = to[unit]
		}
		return all.put(m, of)
	})
}

// inGrains groups nodes that no rule distinguishes. The nodes of a group also have equal sizes
// after rounding down to multiples of the grain.
func (all *tables) inGrains(m *model.Model, t *table, s *sizing) *grained {
	units, key := all.units, []byte{0}
	if t.own {
		units, key = t.shape, appendText([]byte{1}, t.id)
	}
	for _, name := range t.resources {
		key = appendText(key, name)
	}
	endless := sizing{demands: slices.Clone(s.demands)}
	for i := range endless.demands {
		key = binary.AppendVarint(key, s.demands[i].grain)
		endless.demands[i].total = math.MaxInt64
	}
	if known := all.grained[string(key)]; known != nil {
		return known
	}
	m.Run().Spend(len(units) * (1 + len(s.demands)/2))
	g := &grained{known: map[string]*Classes{}}
	var sizes []int64
	g.of, _ = numbered(len(units), func(text []byte, n int) []byte {
		sizes = t.sizes(n, sizes[:0])
		return endless.describe(binary.AppendUvarint(text, uint64(units[n])), sizes)
	})
	for n, unit := range g.of {
		if int(unit) == len(g.first) {
			g.first, g.sizes = append(g.first, int32(n)), append(g.sizes, t.sizes(n, nil))
		}
	}
	if len(all.grained) == maxGrained {
		clear(all.grained)
	}
	all.grained[string(key)] = g
	return g
}

// sizes appends a node's amount of each resource.
func (t *table) sizes(n int, to []int64) []int64 {
	for _, has := range t.offers {
		to = append(to, has[n])
	}
	return to
}

// numbered gives equal numbers to items with equal descriptions, in the order of first occurrence.
// The second result is a string that encodes all of the numbers.
func numbered(n int, look func(text []byte, i int) []byte) (to []int32, all string) {
	numbers := map[string]int32{}
	to = make([]int32, n)
	text, list := make([]byte, 0, 64), make([]byte, 0, 2*n)
	for i := range to {
		text = look(text[:0], i)
		number, known := numbers[string(text)]
		if !known {
			number = int32(len(numbers))
			numbers[string(text)] = number
		}
		to[i], list = number, binary.AppendUvarint(list, uint64(number))
	}
	return to, string(list)
}

// put returns the Classes in which each node has the given class number.
func (all *tables) put(m *model.Model, to []int32) *Classes {
	m.Run().Spend(len(to) / model.PerStep)
	all.text = all.text[:0]
	for _, n := range to {
		all.text = binary.AppendUvarint(all.text, uint64(n))
	}
	id := sha256.Sum256(all.text)
	return lazy.Cached(all.known, id, func() *Classes {
		found := &Classes{}
		for n, number := range to {
			if int(number) == len(found.Nodes) {
				found.Nodes = append(found.Nodes, nil)
			}
			found.Nodes[number] = append(found.Nodes[number], int32(n))
		}
		return found
	})
}

// refine divides groups further by a second number. It then renumbers all groups in the order of
// first occurrence.
func refine(of []int32, by func(i int) int32) {
	numbers := map[uint64]int32{}
	for i := range of {
		id := uint64(uint32(of[i]))<<32 | uint64(uint32(by(i)))
		number, known := numbers[id]
		if !known {
			number = int32(len(numbers))
			numbers[id] = number
		}
		of[i] = number
	}
}

// tellByFilters divides the nodes by the results of the workloads' node-level filters.
func (t *table) tellByFilters(m *model.Model, ws []*workload.Workload) {
	seen := map[string]bool{}
	for _, w := range ws {
		g := m.Groups[w]
		if seen[g.Signature] {
			continue
		}
		seen[g.Signature] = true
		m.Run().Spend(len(t.shape))
		e := m.Eligible(w)
		if pods := m.Reached(w); pods != nil {
			numbers := map[model.Pods]int32{}
			refine(t.shape, func(n int) int32 {
				return lazy.Cached(numbers, pods[n], func() int32 { return int32(len(numbers)) })
			})
		}
		refine(t.shape, func(n int) int32 {
			p := e.Nodes[n]
			return flag(p.Name) | flag(p.Selector)<<1 | flag(p.Taints)<<2 | flag(p.Schedulable)<<3 | flag(p.Volume && p.Zone)<<4
		})
	}
}

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// seen lists the node properties that matter to a set of workloads: node rule signatures, resources
// and topology keys.
type seen struct{ signatures, resources, keys []string }

// appendText appends a string prefixed with its length. Different lists of strings then never look
// alike.
func appendText[T ~string](to []byte, text T) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// ruleKeys yields the keys whose domains matter to a group's hard rules. It may yield a key more
// than once.
func ruleKeys(g *model.Group) iter.Seq[string] {
	return func(yield func(string) bool) {
		if g.Pin != "" && g.Pin != corev1.LabelHostname && !yield(g.Pin) {
			return
		}
		for t := range g.HardTerms() {
			if !yield(t.Key) {
				return
			}
			for _, r := range t.Sel.Reqs {
				if model.BoundLabel(r.Key) && !yield(r.Key) {
					return
				}
			}
		}
	}
}

// asked returns the node rules, resources and labels by which workloads distinguish nodes. The
// signature of a running or bound pod includes its node name.
func asked(m *model.Model, ws []*workload.Workload, key string) *seen {
	m.Run().Spend(4 * len(ws))
	s := &seen{signatures: make([]string, 0, len(ws)), resources: make([]string, 1, 4), keys: make([]string, 0, 4)}
	s.resources[0] = string(corev1.ResourcePods)
	if key != "" {
		s.keys = append(s.keys, key)
	}
	for _, w := range ws {
		g := m.Groups[w]
		s.signatures = appendNew(s.signatures, g.Signature)
		for i := range g.Requests {
			s.resources = appendNew(s.resources, string(g.Requests[i].Name))
		}
		for key := range ruleKeys(g) {
			s.keys = appendNew(s.keys, key)
		}
	}
	for _, list := range []*[]string{&s.signatures, &s.resources, &s.keys} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return s
}

// appendNew appends a string unless it equals one of the last few strings. It saves memory, because
// most workloads repeat the same strings.
func appendNew(to []string, text string) []string {
	const few = 8
	if slices.Contains(to[max(0, len(to)-few):], text) {
		return to
	}
	return append(to, text)
}

// Look returns a string that describes how a workload distinguishes nodes.
func Look(g *model.Group) string {
	text := appendText(appendText(nil, g.Signature), g.Request)
	for key := range ruleKeys(g) {
		text = appendText(text, key)
	}
	return string(text)
}

// sizing holds the demand for each resource. If all pods have equal requests, each holds one pod's
// requests. Nodes that fit the same number of such pods are equivalent.
type sizing struct {
	demands []Demand
	each    []int64
}

// sizingOf returns the sizing for workloads that place at most the given number of pods on a node.
// The result is valid until the next call.
func (all *tables) sizingOf(m *model.Model, ws []*workload.Workload, resources []string, pods int) sizing {
	at := func(name corev1.ResourceName) int { return slices.Index(resources, string(name)) }
	all.most = slices.Grow(all.most[:0], len(resources))[:len(resources)]
	all.demands = slices.Grow(all.demands[:0], len(resources))[:len(resources)]
	clear(all.most)
	clear(all.demands)
	most, s := all.most, sizing{demands: all.demands}
	same := true
	for _, w := range ws {
		g := m.Groups[w]
		same = same && g.Request == m.Groups[ws[0]].Request
		for i := range g.Requests {
			r := &g.Requests[i]
			n := at(r.Name)
			s.demands[n] = s.demands[n].With(r.Amount, 1)
			most[n] = max(most[n], r.Amount)
		}
	}
	slots := at(corev1.ResourcePods)
	s.demands[slots], most[slots] = Demand{grain: 1}, 1
	for i := range s.demands {
		s.demands[i].total = Sum(0, most[i], pods)
	}
	if same {
		s.each = most
	}
	return s
}

// describe appends the part of a node's sizes that the pods can use.
func (s *sizing) describe(text []byte, sizes []int64) []byte {
	if s.each != nil { // how many pods with equal requests fit on a node
		count := int64(math.MaxInt64)
		for i, each := range s.each {
			if each > 0 && sizes[i] != math.MaxInt64 {
				count = min(count, max(0, s.demands[i].Usable(sizes[i]))/each)
			}
		}
		return binary.AppendVarint(text, count)
	}
	for i, has := range sizes {
		text = binary.AppendVarint(text, s.demands[i].Usable(has))
	}
	return text
}

// Demand describes how much of a resource a set of pods may request. Any sum of their requests is a
// multiple of the grain and at most the total. A node's usable amount is therefore its amount,
// capped at the total and rounded down to a multiple of the grain. Nodes with the same usable
// amount are equivalent for the pods (T19). The zero Demand means that the pods request nothing.
type Demand struct {
	grain, total int64
}

// With returns the demand after adding a number of pods with equal requests.
func (d Demand) With(ask int64, pods int) Demand {
	if ask <= 0 || pods <= 0 {
		return d
	}
	a, b := d.grain, ask
	for b > 0 {
		a, b = b, a%b
	}
	return Demand{grain: a, total: Sum(d.total, ask, pods)}
}

// Total returns how much all pods request together, or the largest int64 on overflow.
func (d Demand) Total() int64 { return d.total }

// Ceil rounds an amount up to what some of the pods can request together.
func (d Demand) Ceil(amount int64) int64 {
	if d.grain > 0 && amount > 0 && amount < math.MaxInt64-d.grain {
		amount += d.grain - 1
		amount -= amount % d.grain
	}
	return amount
}

// Sum returns sum + ask*pods, or the largest int64 on overflow.
func Sum(sum, ask int64, pods int) int64 {
	high, more := bits.Mul64(uint64(ask), uint64(pods))
	if high > 0 || more > uint64(math.MaxInt64-sum) {
		return math.MaxInt64
	}
	return sum + int64(more)
}

// Usable returns the largest part of a node's amount that the pods can use. It returns
// math.MaxInt64 if the node's amount is unknown.
func (d Demand) Usable(has int64) int64 {
	if d.grain == 0 || has <= 0 || has == math.MaxInt64 {
		return has
	}
	return min(has-has%d.grain, d.total)
}
