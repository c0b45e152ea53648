package check

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// State is a set of pods on the declared nodes. It uses the filters to determine whether nodes
// accept one more pod. It keeps the pods in placement order, so that messages can name the pods
// that block the new pod.
type State struct {
	v    *nodeSets
	pods []certificate.Placed
	// on maps each node to the pods on it, which are indices into the field pods.
	on map[*topology.Node][]int
	// called maps workloads to the names that messages use for them.
	called map[*workload.Workload]string
	// single caches whether a key gives every node its own domain.
	single map[string]bool
}

// NewState returns a state with only the pods that the manifests declare as running. It ignores
// pods on undeclared nodes.
func NewState(m *model.Model) *State {
	s := newState(newNodeSets(nil, m, true))
	for _, w := range m.RunningOnes() {
		if n, ok := m.IndexOf(w.Spec.NodeName); ok {
			s.record(w, m.Topology.Nodes[n])
		}
	}
	return s
}

// newState returns a state for the given node sets. Its list of pods omits the pods that the node
// sets already count.
func newState(v *nodeSets) *State {
	return &State{v: v, on: map[*topology.Node][]int{}, called: map[*workload.Workload]string{}, single: map[string]bool{}}
}

// Place puts a pod of w on a node without applying the filters.
func (s *State) Place(w *workload.Workload, n *topology.Node) {
	if i, ok := s.v.m.IndexOf(n.Name); ok {
		s.v.add(s.v.m.Groups[w], i)
		s.record(w, n)
	}
}

// record adds a pod that the books already count to the list of pods.
func (s *State) record(w *workload.Workload, n *topology.Node) {
	s.on[n] = append(s.on[n], len(s.pods))
	s.pods = append(s.pods, certificate.Placed{Workload: w, Node: n})
}

// Pods returns the pods in placement order.
func (s *State) Pods() []certificate.Placed { return s.pods }

// Filter returns the reason why a node rejects one more pod of w, or Takes. If the pod's manifest
// names a node, only the kubelet's admission applies (R-P8).
func (s *State) Filter(w *workload.Workload, n *topology.Node) certificate.Reason {
	i, ok := s.v.m.IndexOf(n.Name)
	if !ok {
		return RefusedByNobody
	}
	return s.v.refuses(s.v.m.Groups[w], i)
}

// reason returns the first node-level filter that a node fails, or Takes.
func reason(p model.Passes) certificate.Reason {
	switch {
	case !p.Name:
		return certificate.RefusedByName
	case !p.Schedulable:
		return certificate.RefusedByCordon
	case !p.Taints:
		return certificate.RefusedByTaint
	case !p.Selector:
		return certificate.RefusedBySelector
	}
	return certificate.Takes
}

// repels finds the first placed pod that keeps one more pod of g off a node, and describes the
// rule. For each placed pod, it tries the new pod's terms first. It mirrors
// plugins/interpodaffinity/filtering.go (R-A5 to R-A7).
func (s *State) repels(g *model.Group, n *topology.Node) Repels {
	for _, p := range s.pods {
		for _, t := range g.Terms {
			own := t.Use == model.AntiAffinity && t.Hard && slices.Contains(s.v.selects[t], p.Workload)
			if own && model.SameDomain(n, p.Node, t.Key) && selectedByAll(s.v.m, []*model.Term{t}, g, p.Workload, p.Node) {
				return s.repelling(p, n, Repels{Domain: s.domain(t.Key, n)})
			}
		}
		for _, a := range s.v.against[g.Workload] {
			if a.w == p.Workload && model.SameDomain(n, p.Node, a.key) {
				return s.repelling(p, n, Repels{Domain: s.domain(a.key, n), Theirs: true, Migration: slices.Contains(s.v.migrating[g.Workload], a)})
			}
		}
	}
	return Repels{}
}

// repelling adds two facts to r: the workload of the placed pod, and the number of that workload's
// pods in the domain.
func (s *State) repelling(pod certificate.Placed, n *topology.Node, r Repels) Repels {
	of := s.v.m.Groups[pod.Workload].Origin()
	r.Pods.Workload = s.name(pod.Workload)
	for _, p := range s.pods {
		if (p.Workload == pod.Workload || s.v.m.Groups[p.Workload].Origin() == of) && model.SameDomain(n, p.Node, r.Key) {
			r.Pods.Count++
		}
	}
	return r
}

// Placement holds the pods in place and returns each node's answer to one more pod. Findings use
// these answers to explain decisions.
type Placement struct {
	*State // for a split model, which treats pods that rules tell apart as separate workloads
	// placed counts the pods that stay in place.
	placed map[*workload.Workload]int
	last   map[*workload.Workload]int // node of the most recently placed pod
}

// NodeAnswer is a node's answer to one more pod. If there are no Refusals, the node accepts the
// pod. Has is set if the node already has its DaemonSet pod.
type NodeAnswer struct {
	Node     *topology.Node
	Refusals []Refusal
	Has      bool
}

// NewPlacement puts the settled pods in place without applying the filters. It then places the
// missing pods of the given workloads in order, while some node accepts one.
func NewPlacement(m *model.Model, settled []certificate.Placed, then ...*workload.Workload) *Placement {
	s := &Placement{NewState(m.Split()), map[*workload.Workload]int{}, map[*workload.Workload]int{}}
	for _, p := range settled {
		if pod := s.next(p.Workload); pod != nil {
			s.put(pod, p.Node)
		}
	}
	s.fill(then)
	return s
}

// Lose returns the state after a node loss. The given workloads' missing pods are placed again
// while some node accepts one.
func (s *Placement) Lose(l certificate.Loss, then ...*workload.Workload) *Placement {
	out := &Placement{newState(newNodeSets(absenceOf(s.v.m, l), s.v.m, true)), map[*workload.Workload]int{}, map[*workload.Workload]int{}}
	out.called = maps.Clone(s.called)
	for _, p := range s.pods {
		gone := l.Nodes[p.Node.Name]
		stays := p.Workload.Kind.PerNode() && l.Meaning != certificate.Gone
		if !gone || stays || l.Meaning == certificate.Unreachable {
			out.record(p.Workload, p.Node)
		}
		if n, ok := s.v.m.IndexOf(p.Node.Name); ok && !p.Workload.Running { // the books already count running pods
			out.v.survive(s.v.m.Groups[p.Workload], n, 1)
		}
		if !gone || stays {
			out.placed[p.Workload]++
		}
	}
	out.fill(then)
	return out
}

// Call sets the name that messages use for a workload.
func (s *Placement) Call(w *workload.Workload, name string) {
	s.called[w] = name
}

func (s *Placement) put(pod *workload.Workload, on *topology.Node) {
	n, ok := s.v.m.IndexOf(on.Name)
	if !ok {
		return
	}
	s.Place(pod, s.v.m.Topology.Nodes[n])
	s.placed[pod]++
}

// fill places the given workloads' missing pods until every node rejects the next pod.
func (s *Placement) fill(then []*workload.Workload) {
	for moved := true; moved; {
		moved = false
		for _, w := range then {
			for pod := s.next(w); pod != nil && s.puts(pod); pod = s.next(w) {
				moved = true
			}
		}
	}
}

// puts places a pod on a node that accepts it, and reports whether there is one. It starts with the
// node of the workload's last pod, because earlier nodes are usually full.
func (s *Placement) puts(pod *workload.Workload) bool {
	g, nodes := s.v.m.Groups[pod], s.v.m.Topology.Nodes
	for i := range nodes {
		n := (s.last[pod] + i) % len(nodes)
		if pod.Kind.PerNode() && s.v.pods(n, pod) > 0 || s.v.refuses(g, n) != certificate.Takes {
			continue
		}
		s.last[pod] = n
		s.put(pod, nodes[n])
		return true
	}
	return false
}

// next returns a workload's next missing pod, or nil if no pod is missing. The pod is a workload in
// the split model.
func (s *Placement) next(w *workload.Workload) *workload.Workload {
	for g := range s.parts(w) {
		if s.placed[g.Workload] < s.wanted(g.Workload) {
			return g.Workload
		}
	}
	return nil
}

// parts yields the groups of a workload whose pods the scheduler has to place. It does not look at other
// workloads, because it is called for every pod that is put in place.
func (s *Placement) parts(w *workload.Workload) iter.Seq[*model.Group] {
	m := s.v.m
	m.Number()
	return func(yield func(*model.Group) bool) {
		for _, i := range m.StandFor[w] {
			if g := m.Groups[m.Workloads[i]]; g.Placeable() && !yield(g) {
				return
			}
		}
	}
}

func (s *Placement) wanted(w *workload.Workload) int {
	if w.Kind.PerNode() {
		return s.v.m.Eligible(w).Count
	}
	return w.Count.N
}

// Count returns how many of a workload's pods are in place and how many are missing.
func (s *Placement) Count(w *workload.Workload) (placed, missing int) {
	for g := range s.parts(w) {
		placed += s.placed[g.Workload]
		missing += max(0, s.wanted(g.Workload)-s.placed[g.Workload])
	}
	return placed, missing
}

// Missing returns the workloads some of whose pods are missing. It leaves out DaemonSets, because their
// pods are not placed elsewhere.
func (s *Placement) Missing() (all []*workload.Workload) {
	for g := range s.v.m.Placeable() {
		if w := g.Origin(); !w.Kind.PerNode() && s.placed[g.Workload] < s.wanted(g.Workload) && !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return all
}

// On returns the node that each of a workload's pods is on.
func (s *Placement) On(w *workload.Workload) []*topology.Node {
	var all []*topology.Node
	for _, p := range s.pods {
		if s.v.m.Groups[p.Workload].Origin() == w {
			all = append(all, p.Node)
		}
	}
	return all
}

// Answers returns each node's answer to a workload's next missing pod. If no pod is missing, it
// returns the answers to one more pod.
func (s *Placement) Answers(w *workload.Workload) []NodeAnswer {
	pod := s.next(w)
	if pod == nil {
		i := slices.IndexFunc(s.v.m.Workloads, func(o *workload.Workload) bool { return s.v.m.Groups[o].Origin() == w })
		pod = s.v.m.Workloads[i]
	}
	all := make([]NodeAnswer, len(s.v.m.Topology.Nodes))
	for i, n := range s.v.m.Topology.Nodes {
		all[i].Node = n
		if all[i].Has = pod.Kind.PerNode() && s.v.pods(i, pod) > 0; !all[i].Has {
			all[i].Refusals = s.Refusals(pod, n)
		}
	}
	return all
}

// Still returns each node's answer to a workload's pod when only running pods are in place. It
// ignores rules about other pods.
func Still(m *model.Model, w *workload.Workload) []NodeAnswer {
	s := NewState(m)
	all := make([]NodeAnswer, len(m.Topology.Nodes))
	for i, n := range m.Topology.Nodes {
		all[i] = NodeAnswer{Node: n, Refusals: s.alone(m.Groups[w], i)}
		if len(all[i].Refusals) == 0 {
			all[i].Refusals = s.load(m.Groups[w], i)
		}
	}
	return all
}

// Spare returns, for each entry of Topology.Growth, the answer that an additional empty node would
// give.
func Spare(m *model.Model, w *workload.Workload) []NodeAnswer {
	s := NewState(m)
	var all []NodeAnswer
	for _, g := range m.Topology.Growth {
		o := NodeAnswer{Node: g.Node, Refusals: nodeLevel(model.NewFilter(w), g.Node)}
		offered := func(name corev1.ResourceName, kubelet bool) (int64, bool) {
			return model.Offered(g.Node, &model.Request{Name: name, Kubelet: kubelet})
		}
		if r, short := (*load)(nil).lacks(m.Groups[w], offered); short && len(o.Refusals) == 0 {
			o.Refusals = append(o.Refusals, s.noRoom(r, g.Node, nil))
		}
		all = append(all, o)
	}
	return all
}

// Checked returns the checker's answer to one more pod on each node: the first filter that
// rejects the pod, or Takes.
func (s *Placement) Checked(w *workload.Workload) []certificate.Reason {
	pod := cmp.Or(s.next(w), w)
	all := make([]certificate.Reason, len(s.v.m.Topology.Nodes))
	for n := range all {
		all[n] = s.v.refuses(s.v.m.Groups[pod], n)
	}
	return all
}

// Refusing groups nodes by the first filter that rejects a pod. Example is the complete answer of the
// first of these nodes.
type Refusing struct {
	By      certificate.Reason
	Nodes   []*topology.Node
	Example NodeAnswer
}

// Refusing returns the nodes that reject a workload's next missing pod, in the order in which their
// filters first occur. It leaves out nodes that accept the pod and those that already have their
// DaemonSet pod.
func (s *Placement) Refusing(w *workload.Workload) []Refusing {
	pod := s.next(w)
	if pod == nil {
		return nil
	}
	var all []Refusing
	at := map[certificate.Reason]int{}
	for i, n := range s.v.m.Topology.Nodes {
		s.v.m.Run().Spend(1)
		if pod.Kind.PerNode() && s.v.pods(i, pod) > 0 {
			continue
		}
		by := s.v.refuses(s.v.m.Groups[pod], i)
		if by == certificate.Takes {
			continue
		}
		k, known := at[by]
		if !known {
			k, at[by] = len(all), len(all)
			all = append(all, Refusing{By: by, Example: NodeAnswer{Node: n, Refusals: s.Refusals(pod, n)}})
		}
		all[k].Nodes = append(all[k].Nodes, n)
	}
	return all
}
