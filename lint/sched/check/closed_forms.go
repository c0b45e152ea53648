package check

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// closedForms computes upper bounds on how many of a member's pods can be placed. It uses the
// member's own rules and runs that place only its pods.
type closedForms struct{ *demand }

// gatherings returns the alternative node sets to which affinity can confine a workload's pods. If
// only the workload's own pods can satisfy the affinity, all of them must be in the first pod's
// domains. There is then one set for each combination of domains. If other pods can satisfy the
// affinity, the only set contains all nodes.
func (f *closedForms) gatherings(g *model.Group) [][]int {
	nodes := slices.DeleteFunc(slices.Clone(f.sites(g)), func(n int) bool { return !model.Carries(f.m.Topology.Nodes[n].Labels, model.HardKeys(g)) })
	keys := map[string]bool{}
	for _, t := range g.HardAffinity() {
		if len(f.selects[t]) != 1 || f.selects[t][0] != g.Workload || !f.surely(t, g, g) {
			return [][]int{nodes}
		}
		keys[t.Key] = true
	}
	sets := [][]int{nodes}
	for _, key := range model.SortedKeys(keys) {
		var finer [][]int
		for _, set := range sets {
			by, _ := byDomain(f.m, set, key)
			finer = append(finer, lists.Of(model.SortedKeys(by), func(value string) []int { return by[value] })...)
		}
		sets = finer
	}
	return sets
}

// separate returns an upper bound on how many of a member's pods fit on the nodes when no two pods
// may share a domain of any key. The bound is exact for nested keys. For other keys, it is the
// smallest count for any single key or pair of nested keys.
func (f *closedForms) separate(m certificate.Member, nodes []int, keys []string) int {
	coarse := slices.Clone(keys)
	slices.SortStableFunc(coarse, func(a, b string) int {
		inA, _ := byDomain(f.m, nodes, a)
		inB, _ := byDomain(f.m, nodes, b)
		return len(inA) - len(inB)
	})
	chained := true // whether every domain of a key lies in one domain of the previous key
	for i := 1; i < len(coarse) && chained; i++ {
		chained = f.refines(nodes, coarse[i], coarse[i-1])
	}
	if chained {
		return f.picked(m, nodes, coarse)
	}
	most := model.Unbounded
	for i, a := range coarse {
		most = min(most, f.picked(m, nodes, []string{a}))
		for _, b := range coarse[i+1:] {
			if f.refines(nodes, b, a) {
				most = min(most, f.picked(m, nodes, []string{a, b}))
			}
		}
	}
	return most
}

// picked returns how many pods fit on the nodes when each domain takes at most one pod. It divides
// the nodes by the first key, each part by the second key, and so on.
func (f *closedForms) picked(m certificate.Member, nodes []int, keys []string) int {
	sum := 0
	if len(keys) == 0 {
		for _, n := range nodes {
			sum = min(model.Unbounded, sum+alike(m, f.m.Topology.Nodes[n]))
		}
		return sum
	}
	by, without := byDomain(f.m, nodes, keys[0])
	for _, members := range by {
		sum += min(1, f.picked(m, members, keys[1:]))
	}
	return min(model.Unbounded, sum+f.picked(m, without, keys[1:]))
}

// alike returns how many of a member's pods fit on an empty node. It considers only resources and
// ports.
func alike(m certificate.Member, node *topology.Node) int {
	most, _ := model.Fits(node, m.G.Requests)
	if len(m.G.HostPorts) > 0 || m.G.Kind.PerNode() {
		most = min(most, 1)
	}
	return most
}

// spreadLimit returns an upper bound on the number of pods that one spread constraint allows on the
// given nodes. One domain can have the fewest pods. No other domain can exceed it by more than the
// maximum skew. Other workloads' pods may count too.
func (f *closedForms) spreadLimit(m certificate.Member, t *model.Term, nodes []int) int {
	g := m.G
	if t.Sel.Form != model.FormSet || g.Kind.PerNode() || !f.surely(t, g, g) || !f.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true}) {
		return model.Unbounded
	}
	keys := f.apartOn(g)
	by, _ := byDomain(f.m, nodes, t.Key)
	domains := f.domains(g, t)
	smallest := model.Unbounded
	for value := range domains {
		smallest = min(smallest, f.separate(m, by[value], keys))
	}
	if len(domains) < t.MinDomains() {
		smallest = 0
	}
	for _, o := range f.selects[t] {
		if o != g.Workload {
			smallest = min(model.Unbounded, smallest+f.coming(f.m.Groups[o]))
		}
	}
	sum := 0
	for _, members := range by {
		sum = min(model.Unbounded, sum+min(f.separate(m, members, keys), smallest+int(t.Constraint.MaxSkew)))
	}
	return sum
}

// fillsApart reports whether filling the nodes one after another places all of a member's pods. The
// member's pods may exclude each other, but nothing else may block them.
func (f *closedForms) fillsApart(m certificate.Member) bool {
	keys, left := f.apartOn(m.G), m.Pods
	taken := map[[2]string]bool{}
	for _, n := range f.sites(m.G) {
		if left <= 0 {
			break
		}
		labels, most, free := f.m.Topology.Nodes[n].Labels, alike(m, f.m.Topology.Nodes[n]), true
		for _, k := range keys {
			if value, ok := labels[k]; ok {
				most, free = min(most, 1), free && !taken[[2]string{k, value}]
			}
		}
		if !free || most == 0 {
			continue
		}
		for _, k := range keys {
			if value, ok := labels[k]; ok {
				taken[[2]string{k, value}] = true
			}
		}
		left -= most
	}
	return left <= 0
}

// fillsEvenly reports whether every domain has room for an equal share of the pods. The member
// must have exactly one spread constraint.
func (f *closedForms) fillsEvenly(m certificate.Member) bool {
	t := slices.Collect(m.G.Hard(model.Spread))[0]
	domains := f.domains(m.G, t)
	if len(domains) == 0 || len(domains) < t.MinDomains() {
		return false
	}
	share, more := m.Pods/len(domains), m.Pods%len(domains)
	room, full, fuller := map[string]int{}, 0, 0
	filled := func() bool { return (share == 0 || full == len(domains)) && fuller >= more }
	for _, n := range f.sites(m.G) {
		if filled() {
			break
		}
		value, ok := f.m.Topology.Nodes[n].Labels[t.Key]
		if !ok || !domains[value] {
			continue
		}
		before := room[value]
		room[value] = min(model.Unbounded, before+alike(m, f.m.Topology.Nodes[n]))
		if before < share && room[value] >= share {
			full++
		}
		if before <= share && room[value] > share {
			fuller++
		}
	}
	return filled()
}

// checkLimit checks that the closed forms leave too little room for all pods of some member.
func (f *closedForms) checkLimit(c *certificate.Assertion) error {
	if slices.ContainsFunc(c.About, func(m certificate.Member) bool { return f.most(m) < m.Pods }) {
		return nil
	}
	return fmt.Errorf("%v: there is room for all pods", certificate.Called(c.About))
}

// most returns an upper bound on how many of a member's pods can be placed. The bound follows from
// the member's rules. It can also follow from one run, if all runs that place only the member's
// pods end with the same count.
func (f *closedForms) most(m certificate.Member) int {
	g := m.G
	if g.Spec.NodeName != "" {
		return f.run(g, f.only(m), m.Pods)
	}
	most, spreads := m.Pods, model.HardKeys(g)
	if f.neverPlaced(g) || !slices.ContainsFunc(f.only(m), func(n int) bool { return f.carriesAll(g, n) }) {
		return 0
	}
	// Combine the rules about the member's own pods: anti-affinity, affinity and spread (R-M1 to
	// R-M4).
	if m.Node < 0 && g.Whole == nil { // a single pod of a workload has siblings elsewhere
		most = 0
		for _, nodes := range f.gatherings(g) {
			here := f.separate(m, nodes, f.apartOn(g))
			for t := range g.Hard(model.Spread) {
				here = min(here, f.spreadLimit(m, t, nodes))
			}
			most = max(most, here)
		}
	}
	switch {
	case m.Node < 0 && !f.nests(g, f.apartOn(g)):
	case len(g.HardAffinity()) > 0:
	case len(spreads) == 0 || len(spreads) == 1 && f.within(g): // T1, T3
		most = min(most, f.run(g, f.only(m), m.Pods))
	}
	return most
}

// shapes uses closed forms to check one of two claims: all pods of a component are always placed,
// or they cannot all be placed.
type shapes struct{ *closedForms }

// checkShape checks that a component has a single kind of pod that interacts with no other pods. It
// evaluates the closed form for this kind.
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
		return fmt.Errorf("%v: its affinity has no closed form", m.G.Workload)
	case len(spreads) > 1 || len(spreads) == 1 && !s.within(m.G):
		return fmt.Errorf("%v: its spread has no closed form", m.G.Workload)
	case !s.nests(m.G, s.apartOn(m.G)):
		return fmt.Errorf("%v: the domains of %v cross", m.G.Workload, s.apartOn(m.G))
	case len(s.running) > 0:
	case len(spreads) == 0 && s.fillsApart(m), len(spreads) == 1 && len(s.apartOn(m.G)) == 0 && s.fillsEvenly(m):
		return nil
	}
	if placed := s.run(m.G, nodes, m.Pods); placed < m.Pods {
		return fmt.Errorf("%v: a run places %d of %d pods", m.G.Workload, placed, m.Pods)
	}
	return nil
}

// alone returns an error if a member's pods interact with other groups' unplaced pods.
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
	if m.Node >= 0 && g.Spec.NodeName == "" {
		looks := func(t *model.Term) bool {
			counts := t.Use == model.Affinity || t.Use == model.Spread && !pinnedSpread(g, t) && t.Sel.Form == model.FormSet
			return t.Hard && counts && slices.Contains(s.selects[t], g.Workload)
		}
		if s.beside(m, s.apartOn(g)) > 0 || len(s.sites(g)) > 1 && slices.ContainsFunc(g.Terms, looks) {
			return fmt.Errorf("%v looks at its pods on other nodes", g.Workload)
		}
	}
	if len(g.HostPorts) > 0 {
		for _, w := range s.m.Workloads {
			o := s.m.Groups[w]
			clashes := func(p model.HostPort) bool { return slices.ContainsFunc(o.HostPorts, p.Conflicts) }
			if o != g && s.m.Present(o) && !o.Running && slices.ContainsFunc(g.HostPorts, clashes) {
				return fmt.Errorf("%v wants a port of %v", w, g.Workload)
			}
		}
	}
	if !s.contend {
		return nil
	}
	l := s.ledger()
	asks := l.asks(g)
	for _, n := range s.only(m) {
		for r, ask := range asks {
			if ask > 0 && l.short(n, r) && l.shared[n*len(asks)+r] > 1 {
				return fmt.Errorf("%v asks for what may run short", g.Workload)
			}
		}
	}
	return nil
}
