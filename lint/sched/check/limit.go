package check

import (
	"slices"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// limit bounds the pods of a member by the rules about its own pods together: those
// that keep them apart, near one another and even (R-M1 to R-M4).
func (v *verifier) limit(m certificate.Member) int {
	most := 0
	for _, nodes := range v.gatherings(m.G) {
		here := v.separate(m, nodes, v.apartOn(m.G))
		for _, t := range m.G.Terms {
			if t.Hard && t.Use == model.Spread {
				here = min(here, v.spreadLimit(m, t, nodes))
			}
		}
		most = max(most, here)
	}
	return most
}

// gatherings are the sets of nodes of which the pods have to pick one, as their
// affinity wants all of them in the domains of the first: all nodes where others
// can be the company that it asks for.
func (v *verifier) gatherings(g *model.Group) [][]int {
	nodes := slices.DeleteFunc(slices.Clone(v.sites(g)), func(n int) bool { return !model.Carries(v.m.Topology.Nodes[n].Labels, model.HardKeys(g)) })
	keys := map[string]bool{}
	for _, t := range g.HardAffinity() {
		if len(v.selects[t]) != 1 || v.selects[t][0] != g.Workload || !v.surely(t, g, g) {
			return [][]int{nodes}
		}
		keys[t.Key] = true
	}
	sets := [][]int{nodes}
	for _, key := range model.SortedKeys(keys) {
		var finer [][]int
		for _, set := range sets {
			by, _ := v.byDomain(set, key)
			for _, value := range model.SortedKeys(by) {
				finer = append(finer, by[value])
			}
		}
		sets = finer
	}
	return sets
}

// byDomain groups nodes by their value of a key; without are those that lack it.
func (v *verifier) byDomain(nodes []int, key string) (by map[string][]int, without []int) {
	by = map[string][]int{}
	for _, n := range nodes {
		if value, ok := v.m.Topology.Nodes[n].Labels[key]; ok {
			by[value] = append(by[value], n)
		} else {
			without = append(without, n)
		}
	}
	v.m.Run().Spend(len(nodes) / model.PerStep)
	return by, without
}

// separate bounds how many pods of a member the nodes take if no two are in one domain
// of any of the keys. Keys that nest are counted exactly; of those that cross, every
// one and every pair that nests is a bound.
func (v *verifier) separate(m certificate.Member, nodes []int, keys []string) int {
	coarse := slices.Clone(keys)
	slices.SortStableFunc(coarse, func(a, b string) int {
		inA, _ := v.byDomain(nodes, a)
		inB, _ := v.byDomain(nodes, b)
		return len(inA) - len(inB)
	})
	if v.chained(nodes, coarse) {
		return v.picked(m, nodes, coarse)
	}
	most := model.Unbounded
	for i, a := range coarse {
		most = min(most, v.picked(m, nodes, []string{a}))
		for _, b := range coarse[i+1:] {
			if v.refines(nodes, b, a) {
				most = min(most, v.picked(m, nodes, []string{a, b}))
			}
		}
	}
	return most
}

// chained reports whether every domain of a key lies in one of the key before it.
func (v *verifier) chained(nodes []int, keys []string) bool {
	for i := range keys {
		if i > 0 && !v.refines(nodes, keys[i], keys[i-1]) {
			return false
		}
	}
	return true
}

// refines reports whether every domain of the inner key lies in one of the outer key,
// or outside of all of them.
func (v *verifier) refines(nodes []int, inner, outer string) bool {
	by, _ := v.byDomain(nodes, inner)
	for _, members := range by {
		around, outside := v.byDomain(members, outer)
		if len(around) > 1 || len(around) == 1 && len(outside) > 0 {
			return false
		}
	}
	return true
}

// picked is how many pods the nodes take with one in each domain of the first key, and
// in each domain of the next among those, and so on.
func (v *verifier) picked(m certificate.Member, nodes []int, keys []string) int {
	sum := 0
	if len(keys) == 0 {
		for _, n := range nodes {
			sum = min(model.Unbounded, sum+v.alike(m, n))
		}
		return sum
	}
	by, without := v.byDomain(nodes, keys[0])
	for _, members := range by {
		sum += min(1, v.picked(m, members, keys[1:]))
	}
	return min(model.Unbounded, sum+v.picked(m, without, keys[1:]))
}

// alike is how many pods of a member an empty node holds by resources and ports.
func (v *verifier) alike(m certificate.Member, n int) int {
	most, _ := model.Fits(v.m.Topology.Nodes[n], m.G.Requests)
	if len(m.G.HostPorts) > 0 || m.G.Kind.PerNode() {
		most = min(most, 1)
	}
	return most
}

// spreadLimit bounds the pods on some nodes by one spread: no domain has more than the
// emptiest can have and the skew, and the pods of others that may fill that one.
func (v *verifier) spreadLimit(m certificate.Member, t *model.Term, nodes []int) int {
	g := m.G
	if t.Sel.Form != model.FormSet || g.Kind.PerNode() || !v.surely(t, g, g) || !v.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true}) {
		return model.Unbounded
	}
	keys := v.apartOn(g)
	by, _ := v.byDomain(nodes, t.Key)
	domains := v.domains(g, t)
	smallest := model.Unbounded
	for value := range domains {
		smallest = min(smallest, v.separate(m, by[value], keys))
	}
	if len(domains) < t.MinDomains() {
		smallest = 0
	}
	for _, o := range v.selects[t] {
		if o != g.Workload {
			smallest = min(model.Unbounded, smallest+v.count(v.m.Groups[o]))
		}
	}
	sum := 0
	for _, members := range by {
		sum = min(model.Unbounded, sum+min(v.separate(m, members, keys), smallest+int(t.Constraint.MaxSkew)))
	}
	return sum
}

// domains are the values of the key of a constraint on the nodes that count for it.
func (v *verifier) domains(g *model.Group, t *model.Term) map[string]bool {
	known := v.eligibles[t]
	if known == nil {
		known = map[string]bool{}
		for n, node := range v.m.Topology.Nodes {
			if v.counted(g, t, n, -1) {
				known[node.Labels[t.Key]] = true
			}
		}
		v.m.Run().Spend(len(v.m.Topology.Nodes) / model.PerStep)
		v.eligibles[t] = known
	}
	return known
}

// fills reports whether all pods of a member that are alone find a place, by a count:
// one node after the other where they only keep apart, and the same share for each
// domain where one spread counts them.
func (v *verifier) fills(m certificate.Member) bool {
	if len(model.HardKeys(m.G)) == 0 {
		return v.separate(m, v.sites(m.G), v.apartOn(m.G)) >= m.Pods
	}
	if len(model.HardKeys(m.G)) > 1 || len(v.apartOn(m.G)) > 0 {
		return false
	}
	i := slices.IndexFunc(m.G.Terms, func(t *model.Term) bool { return t.Hard && t.Use == model.Spread })
	t := m.G.Terms[i]
	domains := v.domains(m.G, t)
	if len(domains) == 0 || len(domains) < t.MinDomains() {
		return false
	}
	share, more := m.Pods/len(domains), m.Pods%len(domains)
	by, _ := v.byDomain(v.sites(m.G), t.Key)
	for value := range domains {
		room := v.picked(m, by[value], nil)
		if room < share {
			return false
		}
		if room > share {
			more--
		}
	}
	return more <= 0
}
