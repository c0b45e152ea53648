package check

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// tenant is a group whose pods may fill nodes, with the number of its pods and the price of one.
// Tenants with the same kind request the same for the same price.
type tenant struct {
	g     *model.Group
	pods  int
	price int64
	kind  int
	alone []string // keys whose domains take one of its pods
}

// filled returns an upper bound on how many nodes in a part other pods can fill until a resource
// that the member requests runs short (T24). All pods together cost a certain sum. Filling a node
// costs at least as much as the cheapest pods that fill it. Groups without a price cost nothing.
func (c *closings) filled(m certificate.Member, p part, blockers []blocker, prices certificate.Prices) int {
	l, budget := c.ledger(), int64(0)
	width := len(l.names)
	var all []tenant
	kinds := map[string]int{}
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
		price := max(0, prices.Of[g])
		if g.Kind.PerNode() { // one on each of its nodes
			pods, price = 1, 0
		}
		pods = min(pods, c.gathered(g, p))
		kind := binary.AppendVarint(nil, price)
		for _, ask := range l.asks(g) {
			kind = binary.AppendVarint(kind, ask)
		}
		if _, known := kinds[string(kind)]; !known {
			kinds[string(kind)] = len(kinds)
		}
		all = append(all, tenant{g, pods, price, kinds[string(kind)], c.apartOn(g)})
		budget = added(budget, price, pods)
	}
	if budget == math.MaxInt64 {
		return len(p.nodes)
	}
	// The cost depends on who may be on a node and on what it offers.
	at, keys := map[*sited][]bool{}, map[string]bool{}
	var sets []*sited
	for _, t := range all {
		if s := c.sited(t.g); at[s] == nil {
			at[s] = c.marked(s.list)
			sets = append(sets, s)
		}
		for _, k := range t.alone {
			keys[k] = true
		}
	}
	steps := slices.Clone(l.asks(m.G)) // what is free beyond a multiple of these is of no use (T19)
	for _, t := range all {
		for r, ask := range l.asks(t.g) {
			for ; ask > 0; steps[r], ask = ask, steps[r]%ask {
			}
		}
	}
	var costs []int64
	known := map[string]int64{} // by what a node is like
	for _, n := range p.nodes {
		c.m.Run().Spend(1 + (len(sets)+len(keys)+width)/model.PerStep)
		var id []byte
		for _, s := range sets {
			id = strconv.AppendBool(id, at[s][n])
		}
		for _, k := range model.SortedKeys(keys) {
			id = strconv.AppendBool(id, model.Carries(c.m.Topology.Nodes[n].Labels, []string{k}))
		}
		free := slices.Clone(l.free[n*width : (n+1)*width])
		for r, step := range steps {
			if step > 0 && free[r] > 0 {
				free[r] -= free[r] % step
			}
			id = strconv.AppendBool(append(strconv.AppendInt(id, free[r], 10), ' '), l.short(n, r))
		}
		costs = append(costs, model.Cached(known, string(id), func() int64 {
			here := slices.DeleteFunc(slices.Clone(all), func(t tenant) bool { return !at[c.sited(t.g)][n] })
			return c.cheapest(m, here, n, free, prices.Fit)
		}))
	}
	slices.Sort(costs)
	for k, cost := range costs {
		if cost > budget {
			return k
		}
		budget -= cost
	}
	return len(costs)
}

// gathered returns an upper bound on how many of a group's pods can be in a part that lies in some
// domains of a spread constraint. While the constraint counts only these pods, any other domain
// holds at most maxSkew fewer of them than the fullest of these (R-T7).
func (c *closings) gathered(g *model.Group, p part) int {
	most := math.MaxInt
	if c.vague[g.Workload] {
		return most // the constraint may count other pods as well
	}
	for t := range g.Hard(model.Spread) {
		domains, here := c.domains(g, t), map[string]bool{}
		for _, n := range p.nodes {
			if value := c.m.Topology.Nodes[n].Labels[t.Key]; value != "" {
				here[value] = true
			}
		}
		if own := c.selects[t]; len(domains) == 0 || t.Sel.Form != model.FormSet || len(own) != 1 || own[0] != g.Workload ||
			!c.m.Selects(t, g.Workload, g.Workload, model.Asks{Self: true, Incoming: true}) || !c.surely(t, g, g) {
			continue
		}
		inside := min(len(here), len(domains))
		most = min(most, inside*(c.count(g)+int(t.Constraint.MaxSkew)*(len(domains)-inside))/len(domains))
	}
	return most
}

// cheapest returns the lowest price of pods that fill a node, whichever resource runs short. The
// argument here lists the groups that may use the node, and free what it offers. If fit is set, the
// pods also have to fit on the node in any one other resource.
func (c *closings) cheapest(m certificate.Member, here []tenant, n int, free []int64, fit bool) int64 {
	l := c.ledger()
	for i := range here {
		t := &here[i]
		if portsClash(c.m, t.g, t.g) || slices.ContainsFunc(t.alone, func(k string) bool { return model.Carries(c.m.Topology.Nodes[n].Labels, []string{k}) }) {
			t.pods = min(t.pods, 1)
		}
	}
	at := map[int]int{} // tenants of the same kind are like one tenant
	var merged []tenant
	for _, t := range here {
		k, known := at[t.kind]
		if !known {
			at[t.kind] = len(merged)
			merged = append(merged, t)
			continue
		}
		merged[k].pods += t.pods
	}
	here = merged
	least := int64(math.MaxInt64)
	for r, ask := range l.asks(m.G) {
		if ask == 0 || !l.short(n, r) {
			continue
		}
		price := c.covering(here, r, free[r]-ask+1, free[r], -1, free)
		for second := range free {
			if fit && second != r && price < least && c.scarce(here, second, free[second]) {
				price = max(price, c.covering(here, r, free[r]-ask+1, free[r], second, free))
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
func (c *closings) covering(here []tenant, r int, need, room int64, second int, free []int64) int64 {
	if need <= 0 {
		return 0
	}
	l := c.ledger()
	step := int64(0)
	for _, t := range here {
		for a := l.asks(t.g)[r]; a > 0; {
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
		ask := l.asks(t.g)[r]
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
				some.beside = int(min(l.asks(t.g)[second]*int64(bunch)/besides, int64(width)))
			}
			x.bunches = append(x.bunches, some)
		}
	}
	c.m.Run().Spend(1 + len(x.bunches)/model.PerStep)
	return model.Cached(c.costs, x.id(), func() int64 { return c.lowest(&x) })
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
func (c *closings) stepOf(here []tenant, r int, free int64) int64 {
	step := int64(0)
	for _, t := range here {
		for a := c.ledger().asks(t.g)[r]; a > 0; {
			step, a = a, step%a
		}
	}
	if step == 0 || free/step > besideFinest {
		return (free-1)/besideCoarsest + 1
	}
	return step
}

// scarce reports whether the groups together request more of a resource than is free.
func (c *closings) scarce(here []tenant, r int, free int64) bool {
	sum := int64(0)
	for _, t := range here {
		sum = added(sum, c.ledger().asks(t.g)[r], t.pods)
	}
	return free > 0 && sum > free
}
