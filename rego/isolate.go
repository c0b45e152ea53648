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

// The backstops behind the counted limits: what a rule may add to the heap, how
// often that is looked at, and how much CPU time a rule that is told to stop may take.
const (
	maxHeap   = 512 << 20
	heapEvery = 20 * time.Millisecond
	grace     = 2 * time.Second
)

// outcome is what became of the evaluation of a rule.
type outcome struct {
	found []facts.Judgement
	err   error
	// abandoned is set if the rule goes on although it was told to stop: OPA checks for
	// that between steps, and one step may never end.
	abandoned bool
}

// isolated evaluates a rule of the user's own in a goroutine, so that its time, memory
// and panics cost only its own findings.
func (e *evaluation) isolated(ctx context.Context, r *rule, m *meter) outcome {
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
		o.found, o.err = e.judge(ctx, r, func(q *topdown.Query) *topdown.Query {
			return q.WithQueryTracer(m).WithBuiltins(m.functions())
		})
	}()
	return watch(ctx, done, m, cancel)
}

// recovered makes an error of a panic: a limit that was exceeded, or a fault of OPA
// that only this rule brings about.
func recovered(m *meter, panicked any) error {
	if refused, ok := panicked.(refusal); ok {
		return refused
	}
	return refusal{at: m.at, what: fmt.Sprintf("makes the Rego evaluator fail: %v", panicked)}
}

// watch waits for an evaluation, tells it to stop if it takes too much, and gives it
// up if it does not.
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

// halt ends the evaluation at its next step. The first reason counts.
func (m *meter) halt(why string) { m.stop.CompareAndSwap(nil, &why) }

// heap is what all objects take, garbage that is not yet collected included.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
