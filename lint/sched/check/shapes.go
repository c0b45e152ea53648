package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// shapes checks components of one kind of pod by closed forms.
type shapes struct{ *closedForms }

// checkShape checks that a component has one kind of pod that no others interact with,
// and evaluates its closed form.
func (s *shapes) checkShape(c *certificate.Assertion) error {
	if len(c.Members) != 1 {
		return fmt.Errorf("%v are no single kind of pod", certificate.Called(c.Members))
	}
	m := c.Members[0]
	if c.Never {
		if s.most(m) < m.Pods {
			return nil
		}
		return fmt.Errorf("%v: there is room for all pods", m.G.Workload)
	}
	if m.Pods == 0 {
		return nil
	}
	if err := s.alone(m); err != nil {
		return err
	}
	spreads := model.HardKeys(m.G)
	nodes := s.sites(m.G)
	switch {
	case m.Node >= 0 || m.G.Spec.NodeName != "":
		nodes = s.only(m)
	case len(m.G.HardAffinity()) > 0:
		return s.checkNear(m)
	case len(spreads) > 1 || len(spreads) == 1 && !s.within(m.G):
		return fmt.Errorf("%v: its spread has no closed form", m.G.Workload)
	case !s.nests(m.G, s.apartOn(m.G)):
		return fmt.Errorf("%v: the domains of %v cross", m.G.Workload, s.apartOn(m.G))
	case len(s.running) == 0 && s.fills(m):
		return nil
	}
	if placed := s.run(m.G, nodes, m.Pods); placed < m.Pods {
		return fmt.Errorf("%v: a run places %d of %d pods", m.G.Workload, placed, m.Pods)
	}
	return nil
}

// checkNear compares every domain in which a first pod may be with the number of pods
// (T5).
func (s *shapes) checkNear(m certificate.Member) error {
	_, worst, ok := s.gathered(m)
	if !ok || !s.nests(m.G, s.apartOn(m.G)) || len(model.HardKeys(m.G)) > 0 {
		return fmt.Errorf("%v: its affinity has no closed form", m.G.Workload)
	}
	if worst < m.Pods {
		return fmt.Errorf("%v: where its first pod may be are %d of %d pods", m.G.Workload, worst, m.Pods)
	}
	return nil
}

// alone returns an error if a pod that is still to be placed, other than the group's own,
// interacts with the group.
func (s *shapes) alone(m certificate.Member) error {
	g := m.G
	for _, a := range s.against[g.Workload] {
		if g.Spec.NodeName == "" && a.w != g.Workload && !a.w.Running {
			return fmt.Errorf("%v is kept out by %v", g.Workload, a.w)
		}
	}
	for _, t := range g.Terms {
		others := t.Hard && t.Use == model.AntiAffinity && slices.ContainsFunc(s.selects[t], func(o *workload.Workload) bool { return o != g.Workload && !o.Running })
		if g.Spec.NodeName == "" && (others || t.Hard && t.Use == model.Spread && s.watches(g, t)) {
			return fmt.Errorf("%v looks at others", g.Workload)
		}
	}
	if g.Spec.NodeName == "" && s.companions(g) {
		return fmt.Errorf("%v looks at others", g.Workload)
	}
	if m.Node >= 0 && g.Spec.NodeName == "" && s.siblings(m) {
		return fmt.Errorf("%v looks at its pods on other nodes", g.Workload)
	}
	if other := s.clashes(g); other != nil {
		return fmt.Errorf("%v wants a port of %v", other, g.Workload)
	}
	if s.contend && s.scarce(m) {
		return fmt.Errorf("%v asks for what may run short", g.Workload)
	}
	return nil
}

// siblings reports whether the rules of a DaemonSet make its pods on other nodes matter
// to one of them.
func (s *shapes) siblings(m certificate.Member) bool {
	return s.beside(m, s.apartOn(m.G)) > 0 || len(s.sites(m.G)) > 1 && slices.ContainsFunc(m.G.Terms, func(t *model.Term) bool {
		looks := t.Use == model.Affinity || t.Use == model.Spread && !pinnedSpread(m.G, t) && t.Sel.Form == model.FormSet
		return t.Hard && looks && slices.Contains(s.selects[t], m.G.Workload)
	})
}

// clashes returns another workload that takes a port of the group, or nil.
func (s *shapes) clashes(g *model.Group) *workload.Workload {
	if len(g.HostPorts) == 0 {
		return nil
	}
	for _, w := range s.m.Workloads {
		o := s.m.Groups[w]
		if o == g || !s.m.Present(o) || o.Running {
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
