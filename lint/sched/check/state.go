package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// State is a set of pods on the declared nodes: what the scheduler looks at
// when it decides about one more pod. It applies the filters one pod and one
// node at a time, as kube-scheduler v1.36 does, and nothing cleverer, so that
// every shortcut can be held against it.
type State struct {
	m    *model.Model
	pods []certificate.Placed
	// on lists the pods of each node.
	on map[*topology.Node][]int
	// lost are nodes that are lost, and meaning is what that means.
	lost    map[*topology.Node]bool
	meaning certificate.Meaning
	// called are names of workloads that are no longer told apart by their own.
	called map[*workload.Workload]string
	// single keeps which keys give every node a domain of its own.
	single map[string]bool
	// kept, if it is not nil, keeps what spreads count while nothing moves.
	kept map[*model.Term]tallied
}

// NewState is the state with only those pods that the manifests say are
// running; pods on nodes that are not declared are nowhere.
func NewState(m *model.Model) *State {
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
	s.pods = append(s.pods, certificate.Placed{Workload: w, Node: n})
}

// Pods are the pods in the order in which they were placed.
func (s *State) Pods() []certificate.Placed { return s.pods }

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

// Filter tells whether a node takes one more pod of w now. A pod that is bound
// by its manifest meets the kubelet's admission only (R-P8).
func (s *State) Filter(w *workload.Workload, n *topology.Node) certificate.Reason {
	f := model.NewFilter(w)
	if r := reason(f.Passes(n)); r != certificate.Takes {
		return r
	}
	if s.lost[n] {
		return lostAs[s.meaning].By
	}
	g := s.m.Groups[w]
	for _, live := range liveFilters {
		if !(live.rule && f.Bound()) && live.refuses(s, g, n) {
			return live.by
		}
	}
	return certificate.Takes
}

// liveFilters are those that look at other pods, in the order of the default
// profile; a kubelet does not apply those of rules. Why says why one refuses.
var liveFilters = []struct {
	by      certificate.Reason
	rule    bool
	refuses func(*State, *model.Group, *topology.Node) bool
	why     func(*State, *model.Group, *topology.Node) Refusal
}{
	{certificate.RefusedByPort, false, func(s *State, g *model.Group, n *topology.Node) bool { _, _, taken := s.portTaken(g, n); return taken }, (*State).whyPort},
	{certificate.RefusedByResources, false, func(s *State, g *model.Group, n *topology.Node) bool { return s.short(g, n) != nil }, (*State).whyShort},
	{certificate.RefusedBySpread, true, func(s *State, g *model.Group, n *topology.Node) bool { return s.uneven(g, n) != nil }, (*State).whyUneven},
	{certificate.RefusedByAffinity, true, func(s *State, g *model.Group, n *topology.Node) bool {
		_, hit := s.antiAffinityHit(g, n)
		return hit || s.unmet(g, n) != nil
	}, (*State).whyAffinity},
}

// portTaken mirrors plugins/nodeports/node_ports.go Fits: it gives the first
// wanted port that a pod in place has.
func (s *State) portTaken(g *model.Group, n *topology.Node) (port model.HostPort, by *workload.Workload, taken bool) {
	for _, i := range s.on[n] {
		for _, taken := range s.m.Groups[s.pods[i].Workload].HostPorts {
			for _, wanted := range g.HostPorts {
				if wanted.Conflicts(taken) {
					return wanted, s.pods[i].Workload, true
				}
			}
		}
	}
	return model.HostPort{}, nil, false
}

// lack is a resource of which a node has too little left.
type lack struct {
	request *model.Request // nil for the slots of a node
	left    int64
}

// short mirrors plugins/noderesources/fit.go fitsRequest, but does not judge
// what a node does not list (R-N22, R-N23).
func (s *State) short(g *model.Group, n *topology.Node) *lack {
	if q, ok := n.Allocatable[corev1.ResourcePods]; ok && int64(len(s.on[n])+1) > q.Value() {
		return &lack{left: q.Value() - int64(len(s.on[n]))}
	}
	for i := range g.Requests {
		r := &g.Requests[i]
		free, judged := model.Offered(n, r)
		if !judged {
			continue
		}
		for _, k := range s.on[n] {
			for _, used := range s.m.Groups[s.pods[k].Workload].Requests {
				if used.Name == r.Name {
					free -= used.Amount
				}
			}
		}
		if r.Amount > free {
			return &lack{r, free}
		}
	}
	return nil
}

// hit is a term of required anti-affinity that keeps a pod out.
type hit struct {
	term *model.Term // nil where the controller adds one (R-W25)
	key  string
	// pod is the one in place, and its tells whether the term is that pod's.
	pod certificate.Placed
	its bool
}

// antiAffinityHit mirrors plugins/interpodaffinity/filtering.go: it tells whether
// a term of the pod or of one in place keeps them apart. A node without the key
// keeps nobody out (R-A5 to R-A7).
func (s *State) antiAffinityHit(g *model.Group, n *topology.Node) (hit, bool) {
	for _, p := range s.pods {
		for _, t := range g.Terms {
			if t.Use == model.AntiAffinity && t.Hard && model.SameDomain(n, p.Node, t.Key) && s.m.Selects(t, g.Workload, p.Workload, model.Asks{Incoming: true, At: p.Node}) {
				return hit{t, t.Key, p, false}, true
			}
		}
		for _, t := range s.m.Groups[p.Workload].Terms {
			if t.Use == model.AntiAffinity && t.Hard && model.SameDomain(n, p.Node, t.Key) && s.m.Selects(t, p.Workload, g.Workload, model.Asks{}) {
				return hit{t, t.Key, p, true}, true
			}
		}
		for _, a := range s.m.Apart {
			if x, y := g.Origin(), s.m.Groups[p.Workload].Origin(); model.SameDomain(n, p.Node, a.Key) && (a.A == x && a.B == y || a.A == y && a.B == x) {
				return hit{nil, a.Key, p, true}, true
			}
		}
	}
	return hit{}, false
}

// unmet gives a term of required affinity that the node does not meet. It
// follows satisfyPodAffinity: a pod counts if it matches all terms at once, but
// each term may be met by another of them (R-A9 to R-A14).
func (s *State) unmet(g *model.Group, n *topology.Node) *model.Term {
	hard := g.HardAffinity()
	met, counted, self := make([]bool, len(hard)), false, true
	for _, t := range hard {
		if _, ok := n.Labels[t.Key]; !ok {
			return t
		}
		self = self && s.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true})
	}
	for _, p := range s.pods {
		if len(hard) == 0 || !s.matchesAll(hard, g, p) {
			continue
		}
		for i, t := range hard {
			if _, ok := p.Node.Labels[t.Key]; ok {
				counted = true
				met[i] = met[i] || model.SameDomain(n, p.Node, t.Key)
			}
		}
	}
	if i := slices.Index(met, false); i >= 0 && (counted || !self) {
		return hard[i]
	}
	return nil
}

func (s *State) matchesAll(terms []*model.Term, g *model.Group, p certificate.Placed) bool {
	for _, t := range terms {
		if !s.m.Selects(t, g.Workload, p.Workload, model.Asks{Incoming: true, At: p.Node}) {
			return false
		}
	}
	return true
}

// skew is a constraint that one more pod in a domain would break.
type skew struct {
	term *model.Term // nil if the node lacks a key
	// key is the one that the node lacks, else that of the term.
	key string
	// here is how many pods count in the domain, smallest the fewest in any.
	here, smallest, domains int
}

// uneven mirrors plugins/podtopologyspread/filtering.go (R-T1 to R-T7): it gives
// the first constraint that is in the way.
func (s *State) uneven(g *model.Group, n *topology.Node) *skew {
	keys := model.HardKeys(g)
	if i := slices.IndexFunc(keys, func(k string) bool { return !model.Carries(n.Labels, []string{k}) }); i >= 0 {
		return &skew{key: keys[i]}
	}
	for _, t := range g.Terms {
		if t.Use != model.Spread || !t.Hard {
			continue
		}
		counts, smallest := s.tallied(g, t, keys, n)
		self := 0
		if t.Sel.Form == model.FormEmpty || s.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true}) {
			self = 1
		}
		if here := counts[n.Labels[t.Key]]; here+self-smallest > int(t.Constraint.MaxSkew) {
			return &skew{t, t.Key, here, smallest, len(counts)}
		}
	}
	return nil
}

// spreadCounts counts the matching pods of each eligible domain, and the
// smallest count, which is 0 with fewer domains than minDomains (R-T3 to R-T6),
// as a pod that is to go to a node sees them.
func (s *State) spreadCounts(g *model.Group, t *model.Term, keys []string, at *topology.Node) (counts map[string]int, smallest int) {
	counts = map[string]int{}
	e := s.m.Eligible(g.Workload)
	for i, n := range s.m.Topology.Nodes {
		p := e.Nodes[i]
		pinned := g.Kind.PerNode() && n != at // its pods are pinned by node affinity (R-N31)
		if !model.Carries(n.Labels, keys) || t.HonorsAffinity() && (!p.Selector || pinned) || t.HonorsTaints() && !p.Taints || s.hidden(t, n) {
			continue
		}
		value := n.Labels[t.Key]
		counts[value] += 0
		for _, k := range s.on[n] {
			if s.leaving(k) {
				continue
			}
			o := s.pods[k].Workload
			if t.Sel.Form == model.FormSet && !o.Terminating() && s.m.Selects(t, g.Workload, o, model.Asks{Incoming: true, At: n}) {
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
