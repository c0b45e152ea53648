package search

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// Prices prove that requests cannot fill certain nodes (T24). Every pod gets a price. If the
// cheapest pods that fill each node cost more together than all pods there are, some node stays
// open. Any prices prove it, so the checker only computes the costs again.

// fillers holds the pods that may fill nodes of a place until a pod group's pod no longer fits
// there. Pods that close every node that they run on by a rule are counted elsewhere.
type fillers struct {
	h     *headroom
	u     *podGroup
	all   []filler
	kinds []*fillKind
	// known lists patterns that packings have found. id is equal for equal fillers.
	known *[]pattern
	id    string
}

// filler stands for pod groups that fill nodes alike, or for a DaemonSet. A DaemonSet has one pod on
// each of its nodes, which costs nothing.
type filler struct {
	units   []int
	pods    int
	ask     []int64
	perNode *model.Group
	// most is the maximum number of the pods that a node takes by the rules.
	most int
}

// likeness is equal for pod groups that fill nodes alike. reach says which nodes of the place they
// may use.
type likeness struct {
	reach, ask string
	apart      int
}

// fillKind is a set of nodes that take equal effort to fill.
type fillKind struct {
	nodes []int32
	// free holds each node's free amount of each resource.
	free []int64
	// reach lists the fillers that may use the nodes, as indices into fillers.all.
	reach []int
	// ways lists the resources that can run short on these nodes.
	ways []fillWay
}

// fillWay describes how to fill a node with one resource. The pods on it have to request at least
// need units and at most room units, where a pod of filler k requests sizes[k] units. If exact is
// not set, requests are rounded up and room does not apply, so that the effort is never
// overestimated.
type fillWay struct {
	resource, need, room int
	exact                bool
	sizes                []int
	// finer counts the same resource exactly, which takes long. It is nil if there are too many units.
	finer *fillWay
}

// exactUnits is the maximum number of units on a node for counting exactly, and roundUnits is the
// number of units otherwise. With up to finerUnits, the pods are counted exactly if it turns out
// that they do not fill the node.
const exactUnits, finerUnits, roundUnits = 2048, 8192, 512

// newFillers returns the fillers for a place when own of the pod group's pods are already placed.
// The argument ruled marks the pod groups that close their nodes by a rule.
func (h *headroom) newFillers(i int, p *place, own int, ruled map[int]bool) *fillers {
	return h.reaching(i, p, own, ruled).begin()
}

// everybody is newFillers for a large component. It also counts all of the group's own pods and
// those that close nodes by a rule, so that pod groups with the same nodes share these fillers.
func (h *headroom) everybody(i int, p *place) *fillers {
	if len(h.shared) >= mostShared {
		clear(h.shared)
	}
	shared := lazy.Cached(h.shared, p, func() *fillers { return h.reaching(i, p, h.units[i].pods, nil) })
	f := &fillers{h: h, u: h.units[i], all: shared.all}
	for _, kind := range shared.kinds {
		f.kinds = append(f.kinds, &fillKind{nodes: kind.nodes, free: kind.free, reach: kind.reach})
	}
	return f.begin()
}

// mostShared is the maximum number of places whose fillers are kept.
const mostShared = 200

// addWays adds the ways to fill each kind of node.
func (f *fillers) addWays() {
	for _, kind := range f.kinds {
		for r, ask := range f.u.ask {
			if ask > 0 && kind.free[r] != math.MaxInt64 {
				f.addWay(kind, r, kind.free[r])
			}
		}
	}
}

// begin adds the ways, and what is known of equal fillers.
func (f *fillers) begin() *fillers {
	f.addWays()
	f.id = fmt.Sprint(f.u.ask)
	for k := range f.all {
		f.id += fmt.Sprint(" ", f.all[k].units)
	}
	for _, kind := range f.kinds {
		f.id += fmt.Sprint(" on ", kind.free, kind.reach)
	}
	f.known = lazy.Cached(f.h.patterns, f.id, func() *[]pattern { return &[]pattern{} })
	return f
}

// reaching returns fillers without ways.
func (h *headroom) reaching(i int, p *place, own int, ruled map[int]bool) *fillers {
	f := &fillers{h: h, u: h.units[i]}
	h.m.Run().Spend(1 + len(h.c.units))
	var sets []string // by reach
	of := map[string][]int{}
	daemons, alike := map[*model.Group]int{}, map[likeness]int{}
	for _, j := range h.c.units {
		v, pods := h.units[j], h.others(i, j, own)
		if pods == 0 || ruled[j] || len(v.nodes.list) == 0 {
			continue
		}
		if v.g.Kind.PerNode() {
			if _, known := daemons[v.g]; !known && v.g != f.u.g {
				daemons[v.g] = len(f.all)
				f.all = append(f.all, filler{units: []int{j}, pods: v.pods, ask: v.ask, perNode: v.g, most: v.pods})
			}
			continue
		}
		like := likeness{reach: p.reachOf(v.nodes)}
		if !strings.Contains(like.reach, "\x01") {
			continue
		}
		var ask []byte
		for _, a := range v.ask {
			ask = binary.AppendVarint(ask, a)
		}
		here, alone := min(pods, h.mostIn(j, p, math.MaxInt)), h.onePerNode(j, p)
		like.ask, like.apart = string(ask), int(flag(alone))
		switch { // where it matters, only what differs in nothing is alike
		case h.coarse:
			like.apart += 2 * int(flag(len(v.spreads)+len(v.affinityKeys) > 0))
		case len(v.spreads) > 0:
			like.apart = -1 - j
		case alone:
			like.apart = pods
		}
		k, known := alike[like]
		if !known {
			if of[like.reach] == nil {
				sets = append(sets, like.reach)
			}
			k = len(f.all)
			alike[like] = k
			of[like.reach] = append(of[like.reach], k)
			f.all = append(f.all, filler{ask: v.ask})
		}
		x := &f.all[k]
		x.units, x.pods = append(x.units, j), x.pods+here
		if alone {
			x.most++
		} else {
			x.most += min(here, h.mostIn(j, p, 1))
		}
	}
	width := len(h.resources)
	units := make([]int64, width) // pods request multiples of these (T19)
	for r := range units {
		units[r] = f.u.ask[r]
		for k := range f.all {
			units[r] = gcd(units[r], f.all[k].ask[r])
		}
	}
	by := map[string]*fillKind{}
	h.m.Run().Spend(1 + len(p.nodes)*(len(sets)+len(daemons)+len(h.resources))/model.PerStep)
	for at, n := range p.nodes {
		var id []byte
		for _, reach := range sets {
			id = append(id, reach[at])
		}
		for k := range f.all {
			if g := f.all[k].perNode; g != nil {
				id = append(id, flag(h.daemonOn(g, int(n)) >= 0))
			}
		}
		free := slices.Clone(h.rest[int(n)*width : (int(n)+1)*width])
		for r, unit := range units {
			if unit > 0 && free[r] > 0 && free[r] != math.MaxInt64 {
				free[r] -= free[r] % unit
			}
			id = binary.AppendVarint(id, free[r])
		}
		kind := by[string(id)]
		if kind == nil {
			kind = &fillKind{free: free}
			for _, reach := range sets {
				if reach[at] == 1 {
					kind.reach = append(kind.reach, of[reach]...)
				}
			}
			for g, k := range daemons {
				if h.daemonOn(g, int(n)) >= 0 {
					kind.reach = append(kind.reach, k)
				}
			}
			slices.Sort(kind.reach)
			by[string(id)], f.kinds = kind, append(f.kinds, kind)
		}
		kind.nodes = append(kind.nodes, n)
	}
	return f
}

// addWay adds a resource that can run short on a node with the given free amount.
func (f *fillers) addWay(kind *fillKind, r int, free int64) {
	need := free - f.u.ask[r] + 1
	if need <= 0 {
		kind.ways = []fillWay{{resource: r, sizes: make([]int, len(f.all))}}
		return
	}
	unit := int64(0)
	for _, k := range kind.reach {
		unit = gcd(unit, f.all[k].ask[r])
	}
	if unit == 0 {
		return
	}
	in := func(unit int64, exact bool) *fillWay {
		way := &fillWay{resource: r, exact: exact, need: int((need + unit - 1) / unit), room: int(free / unit), sizes: make([]int, len(f.all))}
		sum := 0
		for _, k := range kind.reach {
			way.sizes[k] = int(min((f.all[k].ask[r]+unit-1)/unit, int64(way.room+1)))
			sum += way.sizes[k] * min(f.all[k].pods, way.need)
		}
		if exact && way.need > way.room || sum < way.need {
			return nil // no sum of requests is close enough
		}
		return way
	}
	var way *fillWay
	if free/unit <= exactUnits || free/unit <= finerUnits && !f.h.coarse {
		if way = in(unit, true); way == nil {
			return
		}
	}
	if free/unit > exactUnits {
		finer := way
		if way = in((need+roundUnits-1)/roundUnits, false); way == nil {
			return
		}
		way.finer = finer
	}
	kind.ways = append(kind.ways, *way)
}

// mostIn returns an upper bound on how many of a pod group's pods can be in a place, or in a part of
// it with at most the given number of domains. It is limited only by spread constraints that count
// exactly the group's own pods: with n pods in D domains, at most e * (n + maxSkew * (D - e)) / D of
// them are in e domains (R-T7), provided that no pods have been removed.
func (h *headroom) mostIn(j int, p *place, domains int) int {
	u, most := h.units[j], math.MaxInt
	if u.vague || u.open || h.after != nil {
		return most // the constraint may count other pods as well
	}
	for _, s := range u.spreads {
		all := len(s.domains)
		here := min(all, len(h.divided(p, s.key)), domains)
		if s.self == 1 && all > 0 && slices.Equal(s.watch, []located{{unit: j}}) {
			most = min(most, here*(u.pods+s.maxSkew*(all-here))/all)
		}
	}
	return most
}

// daemonOn returns the pod group of a DaemonSet's pod on a node, or -1.
func (a *state) daemonOn(g *model.Group, n int) int {
	return lazy.Cached(a.daemons, g, func() []int {
		on := slices.Repeat([]int{-1}, len(a.nodes))
		for _, j := range a.unitsOf[g.Workload] {
			if v := a.units[j]; v.pods > 0 && len(v.nodes.list) > 0 && !a.unplaceable[j] {
				on[v.pinned] = j
			}
		}
		return on
	})[n]
}

// stays reports whether a pod group's pods can be on one node only. They are counted as if they
// were there already.
func (u *podGroup) stays() bool { return u.g.Kind.PerNode() || u.kubelet }

// open returns a free amount, by the index of rest, when all pods that can be on one node only are
// in place.
func (a *state) open(at int) int64 {
	if a.rest[at] == math.MaxInt64 {
		return math.MaxInt64
	}
	if a.reserved == nil {
		a.reserved = make([]int64, len(a.rest))
		a.m.Run().Spend(1 + len(a.units)*(1+len(a.resources)/model.PerStep))
		for j, v := range a.units {
			if !v.stays() || v.g.Running || a.unplaceable[j] {
				continue
			}
			for _, n := range v.nodes.list {
				for r, ask := range v.ask {
					a.reserved[int(n)*len(a.resources)+r] += ask * int64(v.pods)
				}
			}
		}
	}
	return a.rest[at] - a.reserved[at]
}

// onePerNode reports whether no node of a place takes two of a pod group's pods. A rule that may or
// may not select them does not count.
func (h *headroom) onePerNode(j int, p *place) bool {
	u := h.units[j]
	return u.clashesWith(u) || slices.ContainsFunc(u.exclusions, func(x exclusion) bool {
		return x.unit == j && x.place == 0 && !slices.Contains(u.maybe, x) && h.divide(p, x.key).whole
	})
}

// impossible is the cost of filling a node that cannot be filled.
const impossible = math.MaxInt64 / 4

// cheapest returns the lowest price of pods that fill a node of a kind, and a set of pods with that
// price, counted per filler. The argument left holds how many pods each filler has left.
func (f *fillers) cheapest(kind *fillKind, prices []int64, left []int) (cost int64, used []int) {
	cost = impossible
	for w := range kind.ways {
		way := &kind.ways[w]
		if way.need == 0 {
			return 0, make([]int, len(f.all))
		}
		if c, u := f.cover(kind, way, prices, left, -1); c < cost {
			cost, used = c, u
		}
	}
	return cost, used
}

// chunk is a number of pods of one filler that are used together or not at all. Chunks of 1, 2, 4
// and so on pods add up to any number of pods.
type chunk struct{ filler, pods int }

// besideExact is the maximum number of units of the second resource on a node for counting exactly,
// and besideUnits is the number of units otherwise.
const besideExact, besideUnits = 256, 128

// cover is cheapest for one resource. If other is not negative, the pods also have to fit on the node
// in that resource, up to rounding in their favor.
func (f *fillers) cover(kind *fillKind, way *fillWay, prices []int64, left []int, other int) (int64, []int) {
	unit, width := int64(0), 1
	if other >= 0 {
		for _, k := range kind.reach {
			unit = gcd(unit, f.all[k].ask[other])
		}
		if unit == 0 || kind.free[other]/unit > besideExact {
			unit = (kind.free[other] + besideUnits - 1) / besideUnits
		}
		width = int(kind.free[other]/unit) + 1
	}
	uses := func(c chunk) int {
		if other < 0 {
			return 0
		}
		return int(min(f.all[c.filler].ask[other]*int64(c.pods)/unit, int64(width)))
	}
	chunks := make([]chunk, 0, 4*len(kind.reach))
	for _, k := range kind.reach {
		if way.sizes[k] == 0 {
			continue
		}
		pods := min(f.all[k].most, left[k], (way.need+way.sizes[k]-1)/way.sizes[k])
		for some := 1; pods > 0; some *= 2 {
			some = min(some, pods)
			chunks = append(chunks, chunk{k, some})
			pods -= some
		}
	}
	top := way.need
	if way.exact {
		top = way.room
	}
	x := knapsack{need: way.need, top: top, width: width, exact: way.exact}
	for _, some := range chunks {
		x.items = append(x.items, item{way.sizes[some.filler] * some.pods, uses(some), prices[some.filler] * int64(some.pods)})
	}
	got := f.h.solve(&x)
	if got.took == nil {
		return impossible, nil
	}
	used, sum := make([]int, len(f.all)), int64(0)
	for c, some := range chunks {
		if got.took[c] {
			used[some.filler] += some.pods
			sum += f.all[some.filler].ask[way.resource] * int64(some.pods)
		}
	}
	if way.finer != nil && other < 0 && sum <= kind.free[way.resource]-f.u.ask[way.resource] {
		return f.cover(kind, way.finer, prices, left, other)
	}
	return got.cost, used
}

// pods returns how many pods each filler has.
func (f *fillers) pods() []int {
	pods := make([]int, len(f.all))
	for k := range f.all {
		pods[k] = f.all[k].pods
	}
	return pods
}

// greedy returns the price of some pods that fill a node of a kind, or impossible if it finds none.
// It prefers pods that request much for their price.
func (f *fillers) greedy(kind *fillKind, prices []int64, left []int) (least int64, best []int) {
	least = impossible
	f.h.m.Run().Spend(1 + len(kind.ways)*len(kind.reach)/2)
	for w := range kind.ways {
		way, pods := &kind.ways[w], make([]int, len(f.all))
		if way.need == 0 {
			return 0, pods
		}
		order := slices.Clone(kind.reach)
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(float64(prices[a])*float64(way.sizes[b]), float64(prices[b])*float64(way.sizes[a]))
		})
		cost, sum := int64(0), 0
		for _, k := range order {
			if way.sizes[k] == 0 || sum >= way.need {
				continue
			}
			pods[k] = min(f.all[k].most, left[k], (way.need-sum+way.sizes[k]-1)/way.sizes[k])
			if way.exact {
				pods[k] = min(pods[k], (way.room-sum)/way.sizes[k])
			}
			cost, sum = cost+prices[k]*int64(pods[k]), sum+way.sizes[k]*pods[k]
		}
		if sum >= way.need && cost < least {
			least, best = cost, pods
		}
	}
	return least, best
}

// hopeless reports whether the fillers have enough pods to fill wanted nodes, so that prices prove
// nothing.
func (f *fillers) hopeless(wanted int, prices []int64) bool {
	left := f.pods()
	return f.nodesFor(prices, func(kind *fillKind) int64 { cost, _ := f.greedy(kind, prices, left); return cost }) >= wanted
}

// nodesFor returns how many nodes the price of all pods pays for, given what filling one node of
// each kind costs.
func (f *fillers) nodesFor(prices []int64, cost func(*fillKind) int64) (most int) {
	all := int64(0)
	for k := range f.all {
		all += prices[k] * int64(f.all[k].pods)
	}
	type offer struct {
		cost  int64
		nodes int
	}
	var offers []offer
	for _, kind := range f.kinds {
		offers = append(offers, offer{cost(kind), len(kind.nodes)})
	}
	slices.SortFunc(offers, func(a, b offer) int { return cmp.Compare(a.cost, b.cost) })
	for _, o := range offers {
		nodes := o.nodes
		if o.cost > 0 {
			nodes = int(min(int64(nodes), all/o.cost))
		}
		most += nodes
		all -= o.cost * int64(nodes)
		if nodes < o.nodes {
			break
		}
	}
	return most
}

// fillable returns an upper bound on how many nodes the fillers can fill at given prices. If fit is
// set, only pods count that fit on a node together (see fillingBeside).
func (f *fillers) fillable(prices []int64, fit bool) int {
	return f.nodesFor(prices, func(kind *fillKind) int64 {
		if fit {
			cost, _ := f.fillingBeside(kind, prices)
			return cost
		}
		cost, _ := f.cheapest(kind, prices, f.pods())
		return cost
	})
}

// fullPrice is the price scale: the requests of all fillers for one resource cost about as much.
const fullPrice = 1 << 30

// lowest looks for prices at which the fillers can fill fewer than wanted nodes. It returns the
// lowest bound that it finds, with its prices. If thorough is set, it also asks a packing. The
// result fit is set if only pods count that fit on a node together (see fillingBeside).
func (f *fillers) lowest(p *place, wanted int, thorough bool) (best int, paid certificate.Prices) {
	best, at := math.MaxInt, []int64(nil)
	for _, was := range f.h.recent { // what proves one workload often proves the next
		if f.h.coarse && was.on != p {
			continue
		}
		prices := make([]int64, len(f.all))
		for k := range f.all {
			prices[k] = was.Of[f.h.units[f.all[k].units[0]].g]
		}
		if f.hopeless(wanted, prices) {
			continue
		}
		most := f.fillable(prices, was.Fit)
		if most < wanted && f.h.coarse {
			return most, certificate.Prices{Of: was.Of, Fit: was.Fit}
		}
		if most < wanted {
			return most, f.prices(prices, was.Fit)
		}
	}
	all := f.starts()
	for _, prices := range all {
		if f.hopeless(wanted, prices) {
			continue
		}
		if most := f.fillable(prices, false); most < best {
			best, at = most, prices
		}
		if best < wanted {
			return best, f.prices(at, false)
		}
	}
	if len(all) == 0 {
		return 0, f.prices(make([]int64, len(f.all)), false) // nothing runs short
	}
	fit := false
	if x := f.newPacking(); x != nil && thorough {
		x.run(wanted, func(prices, costs []int64) bool {
			most := f.nodesFor(prices, func(kind *fillKind) int64 { return costs[slices.Index(f.kinds, kind)] })
			if most < best {
				best, at, fit = most, prices, true
			}
			return best < wanted
		})
	}
	if at == nil {
		at = all[0]
	}
	return best, f.prices(at, fit)
}

// prices says what a pod of each group costs.
func (f *fillers) prices(at []int64, fit bool) certificate.Prices {
	of := map[*model.Group]int64{}
	for k := range f.all {
		for _, j := range f.all[k].units {
			of[f.h.units[j].g] = at[k]
		}
	}
	return certificate.Prices{Of: of, Fit: fit}
}

// starts returns the prices to begin with: what pods request of each resource, and mixtures.
func (f *fillers) starts() [][]int64 {
	var all [][]int64
	for r, ask := range f.u.ask {
		short := slices.ContainsFunc(f.kinds, func(k *fillKind) bool {
			return slices.ContainsFunc(k.ways, func(w fillWay) bool { return w.resource == r })
		})
		if ask == 0 || !short {
			continue
		}
		sum := float64(f.h.demand[r]) // equal for all workloads
		if !f.h.coarse {
			sum = 0
			for k := range f.all {
				if f.all[k].perNode == nil {
					sum += float64(float64(f.all[k].ask[r]) * float64(f.all[k].pods)) // not fused, so equal on all machines
				}
			}
		}
		prices := make([]int64, len(f.all))
		for k := range f.all {
			if f.all[k].perNode == nil && sum > 0 {
				prices[k] = int64(float64(f.all[k].ask[r]) / sum * fullPrice)
			}
		}
		all = append(all, prices)
	}
	for a, few := 0, len(all); a < few; a++ {
		for b := range a {
			for _, share := range [][2]int64{{1, 1}, {1, 3}, {3, 1}} {
				mixed := make([]int64, len(f.all))
				for k := range mixed {
					mixed[k] = (all[a][k]*share[0] + all[b][k]*share[1]) / (share[0] + share[1])
				}
				all = append(all, mixed)
			}
		}
	}
	return all
}

// gcd returns the greatest common divisor of two numbers.
func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
