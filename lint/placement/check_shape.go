package placement

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/workload"
)

// checkShape looks at a component of one kind of pod: that it is one and alone,
// and what its closed form says.
func (v *verifier) checkShape(c *assertion) error {
	if len(c.members) != 1 {
		return fmt.Errorf("%v are no single kind of pod", called(c.members))
	}
	m := c.members[0]
	if c.never {
		if v.most(m) < m.pods {
			return nil
		}
		return fmt.Errorf("%v: there is room for all pods", m.g.Workload)
	}
	if m.pods == 0 {
		return nil
	}
	if err := v.alone(m); err != nil {
		return err
	}
	spreads := hardKeys(m.g)
	nodes := v.sites(m.g)
	switch {
	case m.node >= 0 || m.g.Spec.NodeName != "":
		nodes = v.only(m)
	case len(m.g.HardAffinity()) > 0:
		return v.checkNear(m)
	case len(spreads) > 1 || len(spreads) == 1 && !v.within(m.g):
		return fmt.Errorf("%v: its spread has no closed form", m.g.Workload)
	case !v.nests(m.g, v.apartOn(m.g)):
		return fmt.Errorf("%v: the domains of %v cross", m.g.Workload, v.apartOn(m.g))
	case len(v.running) == 0 && v.fills(m):
		return nil
	}
	if placed := v.run(m.g, nodes, m.pods); placed < m.pods {
		return fmt.Errorf("%v: a run places %d of %d pods", m.g.Workload, placed, m.pods)
	}
	return nil
}

// checkNear holds every domain in which a first pod may be against the number
// of pods (T5).
func (v *verifier) checkNear(m member) error {
	_, worst, ok := v.gathered(m)
	if !ok || !v.nests(m.g, v.apartOn(m.g)) || len(hardKeys(m.g)) > 0 {
		return fmt.Errorf("%v: its affinity has no closed form", m.g.Workload)
	}
	if worst < m.pods {
		return fmt.Errorf("%v: where its first pod may be are %d of %d pods", m.g.Workload, worst, m.pods)
	}
	return nil
}

// gathered is how many pods of a workload that keeps near its own pods only are
// placed in the best and in the worst domain that a first one may pick (T5).
func (v *verifier) gathered(m member) (best, worst int, ok bool) {
	hard := m.g.HardAffinity()
	groups := map[string][]int{}
	for _, t := range hard {
		if !v.m.selects(t, m.g.Workload, m.g.Workload, asks{self: true, incoming: true}) || !v.surely(t, m.g, m.g) {
			return 0, 0, false
		}
	}
	if v.companions(m.g) {
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
	worst = Unbounded
	for _, id := range sortedKeys(groups) {
		if placed := v.run(m.g, groups[id], m.pods); placed > 0 {
			best, worst = max(best, placed), min(worst, placed)
		}
	}
	if worst == Unbounded {
		worst = 0
	}
	return best, worst, true
}

// companions reports whether pods of others match all required affinity terms.
func (v *verifier) companions(g *Group) bool {
	hard := g.HardAffinity()
	if len(hard) == 0 {
		return false
	}
	return slices.ContainsFunc(v.selects[hard[0]], func(o *workload.Workload) bool {
		if o == g.Workload {
			return false
		}
		if !local(hard) {
			return v.byAll(hard, g, o, nil)
		}
		return slices.ContainsFunc(v.sites(v.m.groups[o]), func(n int) bool { return v.byAll(hard, g, o, v.m.Topology.Nodes[n]) })
	})
}

// within reports whether the one spread of a group counts its own pods alone,
// and its anti-affinity keeps pods apart within domains of the spread only (T3).
func (v *verifier) within(g *Group) bool {
	var t *Term
	for _, of := range g.Terms {
		if of.Hard && of.Use == Spread {
			t = of
		}
	}
	if t.sel.form != FormSet || !v.surely(t, g, g) || !v.m.selects(t, g.Workload, g.Workload, asks{self: true, incoming: true}) || v.watches(g, t) {
		return false
	}
	return !slices.ContainsFunc(v.apartOn(g), func(k string) bool { return !v.inside(g, k, t.Key) })
}

// watches reports whether a spread counts pods of others, too.
func (v *verifier) watches(g *Group, t *Term) bool {
	return t.sel.form == FormSet && slices.ContainsFunc(v.selects[t], func(o *workload.Workload) bool { return o != g.Workload && !o.Terminating() })
}

// alone reports whether nothing that is to be placed besides has to do with a
// group; the error says what has.
func (v *verifier) alone(m member) error {
	g := m.g
	for _, a := range v.against[g.Workload] {
		if g.Spec.NodeName == "" && a.w != g.Workload && !a.w.Running {
			return fmt.Errorf("%v is kept out by %v", g.Workload, a.w)
		}
	}
	for _, t := range g.Terms {
		others := t.Hard && t.Use == AntiAffinity && slices.ContainsFunc(v.selects[t], func(o *workload.Workload) bool { return o != g.Workload && !o.Running })
		if g.Spec.NodeName == "" && (others || t.Hard && t.Use == Spread && v.watches(g, t)) {
			return fmt.Errorf("%v looks at others", g.Workload)
		}
	}
	if g.Spec.NodeName == "" && v.companions(g) {
		return fmt.Errorf("%v looks at others", g.Workload)
	}
	if m.node >= 0 && g.Spec.NodeName == "" && v.siblings(m) {
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
func (v *verifier) siblings(m member) bool {
	return v.beside(m, v.apartOn(m.g)) > 0 || len(v.sites(m.g)) > 1 && slices.ContainsFunc(m.g.Terms, func(t *Term) bool {
		looks := t.Use == Affinity || t.Use == Spread && !pinnedSpread(m.g, t) && t.sel.form == FormSet
		return t.Hard && looks && slices.Contains(v.selects[t], m.g.Workload)
	})
}

// clashes is another workload that takes a port of the group's.
func (v *verifier) clashes(g *Group) *workload.Workload {
	if len(g.HostPorts) == 0 {
		return nil
	}
	for _, w := range v.m.Workloads {
		o := v.m.groups[w]
		if o == g || !v.m.present(o) || o.Running {
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
