package build

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/workload"
)

// Answered are the questions about changes that have been answered, and how far, the
// advice that was tried, and the advice that rows of facts were given.
type Answered struct {
	changes map[string]settled
	advice  *disruption.Advice
	fixes   map[string][]diag.Fix
	left    *int
}

// NewAnswered has no answers yet, and a number of steps to try advice that others may
// take from, too.
func NewAnswered(left *int) *Answered {
	return &Answered{changes: map[string]settled{}, advice: disruption.NewAdvice(), fixes: map[string][]diag.Fix{}, left: left}
}

// told reports whether an earlier context has told what becomes of a workload.
// A team's own rules may join that with what they see beside it, so they get all.
func (b *builder) told(w *workload.Workload) bool {
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

// advice is what was advised of a row, and what it would be advised again.
type advice struct {
	row   string
	fixes []diag.Fix
}

// advised adds advice to the subject of a row about a workload. A row that says the same
// of the same lines as one which made a finding in an earlier context makes it again, and
// that counts once, so its advice is not tried again. A team's own rules may make another
// finding of it, so they get what holds in this context.
func (b *builder) advised(s Subject, w *workload.Workload, row any, advise func(Subject) Subject) Subject {
	if b.Answered == nil || b.complete {
		return advise(s)
	}
	key := fmt.Sprintf("%p %p %T%+v", w.Object, w.SpecNode, row, row)
	fixes, known := b.Answered.fixes[key]
	if known {
		s.Fixes = append(slices.Clip(s.Fixes), fixes...)
		return s
	}
	before := len(s.Fixes)
	s = advise(s)
	s.advised = advice{key, s.Fixes[before:len(s.Fixes):len(s.Fixes)]}
	return s
}

// Found takes note of a fact that made a finding.
func (f *Built) Found(id int) {
	if a := f.Subject(id).advised; a.row != "" {
		f.answered.fixes[a.row] = a.fixes
	}
}
