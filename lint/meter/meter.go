// Package meter limits the cost of reasoning by counted steps, so that the same input gives up
// at the same point on any machine.
//
// Contract: code whose work can grow faster than its input calls Spend in its loops. Code that
// asks a question runs it in Within, which ends the question when its steps are used up and
// reports that. No code in between has to pass on an error: Spend panics with a value that only
// Within recovers, like encoders do. The caller must then discard what the question was
// changing.
//
// A step is roughly the work of 20 to 100 nanoseconds: one filter for one node, one selector
// for one workload, one edge of a graph.
//
// A Meter belongs to one run and is not safe for concurrent use.
package meter

import "math"

// Meter counts steps. The zero value has none left; use New.
type Meter struct {
	left int
	over bool
}

// New returns a meter without a limit, until Within sets one.
func New() *Meter { return &Meter{left: math.MaxInt} }

// Exhausted reports whether a recovered value is the one that Spend panics with. It must be
// left to Within.
func Exhausted(recovered any) bool {
	_, ok := recovered.(exhausted)
	return ok
}

// exhausted is the value that Spend panics with.
type exhausted struct{}

// Spend uses up steps. It panics if there are not enough left.
func (m *Meter) Spend(steps int) {
	if m.left -= steps; m.left < 0 {
		m.over = true
		panic(exhausted{})
	}
}

// Exhaust ends the question as if its steps were used up, if it is known to need more than are
// left.
func (m *Meter) Exhaust() {
	m.over = true
	panic(exhausted{})
}

// Spent returns the number of steps used so far.
func (m *Meter) Spent() int { return math.MaxInt - m.left }

// Left returns the number of steps left to the caller.
func (m *Meter) Left() int { return max(0, m.left) }

// Within runs f with at most the given number of steps, and no more than the caller has left.
// It reports whether f returned.
func (m *Meter) Within(steps int, f func()) (done bool) {
	outer := m.left
	given := max(0, min(steps, outer))
	m.left = given
	defer func() {
		m.left = outer - (given - max(m.left, 0)) // a step beyond the limit is not done, so it is not counted
		if m.over {
			m.over, done = false, recover() == nil
		}
	}()
	f()
	return true
}
