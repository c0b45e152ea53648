package model

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/meter"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
)

// Run is the state shared by all models in one context. It holds the meter that limits the cost of
// questions, and the bugs detected so far.
type Run struct {
	*meter.Meter
	Refused []Refuted
	// OnRefusal, if set, is called immediately for each detected bug. Tests use it to fail early.
	OnRefusal func(error)
	// Stops is the number of searches that ended because their steps ran out.
	Stops int
	// GivenUp lists the questions that were not answered. Usually, their steps ran out.
	GivenUp []Unanswered
	// factor multiplies every budget. The fields part and all determine the result of Part (see
	// Scale). nodes counts the nodes, plus one for each growing pool and zone. sizes caches
	// document sizes.
	factor, part, all float64
	nodes             int
	sizes             map[*source.Object]int
	services          serviceIndex
	volumes           *volumeCounts
	// avoided holds the keys of node labels some of whose values pods avoid.
	avoided map[string]bool
	// kept holds the data that other packages cache with the run (see KeepInRun).
	kept map[any]any
}

// Unanswered is an unanswered question about objects. Cause is empty if the steps ran out.
type Unanswered struct {
	Objects  []*source.Object
	Question string
	Cause    Cause
	Name     string // of the Reason
}

// size returns the cached size of the document that contains an object.
func (r *Run) size(o *source.Object) int {
	return lazy.Cached(r.sizes, o, func() int { return o.Size() })
}

// Refuse records a certificate that does not hold.
func (r *Run) Refuse(ws []*workload.Workload, err error) {
	r.fault(Refuted{Objects: ObjectsOf(ws), Err: err})
}

// Budgets, in meter steps of about 50 ns each. A question's budget depends on its workloads'
// documents and on the number of nodes. An unrelated document therefore does not change which
// questions run out of steps, except in very large contexts (see stepsInAll). The --steps flag
// multiplies all budgets.
const (
	// stepsFloor is every question's minimum budget. Each byte in the workloads' documents adds
	// stepsPerByte. Each node in the topology adds stepsPerNode.
	stepsFloor   = 2_000_000
	stepsPerByte = 400
	stepsPerNode = 40
	// stepsInAll is the maximum number of steps for all questions of one kind together. If their
	// budgets add up to more, each workload gets a proportional share.
	stepsInAll = 60_000_000
	// stepsShared is the corresponding maximum for questions about single workloads.
	stepsShared = 30_000_000
	// setupSteps is the budget for work that all workloads in a context need, such as finding
	// eligible nodes.
	setupSteps = 40_000_000
)

// PerStep is the number of simple comparisons, such as label comparisons, that count as one step.
const PerStep = 8

// Fixed costs of every question: building a model, building a search instance, and replaying a run.
const (
	stepsPerModel  = 600
	StepsPerArena  = 400
	StepsPerReplay = 600
)

// StepsPerGroup is the step cost of preparing a workload, and of preparing each of its terms.
const StepsPerGroup = 30

// StepsPerTerm is the step cost of compiling a term to numbers.
const StepsPerTerm = 20

// Budget returns the maximum number of steps for one question about the given workloads together.
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

// Part returns the maximum number of steps for all questions of one kind about the given
// workloads.
func (m *Model) Part(ws []*workload.Workload) int {
	r := m.run
	if r.all == 0 {
		return m.Budget(ws)
	}
	return int(r.worth(ws) / r.all * stepsInAll * r.part * r.factor)
}

// Bounds returns the maximum number of steps for the only question of its kind about the given
// workloads.
func (m *Model) Bounds(ws []*workload.Workload) int { return min(m.Budget(ws), m.Part(ws)) }

// Scale sets two numbers: the factor for every budget, and this run's fraction of the steps of all
// contexts.
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

// Each returns the budget for a question about one workload in a group.
func (m *Model) Each(ws []*workload.Workload) int {
	if len(ws) == 0 {
		return m.Budget(nil)
	}
	return m.Budget(nil) + (m.Budget(ws)-m.Budget(nil))/len(ws)
}

// Ask calls f to answer a question about the given workloads within the given number of steps. It
// reports whether the question was answered. If not, the run records the reason.
func (m *Model) Ask(ws []*workload.Workload, question string, steps int, f func()) bool {
	sound := false
	if !m.run.Within(steps, func() { sound = m.run.Guard(ObjectsOf(ws), f) }) {
		m.run.GiveUp(ws, question)
	}
	return sound
}

// GiveUp records that a question about the given workloads ran out of steps.
func (r *Run) GiveUp(ws []*workload.Workload, question string) {
	r.GivenUp = append(r.GivenUp, Unanswered{Objects: ObjectsOf(ws), Question: question})
}

// ObjectsOf returns the objects that declare the given workloads.
func ObjectsOf(ws []*workload.Workload) []*source.Object {
	objects := make([]*source.Object, len(ws))
	for i, w := range ws {
		objects[i] = w.Object
	}
	return objects
}

// Altogether returns the budget for a decision about all workloads: the setup budget plus each
// workload's budget.
func (m *Model) Altogether() int {
	return m.run.Times(setupSteps) + min(m.Budget(m.Workloads)+len(m.Workloads)*m.Budget(nil), m.Part(m.Workloads)+m.Budget(nil))
}

// Times multiplies a number of steps by the factor for all budgets.
func (r *Run) Times(steps int) int { return int(float64(steps) * r.factor) }

// SharedBudget divides the steps for all questions of one kind. One half is divided among the
// objects in proportion to their documents' budgets. The other half is for any object that needs
// more, together with unused steps of the first half. A single object can therefore take long
// without using up the steps of later objects.
type SharedBudget struct {
	run *Run
	// each is the ratio of an object's share to its document's budget. spare is the number of steps
	// left for any object.
	each, spare float64
}

// SharedBudget returns a budget for one question about each of the objects, which need not be
// workloads.
func (m *Model) SharedBudget(objects []*source.Object) *SharedBudget {
	return m.shared(objects, stepsShared)
}

// ChangeBudget returns a budget for all questions about changes to each of the objects.
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

// Ask calls f to answer a question about one of the objects. It reports whether the question was
// answered. If not, the run records the reason.
func (p *SharedBudget) Ask(o *source.Object, question string, f func()) bool {
	objects, sound := []*source.Object{o}, false
	if !p.Within(o, func() { sound = p.run.Guard(objects, f) }) {
		p.run.GivenUp = append(p.run.GivenUp, Unanswered{Objects: objects, Question: question})
	}
	return sound
}

// Within is like Ask, but does not record an unanswered question. It reports whether there were
// enough steps.
func (p *SharedBudget) Within(o *source.Object, f func()) bool {
	part := p.run.worthOf(p.run.size(o)) * p.each
	before := p.run.Spent()
	done := p.run.Within(int(part+p.spare), f)
	p.spare = max(0, p.spare+part-float64(p.run.Spent()-before))
	return done
}

// Refuted is a bug in the engine: an invalid certificate or a panic. The question about the objects
// has no answer.
type Refuted struct {
	Objects []*source.Object
	Err     error
	// Failed is set if the program panicked.
	Failed bool
}

// Guard calls f to answer a question about the given objects. It recovers from a panic in f, so a
// panic affects only this question. It reports whether f returned without a panic.
func (r *Run) Guard(objects []*source.Object, f func()) (sound bool) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if meter.Exhausted(p) {
			panic(p)
		}
		r.fault(Refuted{objects, fmt.Errorf("%v (%s)", p, panickedAt()), true})
	}()
	f()
	return true
}

func (r *Run) fault(x Refuted) {
	if r.OnRefusal != nil {
		r.OnRefusal(x.Err)
	}
	r.Refused = append(r.Refused, x)
}

// panickedAt returns the location of the panic being recovered from, in a form that is equal in
// every run.
func panickedAt() string {
	callers := make([]uintptr, 50)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for panicked := false; ; {
		frame, more := frames.Next()
		ours := strings.Contains(frame.Function, "/schedlint/lint/") && !strings.Contains(frame.Function, "Guard")
		if panicked && ours {
			return fmt.Sprintf("%s, %s:%d", frame.Function[strings.LastIndexByte(frame.Function, '/')+1:], filepath.Base(frame.File), frame.Line)
		}
		panicked = panicked || strings.HasPrefix(frame.Function, "runtime.")
		if !more {
			return "place unknown"
		}
	}
}
