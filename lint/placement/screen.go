package placement

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/workload"
)

// What follows answers for most workloads, of which all is well, without going
// into the reasons why it might not be. A yes is a witness; a no says nothing.

// capacities is how many pods of a group each declared node holds when empty.
type capacities struct {
	g       *Group
	offers  [][]int64
	amounts []int64
}

func (m *Model) capacities(g *Group) *capacities {
	m.run.Spend(len(m.Topology.Nodes) * (1 + len(g.Requests)) / perStep)
	c := &capacities{g: g, offers: [][]int64{m.offers(corev1.ResourcePods, m.Topology.Nodes)}, amounts: []int64{1}}
	for _, r := range g.Requests {
		c.offers, c.amounts = append(c.offers, m.offers(r.Name, m.Topology.Nodes)), append(c.amounts, r.Amount)
	}
	return c
}

func (c *capacities) at(n int) int {
	most := int64(Unbounded)
	for r, offers := range c.offers {
		if has := offers[n]; has != math.MaxInt64 && has/c.amounts[r] < most {
			most = has / c.amounts[r]
		}
	}
	return int(max(most, 0))
}

// screens reports whether the quick answers are for such a workload: pods that
// are bound by their manifest are not asked for all their requests.
func (m *Model) screens(g *Group) bool { return g.Spec.NodeName == "" && !g.Kind.PerNode() }

// FitsSomewhere reports that some declared node takes a pod of the workload.
func (m *Model) FitsSomewhere(w *workload.Workload) bool {
	g := m.groups[w]
	if !m.screens(g) {
		return false
	}
	c := m.capacities(g)
	for n, p := range m.Eligible(w).Nodes {
		if p.All() && c.at(n) > 0 {
			return true
		}
	}
	return false
}

// Fits reports that all pods of the workload can be placed on the declared
// nodes if it is alone, as a run that just goes from node to node shows. It
// does not look at rules of which the pods need company.
func (m *Model) Fits(w *workload.Workload) bool {
	g := m.groups[w]
	if !m.screens(g) {
		return false
	}
	p := m.problem(g)
	pods := p.pods(0)
	switch {
	case len(p.self) > 0:
		return false
	case len(p.spreads) == 0:
		return m.fillsApart(p, pods)
	case len(p.spreads) == 1 && len(p.anti) == 0:
		return m.fillsEvenly(p, pods)
	}
	return false
}

// FitsLoosely is Fits for another number of pods, whatever runs came before and
// whoever has gone since: pods that at most one rule keeps apart, so that every
// placement of fewer goes on.
func (m *Model) FitsLoosely(w *workload.Workload, pods int) bool {
	g := m.groups[w]
	if !m.screens(g) {
		return false
	}
	p := m.problem(g)
	return len(p.self) == 0 && len(p.spreads) == 0 && len(g.HardAffinity()) == 0 && len(p.keys) < 2 && m.fillsApart(p, pods)
}

// fillsApart places pods node by node, none in a domain that has one.
func (m *Model) fillsApart(p *problem, pods int) bool {
	c := m.capacities(p.g)
	taken := make([]map[int32]bool, len(p.keys))
	domain := make([][]int32, len(p.keys))
	for k, key := range p.keys {
		taken[k] = map[int32]bool{}
		domain[k], _ = m.numbered(key, m.Topology.Nodes)
	}
	for n, passes := range m.Eligible(p.g.Workload).Nodes {
		if pods <= 0 {
			return true
		}
		if !passes.All() {
			continue
		}
		most, free := c.at(n), true
		if p.ports {
			most = min(most, 1)
		}
		for k := range p.keys {
			if d := domain[k][n]; d >= 0 {
				most, free = min(most, 1), free && !taken[k][d]
			}
		}
		if !free || most == 0 {
			continue
		}
		for k := range p.keys {
			taken[k][domain[k][n]] = true
		}
		pods -= most
	}
	return pods <= 0
}

// fillsEvenly gives every domain of the one spread its even share.
func (m *Model) fillsEvenly(p *problem, pods int) bool {
	t := p.spreads[0]
	rule := m.spreadRule(m.views[0], p.g, t)
	domains := len(rule.eligible)
	if !rule.counts || rule.foreign > 0 || domains == 0 || domains < t.MinDomains() {
		return false
	}
	c := m.capacities(p.g)
	domain, size := m.numbered(t.Key, m.Topology.Nodes)
	share, more := pods/domains, pods%domains
	room, full, fuller := make([]int, size), 0, 0
	for n, passes := range m.Eligible(p.g.Workload).Nodes {
		if (share == 0 || full == domains) && fuller >= more {
			return true
		}
		d := domain[n]
		if !passes.All() || d < 0 {
			continue
		}
		most := c.at(n)
		if p.ports {
			most = min(most, 1)
		}
		before := room[d]
		room[d] = min(Unbounded, before+most)
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
func (m *Model) Share(w *workload.Workload) (Together, Answer) {
	g := m.groups[w]
	if !m.screens(g) {
		return Together{}, Maybe
	}
	p := m.problem(g)
	pods := p.pods(0)
	c := m.capacities(g)
	keys := append(append([]string(nil), p.keys...), hardKeys(g)...)
	zone, zones := m.numbered(corev1.LabelTopologyZone, m.Topology.Nodes)
	seen := make([]bool, zones)
	t := Together{}
	found, zoned := false, false
	for n, passes := range m.Eligible(w).Nodes {
		most := c.at(n)
		if !passes.All() || most == 0 || !carries(m.Topology.Nodes[n].Labels, keys[len(p.keys):]) {
			continue
		}
		t.Usable++
		if zone[n] >= 0 && !seen[zone[n]] {
			seen[zone[n]] = true
			t.Zones++
		}
		apart := p.ports
		for _, k := range p.keys {
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
		return t, No
	case len(p.spreads) > 0 || zones > 0 && !zoned:
		return t, Maybe
	}
	t.OnOneNode = pods
	if zoned {
		t.InOneZone = pods
	}
	return t, Yes
}
