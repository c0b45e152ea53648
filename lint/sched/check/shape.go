package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// checkShape looks at a component of one kind of pod: that it is one and alone,
// and what its closed form says.
func (v *verifier) checkShape(c *certificate.Assertion) error {
	if len(c.Members) != 1 {
		return fmt.Errorf("%v are no single kind of pod", certificate.Called(c.Members))
	}
	m := c.Members[0]
	if c.Never {
		if v.most(m) < m.Pods {
			return nil
		}
		return fmt.Errorf("%v: there is room for all pods", m.G.Workload)
	}
	if m.Pods == 0 {
		return nil
	}
	if err := v.alone(m); err != nil {
		return err
	}
	spreads := model.HardKeys(m.G)
	nodes := v.sites(m.G)
	switch {
	case m.Node >= 0 || m.G.Spec.NodeName != "":
		nodes = v.only(m)
	case len(m.G.HardAffinity()) > 0:
		return v.checkNear(m)
	case len(spreads) > 1 || len(spreads) == 1 && !v.within(m.G):
		return fmt.Errorf("%v: its spread has no closed form", m.G.Workload)
	case !v.nests(m.G, v.apartOn(m.G)):
		return fmt.Errorf("%v: the domains of %v cross", m.G.Workload, v.apartOn(m.G))
	case len(v.running) == 0 && v.fills(m):
		return nil
	}
	if placed := v.run(m.G, nodes, m.Pods); placed < m.Pods {
		return fmt.Errorf("%v: a run places %d of %d pods", m.G.Workload, placed, m.Pods)
	}
	return nil
}

// checkNear holds every domain in which a first pod may be against the number
// of pods (T5).
func (v *verifier) checkNear(m certificate.Member) error {
	_, worst, ok := v.gathered(m)
	if !ok || !v.nests(m.G, v.apartOn(m.G)) || len(model.HardKeys(m.G)) > 0 {
		return fmt.Errorf("%v: its affinity has no closed form", m.G.Workload)
	}
	if worst < m.Pods {
		return fmt.Errorf("%v: where its first pod may be are %d of %d pods", m.G.Workload, worst, m.Pods)
	}
	return nil
}

// gathered is how many pods of a workload that keeps near its own pods only are
// placed in the best and in the worst domain that a first one may pick (T5).
func (v *verifier) gathered(m certificate.Member) (best, worst int, ok bool) {
	hard := m.G.HardAffinity()
	groups := map[string][]int{}
	for _, t := range hard {
		if !v.m.Selects(t, m.G.Workload, m.G.Workload, model.Asks{Self: true, Incoming: true}) || !v.surely(t, m.G, m.G) {
			return 0, 0, false
		}
	}
	if v.companions(m.G) {
		return 0, 0, false
	}
	for _, n := range v.only(m) {
		id, all := "", true
		for _, t := range hard {
			value, has := v.m.Topology.Nodes[n].Labels[t.Key]
			id += value + "\x00"
			all = all && has
		}
		if all {
			groups[id] = append(groups[id], n)
		}
	}
	worst = model.Unbounded
	for _, id := range model.SortedKeys(groups) {
		if placed := v.run(m.G, groups[id], m.Pods); placed > 0 {
			best, worst = max(best, placed), min(worst, placed)
		}
	}
	if worst == model.Unbounded {
		worst = 0
	}
	return best, worst, true
}

// companions reports whether pods of others match all required affinity terms.
func (v *verifier) companions(g *model.Group) bool {
	hard := g.HardAffinity()
	if len(hard) == 0 {
		return false
	}
	return slices.ContainsFunc(v.selects[hard[0]], func(o *workload.Workload) bool {
		if o == g.Workload {
			return false
		}
		if !model.Local(hard) {
			return v.byAll(hard, g, o, nil)
		}
		return slices.ContainsFunc(v.sites(v.m.Groups[o]), func(n int) bool { return v.byAll(hard, g, o, v.m.Topology.Nodes[n]) })
	})
}

// within reports whether the one spread of a group counts its own pods alone,
// and its anti-affinity keeps pods apart within domains of the spread only (T3).
func (v *verifier) within(g *model.Group) bool {
	var t *model.Term
	for _, of := range g.Terms {
		if of.Hard && of.Use == model.Spread {
			t = of
		}
	}
	if t.Sel.Form != model.FormSet || !v.surely(t, g, g) || !v.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true}) || v.watches(g, t) {
		return false
	}
	return !slices.ContainsFunc(v.apartOn(g), func(k string) bool { return !v.inside(g, k, t.Key) })
}

// watches reports whether a spread counts pods of others, too.
func (v *verifier) watches(g *model.Group, t *model.Term) bool {
	return t.Sel.Form == model.FormSet && slices.ContainsFunc(v.selects[t], func(o *workload.Workload) bool { return o != g.Workload && !o.Terminating() })
}

// alone reports whether nothing that is to be placed besides has to do with a
// group; the error says what has.
func (v *verifier) alone(m certificate.Member) error {
	g := m.G
	for _, a := range v.against[g.Workload] {
		if g.Spec.NodeName == "" && a.w != g.Workload && !a.w.Running {
			return fmt.Errorf("%v is kept out by %v", g.Workload, a.w)
		}
	}
	for _, t := range g.Terms {
		others := t.Hard && t.Use == model.AntiAffinity && slices.ContainsFunc(v.selects[t], func(o *workload.Workload) bool { return o != g.Workload && !o.Running })
		if g.Spec.NodeName == "" && (others || t.Hard && t.Use == model.Spread && v.watches(g, t)) {
			return fmt.Errorf("%v looks at others", g.Workload)
		}
	}
	if g.Spec.NodeName == "" && v.companions(g) {
		return fmt.Errorf("%v looks at others", g.Workload)
	}
	if m.Node >= 0 && g.Spec.NodeName == "" && v.siblings(m) {
		return fmt.Errorf("%v looks at its pods on other nodes", g.Workload)
	}
	if other := v.clashes(g); other != nil {
		return fmt.Errorf("%v wants a port of %v", other, g.Workload)
	}
	if v.contend && v.scarce(m) {
		return fmt.Errorf("%v asks for what may run short", g.Workload)
	}
	return nil
}

// siblings reports whether the rules of a DaemonSet let its pods on other nodes
// matter to one of them.
func (v *verifier) siblings(m certificate.Member) bool {
	return v.beside(m, v.apartOn(m.G)) > 0 || len(v.sites(m.G)) > 1 && slices.ContainsFunc(m.G.Terms, func(t *model.Term) bool {
		looks := t.Use == model.Affinity || t.Use == model.Spread && !pinnedSpread(m.G, t) && t.Sel.Form == model.FormSet
		return t.Hard && looks && slices.Contains(v.selects[t], m.G.Workload)
	})
}

// clashes is another workload that takes a port of the group's.
func (v *verifier) clashes(g *model.Group) *workload.Workload {
	if len(g.HostPorts) == 0 {
		return nil
	}
	for _, w := range v.m.Workloads {
		o := v.m.Groups[w]
		if o == g || !v.m.Present(o) || o.Running {
			continue
		}
		for _, p := range g.HostPorts {
			if slices.ContainsFunc(o.HostPorts, p.Conflicts) {
				return w
			}
		}
	}
	return nil
}
