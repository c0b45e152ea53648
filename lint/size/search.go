package size

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
)

// maxLayouts is the most layouts of one size that are decided. The answer for a size with more is
// unknown.
const maxLayouts = 128

// spare is the number of decisions for each pool, and one more pool, that may follow when the limits
// are met.
const spare = 16

// The limits that Result.Spent names.
const (
	SpentDecisions = "decisions"
	SpentSteps     = "steps"
	SpentSizes     = "sizes"
)

// search holds the state of one call of Search.
type search struct {
	*Problem
	result Result
	// known holds the answers by size. cuts holds the failures that cover further sizes.
	known map[string]Answer
	cuts  []cut
	// open holds the sizes that were visited and are neither refuted nor known to hold.
	open   [][]int
	visits int
	// step is the number of nodes that climb adds after each decision.
	step int
	// spare is the number of decisions that are allowed beyond the limits, for reasons.
	spare int
}

// cut is a failure at a layout, with what it covers.
type cut struct {
	Answer
	at Layout
}

// Search returns the cheapest size that holds.
func Search(p *Problem) Result {
	s := &search{Problem: p, known: map[string]Answer{}, step: 1}
	if s.climb(); s.result.Size != nil {
		s.descend()
		s.below(make([]int, len(p.Pools)), 0, 0)
	} else {
		s.ascend()
	}
	s.spare = spare * (1 + len(p.Pools))
	// The result does not hold with one node less in each pool, or the greatest size does not. If one node less
	// holds after all, because the search was cut short, that becomes the result.
	if s.result.Size == nil {
		most := s.most()
		s.result.Most = s.itself(most, s.decide(most))
		if s.result.Most.Outcome == diag.Always {
			s.keep(most)
			s.descend()
		}
	}
	for i := 0; s.result.Size != nil && i < len(s.Pools); i++ {
		less := slices.Clone(s.result.Size)
		if less[i]--; less[i] < s.Pools[i].Min {
			s.result.Less = append(s.result.Less, Answer{Outcome: diag.None})
			continue
		}
		a := s.decide(less)
		if a.Outcome == diag.Always { // the search was cut short
			s.keep(less)
			s.result.Less, i = nil, -1
			continue
		}
		s.result.Less = append(s.result.Less, s.itself(less, a))
	}
	for _, size := range s.open {
		if s.result.Size == nil || s.cost(size) < s.result.Cost {
			s.result.Undecided++
		}
	}
	return s.result
}

func (s *search) cost(size []int) (sum int64) {
	for i, n := range size {
		sum += int64(n) * s.Pools[i].Cost
	}
	return sum
}

// better reports whether a size would be a better result than the one so far.
func (s *search) better(size []int) bool {
	return s.result.Size == nil || cmp.Or(cmp.Compare(s.cost(size), s.result.Cost), slices.Compare(size, s.result.Size)) < 0
}

// keep makes a size the result if it is better.
func (s *search) keep(size []int) {
	if s.better(size) {
		s.result.Size, s.result.Cost = slices.Clone(size), s.cost(size)
	}
}

// missed returns a bound that a size misses, or nil. Pools from the given one on count with their
// greatest size.
func (s *search) missed(size []int, from int) *Bound {
	for i := range s.Bounds {
		b, sum := &s.Bounds[i], int64(0)
		for j, each := range b.Each {
			n := s.Pools[j].Max
			if j < from {
				n = size[j]
			}
			sum += each * int64(n)
		}
		if sum < b.Least {
			return b
		}
	}
	return nil
}

// refuted returns the failure of a size if a bound or an earlier failure covers it.
func (s *search) refuted(size []int) (Answer, bool) {
	if b := s.missed(size, len(size)); b != nil {
		return Answer{Outcome: diag.Never, Why: b.Why, Grow: contributing(b)}, true
	}
	for i := range s.cuts {
		if s.covers(&s.cuts[i], size) {
			return s.cuts[i].Answer, true
		}
	}
	return Answer{}, false
}

// contributing returns the pools whose nodes count for a bound.
func contributing(b *Bound) []int {
	pools := []int{}
	for i, each := range b.Each {
		if each > 0 {
			pools = append(pools, i)
		}
	}
	return pools
}

func (s *search) covers(c *cut, size []int) bool {
	covered := func(i int) bool {
		if c.Below {
			return s.Pools[i].within(size[i], c.at[i])
		}
		return size[i] == sum(c.at[i])
	}
	for i := range size {
		if (c.On == nil || slices.Contains(c.On, i)) && !covered(i) {
			return false
		}
	}
	return true
}

// decide returns the answer about a size, and remembers what a failure covers.
func (s *search) decide(size []int) Answer {
	key := fmt.Sprint(size)
	if a, is := s.known[key]; is {
		return a
	}
	a, refuted := s.refuted(size)
	if !refuted {
		done := false
		if a, done = s.ask(size); !done {
			return a // the limit does not count for reasons
		}
	}
	s.known[key] = a
	return a
}

// ask decides the layouts of a size. One that fails settles the answer. It reports whether the limits
// allowed that.
func (s *search) ask(size []int) (all Answer, done bool) {
	all = Answer{Outcome: diag.Always}
	tried := 0
	for at := range layouts(s.Pools, size) {
		if spent := s.spent(); spent != "" && s.spare > 0 {
			s.spare--
		} else if spent != "" {
			s.result.Spent = cmp.Or(s.result.Spent, spent)
			return Answer{Outcome: diag.Unknown, Why: diag.SizeReason{Text: "the search ended before"}}, false
		}
		if tried++; tried > maxLayouts {
			return Answer{Outcome: diag.Unknown, Why: diag.SizeReason{Text: fmt.Sprintf("the nodes can be spread over the zones in more than %d ways", maxLayouts)}}, true
		}
		s.result.Decisions++
		a := s.Decide(at)
		s.result.Steps += a.Steps
		switch a.Outcome {
		case diag.Always:
		case diag.Never:
			a.At = at
			s.cuts = append(s.cuts, cut{a, at})
			return a, true
		default:
			if all.Outcome == diag.Always {
				all = a
			}
		}
	}
	return all, true
}

// spent returns the limit that allows no further decision, or "".
func (s *search) spent() string {
	switch {
	case s.result.Decisions >= s.Decisions:
		return SpentDecisions
	case s.result.Steps >= s.Steps:
		return SpentSteps
	}
	return ""
}

// visit counts a size and reports whether the limit allows it.
func (s *search) visit() bool {
	if s.visits++; s.visits > s.Visits {
		s.result.Spent, s.result.More = cmp.Or(s.result.Spent, SpentSizes), true
		return false
	}
	return true
}

// meet decides a size that is visited, and keeps it if it holds.
func (s *search) meet(size []int) Answer {
	a := s.decide(size)
	switch a.Outcome {
	case diag.Always:
		s.keep(size)
	case diag.Unknown:
		s.open = append(s.open, slices.Clone(size))
	}
	return a
}

// climb adds nodes until a size holds or no pool that may help can grow. It adds more nodes at a time
// the more sizes were decided in vain.
func (s *search) climb() {
	at := make([]int, len(s.Pools))
	for i := range at {
		at[i] = s.Pools[i].Min
	}
	for s.result.Spent == "" {
		before := s.result.Decisions
		a := s.decide(at)
		if a.Outcome == diag.Always {
			s.keep(at)
			return
		}
		next := s.cheapest(at, a.Grow)
		if next < 0 && a.Outcome != diag.Never {
			next = s.cheapest(at, nil)
		}
		if next < 0 {
			return
		}
		more := 1
		if s.result.Decisions > before {
			more = s.step
			s.step *= 2
		}
		at[next] = min(at[next]+more, s.Pools[next].Max)
	}
}

// cheapest returns the cheapest of some pools that can grow, or -1. If pools is nil, it is the
// cheapest of all.
func (s *search) cheapest(at, pools []int) int {
	best := -1
	for i := range s.Pools {
		if at[i] < s.Pools[i].Max && (pools == nil || slices.Contains(pools, i)) && (best < 0 || s.Pools[i].Cost < s.Pools[best].Cost) {
			best = i
		}
	}
	return best
}

// descend takes nodes away, the most expensive ones first. It bisects the size of each pool, which
// finds a smaller size that holds, if not always the smallest.
func (s *search) descend() {
	order := make([]int, len(s.Pools))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.Pools[b].Cost, s.Pools[a].Cost) })
	for _, i := range order {
		at := slices.Clone(s.result.Size)
		for low, high := s.Pools[i].Min, at[i]; low < high; {
			middle := (low + high) / 2
			if at[i] = middle; s.decide(at).Outcome == diag.Always {
				s.keep(at)
				high = middle
			} else {
				low = middle + 1
			}
		}
	}
}

// below visits all sizes that are better than the result, large ones first. The pools before the
// given one have their size, which costs so much.
func (s *search) below(at []int, pool int, cost int64) (more bool) {
	if pool == len(at) {
		if !s.better(at) {
			return true
		}
		if !s.visit() {
			return false
		}
		s.meet(at)
		return true
	}
	rest := int64(0) // the least cost of the pools after this one
	for i := pool + 1; i < len(at); i++ {
		rest += int64(s.Pools[i].Min) * s.Pools[i].Cost
	}
	p := &s.Pools[pool]
	for n := p.Max; n >= p.Min; n-- {
		at[pool] = n
		if cost+int64(n)*p.Cost+rest > s.result.Cost {
			continue
		}
		if s.missed(at, pool+1) != nil {
			break // fewer nodes miss the bound as well
		}
		if pool+1 < len(at) && !s.visit() {
			return false
		}
		if !s.below(at, pool+1, cost+int64(n)*p.Cost) {
			return false
		}
	}
	return true
}

// ascend visits all sizes by cost, until one holds.
func (s *search) ascend() {
	least := make([]int, len(s.Pools))
	for i := range least {
		least[i] = s.Pools[i].Min
	}
	if s.hopeless() {
		return
	}
	q := &queue{{least, s.cost(least), 0}}
	for q.Len() > 0 && s.result.Size == nil {
		if !s.visit() {
			return
		}
		next := heap.Pop(q).(entry)
		s.meet(next.size)
		for i := next.from; i < len(least); i++ {
			if next.size[i] < s.Pools[i].Max {
				size := slices.Clone(next.size)
				size[i]++
				heap.Push(q, entry{size, s.cost(size), i})
			}
		}
	}
}

// hopeless reports whether one bound or one failure covers all sizes. A failure of the greatest size
// may.
func (s *search) hopeless() bool {
	if s.missed(nil, 0) != nil {
		return true
	}
	s.decide(s.most())
	return slices.ContainsFunc(s.cuts, func(c cut) bool {
		for i := range s.Pools {
			p := &s.Pools[i]
			if c.On != nil && !slices.Contains(c.On, i) {
				continue
			}
			for n := p.Min; n <= p.Max; n++ {
				if c.Below && !p.within(n, c.at[i]) || !c.Below && n != sum(c.at[i]) {
					return false
				}
			}
		}
		return true
	})
}

// most returns the greatest size of all pools.
func (s *search) most() []int {
	most := make([]int, len(s.Pools))
	for i := range most {
		most[i] = s.Pools[i].Max
	}
	return most
}

// entry is a size in the queue. Only pools from the given one on grow, so that each size is in the
// queue once.
type entry struct {
	size []int
	cost int64
	from int
}

// queue is a heap of sizes, the best one first.
type queue []entry

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].cost, q[j].cost), slices.Compare(q[i].size, q[j].size)) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(entry)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// itself returns the failure of a size that a bound or another size covers as a decision about the size
// itself, which says more. A decision that it holds shows that a bound is wrong.
func (s *search) itself(size []int, a Answer) Answer {
	at := make(Layout, len(size))
	for i, n := range size {
		at[i] = s.Pools[i].Split(n)
	}
	if a.Outcome != diag.Never || slices.EqualFunc(a.At, at, slices.Equal) && len(at) > 0 {
		return a
	}
	s.result.Decisions++
	own := s.Decide(at)
	switch own.Outcome {
	case diag.Never:
		own.At = at
		return own
	case diag.Always:
		// The remainder of a covered size may be elsewhere, but no layout misses a bound.
		if s.missed(size, len(size)) != nil {
			s.result.More = true
		}
	}
	return a
}
