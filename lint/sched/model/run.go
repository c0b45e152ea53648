package model

import (
	"github.com/schedlint/schedlint/lint/meter"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/topology"
	"github.com/schedlint/schedlint/lint/workload"
)

// Run is the state that all models of one context share: the meter that bounds the cost of
// their questions, and the faults found.
type Run struct {
	*meter.Meter
	Refused []Refuted
	// OnRefusal, if set, is called for each fault immediately: tests stop there.
	OnRefusal func(error)
	// Stops counts the searches that ended because they used up their steps.
	Stops int
	// GivenUp lists the questions that were given up for that, or for another cause.
	GivenUp []Unanswered
	// factor multiplies every budget; part and all determine Part (see Scale). nodes is the
	// number of nodes, with one for each growing pool and zone; sizes caches document sizes.
	factor, part, all float64
	nodes             int
	sizes             map[*source.Object]int
	// kept is the data that other packages cache with the run: see KeepInRun.
	kept map[any]any
}

// Unanswered is a question about objects that was given up: because its steps were used up,
// or for Cause if that is given.
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

// size returns the cached size of an object's document.
func (r *Run) size(o *source.Object) int {
	size, known := r.sizes[o]
	if !known {
		size = o.Size()
		r.sizes[o] = size
	}
	return size
}

// Refuse records a certificate that does not hold.
func (r *Run) Refuse(ws []*workload.Workload, err error) {
	r.fault(Refuted{Objects: ObjectsOf(ws), Err: err})
}

// Budgets, in steps of the meter of about 50 ns each. The budget of a question depends on
// the documents of its workloads and on the number of nodes, so a document that shares no rule
// with them, or a node that is never short, does not change where the question gives up.
// Very large contexts are the exception: see stepsInAll. --steps multiplies all budgets.
const (
	// stepsFloor is for any question, stepsPerByte for each byte of the documents of
	// the workloads, stepsPerNode for each node of the topology.
	stepsFloor   = 2_000_000
	stepsPerByte = 400
	stepsPerNode = 40
	// stepsInAll bounds the steps of all questions of one kind together. If their
	// budgets add up to more, each workload gets a proportional part.
	stepsInAll = 60_000_000
	// stepsShared is the same for questions about single workloads.
	stepsShared = 30_000_000
	// setupSteps is for the work that is done once for all workloads of a context: which
	// are connected, and which nodes are eligible.
	setupSteps = 40_000_000
)

// PerStep is the number of simple comparisons, such as of one label or one number, in a step.
const PerStep = 8

// Fixed costs of each question, however small: making a model, making an instance to search
// in it, and replaying a run.
const (
	stepsPerModel  = 600
	StepsPerArena  = 400
	StepsPerReplay = 600
)

// StepsPerGroup is the cost of preparing a workload, and each of its terms.
const StepsPerGroup = 30

// StepsPerTerm is the cost of compiling a term to numbers.
const StepsPerTerm = 20

// Budget returns how many steps one question about some workloads together may take.
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

// Part returns how many steps all questions of one kind about some workloads may take.
func (m *Model) Part(ws []*workload.Workload) int {
	r := m.run
	if r.all == 0 {
		return m.Budget(ws)
	}
	return int(r.worth(ws) / r.all * stepsInAll * r.part * r.factor)
}

// Bounds returns how many steps the only question of its kind about some workloads may take.
func (m *Model) Bounds(ws []*workload.Workload) int { return min(m.Budget(ws), m.Part(ws)) }

// Scale sets the factor of every budget, and the part of the steps of all contexts together
// that this run may take.
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

// Each returns the share of a budget that a question about one of the workloads gets.
func (m *Model) Each(ws []*workload.Workload) int {
	if len(ws) == 0 {
		return m.Budget(nil)
	}
	return m.Budget(nil) + (m.Budget(ws)-m.Budget(nil))/len(ws)
}

// Ask runs a question about some workloads within a number of steps. It reports whether
// there is an answer; if not, the run records why.
func (m *Model) Ask(ws []*workload.Workload, question string, steps int, f func()) bool {
	sound := false
	if !m.run.Within(steps, func() { sound = m.run.Guard(ObjectsOf(ws), f) }) {
		m.run.GiveUp(ws, question)
	}
	return sound
}

// GiveUp records a question about some workloads for which the steps did not
// suffice.
func (r *Run) GiveUp(ws []*workload.Workload, question string) {
	r.GivenUp = append(r.GivenUp, Unanswered{Objects: ObjectsOf(ws), Question: question})
}

// ObjectsOf returns the objects that declare workloads.
func ObjectsOf(ws []*workload.Workload) []*source.Object {
	objects := make([]*source.Object, len(ws))
	for i, w := range ws {
		objects[i] = w.Object
	}
	return objects
}

// Altogether returns the budget of a decision about all workloads: the setup,
// and the budget of each of them.
func (m *Model) Altogether() int {
	return m.run.setup() + min(m.Budget(m.Workloads)+len(m.Workloads)*m.Budget(nil), m.Part(m.Workloads)+m.Budget(nil))
}

// Times multiplies a number of steps by the factor of all budgets.
func (r *Run) Times(steps int) int { return int(float64(steps) * r.factor) }

// setup returns the budget of the work that is done once.
func (r *Run) setup() int { return r.Times(setupSteps) }
