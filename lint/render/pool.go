package render

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schedlint/schedlint/lint/cpu"
	"github.com/schedlint/schedlint/lint/limits"
)

// Pool renders roots in workers, which it starts as they are needed.
type Pool struct {
	// Command makes the command of a worker, which calls Serve on its standard input
	// and output.
	Command func() (*exec.Cmd, error)
	// Nonce is nothing that a file could guess.
	Nonce string
	// Workers is how many there are at most; 0 is one for each processor.
	Workers int
	// Patience is how long a root may take on the wall clock; 0 is ten minutes. It is a
	// backstop for what waits: what a root costs is counted, and its CPU time limited.
	Patience time.Duration
	// expire gives the end of that time for a root; nil is the clock. Tests decide it
	// by the root instead.
	expire func(Root, time.Duration) <-chan time.Time
	// spent is what earlier calls have used up of limits.Renders: all of a Pool is one run.
	spent limits.Cost
}

const patience = cpu.Backstop * limits.WorkerCPU

// Render renders roots. The outputs are in their order, and nil is none of them. Roots do
// not pay for one another: limits.Renders is far more than all that is meant to be rendered takes,
// and what is beyond it is Spent.
func (p *Pool) Render(ctx context.Context, roots []Root) []*Output {
	q := &queue{outputs: make([]*Output, len(roots)), left: limits.Renders.Less(p.spent)}
	q.counts.L = &q.mu
	n := p.Workers
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	var all sync.WaitGroup
	for range min(n, len(roots)) {
		all.Go(func() { p.work(ctx, q, roots) })
	}
	all.Wait()
	p.spent = limits.Renders.Less(q.left)
	most := limits.Renders
	for i, o := range q.outputs {
		if i >= q.counted {
			q.outputs[i] = broken(roots[i], Spent, fmt.Sprintf("not rendered because the first %d of %d renders use up the %d million steps of a run: list fewer under renders, or split the run",
				q.counted, len(roots), most.Steps/1_000_000))
		} else if o == nil {
			q.outputs[i] = broken(roots[i], Spent, fmt.Sprintf("the renders of a run are limited to %d objects, %d MiB and %d entries in all, and this is one of the largest: list fewer under renders, or split the run",
				most.Objects, most.Bytes>>20, most.Entries))
		}
	}
	return q.outputs
}

// queue hands out roots in their order until the steps of the run are spent. What is spent
// is counted in that order as well, so it does not matter who is faster.
type queue struct {
	mu      sync.Mutex
	next    int
	counted int       // outputs that are within the steps of the run, from the first
	waiting int       // bytes of outputs that are not counted yet
	counts  sync.Cond // something was counted
	outputs []*Output // nil for those that others leave no room for
	left    limits.Cost
	spent   bool
}

// take gives the next root, or -1. It waits while much is not counted: one that takes long
// is not to fill the memory with those behind it.
func (q *queue) take() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.waiting > limits.Renders.Bytes {
		q.counts.Wait()
	}
	if q.spent || q.next == len(q.outputs) {
		return -1
	}
	q.next++
	return q.next - 1
}

// put takes an output and counts what is complete from the first on.
func (q *queue) put(i int, o *Output) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.outputs[i] = o
	q.waiting += o.Cost.Bytes
	for ; !q.spent && q.counted < len(q.outputs) && q.outputs[q.counted] != nil; q.counted++ {
		o := q.outputs[q.counted]
		if q.spent = o.work() > q.left.Steps; q.spent {
			q.waiting = 0
			break
		}
		q.left.Steps -= o.work()
		q.waiting -= o.Cost.Bytes
		if o.Problem == nil {
			q.hold(q.counted)
		}
	}
	q.counts.Broadcast()
}

// hold takes room for an output. If there is none, the largest goes, so small ones never pay
// for large ones.
func (q *queue) hold(i int) {
	size := q.outputs[i].Cost
	size.Steps = 0
	for size.Least(q.left) != size {
		largest := i
		for k, o := range q.outputs[:i] {
			if o != nil && o.Problem == nil && share(o.Cost) > share(q.outputs[largest].Cost) {
				largest = k
			}
		}
		given := q.outputs[largest].Cost
		if q.outputs[largest] = nil; largest == i {
			return
		}
		q.left.Objects, q.left.Bytes, q.left.Entries = q.left.Objects+given.Objects, q.left.Bytes+given.Bytes, q.left.Entries+given.Entries
	}
	q.left = q.left.Less(size)
}

// work renders what the queue hands out. A worker that was killed is replaced.
func (p *Pool) work(ctx context.Context, q *queue, roots []Root) {
	var w *worker
	defer func() { w.stop() }()
	for i := q.take(); i >= 0; i = q.take() {
		if w == nil {
			var err error
			if w, err = p.start(); err != nil {
				q.put(i, broken(roots[i], Killed, "cannot start a worker: "+err.Error()))
				continue
			}
		}
		root := roots[i]
		root.Left = limits.Render // what the run has left is counted in the order of the roots
		wait := cmp.Or(p.Patience, patience)
		over := time.After(wait)
		if p.expire != nil {
			over = p.expire(root, wait)
		}
		o, why := w.render(ctx, task{root, p.Nonce}, wait, over)
		if why != "" {
			o = broken(roots[i], Killed, why)
			w.stop()
			w = nil
		}
		q.put(i, o)
	}
}

// worker is a process that renders.
type worker struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	to    *json.Encoder
	from  *json.Decoder
}

func (p *Pool) start() (*worker, error) {
	cmd, err := p.Command()
	if err != nil {
		return nil, err
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &worker{cmd, in, json.NewEncoder(in), json.NewDecoder(out)}, nil
}

// render gives the output, or why the worker has to go.
func (w *worker) render(ctx context.Context, t task, wait time.Duration, over <-chan time.Time) (o *Output, why string) {
	done := make(chan error, 1)
	go func() {
		err := w.to.Encode(t)
		if err == nil {
			o = &Output{}
			err = w.from.Decode(o)
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil {
			return o, ""
		}
		return nil, w.ended(err)
	case <-over:
		why = fmt.Sprintf("rendering takes longer than %s", wait)
	case <-ctx.Done():
		why = "the run was canceled"
	}
	_ = w.cmd.Process.Kill() // it may have ended by itself
	<-done
	return nil, why
}

// ended says why a worker that answers no more is not there.
func (w *worker) ended(err error) string {
	_ = w.stdin.Close()
	var exit *exec.ExitError
	if waitErr := w.cmd.Wait(); errors.As(waitErr, &exit) {
		switch exit.ExitCode() {
		case memoryStatus:
			return fmt.Sprintf("rendering takes more than %d MiB of memory", limits.WorkerMemory>>20)
		case cpuStatus:
			return fmt.Sprintf("rendering takes more than %.0f seconds of CPU time", limits.WorkerCPU.Seconds())
		}
		return "the worker was killed: " + exit.Error()
	}
	return "the worker does not answer: " + err.Error()
}

// stop ends a worker; w may be nil.
func (w *worker) stop() {
	if w == nil {
		return
	}
	_ = w.stdin.Close()
	_ = w.cmd.Process.Kill() // it holds nothing that could be lost
	_ = w.cmd.Wait()
}

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
