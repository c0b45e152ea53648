package bound

import (
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/workload"
)

// What follows answers for most workloads, of which all is well, without going
// into the reasons why it might not be. A yes is a witness; a no says nothing.

// capacities is how many pods of a group each declared node holds when empty.
type capacities []supply

// supply is what the nodes have of a resource, and what one pod asks for.
type supply struct {
	offers []int64
	amount int64
}

func Capacities(m *model.Model, g *model.Group) capacities {
	c := append(make(capacities, 0, 1+len(g.Requests)), supply{m.Offers(corev1.ResourcePods, m.Topology.Nodes), 1})
	for i := range g.Requests {
		r := &g.Requests[i]
		c = append(c, supply{m.Offers(r.Name, m.Topology.Nodes), r.Amount})
	}
	return c
}

func (c capacities) At(n int) int {
	most := int64(model.Unbounded)
	for i := range c {
		if has := c[i].offers[n]; has != math.MaxInt64 && has/c[i].amount < most {
			most = has / c[i].amount
		}
	}
	return int(max(most, 0))
}

// kind is eligible nodes that are alike to the pods of a group.
type kind struct {
	nodes []int32
	// most is how many pods one of them holds when empty.
	most int
}

// kinds are the eligible nodes for so many pods of a group, told apart by one more key
// unless it is empty, in the order of the first node of each.
func kinds(m *model.Model, p *Problem, pods int, key string) []kind {
	all := classes.Of(m, []*workload.Workload{p.G.Workload}, pods, key).Nodes
	m.Run().Spend(1 + len(all)*(2+len(p.G.Requests))/model.PerStep)
	c, e := Capacities(m, p.G), m.Eligible(p.G.Workload)
	found := make([]kind, 0, len(all))
	for _, nodes := range all {
		first := int(nodes[0])
		if !e.Nodes[first].All() {
			continue
		}
		most := min(c.At(first), pods)
		if p.ports {
			most = min(most, 1)
		}
		found = append(found, kind{nodes, most})
	}
	return found
}

// shared reports whether the nodes are in one domain, and not each in one of its own.
func (k *kind) shared(domain []int32) bool {
	return len(k.nodes) == 1 || domain[k.nodes[0]] == domain[k.nodes[1]]
}

// Screens reports whether the quick answers are for such a workload: pods that
// are bound by their manifest are not asked for all their requests, whom a
// selector means that asks for labels of the node depends on where pods are, and
// one that asks for a label with a value for each pod tells them apart.
func Screens(g *model.Group) bool {
	return g.Spec.NodeName == "" && !g.Kind.PerNode() && !slices.ContainsFunc(g.Terms, func(t *model.Term) bool {
		return t.Hard && (t.Sel.Local() || slices.ContainsFunc(t.Sel.Reqs, func(r model.Requirement) bool {
			return model.Ordinal(r.Key) || r.Key == model.PodName
		}))
	})
}

// FitsSomewhere reports that some declared node takes a pod of the workload.
func FitsSomewhere(m *model.Model, w *workload.Workload) bool {
	g := m.Groups[w]
	if !Screens(g) {
		return false
	}
	return slices.ContainsFunc(kinds(m, &Problem{m: m, G: g}, 1, ""), func(k kind) bool { return k.most > 0 })
}

// Fits reports that all pods of the workload can be placed on the declared
// nodes if it is alone, as a run that just goes from node to node shows. It
// does not look at rules of which the pods need company.
func Fits(m *model.Model, w *workload.Workload) bool {
	g := m.Groups[w]
	if !Screens(g) {
		return false
	}
	p := ProblemOf(m, g)
	pods := p.pods(0)
	switch {
	case len(p.self) > 0:
		return false
	case len(p.Spreads) == 0:
		return fillsApart(m, p, pods)
	}
	return fillsEvenly(m, p, pods)
}

// FitsLoosely is Fits for another number of pods, whatever runs came before and
// whoever has gone since: pods that at most one rule keeps apart, so that every
// placement of fewer goes on.
func FitsLoosely(m *model.Model, w *workload.Workload, pods int) bool {
	g := m.Groups[w]
	if !Screens(g) {
		return false
	}
	p := ProblemOf(m, g)
	return len(p.self) == 0 && len(p.Spreads) == 0 && len(g.HardAffinity()) == 0 && len(p.Keys) < 2 && fillsApart(m, p, pods)
}

// fillsApart places pods on kinds of nodes in turn, none in a domain that has one.
func fillsApart(m *model.Model, p *Problem, pods int) bool {
	taken := make([]map[int32]bool, len(p.Keys))
	domain := make([][]int32, len(p.Keys))
	for i, key := range p.Keys {
		taken[i] = map[int32]bool{}
		domain[i], _ = m.Numbered(key, m.Topology.Nodes)
	}
	for _, k := range kinds(m, p, pods, "") {
		most, nodes, free := k.most, len(k.nodes), true
		for i := range p.Keys {
			d := domain[i][k.nodes[0]]
			if d < 0 {
				continue
			}
			if most = min(most, 1); k.shared(domain[i]) {
				nodes, free = 1, free && !taken[i][d]
			}
		}
		if !free || most == 0 {
			continue
		}
		for i := range p.Keys {
			taken[i][domain[i][k.nodes[0]]] = true
		}
		if pods -= min(pods, nodes*most); pods == 0 {
			return true
		}
	}
	return pods <= 0
}

// partedBySpread reports whether some spread keeps so many pods from being all in one
// domain.
func (p *Problem) partedBySpread(pods int) bool {
	return slices.ContainsFunc(p.Spreads, func(t *model.Term) bool {
		rule := p.m.SpreadRule(p.m.Views[0], p.G, t)
		return rule.Counts && rule.Foreign == 0 && level(&rule, p.pods(0)) < pods
	})
}

// Share tells whether one declared node can hold all pods of a workload, and if
// it does, what a loss can take, as Together tells. It leaves open what takes
// more than a look at every kind of node.
func Share(m *model.Model, w *workload.Workload) (Together, model.Answer) {
	g := m.Groups[w]
	if !Screens(g) {
		return Together{}, model.Maybe
	}
	p := ProblemOf(m, g)
	pods := p.pods(0)
	keys := model.HardKeys(g)
	zone, zones := m.Numbered(corev1.LabelTopologyZone, m.Topology.Nodes)
	seen := make([]bool, zones)
	t := Together{}
	found, zoned := false, false
	for _, k := range kinds(m, &Problem{m: m, G: g}, max(1, pods), corev1.LabelTopologyZone) {
		first := m.Topology.Nodes[k.nodes[0]]
		if k.most == 0 || !model.Carries(first.Labels, keys) {
			continue
		}
		t.Usable += len(k.nodes)
		for _, n := range k.nodes {
			z := zone[n]
			if z >= 0 && !seen[z] {
				seen[z] = true
				t.Zones++
			}
			if z < 0 || k.shared(zone) {
				break
			}
		}
		apart := p.ports
		for _, key := range p.Keys {
			_, labelled := first.Labels[key]
			apart = apart || labelled
		}
		if k.most >= pods && (!apart || pods <= 1) {
			if t.Node == "" {
				t.Node = first.Name
			}
			found, zoned = true, zoned || zone[k.nodes[0]] >= 0
		}
	}
	switch {
	case !found:
		return t, model.No
	case p.partedBySpread(min(pods, g.Count.N)):
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
