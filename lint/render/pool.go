package render

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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

// Pool renders roots in worker processes, which it starts on demand.
type Pool struct {
	// Command returns the command that starts a worker. The command must call Serve on its standard
	// input and output.
	Command func() (*exec.Cmd, error)
	// Nonce is a random string that the authors of the sources cannot know.
	Nonce string
	// Workers is the maximum number of workers. 0 means one for each processor.
	Workers int
	// Patience is the maximum wall-clock time for a root. 0 means ten minutes. Only workers that
	// hang reach this limit.
	Patience time.Duration
	// Idle keeps the workers after Render, for this pool and others. If Idle is nil, Render stops them.
	Idle *Idle
	// expire returns a channel that signals that a root has run out of time. If expire is nil, the
	// clock decides. Only tests set expire.
	expire func(Root, time.Duration) <-chan time.Time
	// spent is the part of limits.Renders that earlier calls to Render have used up. A Pool serves
	// one run.
	spent limits.Cost
}

// Idle holds workers that are ready for the next root, because starting a worker costs more than a small
// render. It is safe for concurrent use. The zero value holds no workers.
type Idle struct {
	mu      sync.Mutex
	workers []*worker
}

// take removes a worker without a task from the pool and returns it, or nil if all are busy.
func (all *Idle) take() *worker {
	if all == nil {
		return nil
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	n := len(all.workers)
	if n == 0 {
		return nil
	}
	w := all.workers[n-1]
	all.workers = all.workers[:n-1]
	return w
}

// keep stores a worker for take. It stops a worker that had a problem, because it may hold much memory.
func (all *Idle) keep(w *worker) {
	if all == nil || w == nil || w.failed {
		w.stop()
		return
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	all.workers = append(all.workers, w)
}

// Stop stops all idle workers.
func (all *Idle) Stop() {
	for w := all.take(); w != nil; w = all.take() {
		w.stop()
	}
}

const patience = cpu.Backstop * limits.WorkerCPU

// Render renders roots and returns their outputs in the same order. No output is nil. Each root has
// limits of its own. Only limits.Renders applies to all roots together, and it is far above the
// cost of any real input. A root beyond this limit gets a problem of kind Spent.
func (p *Pool) Render(ctx context.Context, roots []Root) []*Output {
	q := &queue{outputs: make([]*Output, len(roots)), left: limits.Renders.Less(p.spent)}
	q.counts.L = &q.mu
	n := cmp.Or(p.Workers, runtime.GOMAXPROCS(0))
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

// queue hands out roots in order until the run has used up its steps. It also adds up the costs in
// this order, so the result does not depend on the speed of the workers.
type queue struct {
	mu      sync.Mutex
	next    int
	counted int       // number of outputs whose cost has been added up
	waiting int       // total bytes of outputs whose cost has not been added up yet
	counts  sync.Cond // signals that counted has grown
	outputs []*Output // nil for an output that was dropped for lack of space
	left    limits.Cost
	spent   bool
}

// take returns the index of the next root, or -1 if no roots are left. While a slow root is
// rendered, the outputs of later roots could fill the memory. Therefore take waits if these outputs
// have too many bytes.
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

// put stores an output. It then adds up the costs of all outputs before the first missing output.
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

// hold reserves space for an output. If there is not enough space, hold drops the largest outputs
// and keeps the small ones.
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

// work renders roots from the queue. If its worker is killed, work starts a new worker.
func (p *Pool) work(ctx context.Context, q *queue, roots []Root) {
	var w *worker
	defer func() { p.Idle.keep(w) }()
	for i := q.take(); i >= 0; i = q.take() {
		if w == nil {
			w = p.Idle.take()
		}
		if w == nil {
			var err error
			if w, err = p.start(); err != nil {
				q.put(i, broken(roots[i], Lost, "cannot start a worker: "+err.Error()))
				continue
			}
		}
		root := roots[i]
		root.Left = limits.Render // the queue enforces the limits of the run, independent of timing
		wait := cmp.Or(p.Patience, patience)
		over := time.After(wait)
		if p.expire != nil {
			over = p.expire(root, wait)
		}
		t := task{Root: root, Nonce: p.Nonce}
		if root.Artifact != nil {
			t.Copies = &root.Artifact.Copies
		}
		o, kind, why := w.render(ctx, t, wait, over)
		if kind != "" {
			o = broken(roots[i], kind, why)
			w.stop()
			w = nil
		} else if o.Problem != nil {
			w.failed = true
		}
		q.put(i, o)
	}
}

// worker is a running worker process.
type worker struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	to    *json.Encoder
	from  *json.Decoder
	// failed is true once an output has a problem.
	failed bool
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
	return &worker{cmd: cmd, stdin: in, to: json.NewEncoder(in), from: json.NewDecoder(out)}, nil
}

// render returns the output of a task. If there is no output, it returns the kind of problem and the
// reason, and the caller must stop the worker.
func (w *worker) render(ctx context.Context, t task, wait time.Duration, over <-chan time.Time) (o *Output, kind, why string) {
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
			return o, "", ""
		}
		kind, why = w.ended(err)
		return nil, kind, why
	case <-over:
		why = fmt.Sprintf("rendering takes longer than %s", wait)
	case <-ctx.Done():
		why = "the run was canceled"
	}
	_ = w.cmd.Process.Kill() // the process may already have ended
	<-done
	return nil, Killed, why
}

// ended returns the kind of problem and the reason why a worker stopped answering.
func (w *worker) ended(err error) (kind, why string) {
	_ = w.stdin.Close()
	var exit *exec.ExitError
	if waitErr := w.cmd.Wait(); errors.As(waitErr, &exit) {
		switch exit.ExitCode() {
		case memoryStatus:
			return Killed, fmt.Sprintf("rendering takes more than %d MiB of memory", limits.WorkerMemory>>20)
		case cpuStatus:
			return Killed, fmt.Sprintf("rendering takes more than %.0f seconds of CPU time", limits.WorkerCPU.Seconds())
		}
		return Lost, "the worker was killed: " + exit.Error()
	}
	return Lost, "the worker does not answer: " + err.Error()
}

// stop kills a worker. w may be nil.
func (w *worker) stop() {
	if w == nil {
		return
	}
	_ = w.stdin.Close()
	_ = w.cmd.Process.Kill() // a worker has no state to lose
	_ = w.cmd.Wait()
}

// task is a worker's input: a root, the files of its artifact, and the nonce of the run.
type task struct {
	Root   Root
	Copies *Copies `json:",omitempty"`
	Nonce  string
}

// Serve is the main loop of a worker. It reads tasks and builds their roots until the input ends.
// The Watch enforces the limits of each root. If build panics, the output of the root is a problem,
// and Serve continues.
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

// guarded builds a root and turns a panic into a problem.
func guarded(t task, build func(r Root, nonce string) *Output) (o *Output) {
	defer func() {
		if p := recover(); p != nil {
			o = broken(t.Root, Failed, "rendering panics, which is a bug in schedlint or kustomize")
		}
	}()
	if t.Copies != nil && t.Root.Artifact != nil {
		t.Root.Artifact.Copies = *t.Copies
	}
	return build(t.Root, t.Nonce)
}

// broken returns an output with a problem that was not caused by the files of the root.
func broken(r Root, kind, why string) *Output {
	file := r.Dir
	if r.Chart != nil {
		file = path.Join(r.Dir, "Chart.yaml")
	}
	return &Output{Problem: &Problem{Kind: kind, File: file, Line: 1, Column: 1, Detail: why}}
}

// Exit statuses of workers that exceeded a limit.
const (
	memoryStatus = 75
	cpuStatus    = 76
)

// Watch stops a worker that exceeds a limit or has lost its parent. It measures the CPU time and the memory of the
// process, because the wall clock depends on the load of the machine.
type Watch struct {
	memory uint64
	cpu    time.Duration
	// begun is the CPU time that the process had already used at the start of the current root.
	// Between roots, begun has the value idle.
	begun atomic.Int64
}

const idle = -1

// NewWatch returns a Watch of this process. If a limit is exceeded, the Watch calls exit with a
// status.
func NewWatch(exit func(status int)) *Watch {
	return newWatch(limits.WorkerMemory, limits.WorkerCPU, exit)
}

func newWatch(memory int64, most time.Duration, exit func(status int)) *Watch {
	w := &Watch{memory: uint64(memory), cpu: most}
	w.begun.Store(idle)
	debug.SetMemoryLimit(memory * 3 / 4)
	parent := os.Getppid()
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
			if os.Getppid() != parent { // it has ended, and nothing reads the answer
				exit(1)
			}
		}
	}()
	return w
}

// lookEvery is the interval between checks of CPU time and memory.
const lookEvery = 20 * time.Millisecond
