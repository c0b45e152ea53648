package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// startLimit is how far the heap of an ordinary run may grow before garbage is
// collected in earnest.
const startLimit = 37 << 20

// mostGarbage bounds what an input that fills the heap adds to it.
const mostGarbage = 300 << 20

// tuneMemory trades memory for time as a short run should: no garbage is
// collected while the heap is small, and the limit rises with what is really
// in use, so that a large input never makes the collector run in circles. A very
// large one takes a little time for less memory.
// GOGC and GOMEMLIMIT, if set, have the last word.
func tuneMemory() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(startLimit)
	afterEachCollection(func() {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		live := int64(sample[0].Value.Uint64())
		debug.SetMemoryLimit(limitFor(live))
	})
}

// limits are how far the heap may grow, in MiB, with so much in use. Reading manifests
// makes little garbage, so a run that does little else needs little room; a large one
// that judges them against nodes makes much, and would spend its time collecting it.
var limits = []struct{ live, limit float64 }{{18, startLimit >> 20}, {30, 52}, {45, 82}, {57, 87}, {80, 200}}

// limitFor is the limit with so many bytes in use.
func limitFor(live int64) int64 {
	mib := float64(live) / (1 << 20)
	for i, to := range limits {
		if mib > to.live {
			continue
		}
		if i == 0 {
			return startLimit
		}
		from := limits[i-1]
		return int64((from.limit + (to.limit-from.limit)*(mib-from.live)/(to.live-from.live)) * (1 << 20))
	}
	return min(live*5/2, live+mostGarbage)
}

// afterEachCollection calls f after every garbage collection: an object that
// nobody holds is collected each time, and its finalizer makes the next one.
func afterEachCollection(f func()) {
	type sentinel struct{ _ [16]byte }
	var arm func()
	arm = func() {
		runtime.SetFinalizer(&sentinel{}, func(*sentinel) {
			f()
			arm()
		})
	}
	arm()
}
