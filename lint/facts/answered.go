package facts

import (
	"github.com/schedlint/schedlint/lint/change"
	"github.com/schedlint/schedlint/lint/workload"
)

// Answered are the questions about changes that have been answered, and how far,
// and the advice that was tried.
type Answered struct {
	changes map[string]settled
	advice  *change.Advice
}

// NewAnswered has no answers yet.
func NewAnswered() *Answered {
	return &Answered{changes: map[string]settled{}, advice: change.NewAdvice()}
}

// answered reports whether an earlier context has told what becomes of a workload.
// A team's own rules may join that with what they see beside it, so they get all.
func (b *builder) answered(w *workload.Workload) bool {
	if b.Answered == nil || b.complete {
		return false
	}
	known, ok := b.Answered.changes[b.j.Question(w)]
	if ok {
		b.settle(w, func(d *settled) { d.changed, d.lost = known.changed, known.lost })
	}
	return ok
}

// answer keeps how far the questions about a workload are answered.
func (b *builder) answer(w *workload.Workload) {
	if b.Answered != nil && !b.complete {
		b.Answered.changes[b.j.Question(w)] = *b.settled[w.Object.ID()]
	}
}
