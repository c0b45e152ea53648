package check

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// State is a set of pods on the declared nodes: what the scheduler looks at when it
// decides about one more pod. The filters decide; the pods are kept in the order in
// which they were placed, to name those that are in the way.
type State struct {
	f    *filters
	pods []certificate.Placed
	// on lists the pods of each node.
	on map[*topology.Node][]int
	// called are names of workloads that are no longer told apart by their own.
	called map[*workload.Workload]string
	// single keeps which keys give every node a domain of its own.
	single map[string]bool
}

// NewState is the state with only those pods that the manifests say are
// running; pods on nodes that are not declared are nowhere.
func NewState(m *model.Model) *State {
	f := newFilters(newBooks(nil, m), true)
	return stateOver(&f)
}

// stateOver is the state with the running pods that the books of filters have.
func stateOver(f *filters) *State {
	s := &State{f: f, on: map[*topology.Node][]int{}}
	for _, w := range f.m.Workloads {
		if w.Running && model.Modelled(f.m.Groups[w]) {
			if n, ok := f.m.IndexOf(w.Spec.NodeName); ok {
				s.stand(w, f.m.Topology.Nodes[n])
			}
		}
	}
	return s
}

// Place puts a pod of w on a node without asking.
func (s *State) Place(w *workload.Workload, n *topology.Node) {
	if i, ok := s.f.m.IndexOf(n.Name); ok {
		s.f.add(s.f.m.Groups[w], i)
		s.stand(w, n)
	}
}

// stand notes a pod that the books have.
func (s *State) stand(w *workload.Workload, n *topology.Node) {
	s.on[n] = append(s.on[n], len(s.pods))
	s.pods = append(s.pods, certificate.Placed{Workload: w, Node: n})
}

// Pods are the pods in the order in which they were placed.
func (s *State) Pods() []certificate.Placed { return s.pods }

// Filter tells whether a node takes one more pod of w now. A pod that is bound
// by its manifest meets the kubelet's admission only (R-P8).
func (s *State) Filter(w *workload.Workload, n *topology.Node) certificate.Reason {
	i, ok := s.f.m.IndexOf(n.Name)
	if !ok {
		return RefusedByNobody
	}
	return s.f.refuses(s.f.m.Groups[w], i)
}

// reason is the first of the node-level filters that a node does not pass.
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

// repels is a pod in place that keeps one more off a node, the first that was placed,
// and by whose rule: the own terms of the one more first. It mirrors
// plugins/interpodaffinity/filtering.go (R-A5 to R-A7).
func (s *State) repels(g *model.Group, n *topology.Node) Repels {
	for _, p := range s.pods {
		for _, t := range g.Terms {
			own := t.Use == model.AntiAffinity && t.Hard && slices.Contains(s.f.selects[t], p.Workload)
			if own && model.SameDomain(n, p.Node, t.Key) && selectedByAll(s.f.m, []*model.Term{t}, g, p.Workload, p.Node) {
				return s.repelling(p, n, Repels{Domain: s.domain(t.Key, n)})
			}
		}
		for _, a := range s.f.against[g.Workload] {
			if a.w == p.Workload && model.SameDomain(n, p.Node, a.key) {
				return s.repelling(p, n, Repels{Domain: s.domain(a.key, n), Theirs: true, Migration: slices.Contains(s.f.migrating[g.Workload], a)})
			}
		}
	}
	return Repels{}
}

// repelling counts the pods of the workload of one in its domain.
func (s *State) repelling(pod certificate.Placed, n *topology.Node, r Repels) Repels {
	of := s.f.m.Groups[pod.Workload].Origin()
	r.Pods.Workload = s.name(pod.Workload)
	for _, p := range s.pods {
		if (p.Workload == pod.Workload || s.f.m.Groups[p.Workload].Origin() == of) && model.SameDomain(n, p.Node, r.Key) {
			r.Pods.Count++
		}
	}
	return r
}
