package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// startLimit is how far the heap of an ordinary run may grow before garbage is
// collected in earnest.
const startLimit = 72 << 20

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
		if live := int64(sample[0].Value.Uint64()); live > startLimit/2 {
			debug.SetMemoryLimit(min(3*live, live+mostGarbage))
		}
	})
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
