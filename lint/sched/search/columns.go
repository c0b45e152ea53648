package search

import (
	"encoding/binary"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/model"
)

// columns numbers the contents of nodes: two nodes have the same number if they are
// equivalent and hold equally many pods of each pod group. The key of a state is the
// sorted numbers of the nodes that hold pods, whatever these nodes are called.
type columns struct {
	a      *state
	units  []int
	class  []int
	column []int32 // by node
	empty  []int32 // the column of the node without pods
	number map[string]int32
	// then is the column after one more pod, by column and pod group; 0 means not yet
	// computed.
	then []int32
	// Buffers for keys.
	numbers []int32
	text    []byte
}

func newColumns(a *state, c component) columns {
	s := columns{a: a, units: c.units, class: nodeClasses(a, c), number: map[string]int32{}, then: make([]int32, len(c.units))}
	s.column = make([]int32, len(a.nodes))
	for n := range a.nodes {
		s.column[n] = s.enter(n)
	}
	s.empty = slices.Clone(s.column)
	return s
}

// enter returns the number for the contents of a node, counting from 1.
func (s *columns) enter(n int) int32 {
	s.text = binary.AppendUvarint(s.text[:0], uint64(s.class[n]))
	for _, u := range s.units {
		s.text = binary.AppendUvarint(s.text, uint64(s.a.in[u][n]))
	}
	id := s.number[string(s.text)]
	if id == 0 {
		id = int32(len(s.number) + 1)
		s.number[string(s.text)] = id
		s.then = append(s.then, make([]int32, len(s.units))...)
	}
	return id
}

// put records a placed pod of the component's i-th pod group.
func (s *columns) put(i, n int) {
	at := int(s.column[n])*len(s.units) + i
	id := s.then[at]
	if id == 0 {
		id = s.enter(n)
		s.then[at] = id
	}
	s.column[n] = id
}

// drop records that a pod was removed.
func (s *columns) drop(n int) { s.column[n] = s.enter(n) }

// key returns equal bytes for states that differ only in the names of equivalent nodes.
// The result is valid until the next call.
func (s *columns) key() []byte {
	s.numbers = s.numbers[:0]
	for n, id := range s.column {
		if id != s.empty[n] {
			s.numbers = append(s.numbers, id)
		}
	}
	slices.Sort(s.numbers)
	s.text = s.text[:0]
	for _, id := range s.numbers {
		s.text = binary.AppendUvarint(s.text, uint64(id))
	}
	return s.text
}

// nodeClasses numbers the nodes so that two with one number are equivalent for the pod
// groups: same filters, resources and domains. Domains of a single node count as equal,
// as only the node's own pods can tell them apart.
func nodeClasses(a *state, c component) []int {
	alone := make([]map[int32]int, len(a.keys))
	for k := range a.keys {
		alone[k] = map[int32]int{}
		for n := range a.nodes {
			alone[k][a.domain[k][n]]++
		}
	}
	a.m.Run().Spend(len(a.nodes) * (1 + (len(c.units)+len(a.keys)+len(a.resources)+len(a.portsOn)+len(a.units))/model.PerStep))
	numbers := map[string]int{}
	class := make([]int, len(a.nodes))
	for n := range a.nodes {
		var b []byte
		for _, i := range c.units {
			u := a.units[i]
			b = append(b, flag(u.nodes.holds(n)))
			for _, s := range u.spreads {
				b = append(b, flag(s.counted[n]))
			}
		}
		for _, p := range a.places[1:] {
			b = append(b, flag(p[n]))
		}
		for k := range a.keys {
			d := a.domain[k][n]
			if d >= 0 && alone[k][d] == 1 {
				d = -2
			}
			b = binary.AppendVarint(b, int64(d))
		}
		for _, free := range a.left(n) {
			b = binary.AppendVarint(b, free)
		}
		// Running pods take ports, and may close domains of this node alone.
		for p, c := range a.portsOn {
			if c.at(int32(n)) > 0 {
				b = binary.AppendVarint(b, int64(-1-p))
			}
		}
		for i, u := range a.units {
			if u.g.Running && u.nodes.holds(n) {
				b = binary.AppendVarint(b, int64(i))
			}
		}
		if _, ok := numbers[string(b)]; !ok {
			numbers[string(b)] = len(numbers)
		}
		class[n] = numbers[string(b)]
	}
	return class
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
