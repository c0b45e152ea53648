package derive

import (
	"fmt"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/disruption"
	"github.com/schedlint/schedlint/lint/workload"
)

// Answered caches results that contexts with the same nodes share: which questions about changes
// are answered, the advice that was tried, and the advice given to rows of facts.
type Answered struct {
	changes map[string]progress
	advice  *disruption.Advice
	fixes   map[string][]diag.Fix
	left    *int
}

// NewAnswered returns an empty cache. Trying advice takes its steps from left, which others may
// share.
func NewAnswered(left *int) *Answered {
	return &Answered{changes: map[string]progress{}, advice: disruption.NewAdvice(), fixes: map[string][]diag.Fix{}, left: left}
}

// advice holds the fixes given to a row and the key that recognizes the same row again.
type advice struct {
	row   string
	fixes []diag.Fix
}

// advised adds advice to the subject of a row about a workload. A row that says the same of the
// same lines as one that made a finding in an earlier context makes the same finding again. Equal
// findings count once, so the advice is not tried again. Rules outside the core may make a
// different finding of the row, so for them the advice is tried in this context.
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

// Found records that a fact made a finding.
func (f *Built) Found(id int) {
	if a := f.Subject(id).advised; a.row != "" {
		f.answered.fixes[a.row] = a.fixes
	}
}
