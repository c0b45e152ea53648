package search

import (
	"math"
	"slices"

	"github.com/schedlint/schedlint/lint/sched/classes"
	"github.com/schedlint/schedlint/lint/sched/model"
)

// packing looks for the pods that fill as many nodes as possible. It is a linear program over
// patterns, which are sets of pods that fill one node, in fractions of nodes. The patterns are
// found one by one: the program's prices say which pattern is missing. If the program fills fewer
// nodes than are wanted, its prices prove it. If it fills them all, its patterns are the start of a
// run.
//
// Fractions only guide the search. Each product is converted, so that no machine fuses it with a
// sum, and the result is the same everywhere.
type packing struct {
	f *fillers
	// Row k is about the pods of filler k, and row len(f.all)+c about the nodes of kind c. inverse
	// is the inverse of the basis, and value holds what each basic variable has.
	inverse [][]float64
	value   []float64
	// basis holds the column of each row: a pattern, or -1 for what the row leaves unused.
	basis    []int
	patterns []pattern
}

// pattern is a set of pods that fill a node of a kind, counted per filler.
type pattern struct {
	kind int
	pods []int
}

// mostRows is the maximum number of rows of a packing, and manyRows is that in a large component.
const mostRows, manyRows = 160, 500

// tiny is the difference from which numbers count as different.
const tiny = 1e-7

// newPacking returns a packing without patterns, or nil if it would have too many rows.
func (f *fillers) newPacking() *packing {
	rows := len(f.all) + len(f.kinds)
	if rows > manyRows || rows > mostRows && !f.h.coarse {
		return nil
	}
	p := &packing{f: f, basis: slices.Repeat([]int{-1}, rows)}
	for k := range f.all {
		p.value = append(p.value, float64(f.all[k].pods))
	}
	for _, kind := range f.kinds {
		p.value = append(p.value, float64(len(kind.nodes)))
	}
	for r := range rows {
		p.inverse = append(p.inverse, make([]float64, rows))
		p.inverse[r][r] = 1
	}
	return p
}

// duals returns what one more pod of each filler, and one more node of each kind, would be worth in
// filled nodes.
func (p *packing) duals() []float64 {
	all := make([]float64, len(p.basis))
	for r, at := range p.basis {
		if at >= 0 {
			for c := range all {
				all[c] += p.inverse[r][c]
			}
		}
	}
	return all
}

// column returns how much of each row a pattern needs, in terms of the basis.
func (p *packing) column(x pattern) []float64 {
	need := make([]float64, len(p.basis))
	for k, pods := range x.pods {
		if p.f.all[k].perNode == nil {
			need[k] = float64(pods)
		}
	}
	need[len(p.f.all)+x.kind] = 1
	return p.solve(need)
}

func (p *packing) solve(need []float64) []float64 {
	all := make([]float64, len(p.basis))
	for r := range all {
		for c, n := range need {
			if n != 0 {
				all[r] += float64(p.inverse[r][c] * n)
			}
		}
	}
	return all
}

// enter puts a column into the basis, in place of the one that is used up first. It reports whether
// there is one.
func (p *packing) enter(at int, column []float64) bool {
	out, least := -1, math.Inf(1)
	for r, d := range column {
		if d > tiny && p.value[r]/d < least-tiny {
			out, least = r, p.value[r]/d
		}
	}
	if out < 0 {
		return false
	}
	p.basis[out] = at
	p.scale(out, 1/column[out])
	for r, d := range column {
		if r != out && d != 0 {
			p.subtract(r, out, d)
		}
	}
	return true
}

func (p *packing) scale(r int, by float64) {
	p.value[r] = float64(p.value[r] * by)
	for c := range p.inverse[r] {
		p.inverse[r][c] = float64(p.inverse[r][c] * by)
	}
}

func (p *packing) subtract(r, from int, times float64) {
	p.value[r] = max(0, p.value[r]-float64(times*p.value[from]))
	for c := range p.inverse[r] {
		p.inverse[r][c] -= float64(times * p.inverse[from][c])
	}
}

// mostColumns is the maximum number of times that a column enters the basis.
const mostColumns = 1000

// mostExact is the maximum number of times that a packing asks for patterns by fillers.fillingBeside,
// which is expensive.
const mostExact = 6

// run adds patterns until no pattern helps. It calls proves with prices and the exact cost of
// filling one node of each kind when these seem to prove that fewer than wanted nodes can be
// filled, and stops if that returns true.
func (p *packing) run(wanted int, proves func(prices []int64, costs []int64) bool) {
	exact := 0
	for range mostColumns {
		p.f.h.m.Run().Spend(1 + len(p.basis)*len(p.basis)/(2*model.PerStep))
		worth := p.duals()
		if r := slices.IndexFunc(worth, func(w float64) bool { return w < -tiny }); r >= 0 {
			unit := make([]float64, len(p.basis))
			unit[r] = 1
			if !p.enter(-1, p.solve(unit)) {
				return
			}
			continue
		}
		old, gain, left := -1, tiny, p.f.pods()
		for k, x := range *p.f.known {
			if g := p.gain(x, worth); g > gain && covers(left, x.pods) {
				old, gain = k, g
			}
		}
		if old >= 0 {
			if !p.use((*p.f.known)[old]) {
				return
			}
			continue
		}
		prices := make([]int64, len(p.f.all))
		for k := range prices {
			if p.f.all[k].perNode == nil {
				prices[k] = int64(max(0, worth[k]) * fullPrice)
			}
		}
		// Most patterns are found in order of price, which is quick.
		best := p.best(worth, prices, func(kind *fillKind, prices []int64) (int64, []int) {
			cost, pods := p.f.greedy(kind, prices, left)
			if pods != nil && p.f.exceeds(kind, pods) >= 0 {
				pods = nil
			}
			return cost, pods
		})
		if best.pods != nil {
			if *p.f.known = append(*p.f.known, best); !p.use(best) {
				return
			}
			continue
		}
		costs := make([]int64, len(p.f.kinds))
		best = p.best(worth, prices, func(kind *fillKind, prices []int64) (int64, []int) {
			cost, pods := p.f.fitting(kind, prices)
			costs[slices.Index(p.f.kinds, kind)] = cost
			return cost, pods
		})
		if best.pods == nil || proves != nil && p.f.nodesFor(prices, func(k *fillKind) int64 { return costs[slices.Index(p.f.kinds, k)] }) < wanted {
			if proves == nil {
				return
			}
			if exact++; exact > mostExact {
				return
			}
			best = p.best(worth, prices, func(kind *fillKind, prices []int64) (int64, []int) {
				cost, pods := p.f.fillingBeside(kind, prices)
				costs[slices.Index(p.f.kinds, kind)] = cost
				if pods != nil && p.f.exceeds(kind, pods) >= 0 {
					pods = nil
				}
				return cost, pods
			})
			if proves(prices, costs) || best.pods == nil {
				return
			}
		}
		*p.f.known = append(*p.f.known, best)
		if !p.use(best) {
			return
		}
	}
}

// use puts a pattern into the basis and reports whether that is possible.
func (p *packing) use(x pattern) bool {
	p.patterns = append(p.patterns, x)
	return p.enter(len(p.patterns)-1, p.column(x))
}

// gain returns how much more a pattern is worth than it costs.
func (p *packing) gain(x pattern, worth []float64) float64 {
	p.f.h.m.Run().Spend(1 + len(x.pods)/model.PerStep)
	gain := 1 - worth[len(p.f.all)+x.kind]
	for k, n := range x.pods {
		if n > 0 && p.f.all[k].perNode == nil {
			gain -= float64(worth[k] * float64(n))
		}
	}
	return gain
}

// best returns the pattern that is worth most more than it costs, without pods if there is none.
func (p *packing) best(worth []float64, prices []int64, cheapest func(*fillKind, []int64) (int64, []int)) pattern {
	best, gain := pattern{}, tiny
	for c, kind := range p.f.kinds {
		cost, pods := cheapest(kind, prices)
		if g := 1 - worth[len(p.f.all)+c] - float64(cost)/fullPrice; pods != nil && g > gain {
			best, gain = pattern{c, pods}, g
		}
	}
	return best
}

// filled returns how many nodes the patterns fill.
func (p *packing) filled() (nodes float64) {
	for r, at := range p.basis {
		if at >= 0 {
			nodes += p.value[r]
		}
	}
	return nodes
}

// whole returns the patterns that the packing uses at least once, as often as it uses them rounded
// down. If there are none, it returns the one that it uses most.
func (p *packing) whole() (all []pattern) {
	most, at := 0.0, -1
	for r, x := range p.basis {
		if x < 0 {
			continue
		}
		for range int(p.value[r] + tiny) {
			all = append(all, p.patterns[x])
		}
		if p.value[r] > most+tiny {
			most, at = p.value[r], x
		}
	}
	if len(all) == 0 && at >= 0 {
		all = append(all, p.patterns[at])
	}
	return all
}

// planned is a set of pods, counted per filler, and the nodes of which it fills one.
type planned struct {
	nodes []int32
	pods  []int
}

// plan returns patterns that fill all but spare nodes, by kind, or nil if it finds none. It takes
// the whole patterns of one packing after the other, each for what the last one left.
func (f *fillers) plan(spare int) [][]planned {
	rest := &fillers{h: f.h, u: f.u, all: slices.Clone(f.all), known: f.known}
	nodes := 0
	for _, kind := range f.kinds {
		some := *kind
		rest.kinds = append(rest.kinds, &some)
		nodes += len(kind.nodes)
	}
	all := make([][]planned, len(f.kinds))
	for nodes > spare {
		p := rest.newPacking()
		if p == nil {
			return nil
		}
		p.run(0, nil)
		patterns := p.whole()
		if p.filled() < float64(nodes-spare)-0.001 || len(patterns) == 0 {
			return nil
		}
		for _, x := range patterns {
			all[x.kind] = append(all[x.kind], planned{f.kinds[x.kind].nodes, x.pods})
			rest.kinds[x.kind].nodes = rest.kinds[x.kind].nodes[1:]
			nodes--
			for k, n := range x.pods {
				if rest.all[k].perNode == nil {
					rest.all[k].pods -= n
				}
			}
		}
	}
	return all
}

// evenPlan is plan with only so many pods of a spread constraint in each domain that the others
// need few or none. A filler and a kind become one for each domain.
func (f *fillers) evenPlan(spare int) [][]planned {
	key := -1
	for k := range f.all {
		if s := f.spread(k); s != nil && (key < 0 || f.h.sizes[s.key] < f.h.sizes[key]) {
			key = s.key
		}
	}
	if key < 0 {
		return nil
	}
	x, few := &fillers{h: f.h, u: f.u, all: slices.Clone(f.all), known: &[]pattern{}}, len(f.all)
	parts := map[int32]map[int]int{} // by domain and filler
	var whole []int                  // the filler that each part is of
	for k := range f.all {
		if len(f.h.units[f.all[k].units[0]].spreads) > 0 {
			x.all[k].pods = 0
		}
		s, left := f.spread(k), f.all[k].pods
		if s == nil || s.key != key {
			continue
		}
		for at := range s.domains {
			part, d := f.all[k], int32(s.domains[(at+k)%len(s.domains)])
			others := len(s.domains) - at
			part.pods = min(left, max(s.maxSkew, (left+others-1)/others))
			left -= part.pods
			if parts[d] == nil {
				parts[d] = map[int]int{}
			}
			parts[d][k] = len(x.all)
			x.all, whole = append(x.all, part), append(whole, k)
		}
	}
	var from []int // the kind that each kind is part of
	for c, kind := range f.kinds {
		by := map[int32]*fillKind{}
		for _, n := range kind.nodes {
			d := f.h.domain[key][n]
			if by[d] == nil {
				some := &fillKind{free: kind.free, reach: slices.Clone(kind.reach)}
				for at, k := range kind.reach {
					if part, ok := parts[d][k]; ok {
						some.reach[at] = part
					}
				}
				by[d], x.kinds, from = some, append(x.kinds, some), append(from, c)
			}
			by[d].nodes = append(by[d].nodes, n)
		}
	}
	x.addWays()
	all := make([][]planned, len(f.kinds))
	for c, some := range x.plan(spare) {
		for _, one := range some {
			pods := slices.Clone(one.pods[:few])
			for at, n := range one.pods[few:] {
				pods[whole[at]] += n
			}
			all[from[c]] = append(all[from[c]], planned{one.nodes, pods})
		}
	}
	return all
}

// spread returns the spread constraint of a filler's pods if they have one that counts only them,
// or nil.
func (f *fillers) spread(k int) *constraint {
	j := f.all[k].units[0]
	if u := f.h.units[j]; len(u.spreads) == 1 && u != f.u && !u.vague && !u.open {
		if s := u.spreads[0]; s.self == 1 && slices.Equal(s.watch, []located{{unit: j}}) && len(s.domains) >= s.minDomains {
			return s
		}
	}
	return nil
}

// fitting is cheapest for pods that fit on the node in every resource. If the cheapest ones do not,
// it charges for what they request too much of.
func (f *fillers) fitting(kind *fillKind, prices []int64) (int64, []int) {
	least, best := int64(impossible), []int(nil)
	for w := range kind.ways {
		charged := prices
		for try := range 4 {
			_, pods := f.cover(kind, &kind.ways[w], charged, f.pods(), -1)
			if pods == nil {
				break
			}
			over := f.exceeds(kind, pods)
			if over < 0 {
				if cost := f.priceOf(pods, prices); cost < least {
					least, best = cost, pods
				}
				break
			}
			charged = slices.Clone(charged)
			for k := range f.all {
				if free := kind.free[over]; free > 0 {
					charged[k] += int64(float64(f.all[k].ask[over]) / float64(free) * fullPrice / 8 * float64(int(1)<<(2*try)))
				}
			}
		}
	}
	return least, best
}

// exceeds returns a resource of which pods request more than a node of a kind has, or -1.
func (f *fillers) exceeds(kind *fillKind, pods []int) int {
	for r, free := range kind.free {
		sum := int64(0)
		for k, n := range pods {
			sum += f.all[k].ask[r] * int64(n)
		}
		if sum > free {
			return r
		}
	}
	return -1
}

func (f *fillers) priceOf(pods []int, prices []int64) (sum int64) {
	for k, n := range pods {
		sum += prices[k] * int64(n)
	}
	return sum
}

// fillingBeside is cheapest for pods that also fit on the node in a second resource, up to rounding
// in their favor. It is expensive.
func (f *fillers) fillingBeside(kind *fillKind, prices []int64) (cost int64, used []int) {
	cost = impossible
	for w := range kind.ways {
		way := &kind.ways[w]
		if way.need == 0 {
			return 0, make([]int, len(f.all))
		}
		c, u := f.cover(kind, way, prices, f.pods(), -1)
		for r := range kind.free {
			if r == way.resource || !f.scarce(kind, r) || c >= cost {
				continue
			}
			if more, pods := f.cover(kind, way, prices, f.pods(), r); more >= c {
				c, u = more, pods
			}
		}
		if c < cost {
			cost, used = c, u
		}
	}
	return cost, used
}

// scarce reports whether a node of a kind has less of a resource than all fillers together request.
func (f *fillers) scarce(kind *fillKind, r int) bool {
	sum := int64(0)
	for _, k := range kind.reach {
		sum = classes.Sum(sum, f.all[k].ask[r], f.all[k].pods)
	}
	return kind.free[r] > 0 && sum > kind.free[r]
}
