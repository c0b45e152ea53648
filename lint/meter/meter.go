// Package meter bounds the cost of reasoning by counted steps, so that the same
// input gives up at the same point on any machine.
//
// Contract: whoever does work that can grow faster than its input calls Spend in
// its loops. Whoever asks a question puts it in Within, which ends the question
// when its steps are over and says so. In between nothing has to pass the news up:
// Spend panics with a value that only Within recovers, as encoders do. What the
// question was about to change has to be thrown away by the caller then.
//
// A step is roughly the work of 20 to 100 nanoseconds: one filter asked of one
// node, one selector held against one workload, one edge of a graph.
//
// A Meter belongs to one run and is not safe for concurrent use.
package meter

import "math"

// Meter counts steps. The zero value has none left; use New.
type Meter struct {
	left int
	over bool
}

// New is a meter without a limit, until Within sets one.
func New() *Meter { return &Meter{left: math.MaxInt} }

// Exhausted reports whether a value that was recovered is what Spend panics with, and
// belongs to Within.
func Exhausted(recovered any) bool {
	_, ok := recovered.(exhausted)
	return ok
}

// exhausted is what Spend panics with.
type exhausted struct{}

// Spend takes steps off what is left. It does not return if that is not enough.
func (m *Meter) Spend(steps int) {
	if m.left -= steps; m.left < 0 {
		m.over = true
		panic(exhausted{})
	}
}

// Exhaust ends the question as if its steps were over: what it rests on is known to
// take more than there is.
func (m *Meter) Exhaust() {
	m.over = true
	panic(exhausted{})
}

// Spent is how many steps were taken so far.
func (m *Meter) Spent() int { return math.MaxInt - m.left }

// Left is how many steps are left to whoever asks.
func (m *Meter) Left() int { return max(0, m.left) }

// Within runs f with at most so many steps, and no more than are left to whoever
// calls it. It reports whether f came to its end.
func (m *Meter) Within(steps int, f func()) (done bool) {
	outer := m.left
	given := max(0, min(steps, outer))
	m.left = given
	defer func() {
		m.left = outer - (given - max(m.left, 0)) // what does not fit any more is not done
		if m.over {
			m.over, done = false, recover() == nil
		}
	}()
	f()
	return true
}
