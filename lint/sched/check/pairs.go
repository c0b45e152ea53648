package check

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// pairs evaluates the rules of two groups for their pods on given nodes: which exclude
// each other, and which are surely selected.
type pairs struct{ *nodeSets }

// beside returns how many pods of a DaemonSet are on other nodes in a domain of the
// member's node.
func (p *pairs) beside(m certificate.Member, keys []string) int {
	count := 0
	for _, n := range p.sites(m.G) {
		if n != m.Node && slices.ContainsFunc(keys, func(k string) bool { return model.SameDomain(p.m.Topology.Nodes[n], p.m.Topology.Nodes[m.Node], k) }) {
			count++
		}
	}
	return count
}

// outOf reports whether a pod of o on one node keeps an incoming pod of g off another.
func (p *pairs) outOf(g *model.Group, n int, o *model.Group, at int) bool {
	here, there := p.m.Topology.Nodes[n], p.m.Topology.Nodes[at]
	if g.Spec.NodeName != "" {
		return false
	}
	return slices.ContainsFunc(p.against[g.Workload], func(a against) bool { return a.w == o.Workload && model.SameDomain(here, there, a.key) }) ||
		slices.ContainsFunc(g.Terms, func(t *model.Term) bool {
			return t.Hard && t.Use == model.AntiAffinity && model.SameDomain(here, there, t.Key) && p.m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true, At: there})
		})
}

func portsClash(m *model.Model, g, o *model.Group) bool {
	m.Run().Spend(1 + (len(g.HostPorts)+len(o.HostPorts))/model.PerStep)
	if len(g.HostPorts) == 0 || len(o.HostPorts) == 0 {
		return false
	}
	if len(g.HostPorts)*len(o.HostPorts) <= model.PerStep {
		return slices.ContainsFunc(g.HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(o.HostPorts, p.Conflicts) })
	}
	byNumber := map[int32][]model.HostPort{}
	for _, p := range o.HostPorts {
		byNumber[p.Port] = append(byNumber[p.Port], p)
	}
	return slices.ContainsFunc(g.HostPorts, func(p model.HostPort) bool { return slices.ContainsFunc(byNumber[p.Port], p.Conflicts) })
}

// apartOn returns the keys on which pods of a group always exclude each other.
func (p *pairs) apartOn(g *model.Group) []string {
	var keys []string
	if g.Spec.NodeName != "" {
		return nil // the kubelet ignores affinity
	}
	for _, a := range p.against[g.Workload] {
		if a.w == g.Workload && !slices.Contains(keys, a.key) {
			keys = append(keys, a.key)
		}
	}
	for t := range g.Hard(model.AntiAffinity) {
		if !slices.Contains(keys, t.Key) && p.surely(t, g, g) {
			keys = append(keys, t.Key)
		}
	}
	return keys
}

// excludesAt reports whether an incoming pod of g is always kept out of domains of a key
// that hold a pod of o, on whichever of the nodes.
func (p *pairs) excludesAt(g, o *model.Group, key string, nodes []int) bool {
	for t := range g.Hard(model.AntiAffinity) {
		if t.Key == key && p.surelyAt(t, g, o, nodes) {
			return true
		}
	}
	return slices.Contains(p.against[g.Workload], against{o.Workload, key})
}

// surely reports whether a term selects the pods of o wherever they are.
func (p *pairs) surely(t *model.Term, g, o *model.Group) bool {
	return p.surelyAt(t, g, o, p.sites(o))
}

func (p *pairs) surelyAt(t *model.Term, g, o *model.Group, nodes []int) bool {
	if !t.Sel.Local() {
		return slices.Contains(p.selects[t], o.Workload)
	}
	return !slices.ContainsFunc(nodes, func(n int) bool {
		return !p.m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true, At: p.m.Topology.Nodes[n]})
	})
}

// companions reports whether pods of others match all required affinity terms.
func (p *pairs) companions(g *model.Group) bool {
	hard := g.HardAffinity()
	if len(hard) == 0 {
		return false
	}
	return slices.ContainsFunc(p.selects[hard[0]], func(o *workload.Workload) bool {
		if o == g.Workload {
			return false
		}
		if !model.Local(hard) {
			return selectedByAll(p.m, hard, g, o, nil)
		}
		return slices.ContainsFunc(p.sites(p.m.Groups[o]), func(n int) bool { return selectedByAll(p.m, hard, g, o, p.m.Topology.Nodes[n]) })
	})
}

// within reports whether the only spread of a group counts only its own pods, and its
// anti-affinity keeps pods apart only within domains of the spread (T3).
func (p *pairs) within(g *model.Group) bool {
	var t *model.Term
	for of := range g.Hard(model.Spread) {
		t = of
	}
	return p.keeps(g, t)
}

// keeps is within for one spread of several.
func (p *pairs) keeps(g *model.Group, t *model.Term) bool {
	if t.Sel.Form != model.FormSet || !p.surely(t, g, g) || !p.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true}) || p.watches(g, t) {
		return false
	}
	return !slices.ContainsFunc(p.apartOn(g), func(k string) bool { return !p.inside(g, k, t.Key) })
}

// watches reports whether a spread also counts pods of others.
func (p *pairs) watches(g *model.Group, t *model.Term) bool {
	return t.Sel.Form == model.FormSet && slices.ContainsFunc(p.selects[t], func(o *workload.Workload) bool { return o != g.Workload && !o.Terminating() })
}
