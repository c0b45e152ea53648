// Package meter limits the cost of reasoning by counting steps instead of time, so that with the
// same input schedlint gives up at the same point on any machine.
//
// Contract: code whose work can grow faster than its input calls Spend in its loops. Code that asks
// a question calls Within. When the steps of the question are used up, Spend panics with a value
// that only Within recovers. Within then reports that the question was stopped, and its caller must
// discard any data that the question was changing. Because of the panic, the functions that are
// called between Within and Spend need not return errors.
//
// A step is 20 to 100 nanoseconds of work: one filter for one node, one selector for one workload,
// or one edge of a graph.
//
// A Meter belongs to one run and is not safe for concurrent use.
package meter

import "math"

// Meter counts steps. The zero value has no steps left, so use New.
type Meter struct {
	left int
	over bool
}

// New returns a meter without a limit. Within sets limits.
func New() *Meter { return &Meter{left: math.MaxInt} }

// Exhausted reports whether a recovered value is the one that Spend panics with. Code that recovers
// this value must panic with it again, so that Within can handle it.
func Exhausted(recovered any) bool {
	_, ok := recovered.(exhausted)
	return ok
}

type exhausted struct{}

// Spend uses up steps. It panics if there are not enough left.
func (m *Meter) Spend(steps int) {
	if m.left -= steps; m.left < 0 {
		m.Exhaust()
	}
}

// Exhaust ends the question as if its steps were used up. It is for questions that are known to
// need more steps than are left. Inlined into Spend, it would take 100 bytes for each call of
// Spend.
//
//go:noinline
func (m *Meter) Exhaust() {
	m.over = true
	panic(exhausted{})
}

// Spent returns the number of steps used so far.
func (m *Meter) Spent() int { return math.MaxInt - m.left }

// Left returns the number of steps that can still be used.
func (m *Meter) Left() int { return max(0, m.left) }

// Within runs f with at most the given number of steps, or fewer if fewer are left. It reports
// whether f returned before its steps were used up.
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
