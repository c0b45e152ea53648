package check

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
)

// ledger is what all pods that may come to a node ask for: where that is more
// than the node has, the resource may run short.
type ledger struct {
	names []corev1.ResourceName
	// wanted and shared are by node and resource: the sum, and by how many
	// workloads; free is what is there.
	wanted, free []int64
	shared       []int32
	asked        map[*model.Group][]int64
}

// asks is what a pod of a group asks for, by resource of the ledger.
func (l *ledger) asks(g *model.Group) []int64 {
	all := l.asked[g]
	if all == nil {
		all = make([]int64, len(l.names))
		all[0] = 1
		for _, r := range g.Requests {
			all[slices.Index(l.names, r.Name)] = r.Amount
		}
		l.asked[g] = all
	}
	return all
}

func (l *ledger) short(n, r int) bool {
	return l.wanted[n*len(l.names)+r] > l.free[n*len(l.names)+r]
}

// books gives the ledger for the pods that are running.
func (v *verifier) books() *ledger {
	if v.ledger != nil {
		return v.ledger
	}
	l := &ledger{names: []corev1.ResourceName{corev1.ResourcePods}, asked: map[*model.Group][]int64{}}
	for _, w := range v.m.Workloads {
		for _, r := range v.m.Groups[w].Requests {
			if !slices.Contains(l.names, r.Name) {
				l.names = append(l.names, r.Name)
			}
		}
	}
	width := len(l.names)
	l.wanted, l.shared, l.free = make([]int64, len(v.on)*width), make([]int32, len(v.on)*width), make([]int64, len(v.on)*width)
	for r, name := range l.names {
		for n, has := range v.m.Offers(name, v.m.Topology.Nodes) {
			if v.on[n] != nil && has != math.MaxInt64 {
				has -= v.on[n].used[name]
			}
			l.free[n*width+r] = min(has, model.Unbounded<<24) // that much where it is not judged
		}
	}
	v.ledger = l
	for _, w := range v.m.Workloads {
		g := v.m.Groups[w]
		if n, ok := v.m.IndexOf(g.Spec.NodeName); ok && g.Spec.NodeName != "" {
			l.forget(v.m.Topology.Nodes[n], g)
		}
		if model.Modelled(g) && !g.Running {
			l.enter(v, g)
		}
	}
	return l
}

// enter adds what the pods of a group ask for on the nodes that they may be on.
func (l *ledger) enter(v *verifier, g *model.Group) {
	asks, apart, clashes := l.asks(g), v.apartOn(g), v.portsClash(g, g)
	for _, n := range v.reachable(g) {
		pods := int64(g.Count.N)
		lone := clashes || slices.ContainsFunc(apart, func(k string) bool { return model.Carries(v.m.Topology.Nodes[n].Labels, []string{k}) })
		if g.Kind.PerNode() || lone { // a node takes one of them at most
			pods = min(1, max(pods, int64(v.count(g))))
		}
		for r, ask := range asks {
			if ask > 0 && pods > 0 {
				l.wanted[n*len(asks)+r] += ask * pods
				l.shared[n*len(asks)+r]++
			}
		}
	}
}

// forget drops the extended resources that the kubelet of a bound pod does not
// know, which it does not ask for then.
func (l *ledger) forget(node *topology.Node, g *model.Group) {
	asks := l.asks(g)
	for r, name := range l.names {
		if _, listed := node.Allocatable[name]; !listed && model.Extended(name) {
			asks[r] = 0
		}
	}
}

// sites are the nodes that pass a group's node-level filters and hold a pod when
// empty.
func (v *verifier) sites(g *model.Group) []int { return v.sited(g).list }

// sited is a set of nodes and what the least of them offers; its name is equal
// for groups with the same set.
type sited struct {
	name  string
	done  bool
	list  []int
	least map[corev1.ResourceName]int64
}

func (v *verifier) sited(g *model.Group) *sited {
	all := v.passing(g)
	if !slices.ContainsFunc(g.Requests, func(r model.Request) bool {
		least, judged := all.least[r.Name]
		return judged && r.Amount > least
	}) {
		return all
	}
	id := g.Signature + "|" + g.Request
	s := v.sets[id]
	if s == nil {
		s = &sited{name: id}
		for _, n := range all.list {
			if model.Holds(v.m.Topology.Nodes[n], g) {
				s.list = append(s.list, n)
			}
		}
		v.sets[id] = s
	}
	return s
}

// passing are the nodes that pass the node-level filters and have a slot.
func (v *verifier) passing(g *model.Group) *sited {
	s := v.sets[g.Signature]
	if s == nil {
		s = &sited{name: g.Signature, least: map[corev1.ResourceName]int64{}}
		v.sets[g.Signature] = s
	}
	for n, p := range v.m.Eligible(g.Workload).Nodes {
		if s.done {
			break
		}
		if most, _ := model.Fits(v.m.Topology.Nodes[n], nil); p.All() && most > 0 {
			s.list = append(s.list, n)
		}
	}
	s.done = true
	for i := range g.Requests {
		v.least(s, &g.Requests[i])
	}
	return s
}

// least finds out what the least of some nodes offers of a resource.
func (v *verifier) least(s *sited, r *model.Request) {
	if _, known := s.least[r.Name]; known {
		return
	}
	least := int64(model.Unbounded) << 24
	offers := v.m.Offers(r.Name, v.m.Topology.Nodes)
	for _, n := range s.list {
		least = min(least, offers[n]) // beyond everything where a node is not judged
	}
	s.least[r.Name] = least
}

// scarce reports whether something that a member asks for may run short on one
// of its nodes because of others.
func (v *verifier) scarce(m certificate.Member) bool {
	l := v.books()
	asks := l.asks(m.G)
	for _, n := range v.only(m) {
		for r, ask := range asks {
			if ask > 0 && l.short(n, r) && l.shared[n*len(asks)+r] > 1 {
				return true
			}
		}
	}
	return false
}
