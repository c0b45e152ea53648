package render

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"path"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/schedlint/schedlint/lint/cpu"
	"github.com/schedlint/schedlint/lint/limits"
)

// task is what a worker is told: a root, and the nonce of the run, which its marks have.
type task struct {
	Root  Root
	Nonce string
}

// Serve is a worker: it builds one root after the other until in ends, and w holds each to
// the limits of a root. A panic in build costs the root that it was about.
func Serve(in io.Reader, out io.Writer, w *Watch, build func(r Root, nonce string) *Output) error {
	from, buffer := json.NewDecoder(in), bufio.NewWriter(out)
	to := json.NewEncoder(buffer)
	for {
		var t task
		if err := from.Decode(&t); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		w.begun.Store(int64(cpu.Used()))
		if err := to.Encode(guarded(t, build)); err != nil {
			return err
		}
		w.begun.Store(idle)
		if err := buffer.Flush(); err != nil {
			return err
		}
	}
}

// guarded builds a root whatever happens.
func guarded(t task, build func(r Root, nonce string) *Output) (o *Output) {
	defer func() {
		if p := recover(); p != nil {
			o = broken(t.Root, Failed, "rendering panics, which is a bug in schedlint or kustomize")
		}
	}()
	return build(t.Root, t.Nonce)
}

// broken is the output of a root that has none, for no reason in its files.
func broken(r Root, kind, why string) *Output {
	file := r.Dir
	if r.Chart != nil {
		file = path.Join(r.Dir, "Chart.yaml")
	}
	return &Output{Problem: &Problem{Kind: kind, File: file, Line: 1, Column: 1, Detail: why}}
}

// The exit status of a worker that took more than it may.
const (
	memoryStatus = 75
	cpuStatus    = 76
)

// Watch ends a worker that takes more than it may. It looks at the work of the process and
// not at the clock, so that the same root ends on a busy machine as on an idle one.
type Watch struct {
	memory uint64
	cpu    time.Duration
	// begun is the CPU time of the process when it began with the root, or idle.
	begun atomic.Int64
}

const idle = -1

// NewWatch watches this process, and calls exit with the status of the limit that is met.
func NewWatch(exit func(status int)) *Watch {
	return newWatch(limits.WorkerMemory, limits.WorkerCPU, exit)
}

func newWatch(memory int64, most time.Duration, exit func(status int)) *Watch {
	w := &Watch{memory: uint64(memory), cpu: most}
	w.begun.Store(idle)
	debug.SetMemoryLimit(memory * 3 / 4)
	go func() {
		sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
		for range time.Tick(lookEvery) {
			metrics.Read(sample)
			if sample[0].Value.Uint64()-sample[1].Value.Uint64() > w.memory {
				exit(memoryStatus)
			}
			if begun := w.begun.Load(); begun != idle && cpu.Used()-time.Duration(begun) > w.cpu {
				exit(cpuStatus)
			}
		}
	}()
	return w
}

// lookEvery is the interval at which a worker checks its use of CPU and memory.
const lookEvery = 20 * time.Millisecond
