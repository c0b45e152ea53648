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

// task is the input of a worker: a root, and the nonce of the run for its marks.
type task struct {
	Root  Root
	Nonce string
}

// Serve runs a worker: it builds root after root until in ends, and w enforces the limits of each
// root. A panic in build only fails the current root.
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

// guarded builds a root and recovers from panics.
func guarded(t task, build func(r Root, nonce string) *Output) (o *Output) {
	defer func() {
		if p := recover(); p != nil {
			o = broken(t.Root, Failed, "rendering panics, which is a bug in schedlint or kustomize")
		}
	}()
	return build(t.Root, t.Nonce)
}

// broken returns an output with a problem that is not caused by the files of the root.
func broken(r Root, kind, why string) *Output {
	file := r.Dir
	if r.Chart != nil {
		file = path.Join(r.Dir, "Chart.yaml")
	}
	return &Output{Problem: &Problem{Kind: kind, File: file, Line: 1, Column: 1, Detail: why}}
}

// Exit statuses of a worker that exceeded a limit.
const (
	memoryStatus = 75
	cpuStatus    = 76
)

// Watch ends a worker that exceeds a limit. It measures the CPU time and the memory of the process
// instead of the clock, so that the same root ends in the same way on a busy machine as on an idle
// one.
type Watch struct {
	memory uint64
	cpu    time.Duration
	// begun is the CPU time of the process when it began the root, or idle.
	begun atomic.Int64
}

const idle = -1

// NewWatch watches this process, and calls exit with a status if a limit is exceeded.
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
