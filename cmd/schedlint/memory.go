package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/schedlint/schedlint/lint/config"
)

// How far memory grows before garbage is collected at all, and by how many percent the heap grows
// from then on. No collection before startLimit takes a run on the demo from 0.23 s of CPU to 0.20;
// percent keeps lint of BenchmarkScale at 269 MiB, where the 100 of Go needs 284. Facts for rules of
// a team stay to the end, so that collecting them again and again frees nothing: with the second
// pair BenchmarkPolicies adds 3.0 times the bare parse, and 3.5 with the first.
const (
	startLimit, percent      = 26 << 20, 80
	factsLimit, factsPercent = 192 << 20, 150
)

// tuneMemory sets these limits, unless GOGC or GOMEMLIMIT is set.
func tuneMemory() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(startLimit)
	runtime.SetFinalizer(new([16]byte), func(*[16]byte) { // runs in the first collection, because nothing refers to it
		if debug.SetMemoryLimit(math.MaxInt64) == factsLimit {
			debug.SetGCPercent(factsPercent)
		} else {
			debug.SetGCPercent(percent)
		}
	})
}

// expectFacts prepares for a run with a team's own rules. It does nothing after the first collection.
func expectFacts(dirs []string, conf *config.Config) {
	if len(dirs)+len(conf.Policies)+len(conf.Custom) > 0 && debug.SetMemoryLimit(-1) == startLimit {
		debug.SetMemoryLimit(factsLimit)
	}
}
