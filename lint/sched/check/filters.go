package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// refuses applies the filters.
func (v *verifier) refuses(g *model.Group, n int) certificate.Reason {
	v.m.Run().Spend(1 + len(g.Terms)/2)
	node := v.m.Topology.Nodes[n]
	if r := reason(v.m.Eligible(g.Workload).Nodes[n]); r != certificate.Takes {
		return r
	}
	if v.absent.from(n) {
		return certificate.RefusedByTaint
	}
	if v.on[n] != nil && len(g.HostPorts) > 0 {
		v.m.Run().Spend(len(v.on[n].ports) * len(g.HostPorts) / model.PerStep)
		for taken, pods := range v.on[n].ports {
			if pods > 0 && slices.ContainsFunc(g.HostPorts, taken.Conflicts) {
				return certificate.RefusedByPort
			}
		}
	}
	if !v.room(g, n) {
		return certificate.RefusedByResources
	}
	if g.Spec.NodeName != "" {
		return certificate.Takes
	}
	if v.repelled(g, node) {
		return certificate.RefusedByAffinity
	}
	for _, t := range g.Terms {
		if t.Hard && t.Use == model.Spread && !v.even(g, t, n) {
			return certificate.RefusedBySpread
		}
	}
	if !v.near(g, node) {
		return certificate.RefusedByAffinity
	}
	return certificate.Takes
}

// repelled is anti-affinity, that of the pod and that of pods in place.
func (v *verifier) repelled(g *model.Group, node *topology.Node) bool {
	v.m.Run().Spend(len(v.against[g.Workload]) / 2)
	for _, a := range v.against[g.Workload] {
		if value, ok := node.Labels[a.key]; ok && v.here[place3{a.w, a.key, value}] > 0 {
			return true
		}
	}
	for _, t := range g.Terms {
		if value, ok := node.Labels[t.Key]; ok && t.Hard && t.Use == model.AntiAffinity && v.any(g, t, value) {
			return true
		}
	}
	return false
}

// any tells whether a pod that a term selects is in a domain.
func (v *verifier) any(g *model.Group, t *model.Term, value string) bool {
	v.m.Run().Spend(len(v.selects[t]))
	for _, w := range v.selects[t] {
		if v.in([]*model.Term{t}, g, w, t.Key, value) {
			return true
		}
	}
	return false
}

// in tells whether a pod of w that all these terms select is in a domain; those
// that ask for labels of the node select it in some places only.
func (v *verifier) in(terms []*model.Term, g *model.Group, w *workload.Workload, key, value string) bool {
	if v.here[place3{w, key, value}] == 0 {
		return false
	}
	if !model.Local(terms) {
		return v.byAll(terms, g, w, nil)
	}
	for n, node := range v.m.Topology.Nodes {
		if here, ok := node.Labels[key]; ok && here == value && v.pods(n, w) > 0 && v.byAll(terms, g, w, node) {
			return true
		}
	}
	return false
}

func (v *verifier) room(g *model.Group, n int) bool {
	node := v.m.Topology.Nodes[n]
	if !v.contend { // each pod has to fit the empty node
		most, _ := model.Fits(node, g.Requests)
		return most > 0
	}
	if slots, judged := v.left(n, &model.Request{Name: corev1.ResourcePods}); judged && slots < 1 {
		return false
	}
	for i := range g.Requests {
		if has, judged := v.left(n, &g.Requests[i]); judged && has < g.Requests[i].Amount {
			return false
		}
	}
	return true
}

// near is required affinity: a pod counts if all terms select it.
func (v *verifier) near(g *model.Group, node *topology.Node) bool {
	hard := g.HardAffinity()
	first, anyone, met := true, false, 0
	for _, t := range hard {
		value, ok := node.Labels[t.Key]
		if !ok {
			return false
		}
		first = first && v.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true})
		found := false
		v.m.Run().Spend(len(v.selects[t]))
		for _, w := range v.selects[t] {
			found = found || v.in(hard, g, w, t.Key, value)
			anyone = anyone || v.total[keyOf{w, t.Key}] > 0 && v.anywhere(hard, g, w, t.Key)
		}
		if found {
			met++
		}
	}
	return met == len(hard) || !anyone && first
}

func (v *verifier) byAll(hard []*model.Term, g *model.Group, w *workload.Workload, at *topology.Node) bool {
	for _, t := range hard {
		if !v.m.Selects(t, g.Workload, w, model.Asks{Incoming: true, At: at}) {
			return false
		}
	}
	return true
}

// anywhere tells whether a pod of w that all terms select is on a node that
// carries the key.
func (v *verifier) anywhere(hard []*model.Term, g *model.Group, w *workload.Workload, key string) bool {
	if !model.Local(hard) {
		return v.byAll(hard, g, w, nil)
	}
	for n, node := range v.m.Topology.Nodes {
		if _, ok := node.Labels[key]; ok && v.pods(n, w) > 0 && v.byAll(hard, g, w, node) {
			return true
		}
	}
	return false
}

// counted tells whether the pods on a node count for a constraint of a pod that
// is to go to another one.
func (v *verifier) counted(g *model.Group, t *model.Term, n, to int) bool {
	p := v.m.Eligible(g.Workload).Nodes[n]
	switch {
	case !model.Carries(v.m.Topology.Nodes[n].Labels, model.HardKeys(g)):
		return false
	case t.HonorsTaints() && !p.Taints, v.absent.hides(t, n):
		return false
	case t.HonorsAffinity():
		return p.Selector && (!g.Kind.PerNode() || n == to)
	}
	return true
}

// even is the skew of one constraint.
func (v *verifier) even(g *model.Group, t *model.Term, n int) bool {
	node := v.m.Topology.Nodes[n]
	if !model.Carries(node.Labels, model.HardKeys(g)) {
		return false
	}
	counts, domains := v.counts[t], v.eligible(g, t, n)
	if pinnedSpread(g, t) {
		counts = map[string]int{node.Labels[t.Key]: v.onNode(g, t, n)}
	}
	smallest := 0
	if len(domains) > 0 && len(domains) >= t.MinDomains() {
		smallest = model.Unbounded
		for value := range domains {
			smallest = min(smallest, counts[value])
		}
	}
	self := 0
	if t.Sel.Form == model.FormEmpty || v.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true}) {
		self = 1
	}
	return counts[node.Labels[t.Key]]+self-smallest <= int(t.Constraint.MaxSkew)
}

// pinnedSpread reports whether a constraint counts on the pod's own node alone:
// a DaemonSet's pods are pinned by node affinity, which it honours (R-N31).
func pinnedSpread(g *model.Group, t *model.Term) bool {
	return g.Kind.PerNode() && t.HonorsAffinity()
}

// onNode counts the pods on one node that a constraint selects.
func (v *verifier) onNode(g *model.Group, t *model.Term, n int) int {
	if t.Sel.Form != model.FormSet {
		return 0
	}
	sum := 0
	for _, w := range v.selects[t] {
		if !w.Terminating() && v.m.Selects(t, g.Workload, w, model.Asks{Incoming: true, At: v.m.Topology.Nodes[n]}) {
			sum += v.pods(n, w)
		}
	}
	return sum
}

func (v *verifier) eligible(g *model.Group, t *model.Term, to int) map[string]bool {
	if g.Kind.PerNode() {
		domains := map[string]bool{}
		for n := range v.m.Topology.Nodes {
			if v.counted(g, t, n, to) {
				domains[v.m.Topology.Nodes[n].Labels[t.Key]] = true
			}
		}
		return domains
	}
	if v.absent != nil {
		return v.absent.eligible(v, g, t)
	}
	return v.domains(g, t)
}
