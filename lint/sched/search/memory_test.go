package search_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/sched/certificate"
	"github.com/schedlint/schedlint/lint/sched/model"
	"github.com/schedlint/schedlint/lint/sched/search"
)

// usage is the measured cost of a function: the peak heap in bytes, including dead objects that are
// not swept yet, the peak memory that the process obtained from the system, and wall time.
type usage struct {
	heap, held uint64
	wall       time.Duration
}

func (u usage) String() string {
	return fmt.Sprintf("heap %d MB, held %d MB, %s", u.heap/1e6, u.held/1e6, u.wall.Round(time.Millisecond))
}

// sample raises the peaks to the current values. Reading metrics does not stop the world, so it is
// cheap enough to do every few milliseconds.
func (u *usage) sample() {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	u.heap = max(u.heap, s[0].Value.Uint64())
	u.held = max(u.held, s[1].Value.Uint64()-s[2].Value.Uint64())
}

// watched runs a function and measures its cost. Earlier garbage does not count.
func watched(work func()) usage {
	runtime.GC()
	var u usage
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			u.sample()
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	start := time.Now()
	work()
	wall := time.Since(start)
	close(stop)
	<-stopped
	u.sample()
	u.wall = wall
	return u
}

// mutual returns n workloads of one pod each that all exclude each other by host.
func mutual(n int) string {
	var b strings.Builder
	for i := range n {
		text := deployment(1, anti(term(hostKey, sel("tier=all"))))
		b.WriteString("---\n" + strings.ReplaceAll(strings.ReplaceAll(text, "name: web,", fmt.Sprintf("name: w%d,", i)), "{app: web}", fmt.Sprintf("{app: w%d, tier: all}", i)))
	}
	return b.String()
}

// hostile is an input that no search could finish.
type hostile struct {
	name, nodes, manifests string
	verdict                diag.Outcome
	most                   int
}

func hostileInputs() []hostile {
	pool := func(n int) string {
		return fmt.Sprintf("apiVersion: schedlint.dev/v1alpha1\nkind: NodeTopology\npools:\n- {name: w, count: %d}\n", n)
	}
	return []hostile{
		{"300 workloads that all exclude one another on 50 nodes", pool(50), mutual(300), diag.Never, 50},
		{"10,000 replicas that exclude one another on 5,000 nodes", pool(5000), deployment(10000, anti(term(hostKey, sel("app=web")))), diag.Never, 5000},
		{"10,000 replicas spread over 5,000 nodes", pool(5000), deployment(10000, spread(tsc(hostKey, sel("app=web"), ""))), diag.Always, 10000},
	}
}

// BenchmarkMemory compares the peak heap of decisions with limits in MB, for inputs that no
// search could finish and for a cluster of 5,000 nodes and 10,000 workloads. The measurement
// includes the model and parsing it, because both are part of a run.
func BenchmarkMemory(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // main_test.go makes garbage collection less frequent
	for _, v := range hostileInputs() {
		b.Run(v.name, func(b *testing.B) { decidedWithin(b, 40, v.nodes, v.manifests) })
	}
	b.Run("10,000 workloads on 5,000 nodes at half load", func(b *testing.B) {
		decidedWithin(b, 300, largeNodes(5000), largeWorkloads(10000, 5000, 0.5))
	})
}

func decidedWithin(b *testing.B, limit float64, nodes, manifests string) {
	b.Helper()
	for b.Loop() {
		decideWithin(b, limit, nodes, manifests)
	}
}

func decideWithin(b *testing.B, limit float64, nodes, manifests string) {
	b.Helper()
	var m *model.Model
	read := watched(func() { m, _ = modelOf(b, nodes, manifests) })
	var d *certificate.Decision
	decided := watched(func() { d = search.Decide(m, search.Options{}) })
	b.ReportMetric(float64(max(read.heap, decided.heap))/1e6, "peak-MB")
	b.Logf("reading: %s; deciding: %s; %s, %d of %d pods witnessed", read, decided, d.Verdict, len(d.Witness), d.Total)
	trials.Bound(b, "MB of heap", float64(max(read.heap, decided.heap))/1e6, limit)
}
