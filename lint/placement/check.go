package placement

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/workload"
)

// errTooLong is returned where checking takes more than its budget: what cannot
// be checked is not said.
var errTooLong = errors.New("the check takes too long")

// checkSteps is the budget of the checker for one component that was explored,
// in filters asked.
const checkSteps = 400_000

// check holds a proof against the model. Like replaying runs it shares nothing
// with the engine but that: names, labels and the closed forms of Capacity.
func (v *verifier) check(c *assertion) error {
	switch c.proof.kind {
	case unproved:
		return nil
	case shape:
		return v.checkShape(c)
	case limit:
		return v.checkLimit(c)
	case exclusive:
		return v.checkExclusive(c)
	case outweighed:
		return v.checkOutweighed(c)
	case crammed:
		return v.checkCrammed(c)
	case uncolourable:
		return v.checkUncolourable(c)
	case roomy:
		return v.checkRoomy(c)
	}
	return v.checkExplored(c)
}

// checkLimit bounds the pods of one member by the closed forms.
func (v *verifier) checkLimit(c *assertion) error {
	for _, m := range c.about {
		if v.most(m) < m.pods {
			return nil
		}
	}
	return fmt.Errorf("%v: there is room for all pods", called(c.about))
}

// most bounds how many pods of a member can be placed: by its rules, and by
// runs in which only they are placed, where it is known how such runs end.
func (v *verifier) most(m member) int {
	g := m.g
	if g.Spec.NodeName != "" {
		return v.run(g, v.only(m), m.pods)
	}
	most, spreads := m.pods, hardKeys(g)
	if m.node < 0 {
		p := v.m.problem(g)
		most, _ = p.bound(v.m.views[0], p.keys, p.self, p.spreads)
	}
	switch {
	case m.node < 0 && !v.nests(g, v.apartOn(g)):
	case len(g.HardAffinity()) > 0 && len(spreads) == 0:
		if best, _, ok := v.near5(m); ok {
			most = min(most, best)
		}
	case len(g.HardAffinity()) > 0:
	case len(spreads) == 0 || len(spreads) == 1 && v.within(g): // T1, T3
		most = min(most, v.run(g, v.only(m), m.pods))
	}
	return most
}

// only are the nodes of pods that have one each.
func (v *verifier) only(m member) []int {
	if m.node < 0 {
		return v.sites(m.g)
	}
	return slices.DeleteFunc([]int{m.node}, func(n int) bool { return !slices.Contains(v.sites(m.g), n) })
}

// run is how many pods one run of a single workload places on some nodes, at
// most limit: wherever they go, as long as any does. They are taken away again.
func (v *verifier) run(g *Group, nodes []int, limit int) int {
	var at []int
	for progress := true; progress && len(at) < limit; {
		progress = false
		for _, n := range nodes {
			if len(at) < limit && v.refuses(g, n) == Takes {
				v.add(g, n)
				at = append(at, n)
				progress = true
			}
		}
	}
	for _, n := range at {
		v.remove(g, n)
	}
	return len(at)
}

// nests reports whether on the nodes of a group any two domains are apart or one
// lies in the other, whatever their keys.
func (v *verifier) nests(g *Group, keys []string) bool {
	if len(keys) < 2 {
		return true
	}
	id := v.sited(g).name + "|" + strings.Join(keys, ",")
	known, ok := v.nested[id]
	if !ok {
		known = true
		for i := range keys {
			for _, other := range keys[:i] {
				known = known && laminar(v.asSites(g), keys[i], other)
			}
		}
		v.nested[id] = known
	}
	return known
}

// laminar is that for two keys: what two domains have in common is all of one.
func laminar(sites []site, a, b string) bool {
	inA, inB, both := map[string]int{}, map[string]int{}, map[[2]string]int{}
	for _, s := range sites {
		x, hasA := s.node.Labels[a]
		y, hasB := s.node.Labels[b]
		if hasA {
			inA[x]++
		}
		if hasB {
			inB[y]++
		}
		if hasA && hasB {
			both[[2]string{x, y}]++
		}
	}
	for pair, common := range both {
		if common < min(inA[pair[0]], inB[pair[1]]) {
			return false
		}
	}
	return true
}

// inside reports whether every domain of a key lies in one of another.
func (v *verifier) inside(g *Group, inner, outer string) bool {
	id := v.sited(g).name + "|" + inner + " in " + outer
	known, ok := v.nested[id]
	if !ok {
		known = nested(v.asSites(g), []string{outer, inner})
		v.nested[id] = known
	}
	return known
}

func (v *verifier) asSites(g *Group) []site {
	var sites []site
	for _, n := range v.sites(g) {
		sites = append(sites, site{node: v.m.Topology.Nodes[n], cap: 1})
	}
	return sites
}

// excludes tells whether a pod of g that comes in is always kept out of domains
// of a key that hold one of o.
func (v *verifier) excludes(g, o *Group, key string) bool {
	for _, t := range g.Terms {
		if t.Use == AntiAffinity && t.Hard && t.Key == key && v.surely(t, g, o) {
			return true
		}
	}
	return slices.Contains(v.against[g.Workload], against{o.Workload, key})
}

// surely tells whether a term selects the pods of o wherever they are.
func (v *verifier) surely(t *Term, g, o *Group) bool {
	if !t.sel.local() {
		return slices.Contains(v.selects[t], o.Workload)
	}
	return !slices.ContainsFunc(v.sites(o), func(n int) bool {
		return !v.m.selects(t, g.Workload, o.Workload, asks{incoming: true, at: v.m.Topology.Nodes[n]})
	})
}

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
	case len(v.running) == 0 && v.m.Fits(m.g.Workload):
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
	_, worst, ok := v.near5(m)
	if !ok || !v.nests(m.g, v.apartOn(m.g)) || len(hardKeys(m.g)) > 0 {
		return fmt.Errorf("%v: its affinity has no closed form", m.g.Workload)
	}
	if worst < m.pods {
		return fmt.Errorf("%v: where its first pod may be are %d of %d pods", m.g.Workload, worst, m.pods)
	}
	return nil
}

// near5 is how many pods of a workload that keeps near its own pods only are
// placed in the best and in the worst domain that a first one may pick (T5).
func (v *verifier) near5(m member) (best, worst int, ok bool) {
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
	if other := v.clashes(g); other != nil {
		return fmt.Errorf("%v wants a port of %v", other, g.Workload)
	}
	if v.contend && v.scarce(m) {
		return fmt.Errorf("%v asks for what may run short", g.Workload)
	}
	return nil
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
