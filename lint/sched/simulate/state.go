package simulate

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// State is a set of pods on the declared nodes, with everything that the filters and scores of the
// scheduler need to know about it. Nodes are indices into Topology.Nodes.
type State struct {
	m     *model.Model
	board *search.Board
	all   []*pods
	of    map[*workload.Workload]*pods
	nodes []*topology.Node
	loads []load
	// on lists the pods in place by node.
	on     [][]*pods
	closed []bool
	// journal lists the changes so far, so that Undo can take them back.
	journal []change
	// order is the order in which the scheduler looks at nodes, and next is where in it the next
	// search starts (R-B8).
	order []int
	next  int
	// ranks has one workload of each priority that occurs (see preempts).
	ranks []*workload.Workload
	// avoiding is set if some node has a PreferNoSchedule taint.
	avoiding bool
	scorer
}

// pods is a workload of the split model: pods that are equal in everything that affects placement.
type pods struct {
	*model.Group
	// units holds the index of the pods on the board. A DaemonSet has one for each node.
	units []int
	at    map[int]int // by node, for a DaemonSet
	nodes []int32
	// unsure is set if a hard rule depends on facts that only the cluster knows.
	unsure bool
	// real is what a pod requests, and incoming and placed what it counts with in the score of
	// NodeResourcesFit.
	real, incoming, placed amounts
	// places lists the nodes of the pods in place.
	places []int32
	scoring
}

// amounts is an amount of CPU in millicores and of memory in bytes.
type amounts struct{ cpu, memory int64 }

func (a *amounts) add(b amounts, times int64) {
	a.cpu += b.cpu * times
	a.memory += b.memory * times
}

// load is what a node has, what its pods request, and what they count with in the score of
// NodeResourcesFit. It changes with each move.
type load struct {
	has, real, scored amounts
	moves             int
}

type change struct {
	p        *pods
	node, by int
}

// NewState returns a state of a model with only the running pods in place. Workloads whose pods
// selectors can tell apart are split (model.Model.Split).
func NewState(m *model.Model) *State {
	m = m.Split()
	nodes := m.Topology.Nodes
	s := &State{
		m: m, board: search.NewBoard(m), of: map[*workload.Workload]*pods{}, nodes: nodes,
		loads: make([]load, len(nodes)), on: make([][]*pods, len(nodes)), closed: make([]bool, len(nodes)),
	}
	m.Run().Spend(len(nodes))
	type rank struct {
		class string
		workload.Priority
	}
	ranked := map[rank]bool{}
	for i, u := range s.board.Units() {
		p := s.of[u.Group.Workload]
		if p == nil {
			m.Run().Spend(model.StepsPerGroup)
			p = &pods{Group: u.Group, nodes: u.Nodes}
			for _, r := range u.Group.Requests {
				switch r.Name {
				case corev1.ResourceCPU:
					p.real.cpu = r.Amount
				case corev1.ResourceMemory:
					p.real.memory = r.Amount
				}
			}
			incoming, placed := model.ScoredRequests(p.Workload)
			p.incoming, p.placed = amounts{incoming[0], incoming[1]}, amounts{placed[0], placed[1]}
			s.all, s.of[p.Workload] = append(s.all, p), p
			if r := (rank{p.Spec.PriorityClassName, p.Priority}); !ranked[r] {
				ranked[r], s.ranks = true, append(s.ranks, p.Workload)
			}
		}
		p.units, p.unsure = append(p.units, i), p.unsure || u.Unsure
		if p.Kind.PerNode() && len(u.Nodes) > 0 {
			if p.at == nil {
				p.at = map[int]int{}
			}
			p.at[int(u.Nodes[0])] = i
		}
	}
	for i, n := range nodes {
		cpu, memory := n.Allocatable[corev1.ResourceCPU], n.Allocatable[corev1.ResourceMemory]
		used := amounts{n.Reserved.Cpu().MilliValue(), n.Reserved.Memory().Value()}
		s.loads[i] = load{has: amounts{cpu.MilliValue() + used.cpu, memory.Value() + used.memory}, real: used, scored: used, moves: 1}
		s.avoiding = s.avoiding || slices.ContainsFunc(n.Taints, func(t corev1.Taint) bool { return t.Effect == corev1.TaintEffectPreferNoSchedule })
	}
	// The scheduler looks at one node of each zone in turn (pkg/scheduler/backend/cache/node_tree.go; R-B8). Within
	// a zone nodes are ordered by name.
	names := make([]int, len(s.nodes))
	for i := range names {
		names[i] = i
	}
	slices.SortFunc(names, func(a, b int) int { return cmp.Compare(s.nodes[a].Name, s.nodes[b].Name) })
	turn, seen := make([]int, len(s.nodes)), map[[2]string]int{}
	for _, n := range names {
		zone := [2]string{s.nodes[n].Labels[corev1.LabelTopologyRegion], s.nodes[n].Labels[corev1.LabelTopologyZone]}
		turn[n] = seen[zone]
		seen[zone]++
	}
	slices.SortStableFunc(names, func(a, b int) int { return cmp.Compare(turn[a], turn[b]) })
	s.order = names
	// The terms that influence its scores once pods of other workloads are in place: preferred terms, and required
	// affinity (R-B7).
	s.against = map[*workload.Workload][]influence{}
	for _, p := range s.all {
		for _, t := range p.Terms {
			weight := weightOf(t)
			if weight == 0 {
				continue
			}
			for _, o := range s.selected(t, p, false) {
				s.against[o.Workload] = append(s.against[o.Workload], influence{p, t.Key, weight})
			}
		}
	}
	for _, p := range s.all { // the board has placed them already
		if p.Running {
			for _, n := range p.nodes {
				s.book(p, int(n), 1)
			}
		}
	}
	return s
}

// unit returns the index on the board of a pod that is to be on a node.
func (p *pods) unit(node int) int {
	if p.at != nil {
		return p.at[node]
	}
	return p.units[0]
}

// move adds a pod to a node without applying filters, or removes it.
func (s *State) move(p *pods, node, by int) {
	s.board.Move(p.unit(node), node, by) // nothing changes if this uses up the steps
	s.book(p, node, by)
	s.journal = append(s.journal, change{p, node, by})
}

// book records a change that the board knows of.
func (s *State) book(p *pods, node, by int) {
	l := &s.loads[node]
	l.real.add(p.real, int64(by))
	l.scored.add(p.placed, int64(by))
	l.moves++
	if by > 0 {
		s.on[node], p.places = append(s.on[node], p), append(p.places, int32(node))
	} else {
		s.on[node], p.places = without(s.on[node], p), without(p.places, int32(node))
	}
	p.count(node, int64(by))
}

// without removes the last x from a list.
func without[T comparable](list []T, x T) []T {
	i := len(list) - 1
	for list[i] != x {
		i--
	}
	return slices.Delete(list, i, i+1)
}

// Mark returns a point that Undo can return to.
func (s *State) Mark() int { return len(s.journal) }

// Undo takes back the changes since a mark.
func (s *State) Undo(mark int) {
	for i := len(s.journal) - 1; i >= mark; i-- {
		c := s.journal[i]
		s.move(c.p, c.node, -c.by)
		s.journal = s.journal[:i]
	}
}

// Bind puts a pod of a workload of the split model on a node without applying filters.
func (s *State) Bind(w *workload.Workload, node int) { s.move(s.of[w], node, 1) }

// Place puts a pod of a workload of the split model on the node that the scheduler would choose. It
// reports whether a node takes the pod. For DaemonSets, which choose the node themselves, use Bind.
func (s *State) Place(w *workload.Workload, d *Draw) (node int, ok bool) {
	best := s.best(s.of[w])
	if len(best) == 0 {
		return 0, false
	}
	node = int(best[d.below(len(best))])
	s.move(s.of[w], node, 1)
	return node, true
}

// Best returns the nodes with the highest score (R-B1) among those that take a pod of a workload of
// the split model. It is empty if no node takes the pod. The result is valid until the next call.
func (s *State) Best(w *workload.Workload) []int32 { return s.best(s.of[w]) }

// Why returns the reason why nothing can be said of the nodes that a workload's pods get. It is
// empty if there is none.
func (s *State) Why(w *workload.Workload) model.Reason { return s.learn(s.of[w]) }

// The scheduler stops looking at nodes when it has found enough that take the pod: all among fewer
// than fewNodes, otherwise a share that falls from half to leastShare percent, and no fewer than
// fewNodes (pkg/scheduler/schedule_one.go, numFeasibleNodesToFind; R-B8).
const (
	fewNodes   = 100
	leastShare = 5
)

// enough returns how many nodes are enough.
func (s *State) enough() int {
	all := len(s.nodes)
	return max(fewNodes, all*max(leastShare, 50-all/125)/100)
}

// feasible fills s.found with the nodes that take a pod and that the scheduler scores.
func (s *State) feasible(p *pods) {
	s.found = s.found[:0]
	all := len(s.nodes)
	if all < fewNodes || p.Spec.NodeName != "" {
		for _, n := range p.nodes {
			if !s.closed[n] && s.board.Takes(p.units[0], int(n)) {
				s.found = append(s.found, n)
			}
		}
		return
	}
	enough, looked := s.enough(), 0
	for ; looked < all; looked++ {
		n := s.order[(s.next+looked)%all]
		if s.closed[n] || !s.board.Takes(p.units[0], n) {
			continue
		}
		if len(s.found) == enough {
			break
		}
		s.found = append(s.found, int32(n))
	}
	s.next = (s.next + looked) % all
}

// best returns the nodes with the highest score.
func (s *State) best(p *pods) []int32 {
	if s.feasible(p); len(s.found) < 2 {
		return s.found // a single node needs no score
	}
	s.learn(p)
	s.score(p)
	most, k := slices.Max(s.total), 0
	for i, n := range s.found {
		if s.total[i] == most {
			s.found[k] = n
			k++
		}
	}
	return s.found[:k]
}
