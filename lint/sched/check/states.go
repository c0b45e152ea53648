package check

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// states explores all states that the members can reach, using the checker's filters. It visits
// just one of several states that differ only by a permutation of equivalent nodes.
type states struct {
	v       *nodeSets
	members []certificate.Member
	left    []int
	on      [][]int // the number of pods per member, by node
	class   []string
	columns []int32          // by node: the number of its class and pods, or 0 if it must be recomputed
	numbers map[string]int32 // of a class and pods, from 1; states that share it have the same numbers
	seen    map[string]bool
	steps   int
	// complete is set if some maximal state has all pods in place. stuck is set if some maximal
	// state lacks pods.
	complete, stuck bool
	// whole is called for every state in which all pods are placed. It may be nil.
	whole func()
	// ended is called for every maximal state. It may be nil.
	ended func()
	// further is called for every state, to make moves other than placing pods. It reports whether
	// there are such moves. It may be nil.
	further func() bool
}

// statesOf prepares the exploration of an assertion's states.
func statesOf(v *nodeSets, c *certificate.Assertion, steps int) *states {
	s := &states{v: v, members: c.Members, seen: map[string]bool{}, steps: steps}
	for _, m := range c.Members {
		s.left = append(s.left, m.Pods)
	}
	for range v.m.Topology.Nodes {
		s.on = append(s.on, make([]int, len(c.Members)))
	}
	s.classify()
	return s
}

// classify assigns nodes that are equivalent for the members to the same class. Equivalent nodes
// have the same filter results, resources and pods. They also have the same values for topology
// keys, except values that only one node has.
func (s *states) classify() {
	nodes := s.v.m.Topology.Nodes
	var keys []string // the labels by which the members' rules distinguish nodes
	for _, m := range s.members {
		for _, t := range m.G.Terms {
			if t.Hard {
				keys = append(keys, t.Key)
			}
			for _, r := range t.Sel.Reqs {
				if model.BoundLabel(r.Key) {
					keys = append(keys, r.Key)
				}
			}
		}
		keys = append(keys, lists.Of(s.v.against[m.G.Workload], func(a against) string { return a.key })...)
		if pin := m.G.Pin; pin != "" && pin != corev1.LabelHostname {
			keys = append(keys, pin)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	shared := map[string]int{}
	for _, n := range nodes {
		for _, k := range keys {
			shared[k+"\x00"+n.Labels[k]]++
		}
	}
	numbers := map[string]string{}
	for i, n := range nodes {
		var b strings.Builder
		for _, m := range s.members {
			p := s.v.m.Eligible(m.G.Workload).Nodes[i]
			fmt.Fprintf(&b, "%v %v %v ", p, m.Node == i, model.Carries(n.Labels, model.HardKeys(m.G)))
		}
		for _, k := range keys {
			value, ok := n.Labels[k]
			if ok && shared[k+"\x00"+value] == 1 && !model.BoundLabel(k) {
				value = "alone"
			}
			fmt.Fprintf(&b, "%v %q ", ok, value)
		}
		fmt.Fprintf(&b, "%v %v %v %v", n.Allocatable, n.Capacity, n.Volumes, n.Whole)
		if s.v.running[i] {
			b.WriteString(n.Name)
		}
		class, known := numbers[b.String()]
		if !known {
			class = fmt.Sprintf("%d:", len(numbers))
			numbers[b.String()] = class
		}
		s.class = append(s.class, class)
	}
	s.columns, s.numbers = make([]int32, len(nodes)), map[string]int32{}
}

func (s *states) visit() {
	key := s.key()
	if s.seen[key] || s.steps <= 0 {
		return
	}
	s.seen[key] = true
	maximal, rest := true, 0
	for i, m := range s.members {
		rest += s.left[i]
		if s.left[i] == 0 || s.v.waits(m.G) {
			continue
		}
		var tried []int32
		for n := range s.on {
			if m.Node >= 0 && n != m.Node {
				continue
			}
			if s.steps--; s.steps <= 0 {
				return
			}
			if s.v.refuses(m.G, n) != certificate.Takes {
				continue
			}
			maximal = false
			if column := s.column(n); !slices.Contains(tried, column) {
				tried = append(tried, column)
				s.put(i, n, 1)
				s.visit()
				s.put(i, n, -1)
			}
		}
	}
	if s.further != nil && s.further() {
		maximal = false
	}
	if maximal {
		s.complete, s.stuck = s.complete || rest == 0, s.stuck || rest > 0
		if rest == 0 && s.whole != nil {
			s.whole()
		}
		if s.ended != nil {
			s.ended()
		}
	}
}

func (s *states) put(i, n, by int) {
	s.change(i, n, by)
	s.left[i] -= by
	if by > 0 {
		s.v.add(s.members[i].G, n)
	} else {
		s.v.remove(s.members[i].G, n)
	}
}

func (s *states) change(i, n, by int) {
	s.on[n][i] += by
	s.columns[n] = 0
}

// column returns the same number for equivalent nodes with the same pods.
func (s *states) column(n int) int32 {
	if s.columns[n] == 0 {
		s.columns[n] = s.number(n, s.on[n])
	}
	return s.columns[n]
}

// number returns the number of a node's class with the given pods. The length of the class's name keeps a
// longer name apart from one with more pods.
func (s *states) number(n int, on []int) int32 {
	text := append(append(make([]byte, 0, 64), byte(len(s.class[n]))), s.class[n]...)
	for _, pods := range on {
		text = binary.AppendUvarint(text, uint64(pods))
	}
	id, known := s.numbers[string(text)]
	if !known {
		id = int32(len(s.numbers) + 1)
		s.numbers[string(text)] = id
	}
	return id
}

func (s *states) key() string { return columnsKey(len(s.on), s.column) }

// columnsKey returns the same key for nodes with the same numbers in any order.
func columnsKey(nodes int, number func(n int) int32) string {
	all := make([]int32, 0, 32)
	for n := range nodes {
		all = append(all, number(n))
	}
	slices.Sort(all)
	key := make([]byte, 0, 64)
	for _, id := range all {
		key = binary.AppendUvarint(key, uint64(id))
	}
	return string(key)
}

// NeverPlaced checks that no pod of a group can be placed. Only running pods and one pod from each
// of the given workloads may be in place. The pods of the given workloads can come first.
func (Checker) NeverPlaced(m *model.Model, g *model.Group, with []*workload.Workload) error {
	c := &certificate.Assertion{Members: []certificate.Member{{G: g, Pods: 1, Node: -1}}, Never: true}
	for _, w := range with {
		if o := m.Groups[w]; o != g && o.Placeable() {
			c.Members = append(c.Members, certificate.Member{G: o, Pods: 1, Node: -1})
		}
	}
	s := statesOf(newNodeSets(nil, m, true), c, certificate.CheckSteps)
	s.ended = func() { s.complete = s.complete || s.left[0] == 0 }
	s.visit()
	switch {
	case s.complete:
		return fmt.Errorf("a pod of %v can be placed", g.Workload)
	case s.steps <= 0:
		return certificate.ErrTooLong
	}
	return nil
}
