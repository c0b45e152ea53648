package placement

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Reason is why a node does not take a pod: the plugin of kube-scheduler that
// refuses it first, in the order of its default profile.
type Reason string

// The reasons; Takes means that the node takes the pod.
const (
	Takes              Reason = ""
	RefusedByName      Reason = "NodeName"
	RefusedByTaint     Reason = "TaintToleration"
	RefusedBySelector  Reason = "NodeAffinity"
	RefusedByCordon    Reason = "NodeUnschedulable"
	RefusedByPort      Reason = "NodePorts"
	RefusedByResources Reason = "NodeResourcesFit"
	RefusedBySpread    Reason = "PodTopologySpread"
	RefusedByAffinity  Reason = "InterPodAffinity"
)

// State is a set of pods on the declared nodes: what the scheduler looks at
// when it decides about one more pod. It applies the filters one pod and one
// node at a time, as kube-scheduler v1.36 does, and nothing cleverer, so that
// every shortcut can be held against it.
type State struct {
	m    *Model
	pods []Placed
	// on lists the pods of each node.
	on map[*topology.Node][]int
}

// Placed is one pod on one node.
type Placed struct {
	Workload *workload.Workload
	Node     *topology.Node
}

// NewState is the state with only those pods that the manifests say are
// running; pods on nodes that are not declared are nowhere.
func NewState(m *Model) *State {
	s := &State{m: m, on: map[*topology.Node][]int{}}
	for _, w := range m.Workloads {
		if !w.Running {
			continue
		}
		for _, n := range m.Topology.Nodes {
			if n.Name == w.Spec.NodeName {
				s.Place(w, n)
			}
		}
	}
	return s
}

// Place puts a pod of w on a node without asking.
func (s *State) Place(w *workload.Workload, n *topology.Node) {
	s.on[n] = append(s.on[n], len(s.pods))
	s.pods = append(s.pods, Placed{w, n})
}

// Pods are the pods in the order in which they were placed.
func (s *State) Pods() []Placed { return s.pods }

// reason is the first of the node-level filters that a node does not pass.
func (p Passes) reason() Reason {
	switch {
	case !p.Name:
		return RefusedByName
	case !p.Schedulable:
		return RefusedByCordon
	case !p.Taints:
		return RefusedByTaint
	case !p.Selector:
		return RefusedBySelector
	}
	return Takes
}

// Filter tells whether a node takes one more pod of w now. A pod that is bound
// by its manifest meets the kubelet's admission only (R-P8).
func (s *State) Filter(w *workload.Workload, n *topology.Node) Reason {
	g := s.m.groups[w]
	f := newFilter(w)
	if r := f.passes(n).reason(); r != Takes {
		return r
	}
	switch {
	case s.portTaken(g, n):
		return RefusedByPort
	case !s.resourcesLeft(g, n):
		return RefusedByResources
	case f.bound():
		return Takes
	case !s.spreadAllows(g, n):
		return RefusedBySpread
	case !s.affinityAllows(g, n):
		return RefusedByAffinity
	}
	return Takes
}

// portTaken mirrors plugins/nodeports/node_ports.go Fits.
func (s *State) portTaken(g *Group, n *topology.Node) bool {
	for _, i := range s.on[n] {
		for _, taken := range s.m.groups[s.pods[i].Workload].HostPorts {
			for _, wanted := range g.HostPorts {
				if wanted.Conflicts(taken) {
					return true
				}
			}
		}
	}
	return false
}

// resourcesLeft mirrors plugins/noderesources/fit.go fitsRequest, but does not
// judge what a node does not list (R-N22, R-N23).
func (s *State) resourcesLeft(g *Group, n *topology.Node) bool {
	if q, ok := n.Allocatable[corev1.ResourcePods]; ok && int64(len(s.on[n])+1) > q.Value() {
		return false
	}
	for i := range g.Requests {
		r := &g.Requests[i]
		free, judged := offered(n, r)
		if !judged {
			continue
		}
		for _, k := range s.on[n] {
			for _, used := range s.m.groups[s.pods[k].Workload].Requests {
				if used.Name == r.Name {
					free -= used.Amount
				}
			}
		}
		if r.Amount > free {
			return false
		}
	}
	return true
}

// sameDomain reports whether two nodes share a value of a topology key.
func sameDomain(a, b *topology.Node, key string) bool {
	va, ok := a.Labels[key]
	vb, has := b.Labels[key]
	return ok && has && va == vb
}

// affinityAllows mirrors plugins/interpodaffinity/filtering.go: required
// affinity, own required anti-affinity, that of pods in place.
func (s *State) affinityAllows(g *Group, n *topology.Node) bool {
	return s.affinityMet(g, n) && !s.antiAffinityHit(g, n)
}

// antiAffinityHit tells whether a term of the pod or of one in place keeps
// them apart: a node without the key keeps nobody out (R-A5 to R-A7).
func (s *State) antiAffinityHit(g *Group, n *topology.Node) bool {
	for _, p := range s.pods {
		for _, t := range g.Terms {
			if t.Use == AntiAffinity && t.Hard && sameDomain(n, p.Node, t.Key) && s.m.selects(t, g.Workload, p.Workload, asks{incoming: true, at: p.Node}) {
				return true
			}
		}
		for _, t := range s.m.groups[p.Workload].Terms {
			if t.Use == AntiAffinity && t.Hard && sameDomain(n, p.Node, t.Key) && s.m.selects(t, p.Workload, g.Workload, asks{}) {
				return true
			}
		}
	}
	return false
}

// affinityMet follows satisfyPodAffinity: a pod counts if it matches all terms
// at once, but each term may be met by another of them (R-A9 to R-A14).
func (s *State) affinityMet(g *Group, n *topology.Node) bool {
	hard := g.HardAffinity()
	if len(hard) == 0 {
		return true
	}
	met, counted, self := make([]bool, len(hard)), false, true
	for _, t := range hard {
		if _, ok := n.Labels[t.Key]; !ok {
			return false
		}
		self = self && s.m.selects(t, g.Workload, g.Workload, asks{self: true, incoming: true})
	}
	for _, p := range s.pods {
		if !s.matchesAll(hard, g, p) {
			continue
		}
		for i, t := range hard {
			if _, ok := p.Node.Labels[t.Key]; ok {
				counted = true
				met[i] = met[i] || sameDomain(n, p.Node, t.Key)
			}
		}
	}
	if !counted && self {
		return true
	}
	for _, ok := range met {
		if !ok {
			return false
		}
	}
	return true
}

func (s *State) matchesAll(terms []*Term, g *Group, p Placed) bool {
	for _, t := range terms {
		if !s.m.selects(t, g.Workload, p.Workload, asks{incoming: true, at: p.Node}) {
			return false
		}
	}
	return true
}

// spreadAllows mirrors plugins/podtopologyspread/filtering.go (R-T1 to R-T7).
func (s *State) spreadAllows(g *Group, n *topology.Node) bool {
	keys := hardKeys(g)
	if len(keys) == 0 {
		return true
	}
	if !carries(n.Labels, keys) {
		return false
	}
	for _, t := range g.Terms {
		if t.Use != Spread || !t.Hard {
			continue
		}
		counts, smallest := s.spreadCounts(g, t, keys, n)
		self := 0
		if t.sel.form == FormEmpty || s.m.selects(t, g.Workload, g.Workload, asks{self: true, incoming: true}) {
			self = 1
		}
		if counts[n.Labels[t.Key]]+self-smallest > int(t.Constraint.MaxSkew) {
			return false
		}
	}
	return true
}

// spreadCounts counts the matching pods of each eligible domain, and the
// smallest count, which is 0 with fewer domains than minDomains (R-T3 to R-T6),
// as a pod that is to go to a node sees them.
func (s *State) spreadCounts(g *Group, t *Term, keys []string, at *topology.Node) (counts map[string]int, smallest int) {
	counts = map[string]int{}
	e := s.m.Eligible(g.Workload)
	for i, n := range s.m.Topology.Nodes {
		p := e.Nodes[i]
		pinned := g.Kind.PerNode() && n != at // its pods are pinned by node affinity (R-N31)
		if !carries(n.Labels, keys) || t.honorsAffinity() && (!p.Selector || pinned) || t.honorsTaints() && !p.Taints {
			continue
		}
		value := n.Labels[t.Key]
		counts[value] += 0
		for _, k := range s.on[n] {
			o := s.pods[k].Workload
			if t.sel.form == FormSet && !o.Terminating() && s.m.selects(t, g.Workload, o, asks{incoming: true, at: n}) {
				counts[value]++
			}
		}
	}
	first := true
	for _, c := range counts {
		if first || c < smallest {
			smallest, first = c, false
		}
	}
	if len(counts) < t.MinDomains() {
		smallest = 0
	}
	return counts, smallest
}
