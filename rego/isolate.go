package rego

import (
	"context"
	"fmt"
	"runtime/metrics"
	"time"

	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/schedlint/schedlint/lint/cpu"
	"github.com/schedlint/schedlint/lint/facts"
)

// Backstops behind the counted limits: how much a rule may add to the heap, how often that is
// checked, and how much CPU time a rule may take to stop.
const (
	maxHeap   = 512 << 20
	heapEvery = 20 * time.Millisecond
	grace     = 2 * time.Second
)

// outcome is the result of evaluating a rule.
type outcome struct {
	found []facts.Judgement
	err   error
	// abandoned is set if the rule does not stop when asked to: OPA checks that only between steps,
	// and one step may never end.
	abandoned bool
}

// isolated evaluates a custom rule, whose time, memory and panics cost only its own findings.
func (e *evaluation) isolated(ctx context.Context, r *rule, m *meter) outcome {
	return isolate(ctx, m, func(ctx context.Context) ([]facts.Judgement, error) {
		return e.judge(ctx, r, func(q *topdown.Query) *topdown.Query {
			return q.WithQueryTracer(m).WithBuiltins(m.functions())
		})
	})
}

// isolate evaluates in a goroutine.
func isolate(ctx context.Context, m *meter, evaluate func(ctx context.Context) ([]facts.Judgement, error)) outcome {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if panicked := recover(); panicked != nil {
				o = outcome{err: recovered(m, panicked)}
			}
			done <- o
		}()
		o.found, o.err = evaluate(ctx)
	}()
	return watch(ctx, done, m, cancel)
}

// recovered converts a panic to an error: a limit that was exceeded, or a fault of OPA that only
// this rule causes.
func recovered(m *meter, panicked any) error {
	if refused, ok := panicked.(refusal); ok {
		return refused
	}
	return refusal{at: m.at, what: fmt.Sprintf("makes the Rego evaluator fail: %v", panicked)}
}

// watch waits for an evaluation, stops it if it takes too much, and abandons it if it does not
// stop.
func watch(ctx context.Context, done <-chan outcome, m *meter, cancel func()) outcome {
	tick := time.NewTicker(heapEvery)
	defer tick.Stop()
	allowed := m.heap() + maxHeap
	expired := ctx.Done()
	var over <-chan struct{}
	for {
		select {
		case o := <-done:
			return o
		case <-over:
			return outcome{err: refusal{what: *m.stop.Load()}, abandoned: true}
		case <-expired:
			m.halt(tooLong)
		case <-tick.C:
			if m.heap() <= allowed {
				continue
			}
			m.halt("takes too much memory")
			cancel()
		}
		if over == nil {
			late, stop := cpu.WithLimit(context.Background(), grace)
			defer stop()
			over = late.Done()
		}
		expired = nil
	}
}

// halt ends the evaluation at its next step. Only the first reason counts.
func (m *meter) halt(why string) { m.stop.CompareAndSwap(nil, &why) }

// heap returns the size of all objects, including garbage that is not yet collected.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
