package size

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/schedlint/schedlint/lint/diag"
)

// world is an artificial problem. A layout fails if a failure covers it, is unknown if one of the
// doubts is about it, and holds otherwise.
type world struct {
	Problem
	failures []cut
	doubts   map[string]bool
}

// covers says the same as search.covers in another way: it looks at one layout, not at all layouts
// of a size.
func (c *cut) coversLayout(at Layout) bool {
	for i := range at {
		if c.On != nil && !slices.Contains(c.On, i) {
			continue
		}
		if !c.Below && !slices.Equal(at[i], c.at[i]) {
			return false
		}
		for z := range at[i] {
			if c.Below && at[i][z] > c.at[i][z] {
				return false
			}
		}
	}
	return true
}

// newWorld returns a random problem. Its failures are not monotone: some concern only one layout, or
// one layout of some pools.
func newWorld(r *rand.Rand, pools, most int) *world {
	w := &world{doubts: map[string]bool{}}
	for range pools {
		p := Pool{Min: r.IntN(2), Cost: []int64{1, 1, 2, 3, 0}[r.IntN(5)], Zones: 1 + r.IntN(3)}
		p.Max = p.Min + r.IntN(most+1)
		if r.IntN(4) == 0 {
			p.Declared = make([]int, p.Zones)
			for range p.Max {
				p.Declared[r.IntN(p.Zones)]++
			}
		}
		w.Pools = append(w.Pools, p)
	}
	some := func() []int {
		if r.IntN(3) == 0 {
			return nil
		}
		on := []int{}
		for i := range w.Pools {
			if r.IntN(2) == 0 {
				on = append(on, i)
			}
		}
		return on
	}
	random := func() Layout {
		size := []int{}
		for i := range w.Pools {
			size = append(size, w.Pools[i].Min+r.IntN(w.Pools[i].Max-w.Pools[i].Min+1))
		}
		var all []Layout
		for at := range layouts(w.Pools, size) {
			all = append(all, at)
		}
		return all[r.IntN(len(all))]
	}
	for range r.IntN(12) {
		f := cut{Answer{Outcome: diag.Never, On: some(), Below: r.IntN(2) == 0}, random()}
		if len(f.On) > 0 || f.On == nil || r.IntN(20) == 0 {
			w.failures = append(w.failures, f)
		}
	}
	for range r.IntN(4) {
		w.doubts[fmt.Sprint(random())] = true
	}
	for range r.IntN(3) { // a bound that only says what a failure does
		b := Bound{}
		for range w.Pools {
			b.Each = append(b.Each, int64(r.IntN(3)))
		}
		b.Least = int64(r.IntN(2 * most))
		w.Bounds = append(w.Bounds, b)
	}
	w.Decisions, w.Steps, w.Visits = 1_000_000, 1_000_000, 1_000_000
	w.Decide = func(at Layout) Answer {
		a := w.decide(at)
		a.Steps = 1 + len(fmt.Sprint(at))%5
		return a
	}
	return w
}

// decide decides one layout.
func (w *world) decide(at Layout) Answer {
	size := make([]int64, len(at))
	for i := range at {
		size[i] = int64(sum(at[i]))
	}
	for _, b := range w.Bounds {
		total := int64(0)
		for i := range size {
			total += b.Each[i] * size[i]
		}
		if total < b.Least {
			return Answer{Outcome: diag.Never}
		}
	}
	for i := range w.failures {
		if w.failures[i].coversLayout(at) {
			return w.failures[i].Answer
		}
	}
	if w.doubts[fmt.Sprint(at)] {
		return Answer{Outcome: diag.Unknown}
	}
	return Answer{Outcome: diag.Always}
}

// outcome decides a size by all its layouts.
func (w *world) outcome(size []int) diag.Outcome {
	all := diag.Always
	for at := range layouts(w.Pools, size) {
		switch w.Decide(at).Outcome {
		case diag.Never:
			return diag.Never
		case diag.Unknown:
			all = diag.Unknown
		}
	}
	return all
}

// sizes calls f with every size.
func (w *world) sizes(f func(size []int, cost int64)) {
	at := make([]int, len(w.Pools))
	var choose func(i int, cost int64)
	choose = func(i int, cost int64) {
		if i == len(at) {
			f(at, cost)
			return
		}
		for n := w.Pools[i].Min; n <= w.Pools[i].Max; n++ {
			at[i] = n
			choose(i+1, cost+int64(n)*w.Pools[i].Cost)
		}
	}
	choose(0, 0)
}

// best finds the cheapest size by looking at all, and the number of undecided sizes that are cheaper.
func (w *world) best() (best []int, least int64, undecided int) {
	var open []int64
	w.sizes(func(size []int, cost int64) {
		switch w.outcome(size) {
		case diag.Always:
			if best == nil || cmp.Or(cmp.Compare(cost, least), slices.Compare(size, best)) < 0 {
				best, least = slices.Clone(size), cost
			}
		case diag.Unknown:
			open = append(open, cost)
		}
	})
	for _, cost := range open {
		if best == nil || cost < least {
			undecided++
		}
	}
	return best, least, undecided
}

// TestSizeSearchByEnumeration compares Search with a look at all sizes.
func TestSizeSearchByEnumeration(t *testing.T) {
	found, none, open, fewer, all := 0, 0, 0, 0, 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(r, 1+r.IntN(3), 1+r.IntN(5))
		best, least, undecided := w.best()
		got := Search(&w.Problem)
		if !slices.Equal(got.Size, best) || got.Cost != least && best != nil {
			t.Fatalf("seed %d: size %v at %d, want %v at %d", seed, got.Size, got.Cost, best, least)
		}
		if got.Undecided != undecided || got.More || got.Spent != "" {
			t.Fatalf("seed %d: %d undecided (more: %v, spent %q), want %d", seed, got.Undecided, got.More, got.Spent, undecided)
		}
		w.sizes(func([]int, int64) { all++ })
		fewer += got.Decisions
		switch {
		case undecided > 0:
			open++
		case best != nil:
			found++
		default:
			none++
		}
		w.checkLess(t, seed, &got)
	}
	if found < 500 || none < 100 || open < 100 {
		t.Errorf("%d found, %d impossible, %d undecided: the worlds are not varied enough", found, none, open)
	}
	t.Logf("%d decisions for %d sizes", fewer, all)
}

// checkLess checks the answers about one node less.
func (w *world) checkLess(t *testing.T, seed uint64, got *Result) {
	t.Helper()
	if got.Size == nil {
		if most := w.outcome((&search{Problem: &w.Problem}).most()); got.Most.Outcome != most {
			t.Fatalf("seed %d: the greatest size is %s, want %s", seed, got.Most.Outcome, most)
		}
		return
	}
	for i, a := range got.Less {
		less := slices.Clone(got.Size)
		less[i]--
		want := diag.None
		if less[i] >= w.Pools[i].Min {
			want = w.outcome(less)
		}
		if a.Outcome != want && (a.Outcome != diag.Unknown || got.Spent == "") { // decisions beyond the limits end, too
			t.Fatalf("seed %d: one node less in pool %d is %s, want %s", seed, i, a.Outcome, want)
		}
	}
}

// TestSizeSearchWithinLimits checks that Search claims nothing false when a limit ends it.
func TestSizeSearchWithinLimits(t *testing.T) {
	ended := map[string]int{}
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(r, 1+r.IntN(3), 1+r.IntN(5))
		best, least, _ := w.best()
		w.Decisions, w.Steps, w.Visits = r.IntN(20), r.IntN(60), 1+r.IntN(40)
		got := Search(&w.Problem)
		ended[got.Spent]++
		if got.Size != nil && w.outcome(got.Size) != diag.Always {
			t.Fatalf("seed %d: %v does not hold", seed, got.Size)
		}
		if got.Size == nil && got.Minimal() && best != nil {
			t.Fatalf("seed %d: no size is said to hold, but %v does", seed, best)
		}
		if got.Size != nil && got.Minimal() && got.Cost != least {
			t.Fatalf("seed %d: %v at %d is said to be minimal, but %v at %d holds", seed, got.Size, got.Cost, best, least)
		}
		w.checkLess(t, seed, &got)
	}
	if ended[""] < 100 || ended[SpentDecisions] < 100 || ended[SpentSteps] < 100 || ended[SpentSizes] < 100 {
		t.Errorf("searches ended by %v: too few of one kind", ended)
	}
}

// TestSizeCoversEveryLayout checks that a size that a failure covers has a layout that it covers.
func TestSizeCoversEveryLayout(t *testing.T) {
	covered := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 3))
		w := newWorld(r, 1+r.IntN(2), 1+r.IntN(6))
		s := &search{Problem: &w.Problem}
		for i := range w.failures {
			w.sizes(func(size []int, _ int64) {
				want := false
				for at := range layouts(w.Pools, size) {
					want = want || w.failures[i].coversLayout(at)
				}
				if got := s.covers(&w.failures[i], size); got != want {
					t.Fatalf("seed %d: failure %+v covers %v: %v, want %v", seed, w.failures[i], size, got, want)
				}
				if want {
					covered++
				}
			})
		}
	}
	if covered < 1000 {
		t.Errorf("only %d sizes are covered", covered)
	}
}

// TestSizeSplit checks that nodes are spread evenly, and that the layouts of a size are those with
// the remainder in any zones.
func TestSizeSplit(t *testing.T) {
	for _, c := range []struct {
		pool Pool
		n    int
		want string
	}{
		{Pool{Zones: 1}, 4, "[[4]]"},
		{Pool{Zones: 3}, 0, "[[0 0 0]]"},
		{Pool{Zones: 3}, 4, "[[2 1 1] [1 2 1] [1 1 2]]"},
		{Pool{Zones: 3}, 5, "[[2 2 1] [2 1 2] [1 2 2]]"},
		{Pool{Zones: 2, Declared: []int{3, 1}}, 4, "[[3 1]]"},
		{Pool{Zones: 2, Declared: []int{3, 1}}, 5, "[[3 2] [2 3]]"},
	} {
		all := [][]int{}
		for zones := range c.pool.splits(c.n) {
			all = append(all, slices.Clone(zones))
		}
		if got := fmt.Sprint(all); got != c.want || !slices.Equal(all[0], c.pool.Split(c.n)) {
			t.Errorf("%d nodes of %+v: %s, want %s", c.n, c.pool, got, c.want)
		}
	}
}
