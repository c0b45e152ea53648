// Package cpu measures what this process has used of the processors, for limits that do not
// depend on what else the machine does.
//
// Contract: Used never decreases. A limit is met at the same amount of work on an idle and on
// a busy machine; the wall clock is only a backstop for what waits and does not work.
package cpu

import (
	"context"
	"time"
)

// Backstop is how many times as much as of CPU time something may take on the wall clock.
const Backstop = 10

// every is the interval at which a limit is checked.
const every = 20 * time.Millisecond

// Time is a moment of this process.
type Time struct {
	used time.Duration
	wall time.Time
}

// Now is the present moment.
func Now() Time { return Time{Used(), time.Now()} }

// Since is the CPU time that the process has used since a moment, or the time on the wall
// clock if that is less, as other goroutines use CPU time as well.
func Since(t Time) time.Duration { return min(Used()-t.used, time.Since(t.wall)) }

// WithLimit gives a context that ends once Since is the limit, or the wall clock has gone on
// by Backstop times as much. The caller calls cancel.
func WithLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	begun := Now()
	if limit <= 0 {
		cancel()
	}
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if Since(begun) >= limit || time.Since(begun.wall) >= Backstop*limit {
					cancel()
				}
			}
		}
	}()
	return ctx, cancel
}
