// Package cpu measures the CPU time of this process, so that limits do not depend on the load of
// the machine.
//
// Contract: Used never decreases. Code reaches a limit after the same amount of work on an idle and
// on a busy machine. The wall-clock limit stops only code that waits instead of working.
package cpu

import (
	"context"
	"time"
)

// Backstop is the wall-clock limit of WithLimit as a multiple of its CPU time limit.
const Backstop = 10

// every is the interval between checks of a limit.
const every = 20 * time.Millisecond

// Time is an instant in CPU time and wall-clock time.
type Time struct {
	used time.Duration
	wall time.Time
}

// Now returns the current Time.
func Now() Time { return Time{Used(), time.Now()} }

// Since returns the CPU time that the process has used since t. It returns the wall-clock time if
// that is less, because other goroutines may use CPU time in parallel.
func Since(t Time) time.Duration { return min(Used()-t.used, time.Since(t.wall)) }

// WithLimit returns a context that is canceled when Since reaches the limit, or when the
// wall-clock time reaches Backstop times the limit. The caller must call cancel.
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
