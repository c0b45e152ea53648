package derive

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// capacities adds up the resources that nodes offer and the resources that pods request.
type capacities struct {
	*builder
	resources []corev1.ResourceName
	scopes    []*scope
	// in holds the scopes that each node belongs to.
	in [][]*scope
	// daemons holds the DaemonSet requests on each node.
	daemons []demand
	// grownDaemons holds the DaemonSet requests on one node of each entry in Topology.Growth.
	grownDaemons []demand
	// roomsOf counts the entries in Topology.Growth by pool. A pool has one entry for each zone in
	// which it can grow.
	roomsOf map[*topology.Pool]int
}

// scope is the group of nodes that a row describes.
type scope struct {
	kind, name string
	nodes      []int
	requested  demand
	first      *topology.Node // the location of its rows
	grown      grownDemand
}

// span holds the lower and upper bounds of an amount.
type span struct{ min, max int }

func (s span) plus(o span) span { return span{plus(s.min, o.min), plus(s.max, o.max)} }

func (s span) times(n span) span { return span{times(s.min, n.min), times(s.max, n.max)} }

// plus returns a+b, capped at NoValue, which means no bound.
func plus(a, b int) int { return min(a+b, facts.NoValue) }

// times returns a*b, capped at NoValue. Neither argument can be negative.
func times(a, b int) int {
	high, low := bits.Mul64(uint64(a), uint64(b))
	if high > 0 || low > facts.NoValue {
		return facts.NoValue
	}
	return int(low)
}

// demand holds the requested amount of each resource.
type demand []span

func (d demand) add(o demand) {
	for i := range d {
		d[i] = d[i].plus(o[i])
	}
}

func (d demand) times(n span) demand {
	all := make(demand, len(d))
	for i := range d {
		all[i] = d[i].times(n)
	}
	return all
}

// askCapacity names the question that stays unanswered when there are too many nodes and pods.
const askCapacity = "what nodes offer and pods request"

func (c *capacities) describe() {
	c.scope()
	c.request()
	for _, s := range c.scopes {
		for i := range c.resources {
			c.Built.Facts.Capacity = append(c.Built.Facts.Capacity, c.row(s, i))
		}
	}
}

// scope lists the scopes and the resources.
func (c *capacities) scope() {
	listed := map[corev1.ResourceName]bool{corev1.ResourceCPU: true, corev1.ResourceMemory: true, corev1.ResourcePods: true}
	all := &scope{kind: "cluster"}
	pools, zones := map[string]*scope{}, map[string]*scope{}
	in := func(n *topology.Node) []*scope {
		for name := range n.Allocatable {
			listed[name] = true
		}
		pool, _ := poolOf(n)
		in := []*scope{all}
		for _, of := range []struct {
			kind, name string
			known      map[string]*scope
		}{{"pool", pool, pools}, {"zone", n.Labels[corev1.LabelTopologyZone], zones}} {
			if of.name == "" {
				continue
			}
			if of.known[of.name] == nil {
				of.known[of.name] = &scope{kind: of.kind, name: of.name}
			}
			in = append(in, of.known[of.name])
		}
		return in
	}
	for i, n := range c.m.Topology.Nodes {
		scopes := in(n)
		for _, s := range scopes {
			if s.nodes = append(s.nodes, i); s.first == nil {
				s.first = n
			}
		}
		c.in = append(c.in, scopes)
	}
	c.roomsOf = map[*topology.Pool]int{}
	for i, g := range c.m.Topology.Growth {
		c.roomsOf[g.Node.Pool]++
		for _, s := range in(g.Node) {
			s.grown.room = append(s.grown.room, i)
			s.first = cmp.Or(s.first, g.Node)
		}
	}
	c.resources = sorting.Keys(listed)
	byName := func(a, b *scope) int { return strings.Compare(a.name, b.name) }
	c.scopes = append([]*scope{all}, slices.SortedFunc(maps.Values(pools), byName)...)
	c.scopes = append(c.scopes, slices.SortedFunc(maps.Values(zones), byName)...)
	for _, s := range c.scopes {
		s.requested, s.grown.requested = c.nothing(), c.nothing()
	}
	for range c.in {
		c.daemons = append(c.daemons, c.nothing())
	}
	for range c.m.Topology.Growth {
		c.grownDaemons = append(c.grownDaemons, c.nothing())
	}
	c.m.Run().Spend(len(c.in) * len(c.resources) * 3)
}

func (c *capacities) nothing() demand { return make(demand, len(c.resources)) }

// request adds up the pod requests, grouped by the nodes that the pods may use.
func (c *capacities) request() {
	var kinds []*model.Eligibility
	by, perNode := map[*model.Eligibility]demand{}, map[*model.Eligibility]demand{}
	anywhere := make(demand, len(c.resources))
	for _, w := range c.m.Workloads {
		if w.Copy || w.Superseded || w.Finite() || w.Refused() {
			continue
		}
		one := make(demand, len(c.resources))
		for _, r := range model.Requests(w) {
			if i := slices.Index(c.resources, r.Name); i >= 0 {
				n := int(min(r.Amount, facts.NoValue))
				one[i] = span{n, n}
			}
		}
		one[slices.Index(c.resources, corev1.ResourcePods)] = span{1, 1}
		if openResources(w) {
			for i := range one {
				if c.resources[i] != corev1.ResourcePods {
					one[i].max = facts.NoValue
				}
			}
		}
		if !c.placeable(w) {
			anywhere.add(one.times(span{0, c.pods(w).max}))
			continue
		}
		e := c.m.Eligible(w)
		if by[e] == nil {
			kinds = append(kinds, e)
			by[e], perNode[e] = make(demand, len(c.resources)), make(demand, len(c.resources))
		}
		if w.Kind.PerNode() {
			perNode[e].add(one)
		} else {
			by[e].add(one.times(c.pods(w)))
		}
	}
	for _, e := range kinds {
		c.spread(e, by[e], perNode[e])
	}
	for _, s := range c.scopes {
		s.requested.add(anywhere)
		s.grown.requested.add(anywhere)
	}
}

// pods returns the minimum and maximum number of pods in a workload.
func (c *capacities) pods(w *workload.Workload) span {
	switch {
	case w.Kind.PerNode():
		return span{0, len(c.in)}
	case w.Scale != nil:
		return span{w.Scale.Min, w.Scale.Max}
	case w.Count.Known:
		return span{w.Count.N, w.Count.N}
	}
	return span{0, facts.NoValue}
}

// spread adds pod requests to the scopes of all nodes that the pods can use.
func (c *capacities) spread(e *model.Eligibility, pods, perNode demand) {
	c.m.Run().Spend(len(e.Nodes) + len(e.Growth))
	usable := map[*scope]int{}
	for i, pass := range e.Nodes {
		if pass.All() {
			c.daemons[i].add(perNode)
			for _, s := range c.in[i] {
				usable[s]++
			}
		}
	}
	total := e.Count + e.Growable
	for s, n := range usable { // sums do not depend on the order
		c.m.Run().Spend(2 * len(c.resources))
		s.requested.add(perNode.times(span{n, n}))
		if n == total || s.kind == "cluster" {
			s.requested.add(pods)
		} else {
			s.requested.add(pods.times(span{0, 1}))
		}
	}
	if total == 0 { // the pods stay Pending but still count as requested
		c.scopes[0].requested.add(pods)
	}
	c.spreadGrown(e, pods, perNode, usable)
}

// offer returns how much of a resource a node offers. The result known is false if the node does
// not declare the resource.
func (c *capacities) offer(node, resource int) (n int, known bool) {
	amount, judged := model.Offered(c.m.Topology.Nodes[node], &model.Request{Name: c.resources[resource]})
	return int(min(amount, facts.NoValue)), judged
}

// row returns the fact about a resource in a scope.
func (c *capacities) row(s *scope, resource int) facts.Capacity {
	c.m.Run().Spend(4 * len(s.nodes))
	first := s.first
	at := Subject{Location: first.Span}.withAccount(nil, noteOnly(message.NoPods)).as(first.Declaration.File, first.Declaration.Node)
	row := facts.Capacity{ID: c.subject(at), Scope: s.kind, Name: s.name, Resource: string(c.resources[resource]), Known: true, Losses: []facts.CapacityLoss{}}
	for _, i := range s.nodes {
		n, known := c.offer(i, resource)
		row.Allocatable, row.Known = plus(row.Allocatable, n), row.Known && known
	}
	requested := s.requested[resource]
	if s.kind != "cluster" && row.Known { // pods that do not fit here run elsewhere
		requested.max = min(requested.max, max(requested.min, row.Allocatable))
	}
	row.RequestedMin, row.RequestedMax = requested.min, requested.max
	row.PercentMin, row.PercentMax = percent(requested, row.Allocatable, row.Known)
	a := c.atMost(s, resource, &row)
	row.Losses = c.losses(s, resource, &row, &a)
	return row
}

// percent returns bounds on part as a percentage of whole. The lower bound is rounded down. The
// upper bound is rounded up.
func percent(part span, whole int, known bool) (least, most int) {
	switch {
	case !known:
		return 0, facts.NoValue
	case whole > 0:
		least = times(part.min, 100) / whole
		if most = facts.NoValue; part.max < facts.NoValue {
			most = plus(times(part.max, 100), whole-1) / whole
		}
		return least, most
	}
	if part.min > 0 {
		least = facts.NoValue
	}
	if part.max > 0 {
		most = facts.NoValue
	}
	return least, most
}

// lossKey holds the amount of a resource that a node or a zone offers, and the amount that its
// DaemonSet pods request. Losses with equal keys have the same result.
type lossKey struct {
	offers  int
	daemons span
}

// losses returns the capacity that remains after the loss of each node and each zone.
func (c *capacities) losses(s *scope, resource int, of *facts.Capacity, a *atMost) []facts.CapacityLoss {
	all := []facts.CapacityLoss{}
	like := map[lossKey]int{}
	zones := map[string]lossKey{}
	for _, i := range s.nodes {
		offers, _ := c.offer(i, resource)
		key := lossKey{offers, c.daemons[i][resource]}
		n := c.m.Topology.Nodes[i]
		if zone := n.Labels[corev1.LabelTopologyZone]; zone != "" && s.kind != "zone" {
			z := zones[zone]
			zones[zone] = lossKey{plus(z.offers, offers), z.daemons.plus(key.daemons)}
		}
		if at, known := like[key]; known {
			all[at].Like++
			continue
		}
		like[key] = len(all)
		all = append(all, c.loss(corev1.LabelHostname, n.Name, key, of, a))
	}
	for _, zone := range sorting.Keys(zones) {
		all = append(all, c.loss(corev1.LabelTopologyZone, zone, zones[zone], of, a))
	}
	sorting.Stable(all, func(a, b facts.CapacityLoss) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), cmp.Compare(a.Left, b.Left), strings.Compare(a.Value, b.Value))
	})
	return all
}

func (c *capacities) loss(key, value string, lost lossKey, of *facts.Capacity, a *atMost) facts.CapacityLoss {
	row := facts.CapacityLoss{Key: key, Value: value, Left: max(0, of.Allocatable-lost.offers)}
	requested := span{max(0, of.RequestedMin-lost.daemons.max), of.RequestedMax}
	if of.RequestedMax < facts.NoValue {
		requested.max = max(0, of.RequestedMax-lost.daemons.min)
	}
	row.PercentMin, row.PercentMax = percent(requested, row.Left, of.Known)
	c.after(a, lost, &row)
	return row
}

// grownDemand holds the requests when all pools have grown to their maximum size.
type grownDemand struct {
	requested demand
	// room holds the indices of the entries in Topology.Growth that belong to the scope.
	room []int
}

// added returns bounds on how many nodes each pool adds at its maximum size. It considers only the
// entries of Topology.Growth that room lists. Each entry is one zone of a pool. The lower bound is
// 0 for a pool that can also grow in other zones.
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

// offers returns bounds on the amount of a resource that pools add at their maximum size. It
// considers only the zones listed in room. The result known is false if an added node does not
// declare the resource.
func (c *capacities) offers(room []int, resource int) (sum span, known bool) {
	added, known := c.added(room), true
	for _, i := range room {
		node := c.m.Topology.Growth[i].Node
		amount, judged := model.Offered(node, &model.Request{Name: c.resources[resource]})
		n := int(min(amount, facts.NoValue))
		sum = sum.plus(span{n, n}.times(added[node.Pool]))
		delete(added, node.Pool) // all nodes of a pool are equal
		known = known && judged
	}
	return sum, known
}

// spreadGrown is like spread, but assumes that pools have grown to their maximum size.
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
		open = max(open, len(room[s])) // the cluster scope has the most
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

// atMost holds the supply of a resource and the demand for it when all pools have grown to their
// maximum size.
type atMost struct {
	resource        int
	room            []int
	more, requested span
	known           bool
}

// atMost sets the fields of a row that assume pools at their maximum size.
func (c *capacities) atMost(s *scope, resource int, row *facts.Capacity) atMost {
	more, known := c.offers(s.grown.room, resource)
	row.AllocatableMax = plus(row.Allocatable, more.max)
	a := atMost{resource, s.grown.room, more, s.grown.requested[resource], row.Known && known}
	if s.kind != "cluster" && a.known { // pods that do not fit here run elsewhere
		a.requested.max = min(a.requested.max, max(a.requested.min, row.AllocatableMax))
	}
	whole := span{plus(row.Allocatable, more.min), row.AllocatableMax}
	row.PercentGrownMin, row.PercentGrownMax = percentOf(a.requested, whole, a.known)
	return a
}

// after sets the fields of a loss that assume pools at their maximum size. Only declared nodes are
// lost. If a zone is lost, pools cannot grow in it.
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

// percentOf is like percent, but whole also has two bounds.
func percentOf(part, whole span, known bool) (least, most int) {
	least, _ = percent(part, whole.max, known)
	_, most = percent(part, whole.min, known)
	return least, most
}
