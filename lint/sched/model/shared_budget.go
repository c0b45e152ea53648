package model

import "github.com/schedlint/schedlint/lint/source"

// SharedBudget shares out what all questions of one kind take together: half of it among the
// objects, each in proportion to what its document is worth, and the rest, with what
// others leave of their parts, to whoever asks for more. So one object of very many may
// take long, and no object takes the part of those that come after it.
type SharedBudget struct {
	run *Run
	// each is the part for a step that a document is worth, spare what is left over.
	each, spare float64
}

// SharedBudget is for one question about each of some objects, which need not be workloads.
func (m *Model) SharedBudget(objects []*source.Object) *SharedBudget {
	return m.shared(objects, stepsShared)
}

// ChangeBudget is for all questions about changes of each of some objects.
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

// Ask asks the question about one of the objects. It reports whether there is an
// answer; if there is none the run knows why.
func (p *SharedBudget) Ask(o *source.Object, question string, f func()) bool {
	objects, sound := []*source.Object{o}, false
	if !p.Within(o, func() { sound = p.run.Guard(objects, f) }) {
		p.run.GivenUp = append(p.run.GivenUp, Unanswered{Objects: objects, Question: question})
	}
	return sound
}

// Within is Ask for who takes note of what is given up by itself. It reports whether the
// steps sufficed.
func (p *SharedBudget) Within(o *source.Object, f func()) bool {
	part := p.run.worthOf(p.run.size(o)) * p.each
	before := p.run.Spent()
	done := p.run.Within(int(part+p.spare), f)
	p.spare = max(0, p.spare+part-float64(p.run.Spent()-before))
	return done
}
