package model

import "github.com/schedlint/schedlint/lint/source"

// SharedBudget divides the steps of all questions of one kind: half of them among the
// objects, in proportion to the budget that each document is worth, and the rest, with
// the unused parts, to whichever object needs more. So one of many objects may take long,
// but none takes the part of those that follow.
type SharedBudget struct {
	run *Run
	// each is the part per step that a document is worth, spare the undivided rest.
	each, spare float64
}

// SharedBudget returns a budget for one question about each of some objects, which need not be workloads.
func (m *Model) SharedBudget(objects []*source.Object) *SharedBudget {
	return m.shared(objects, stepsShared)
}

// ChangeBudget returns a budget for all questions about changes of each of some objects.
func (m *Model) ChangeBudget(objects []*source.Object) *SharedBudget {
	return m.shared(objects, stepsInAll)
}

func (m *Model) shared(objects []*source.Object, steps float64) *SharedBudget {
	r, worth := m.run, 0.0
	for _, o := range objects {
		worth += r.worthOf(r.size(o))
	}
	half := steps * r.part * r.factor / 2
	return &SharedBudget{run: r, each: half / max(worth, 1), spare: half}
}

// Ask runs the question about one of the objects. It reports whether there is an
// answer; if not, the run records why.
func (p *SharedBudget) Ask(o *source.Object, question string, f func()) bool {
	objects, sound := []*source.Object{o}, false
	if !p.Within(o, func() { sound = p.run.Guard(objects, f) }) {
		p.run.GivenUp = append(p.run.GivenUp, Unanswered{Objects: objects, Question: question})
	}
	return sound
}

// Within is like Ask for callers that record unanswered questions themselves. It reports
// whether the steps sufficed.
func (p *SharedBudget) Within(o *source.Object, f func()) bool {
	part := p.run.worthOf(p.run.size(o)) * p.each
	before := p.run.Spent()
	done := p.run.Within(int(part+p.spare), f)
	p.spare = max(0, p.spare+part-float64(p.run.Spent()-before))
	return done
}
