package derive

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/topology"
)

// grownDemand holds what is requested once all pools have their largest size.
type grownDemand struct {
	requested demand
	// room holds the indices of the scope's entries in the topology's growth.
	room []int
}

// scopeGrowth adds the growth entries to the scopes that contain them.
func (c *capacities) scopeGrowth(in func(n *topology.Node) []*scope) {
	c.roomsOf = map[*topology.Pool]int{}
	for i, g := range c.m.Topology.Growth {
		c.roomsOf[g.Node.Pool]++
		for _, s := range in(g.Node) {
			s.grown.room = append(s.grown.room, i)
			if s.first == nil {
				s.first = g.Node
			}
		}
	}
}

// added bounds how many nodes pools add, at their largest size, in some of their growth entries.
// The zones of a pool share its growth, so the minimum counts only pools that cannot grow
// elsewhere.
func (c *capacities) added(room []int) map[*topology.Pool]span {
	some, added := map[*topology.Pool]int{}, map[*topology.Pool]span{}
	for _, i := range room {
		g := c.m.Topology.Growth[i]
		some[g.Node.Pool]++
		added[g.Node.Pool] = span{0, g.Extra}
		if some[g.Node.Pool] == c.roomsOf[g.Node.Pool] {
			added[g.Node.Pool] = span{g.Extra, g.Extra}
		}
	}
	c.m.Run().Spend(2 * len(room))
	return added
}

// offers returns what the nodes offer that pools add in some of their growth entries; known is
// false if one does not declare it.
func (c *capacities) offers(room []int, resource int) (sum span, known bool) {
	added, known := c.added(room), true
	for _, i := range room {
		node := c.m.Topology.Growth[i].Node
		amount, judged := model.Offered(node, &model.Request{Name: c.resources[resource]})
		n := int(min(amount, facts.NoValue))
		sum = sum.plus(span{n, n}.times(added[node.Pool]))
		delete(added, node.Pool) // the nodes of a pool are equal
		known = known && judged
	}
	return sum, known
}

// spreadGrown adds what pods request to the scopes once all pools have their largest size.
func (c *capacities) spreadGrown(e *model.Eligibility, pods, perNode demand, usable map[*scope]int) {
	room := map[*scope][]int{}
	open := 0
	for _, s := range c.scopes {
		c.m.Run().Spend(len(s.grown.room) + len(c.resources))
		for _, i := range s.grown.room {
			if e.Growth[i].All() {
				room[s] = append(room[s], i)
			}
		}
		open = max(open, len(room[s])) // the cluster's is the largest
	}
	for _, s := range c.scopes {
		n := span{usable[s], usable[s]}
		for _, more := range c.added(room[s]) { // sums do not depend on the order
			n = n.plus(more)
		}
		switch {
		case n.max == 0 && (s.kind != "cluster" || e.Count+open > 0):
			continue
		case s.kind == "cluster", usable[s] == e.Count && len(room[s]) == open:
			s.grown.requested.add(pods)
		default:
			s.grown.requested.add(pods.times(span{0, 1}))
		}
		s.grown.requested.add(perNode.times(n))
	}
	for i, pass := range e.Growth {
		if pass.All() {
			c.grownDaemons[i].add(perNode)
		}
	}
}

// atMost holds what is offered and requested of a resource in a scope once all pools have their
// largest size.
type atMost struct {
	resource        int
	room            []int
	more, requested span
	known           bool
}

// atMost fills in the row's values at the largest size of the pools.
func (c *capacities) atMost(s *scope, resource int, row *facts.Capacity) atMost {
	more, known := c.offers(s.grown.room, resource)
	row.AllocatableMax = plus(row.Allocatable, more.max)
	a := atMost{resource, s.grown.room, more, s.grown.requested[resource], row.Known && known}
	if s.kind != "cluster" && a.known { // no more pods come here than fit
		a.requested.max = min(a.requested.max, max(a.requested.min, row.AllocatableMax))
	}
	whole := span{plus(row.Allocatable, more.min), row.AllocatableMax}
	row.PercentGrownMin, row.PercentGrownMax = percentOf(a.requested, whole, a.known)
	return a
}

// after fills in the row of a loss at the largest size of the pools. Only declared nodes are lost,
// except that with a zone the growth of pools in it is lost too.
func (c *capacities) after(a *atMost, lost lossKey, row *facts.CapacityLoss) {
	more, daemons := a.more, lost.daemons.max
	if row.Key == corev1.LabelTopologyZone {
		outside := []int{}
		for _, i := range a.room {
			if g := c.m.Topology.Growth[i]; g.Node.Labels[row.Key] != row.Value {
				outside = append(outside, i)
			} else {
				daemons = plus(daemons, times(g.Extra, c.grownDaemons[i][a.resource].max))
			}
		}
		more, _ = c.offers(outside, a.resource)
	}
	row.LeftMax = plus(row.Left, more.max)
	whole := span{plus(row.Left, more.min), row.LeftMax}
	requested := span{max(0, a.requested.min-daemons), a.requested.max}
	if requested.max < facts.NoValue {
		requested.max = max(0, requested.max-lost.daemons.min)
	}
	row.PercentGrownMin, row.PercentGrownMax = percentOf(requested, whole, a.known)
}

// percentOf bounds a part as a percentage of a total between two bounds.
func percentOf(part, whole span, known bool) (least, most int) {
	least, _ = percent(part, whole.max, known)
	_, most = percent(part, whole.min, known)
	return least, most
}
