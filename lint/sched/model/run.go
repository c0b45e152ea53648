package model

import (
	"github.com/schedlint/schedlint/lint/meter"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Run is what all models of one context share: the meter that bounds what their
// questions cost, and the faults that it met.
type Run struct {
	*meter.Meter
	Refused []Refuted
	// OnRefusal, if set, is told of each fault at once: tests stop there.
	OnRefusal func(error)
	// Stops counts the searches that ended because their steps were over.
	Stops int
	// GivenUp are the questions that were given up for that, or for their size.
	GivenUp []Unanswered
	// factor multiplies every budget, and part and all are what Part rests on: see
	// Scale. nodes is how many there are, sizes are those of the documents.
	factor, part, all float64
	nodes             int
	sizes             map[*source.Object]int
	// kept is what other packages keep about the run: see Keep.
	kept map[any]any
}

// Unanswered is a question about objects that was given up: for its steps, or for another
// cause if that is given.
type Unanswered struct {
	Objects  []*source.Object
	Question string
	Cause    Cause
}

func newRun(topo *topology.Topology) *Run {
	r := &Run{Meter: meter.New(), factor: 1, part: 1, sizes: map[*source.Object]int{}, kept: map[any]any{}}
	if !topo.Empty() {
		r.nodes = len(topo.Nodes) + len(topo.Growth)
	}
	return r
}

// size is that of the document of an object.
func (r *Run) size(o *source.Object) int {
	size, known := r.sizes[o]
	if !known {
		size = o.Size()
		r.sizes[o] = size
	}
	return size
}

// Refuse takes note of a certificate that does not hold.
func (r *Run) Refuse(ws []*workload.Workload, err error) {
	r.fault(Refuted{Objects: ObjectsOf(ws), Err: err})
}

// Budgets, in steps of the meter, of about 50 ns each. A question about workloads gets
// what their own documents and the nodes are worth, so a document that shares no rule
// with them, and no node that may run short, does not change where it gives up. That
// ends where a context is very large: see stepsInAll. All are multiplied by --steps.
const (
	// stepsFloor is for any question, stepsPerByte for each byte of the documents of
	// the workloads, stepsPerNode for each node of the topology.
	stepsFloor   = 2_000_000
	stepsPerByte = 400
	stepsPerNode = 40
	// stepsInAll bounds what all questions of one kind take together. Where their
	// budgets come to more, each workload has a part in proportion to its own.
	stepsInAll = 60_000_000
	// stepsInPurse is the same for questions about each workload by itself.
	stepsShared = 30_000_000
	// setupSteps is for what is done once for all workloads of a context: who has to
	// do with whom, and which nodes are eligible.
	setupSteps = 40_000_000
)

// PerStep is how many simple comparisons, as of one label or one number, make a step.
const PerStep = 8

// What is made for each question, however small, costs before it is used: a model, an
// instance for a search in it, and the replay of a run.
const (
	stepsPerModel  = 600
	StepsPerArena  = 400
	StepsPerReplay = 600
)

// StepsPerGroup is for making a workload ready, and each of its terms.
const StepsPerGroup = 30

// StepsPerTerm is for making numbers of a term.
const StepsPerTerm = 20

// Budget is how many steps a question about some workloads together may take.
func (m *Model) Budget(ws []*workload.Workload) int { return int(m.run.worth(ws) * m.run.factor) }

func (r *Run) worth(ws []*workload.Workload) float64 {
	bytes := 0
	for _, w := range ws {
		bytes += r.size(w.Object)
	}
	return r.worthOf(bytes)
}

func (r *Run) worthOf(bytes int) float64 {
	return float64(stepsFloor + stepsPerByte*bytes + stepsPerNode*r.nodes)
}

// Part is how many steps all questions of one kind about some workloads may take.
func (m *Model) Part(ws []*workload.Workload) int {
	r := m.run
	if r.all == 0 {
		return m.Budget(ws)
	}
	return int(r.worth(ws) / r.all * stepsInAll * r.part * r.factor)
}

// Bounds is how many steps the one question of its kind about some workloads may take.
func (m *Model) Bounds(ws []*workload.Workload) int { return min(m.Budget(ws), m.Part(ws)) }

// Scale multiplies every budget, and leaves the run a part of what there is for all
// contexts together.
func (m *Model) Scale(factor, part float64) {
	r := m.run
	if r.part, r.factor = part, 1; factor > 0 {
		r.factor = factor
	}
	r.all = 0
	for i := range m.Workloads {
		r.all += r.worth(m.Workloads[i : i+1])
	}
}

// Each is the part of a budget that a question about one of the workloads gets.
func (m *Model) Each(ws []*workload.Workload) int {
	if len(ws) == 0 {
		return m.Budget(nil)
	}
	return m.Budget(nil) + (m.Budget(ws)-m.Budget(nil))/len(ws)
}

// Ask asks a question about some workloads within so many steps. It reports whether
// there is an answer; if there is none the run knows why.
func (m *Model) Ask(ws []*workload.Workload, question string, steps int, f func()) bool {
	sound := false
	if !m.run.Within(steps, func() { sound = m.run.Guard(ObjectsOf(ws), f) }) {
		m.run.GiveUp(ws, question)
	}
	return sound
}

// GiveUp takes note of a question about some workloads for which the steps did not
// suffice.
func (r *Run) GiveUp(ws []*workload.Workload, question string) {
	r.GivenUp = append(r.GivenUp, Unanswered{Objects: ObjectsOf(ws), Question: question})
}

// ObjectsOf are the objects that declare workloads.
func ObjectsOf(ws []*workload.Workload) []*source.Object {
	objects := make([]*source.Object, len(ws))
	for i, w := range ws {
		objects[i] = w.Object
	}
	return objects
}

// Altogether is the budget of a decision about all workloads: what has to be done once,
// and what each of them is worth.
func (m *Model) Altogether() int {
	return m.run.setup() + min(m.Budget(m.Workloads)+len(m.Workloads)*m.Budget(nil), m.Part(m.Workloads)+m.Budget(nil))
}

// Times is a number of steps, multiplied as all budgets are.
func (r *Run) Times(steps int) int { return int(float64(steps) * r.factor) }

// setup is the budget for what has to be done once.
func (r *Run) setup() int { return r.Times(setupSteps) }
