package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// check holds a proof against the model. Like replaying runs it shares nothing
// with the engine but that: names and labels, and counts by itself.
func (v *verifier) check(c *certificate.Assertion) error {
	how, ok := map[certificate.ProofKind]func(*certificate.Assertion) error{
		certificate.Shape: v.checkShape, certificate.LimitProof: v.checkLimit, certificate.Exclusive: v.checkExclusive, certificate.Outweighed: v.checkOutweighed, certificate.Overcommitted: v.checkOvercommitted,
		certificate.Uncolourable: v.checkUncolourable, certificate.Headroom: v.checkHeadroom, certificate.Explored: v.checkExplored,
	}[c.Proof.Kind]
	if !ok {
		return fmt.Errorf("nothing proves it of %v", certificate.Called(c.Members))
	}
	return how(c)
}

// checkLimit bounds the pods of one member by the closed forms.
func (v *verifier) checkLimit(c *certificate.Assertion) error {
	for _, m := range c.About {
		if v.most(m) < m.Pods {
			return nil
		}
	}
	return fmt.Errorf("%v: there is room for all pods", certificate.Called(c.About))
}

// most bounds how many pods of a member can be placed: by its rules, and by
// runs in which only they are placed, where it is known how such runs end.
func (v *verifier) most(m certificate.Member) int {
	g := m.G
	if g.Spec.NodeName != "" {
		return v.run(g, v.only(m), m.Pods)
	}
	most, spreads := m.Pods, model.HardKeys(g)
	if !slices.ContainsFunc(v.only(m), func(n int) bool { return v.carriesAll(g, n) }) {
		return 0
	}
	if m.Node < 0 && g.Whole == nil { // single pods of a workload have siblings
		most = v.limit(m)
	}
	switch {
	case m.Node < 0 && !v.nests(g, v.apartOn(g)):
	case len(g.HardAffinity()) > 0 && len(spreads) == 0:
		if best, _, ok := v.gathered(m); ok {
			most = min(most, best)
		}
	case len(g.HardAffinity()) > 0:
	case len(spreads) == 0 || len(spreads) == 1 && v.within(g): // T1, T3
		most = min(most, v.run(g, v.only(m), m.Pods))
	}
	return most
}

// carriesAll tells whether a node has the keys of all hard terms that ask for
// company or count.
func (v *verifier) carriesAll(g *model.Group, n int) bool {
	labels := v.m.Topology.Nodes[n].Labels
	return model.Carries(labels, model.HardKeys(g)) && !slices.ContainsFunc(g.HardAffinity(), func(t *model.Term) bool { return !model.Carries(labels, []string{t.Key}) })
}

// only are the nodes of pods that have one each.
func (v *verifier) only(m certificate.Member) []int {
	if m.Node < 0 {
		return v.sites(m.G)
	}
	return slices.DeleteFunc([]int{m.Node}, func(n int) bool { return !slices.Contains(v.sites(m.G), n) })
}

// run is how many pods one run of a single workload places on some nodes, at
// most limit: wherever they go, as long as any does. They are taken away again.
func (v *verifier) run(g *model.Group, nodes []int, limit int) int {
	var at []int
	for progress := true; progress && len(at) < limit; {
		progress = false
		for _, n := range nodes {
			if len(at) < limit && v.refuses(g, n) == certificate.Takes {
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
func (v *verifier) nests(g *model.Group, keys []string) bool {
	if len(keys) < 2 {
		return true
	}
	id := v.sited(g).name + "|" + strings.Join(keys, ",")
	known, ok := v.nested[id]
	if !ok {
		known = true
		for i := range keys {
			for _, other := range keys[:i] {
				known = known && v.laminar(v.sites(g), keys[i], other)
			}
		}
		v.nested[id] = known
	}
	return known
}

// laminar is that for two keys: what two domains have in common is all of one.
func (v *verifier) laminar(nodes []int, a, b string) bool {
	inA, inB, both := map[string]int{}, map[string]int{}, map[[2]string]int{}
	for _, n := range nodes {
		labels := v.m.Topology.Nodes[n].Labels
		x, hasA := labels[a]
		y, hasB := labels[b]
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
func (v *verifier) inside(g *model.Group, inner, outer string) bool {
	id := v.sited(g).name + "|" + inner + " in " + outer
	known, ok := v.nested[id]
	if !ok {
		known = v.refines(v.sites(g), inner, outer)
		v.nested[id] = known
	}
	return known
}

// excludesAt tells whether a pod of g that comes in is always kept out of domains
// of a key that hold one of o, on whichever of the nodes.
func (v *verifier) excludesAt(g, o *model.Group, key string, nodes []int) bool {
	for _, t := range g.Terms {
		if t.Use == model.AntiAffinity && t.Hard && t.Key == key && v.surelyAt(t, g, o, nodes) {
			return true
		}
	}
	return slices.Contains(v.against[g.Workload], against{o.Workload, key})
}

// surely tells whether a term selects the pods of o wherever they are.
func (v *verifier) surely(t *model.Term, g, o *model.Group) bool {
	return v.surelyAt(t, g, o, v.sites(o))
}

func (v *verifier) surelyAt(t *model.Term, g, o *model.Group, nodes []int) bool {
	if !t.Sel.Local() {
		return slices.Contains(v.selects[t], o.Workload)
	}
	return !slices.ContainsFunc(nodes, func(n int) bool {
		return !v.m.Selects(t, g.Workload, o.Workload, model.Asks{Incoming: true, At: v.m.Topology.Nodes[n]})
	})
}
