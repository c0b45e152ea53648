package check

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// State is a set of pods on the declared nodes, on which the scheduler's decision about
// one more pod rests. The filters decide; State keeps the pods in the order in which they
// were placed, to name those that block.
type State struct {
	f    *filters
	pods []certificate.Placed
	// on lists the pods of each node, as indices into pods.
	on map[*topology.Node][]int
	// called maps workloads to the names to use instead of their own.
	called map[*workload.Workload]string
	// single caches which keys give every node a domain of its own.
	single map[string]bool
}

// NewState returns the state with only the pods that the manifests declare as running; it
// ignores pods on undeclared nodes.
func NewState(m *model.Model) *State {
	f := newFilters(newBooks(nil, m), true)
	return stateOver(&f)
}

// stateOver returns the state with the running pods in the books of filters.
func stateOver(f *filters) *State {
	s := newState(f)
	for _, w := range f.m.Workloads {
		if w.Running && model.Modelled(f.m.Groups[w]) {
			if n, ok := f.m.IndexOf(w.Spec.NodeName); ok {
				s.record(w, f.m.Topology.Nodes[n])
			}
		}
	}
	return s
}

// Place puts a pod of w on a node without applying the filters.
func (s *State) Place(w *workload.Workload, n *topology.Node) {
	if i, ok := s.f.m.IndexOf(n.Name); ok {
		s.f.add(s.f.m.Groups[w], i)
		s.record(w, n)
	}
}

// record records a pod that the books have.
func (s *State) record(w *workload.Workload, n *topology.Node) {
	s.on[n] = append(s.on[n], len(s.pods))
	s.pods = append(s.pods, certificate.Placed{Workload: w, Node: n})
}

// Pods returns the pods in the order in which they were placed.
func (s *State) Pods() []certificate.Placed { return s.pods }

// Filter returns why a node does not take one more pod of w now, or that it does. A pod
// that is bound by its manifest passes only the kubelet's admission (R-P8).
func (s *State) Filter(w *workload.Workload, n *topology.Node) certificate.Reason {
	i, ok := s.f.m.IndexOf(n.Name)
	if !ok {
		return RefusedByNobody
	}
	return s.f.refuses(s.f.m.Groups[w], i)
}

// reason returns the first node-level filter that a node fails.
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

// repels returns the first placed pod that keeps one more off a node, and whose rule
// does: it tries the terms of the incoming pod first. It mirrors
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

// repelling counts the pods of the repelling pod's workload in its domain.
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

func newState(f *filters) *State {
	return &State{f: f, on: map[*topology.Node][]int{}, called: map[*workload.Workload]string{}, single: map[string]bool{}}
}
