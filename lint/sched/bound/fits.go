package bound

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// What follows answers for most workloads, of which all is well, without going
// into the reasons why it might not be. A yes is a witness; a no says nothing.

// capacities is how many pods of a group each declared node holds when empty.
type capacities struct {
	g       *model.Group
	offers  [][]int64
	amounts []int64
}

func Capacities(m *model.Model, g *model.Group) *capacities {
	m.Run().Spend(len(m.Topology.Nodes) * (1 + len(g.Requests)) / model.PerStep)
	c := &capacities{g: g, offers: [][]int64{m.Offers(corev1.ResourcePods, m.Topology.Nodes)}, amounts: []int64{1}}
	for _, r := range g.Requests {
		c.offers, c.amounts = append(c.offers, m.Offers(r.Name, m.Topology.Nodes)), append(c.amounts, r.Amount)
	}
	return c
}

func (c *capacities) At(n int) int {
	most := int64(model.Unbounded)
	for r, offers := range c.offers {
		if has := offers[n]; has != math.MaxInt64 && has/c.amounts[r] < most {
			most = has / c.amounts[r]
		}
	}
	return int(max(most, 0))
}

// Screens reports whether the quick answers are for such a workload: pods that
// are bound by their manifest are not asked for all their requests.
func Screens(m *model.Model, g *model.Group) bool { return g.Spec.NodeName == "" && !g.Kind.PerNode() }

// FitsSomewhere reports that some declared node takes a pod of the workload.
func FitsSomewhere(m *model.Model, w *workload.Workload) bool {
	g := m.Groups[w]
	if !Screens(m, g) {
		return false
	}
	c := Capacities(m, g)
	for n, p := range m.Eligible(w).Nodes {
		if p.All() && c.At(n) > 0 {
			return true
		}
	}
	return false
}

// Fits reports that all pods of the workload can be placed on the declared
// nodes if it is alone, as a run that just goes from node to node shows. It
// does not look at rules of which the pods need company.
func Fits(m *model.Model, w *workload.Workload) bool {
	g := m.Groups[w]
	if !Screens(m, g) {
		return false
	}
	p := ProblemOf(m, g)
	pods := p.pods(0)
	switch {
	case len(p.self) > 0:
		return false
	case len(p.Spreads) == 0:
		return fillsApart(m, p, pods)
	case len(p.Spreads) == 1 && len(p.anti) == 0:
		return fillsEvenly(m, p, pods)
	}
	return false
}

// FitsLoosely is Fits for another number of pods, whatever runs came before and
// whoever has gone since: pods that at most one rule keeps apart, so that every
// placement of fewer goes on.
func FitsLoosely(m *model.Model, w *workload.Workload, pods int) bool {
	g := m.Groups[w]
	if !Screens(m, g) {
		return false
	}
	p := ProblemOf(m, g)
	return len(p.self) == 0 && len(p.Spreads) == 0 && len(g.HardAffinity()) == 0 && len(p.Keys) < 2 && fillsApart(m, p, pods)
}

// fillsApart places pods node by node, none in a domain that has one.
func fillsApart(m *model.Model, p *Problem, pods int) bool {
	c := Capacities(m, p.G)
	taken := make([]map[int32]bool, len(p.Keys))
	domain := make([][]int32, len(p.Keys))
	for k, key := range p.Keys {
		taken[k] = map[int32]bool{}
		domain[k], _ = m.Numbered(key, m.Topology.Nodes)
	}
	for n, passes := range m.Eligible(p.G.Workload).Nodes {
		if pods <= 0 {
			return true
		}
		if !passes.All() {
			continue
		}
		most, free := c.At(n), true
		if p.ports {
			most = min(most, 1)
		}
		for k := range p.Keys {
			if d := domain[k][n]; d >= 0 {
				most, free = min(most, 1), free && !taken[k][d]
			}
		}
		if !free || most == 0 {
			continue
		}
		for k := range p.Keys {
			taken[k][domain[k][n]] = true
		}
		pods -= most
	}
	return pods <= 0
}

// fillsEvenly gives every domain of the one spread its even share.
func fillsEvenly(m *model.Model, p *Problem, pods int) bool {
	t := p.Spreads[0]
	rule := m.SpreadRule(m.Views[0], p.G, t)
	domains := len(rule.Eligible)
	if !rule.Counts || rule.Foreign > 0 || domains == 0 || domains < t.MinDomains() {
		return false
	}
	c := Capacities(m, p.G)
	domain, size := m.Numbered(t.Key, m.Topology.Nodes)
	share, more := pods/domains, pods%domains
	room, full, fuller := make([]int, size), 0, 0
	for n, passes := range m.Eligible(p.G.Workload).Nodes {
		if (share == 0 || full == domains) && fuller >= more {
			return true
		}
		d := domain[n]
		if !passes.All() || d < 0 {
			continue
		}
		most := c.At(n)
		if p.ports {
			most = min(most, 1)
		}
		before := room[d]
		room[d] = min(model.Unbounded, before+most)
		if before < share && room[d] >= share {
			full++
		}
		if before <= share && room[d] > share {
			fuller++
		}
	}
	return (share == 0 || full == domains) && fuller >= more
}

// Share tells whether one declared node can hold all pods of a workload, and if
// it does, what a loss can take, as Together tells. It leaves open what takes
// more than a look at every node.
func Share(m *model.Model, w *workload.Workload) (Together, model.Answer) {
	g := m.Groups[w]
	if !Screens(m, g) {
		return Together{}, model.Maybe
	}
	p := ProblemOf(m, g)
	pods := p.pods(0)
	c := Capacities(m, g)
	keys := append(append([]string(nil), p.Keys...), model.HardKeys(g)...)
	zone, zones := m.Numbered(corev1.LabelTopologyZone, m.Topology.Nodes)
	seen := make([]bool, zones)
	t := Together{}
	found, zoned := false, false
	for n, passes := range m.Eligible(w).Nodes {
		most := c.At(n)
		if !passes.All() || most == 0 || !model.Carries(m.Topology.Nodes[n].Labels, keys[len(p.Keys):]) {
			continue
		}
		t.Usable++
		if zone[n] >= 0 && !seen[zone[n]] {
			seen[zone[n]] = true
			t.Zones++
		}
		apart := p.ports
		for _, k := range p.Keys {
			_, labelled := m.Topology.Nodes[n].Labels[k]
			apart = apart || labelled
		}
		if most >= pods && (!apart || pods <= 1) {
			if t.Node == "" {
				t.Node = m.Topology.Nodes[n].Name
			}
			found, zoned = true, zoned || zone[n] >= 0
		}
	}
	switch {
	case !found:
		return t, model.No
	case len(p.Spreads) > 0 || zones > 0 && !zoned:
		return t, model.Maybe
	}
	t.OnOneNode = pods
	if zoned {
		t.InOneZone = pods
	}
	return t, model.Yes
}
