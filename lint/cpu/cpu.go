// Package cpu measures the CPU time of this process, for limits that do not depend on the load
// of the machine.
//
// Contract: Used never decreases. A limit is reached after the same amount of work on an idle
// and on a busy machine; the wall clock is only a backstop for code that waits and does not
// work.
package cpu

import (
	"context"
	"time"
)

// Backstop is the maximum ratio of wall-clock time to a limit of CPU time.
const Backstop = 10

// every is the interval at which a limit is checked.
const every = 20 * time.Millisecond

// Time is a point in time of this process.
type Time struct {
	used time.Duration
	wall time.Time
}

// Now returns the current Time.
func Now() Time { return Time{Used(), time.Now()} }

// Since returns the CPU time that the process has used since t, or the wall-clock time if that
// is less, because other goroutines use CPU time as well.
func Since(t Time) time.Duration { return min(Used()-t.used, time.Since(t.wall)) }

// WithLimit returns a context that ends once Since reaches the limit, or the wall-clock time
// reaches Backstop times the limit. The caller must call cancel.
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
