package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// startLimit is how far the memory of an ordinary run may grow before garbage is collected
// at all, and startHeap how far its heap may at any time.
// Facts for rules of a team are many and stay to the end, so that collecting them again and
// again frees nothing: such a run may grow to factsLimit first.
const (
	startLimit = 26 << 20
	startHeap  = 20 << 20
	factsLimit = 192 << 20
)

// Of what is in use the heap may grow by some percent, by as much again as is in use beyond
// what is vast, where each collection takes long, and by mostGarbage at the most.
// Reading makes little garbage, and reasoning about a large cluster much that lives short:
// a heap of which so much is in use may grow to largeHeap at any time, and to placingHeap
// where a placement of all pods is made.
const (
	percent     = 40
	large       = 64 << 20
	largeHeap   = 168 << 20
	placingHeap = 220 << 20
	mostGarbage = 300 << 20
	vast        = 200 << 20
)

// tuneMemory trades memory for time as a short run should: no garbage is collected
// while the heap is small, and a large one grows by less than Go lets it.
// GOGC and GOMEMLIMIT, if set, have the last word.
func tuneMemory(heap int64) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(startLimit)
	from := int64(large)
	afterEachCollection(func() {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		if debug.SetMemoryLimit(math.MaxInt64) == factsLimit {
			from = 0
		}
		debug.SetGCPercent(garbage(int64(sample[0].Value.Uint64()), from, heap))
	})
}

// expectFacts lets the memory of a run that makes facts for more than the built-in rules
// grow further before its first collection. It does nothing once there was one, or where
// tuneMemory did not set the limit.
func expectFacts() {
	if debug.SetMemoryLimit(-1) == startLimit {
		debug.SetMemoryLimit(factsLimit)
	}
}

// largeHeapOf is how far the heap of a command may grow once it is large.
func largeHeapOf(args []string) int64 {
	if len(args) > 0 && args[0] == "place" {
		return placingHeap
	}
	return largeHeap
}

// garbage is by how many percent the heap may grow with so many bytes in use: to heap at
// least if more than from are.
func garbage(live, from, heap int64) int {
	live = max(live, 1<<20)
	atLeast := int64(startHeap)
	if live > from {
		atLeast = heap
	}
	more := min(min(live, vast)*percent/100+max(0, live-vast), mostGarbage)
	return int(max((atLeast-live)*100/live, more*100/live, 1))
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
