package check

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// tenant stands for a group whose pods may fill nodes. Tenants of the same kind request the same for the same
// price.
type tenant struct {
	g     *model.Group
	pods  int
	each  int      // at most so many on one node
	alone []string // keys whose domains take one of its pods
	ask   []int64
	kind  int
	price int64
}

// cell stands for nodes that other pods fill alike.
type cell struct {
	nodes []int // as indices into those of the part
	// here lists the tenants that may use the nodes, and free what the nodes offer. short marks the
	// resources that may run short.
	here  []int
	free  []int64
	short []bool
}

// outlook says which pods may fill which nodes.
type outlook struct {
	*closings
	member certificate.Member
	p      part
	all    []tenant
	cells  []cell
}

// filled returns an upper bound on how many nodes in a part other pods can fill until a resource
// that the member requests runs short (T24).
func (c *closings) filled(m certificate.Member, p part, blockers []blocker, prices certificate.Prices) int {
	l := c.ledger()
	width := len(l.names)
	x := outlook{closings: c, member: m, p: p}
	for _, w := range c.m.Workloads {
		g := c.m.Groups[w]
		pods := c.coming(g)
		if g == m.G {
			pods = p.own
		}
		ruled := slices.ContainsFunc(blockers, func(b blocker) bool { return b.g == g && c.rules(b, p) })
		if pods <= 0 || ruled || !c.comes(g) || g == m.G && g.Kind.PerNode() {
			continue
		}
		if g.Kind.PerNode() { // one on each of its nodes
			pods = 1
		}
		most, each := c.gathered(g, p, m.Left != nil || g == m.G && m.Pods > c.count(g))
		x.all = append(x.all, tenant{g: g, pods: min(pods, most), each: each, alone: c.apartOn(g), ask: l.asks(g)})
	}
	// The cost depends on who may be on a node and on what it offers.
	at, keys := map[*sited][]bool{}, map[string]bool{}
	var sets []*sited
	steps := slices.Clone(l.asks(m.G)) // what is free beyond a multiple of these is of no use (T19)
	for _, t := range x.all {
		if s := c.sited(t.g); at[s] == nil {
			at[s] = c.marked(s.list)
			sets = append(sets, s)
		}
		for _, k := range t.alone {
			keys[k] = true
		}
		for r, ask := range t.ask {
			for ; ask > 0; steps[r], ask = ask, steps[r]%ask {
			}
		}
	}
	known := map[string]int{} // by what a node is like
	for i, n := range p.nodes {
		c.m.Run().Spend(1 + (len(sets)+len(keys)+width)/model.PerStep)
		var id []byte
		for _, s := range sets {
			id = strconv.AppendBool(id, at[s][n])
		}
		for _, k := range model.SortedKeys(keys) {
			id = strconv.AppendBool(id, model.Carries(c.m.Topology.Nodes[n].Labels, []string{k}))
		}
		next := cell{free: slices.Clone(l.free[n*width : (n+1)*width])}
		for r, step := range steps {
			if step > 0 && next.free[r] > 0 {
				next.free[r] -= next.free[r] % step
			}
			next.short = append(next.short, p.more || l.short(n, r))
			id = strconv.AppendBool(append(strconv.AppendInt(id, next.free[r], 10), ' '), next.short[r])
		}
		k, seen := known[string(id)]
		if !seen {
			for t := range x.all {
				if at[c.sited(x.all[t].g)][n] {
					next.here = append(next.here, t)
				}
			}
			k, known[string(id)] = len(x.cells), len(x.cells)
			x.cells = append(x.cells, next)
		}
		x.cells[k].nodes = append(x.cells[k].nodes, i)
	}
	return min(x.most(prices), len(p.nodes))
}

// most returns an upper bound on how many nodes can be filled.
func (x *outlook) most(prices certificate.Prices) int {
	// All pods together cost a certain sum. Filling a node costs at least as much as the cheapest
	// pods that fill it. Groups without a price cost nothing.
	budget := int64(0)
	kinds := map[string]int{}
	for k := range x.all {
		t := &x.all[k]
		if t.price = max(0, prices.Of[t.g]); t.g.Kind.PerNode() {
			t.price = 0
		}
		budget = added(budget, t.price, t.pods)
		kind := binary.AppendVarint(nil, t.price)
		for _, ask := range t.ask {
			kind = binary.AppendVarint(kind, ask)
		}
		if _, known := kinds[string(kind)]; !known {
			kinds[string(kind)] = len(kinds)
		}
		t.kind = kinds[string(kind)]
	}
	if budget == math.MaxInt64 {
		return len(x.p.nodes)
	}
	var costs []int64
	for k := range x.cells {
		cost := x.cheapest(&x.cells[k], prices.Fit)
		costs = append(costs, slices.Repeat([]int64{cost}, len(x.cells[k].nodes))...)
	}
	filled := 0
	slices.Sort(costs)
	for _, cost := range costs {
		if cost > budget {
			return filled
		}
		budget -= cost
		filled++
	}
	return filled
}

// available returns an upper bound on how many pods of a tenant can be on a node.
func (x *outlook) available(t *tenant, n int) int {
	if portsClash(x.m, t.g, t.g) || slices.ContainsFunc(t.alone, func(k string) bool { return model.Carries(x.m.Topology.Nodes[n].Labels, []string{k}) }) {
		return min(t.pods, 1)
	}
	return min(t.pods, t.each)
}

// gathered returns upper bounds on how many of a group's pods can be in a part that lies in some
// domains of a spread constraint, and on one node. While the constraint counts only these pods, any
// other domain holds at most maxSkew fewer of them than the fullest of these (R-T7). No constraint
// counts a terminating pod (R-T4), so terminating pods of other groups do not matter. Neither
// bound holds after pods have been removed.
func (c *closings) gathered(g *model.Group, p part, removed bool) (most, each int) {
	most, each = math.MaxInt, math.MaxInt
	if removed || c.vague[g.Workload] {
		return most, each // the constraint may count other pods as well
	}
	for t := range g.Hard(model.Spread) {
		all, here := c.domains(g, t), map[string]bool{}
		for _, n := range p.nodes {
			if value := c.m.Topology.Nodes[n].Labels[t.Key]; value != "" {
				here[value] = true
			}
		}
		if len(all) == 0 || t.Sel.Form != model.FormSet || c.watches(g, t) || g.Terminating() ||
			!c.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true}) || !c.surely(t, g, g) {
			continue
		}
		in := func(some int) int {
			return some * (c.count(g) + int(t.Constraint.MaxSkew)*(len(all)-some)) / len(all)
		}
		inside := min(len(here), len(all))
		most, each = min(most, in(inside)), min(each, in(min(inside, 1)))
	}
	return most, each
}

// crowd is a number of pods that request the same for the same price.
type crowd struct {
	ask   []int64
	pods  int
	price int64
}

// cheapest returns the lowest price of pods that fill a node, whichever resource runs short. If fit
// is set, the pods also have to fit on the node in any one other resource.
func (x *outlook) cheapest(n *cell, fit bool) int64 {
	at := map[int]int{} // tenants of the same kind are like one
	var here []crowd
	for _, k := range n.here {
		t := &x.all[k]
		pods := x.available(t, x.p.nodes[n.nodes[0]])
		if i, known := at[t.kind]; known {
			here[i].pods += pods
		} else {
			at[t.kind] = len(here)
			here = append(here, crowd{t.ask, pods, t.price})
		}
	}
	least := int64(math.MaxInt64)
	for r, ask := range x.ledger().asks(x.member.G) {
		if ask == 0 || !n.short[r] {
			continue
		}
		price := x.covering(here, r, n.free[r]-ask+1, n.free[r], -1, n.free)
		for second := range n.free {
			if fit && second != r && price < least && x.scarce(here, second, n.free[second]) {
				price = max(price, x.covering(here, r, n.free[r]-ask+1, n.free[r], second, n.free))
			}
		}
		least = min(least, price)
	}
	return least
}

// An amount is divided into at most finest steps, or fewer next to a second resource, or into about
// coarsest of them if that is not enough to count exactly.
const finest, finestBeside, coarsest = 8192, 2048, 512

// covering returns the lowest price of pods that together request at least need of a resource and
// at most room. Amounts are counted in steps. If there would be too many steps, each request is
// rounded up and room does not apply, so the price is never overestimated. If second is not
// negative, the pods request at most what is free of that second resource. This amount is rounded
// down.
func (c *closings) covering(here []crowd, r int, need, room int64, second int, free []int64) int64 {
	if need <= 0 {
		return 0
	}
	step := int64(0)
	for _, t := range here {
		for a := t.ask[r]; a > 0; {
			step, a = a, step%a
		}
	}
	if step == 0 {
		return math.MaxInt64
	}
	exact := room/step <= finestBeside || second < 0 && room/step <= finest
	if !exact {
		step = (need-1)/coarsest + 1
	}
	whole := int((need-1)/step) + 1
	last := whole
	if exact {
		last = int(room / step)
	}
	if last < whole {
		return math.MaxInt64
	}
	besides, width := int64(1), 1
	if second >= 0 {
		besides = c.stepOf(here, second, free[second])
		width = int(free[second]/besides) + 1
	}
	x := filling{whole: whole, last: last, width: width, exact: exact}
	for _, t := range here {
		ask := t.ask[r]
		if ask == 0 {
			continue
		}
		size := int(min((ask-1)/step+1, int64(last)+1))
		// With 1, 2, 4, ... pods at a time and the rest, every number of pods can be reached.
		for left, bunch := min(t.pods, (whole-1)/size+1), 1; left > 0; bunch *= 2 {
			bunch = min(bunch, left)
			left -= bunch
			some := bunchOf{size: bunch * size, price: t.price * int64(bunch)} // at most what all pods cost, so no sum overflows
			if second >= 0 {
				some.beside = int(min(t.ask[second]*int64(bunch)/besides, int64(width)))
			}
			x.bunches = append(x.bunches, some)
		}
	}
	c.m.Run().Spend(1 + len(x.bunches)/model.PerStep)
	return lazy.Cached(c.costs, x.id(), func() int64 { return c.lowest(&x) })
}

// filling asks for the lowest price of bunches of pods that request whole to last steps, and at most
// width of a second resource. If requests are rounded, it is not exact, and last stands for more
// steps, too.
type filling struct {
	whole, last, width int
	exact              bool
	bunches            []bunchOf
}

// bunchOf is a number of pods that are counted together.
type bunchOf struct {
	size, beside int
	price        int64
}

// id is equal for equal fillings.
func (x *filling) id() string {
	id := strconv.AppendBool(nil, x.exact)
	for _, n := range []int{x.whole, x.last, x.width} {
		id = binary.AppendVarint(id, int64(n))
	}
	for _, b := range x.bunches {
		id = binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(id, int64(b.size)), int64(b.beside)), b.price)
	}
	return string(id)
}

func (c *closings) lowest(x *filling) int64 {
	// least[s*width+b] is the lowest price of pods that request s steps, and at most b steps of the
	// second resource.
	const none = math.MaxInt64
	width := x.width
	least := slices.Repeat([]int64{none}, (x.last+1)*width)
	clear(least[:width])
	for _, some := range x.bunches {
		c.m.Run().Spend(1 + x.last*width/(4*model.PerStep))
		for s := x.last; s > 0; s-- {
			from := s - some.size
			if from < 0 && x.exact {
				break
			}
			from = max(0, from)
			before := least[from*width : (from+1)*width-min(width, some.beside)]
			to := least[(s+1)*width-len(before) : (s+1)*width]
			for b, price := range before {
				if price < none {
					to[b] = min(to[b], price+some.price)
				}
			}
		}
	}
	lowest := int64(none)
	for s := x.whole; s <= x.last; s++ {
		lowest = min(lowest, least[(s+1)*width-1])
	}
	return lowest
}

// besideFinest and besideCoarsest are like finest and coarsest for the second resource.
const besideFinest, besideCoarsest = 256, 128

// stepOf returns the size of a step of the second resource.
func (c *closings) stepOf(here []crowd, r int, free int64) int64 {
	step := int64(0)
	for _, t := range here {
		for a := t.ask[r]; a > 0; {
			step, a = a, step%a
		}
	}
	if step == 0 || free/step > besideFinest {
		return (free-1)/besideCoarsest + 1
	}
	return step
}

// scarce reports whether the groups together request more of a resource than is free.
func (c *closings) scarce(here []crowd, r int, free int64) bool {
	sum := int64(0)
	for _, t := range here {
		sum = added(sum, t.ask[r], t.pods)
	}
	return free > 0 && sum > free
}
