package rego

import (
	"fmt"
	"runtime/metrics"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Limits of a custom rule. Steps and sizes are counted, so that a rule exceeds its limits on every
// machine or on none.
const (
	// maxSteps is the budget of a rule in a run, all contexts together. A rule that visits each of
	// its facts once takes 10 to 300 steps for a fact, so 5,000,000 are enough for 15,000 facts, or
	// for comparing 700 facts with each other.
	maxSteps = 5_000_000
	// maxText and maxItems bound one value: its strings in bytes, and its members at all levels.
	maxText  = 1 << 20
	maxItems = 1_000_000
	// maxDigits bounds a number, by its digits and its exponent.
	maxDigits = 1000
	// maxDepth bounds how deep values are nested.
	maxDepth = 1000
	// maxCompared bounds the members of two values that are compared: OPA takes up to a kilobyte of
	// stack for each, and a stack overflow ends the process.
	maxCompared = 100_000
	// textStep is the number of bytes of a string that cost a step, and walked the number of
	// members that are only visited.
	textStep, walked = 64, 8
)

// maxStack bounds what a rule adds to the stacks of the process, which Go limits to 1 GB each. Go
// doubles a stack that is full, so a stack of 256 MiB has to be the last.
const maxStack = 200 << 20

// meter counts the cost of evaluating one rule. It is a tracer of OPA, whose events are the steps.
type meter struct {
	spent, limit int64
	at           *ast.Location // of the last call or expression
	// stop is set from outside to end the evaluation at the next step.
	stop atomic.Pointer[string]
	// patterns holds the sizes of compiled regular expressions.
	patterns map[string]int64
	// stack is the size of all stacks before the evaluation.
	stack  uint64
	sample []metrics.Sample
	// heap returns the size of all objects of the process. Tests replace it.
	heap func() uint64
}

// newMeter continues from the steps spent in earlier contexts.
func newMeter(spent, limit int64) *meter {
	m := &meter{
		spent: spent, limit: limit, patterns: map[string]int64{}, heap: heap,
		sample: []metrics.Sample{{Name: "/memory/classes/heap/stacks:bytes"}},
	}
	m.stack = m.stacks()
	return m
}

// stacks returns the size of all stacks.
func (m *meter) stacks() uint64 {
	metrics.Read(m.sample)
	return m.sample[0].Value.Uint64()
}

var _ topdown.QueryTracer = (*meter)(nil)

// Enabled implements topdown.QueryTracer.
func (m *meter) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (m *meter) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// stackEvery is the number of steps between two checks of the stack.
const stackEvery = 4096

// TraceEvent counts a step.
func (m *meter) TraceEvent(e topdown.Event) {
	if e.Location != nil {
		m.at = e.Location
	}
	m.charge(1)
	if e.Op == topdown.UnifyOp {
		m.compare(e.Node)
	}
	if m.spent%stackEvery == 0 && m.stacks() > m.stack+maxStack {
		m.refuse("compares values with too many members")
	}
	if why := m.stop.Load(); why != nil {
		m.refuse("%s", *why)
	}
}

// compare charges for the comparison of two values that have members: OPA compares all of them
// before the next step.
func (m *meter) compare(node ast.Node) {
	expr, ok := node.(*ast.Expr)
	if !ok {
		return
	}
	terms, ok := expr.Terms.([]*ast.Term)
	if !ok || len(terms) != 3 || !composite(terms[1]) || !composite(terms[2]) {
		return
	}
	w := tour{meter: m, limit: maxCompared, verb: "compares"}
	w.term(terms[1], 0)
	m.charge(w.items / walked) // each member is a step of its own when it is compared
}

// composite reports whether a term is a value with members, without variables.
func composite(t *ast.Term) bool {
	switch t.Value.(type) {
	case *ast.Array, ast.Object, ast.Set:
		return t.IsGround()
	}
	return false
}

// charge counts steps and ends the evaluation if there are too many.
func (m *meter) charge(steps int64) {
	if m.spent += steps; m.spent > m.limit {
		m.refuse("exceeds the budget of %d evaluation steps; let it visit each fact of its own list once", m.limit)
	}
}

// refuse ends the evaluation.
func (m *meter) refuse(format string, args ...any) {
	panic(refusal{at: m.at, what: fmt.Sprintf(format, args...)})
}
