package render

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"sync"
	"time"
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
	// Patience is how long a root may take; 0 is a minute. It is a backstop: what a root
	// costs is counted.
	Patience time.Duration
	// expire gives the end of that time for a root; nil is the clock. Tests decide it
	// by the root instead.
	expire func(Root, time.Duration) <-chan time.Time
	// spent is what earlier calls have used up of RunMost: all of a Pool is one run.
	spent Cost
}

// patience is far more than any root within Most takes.
const patience = time.Minute

// Render renders roots. The outputs are in their order, and nil is none of them. What
// is beyond RunMost, counted in that order, is refused.
func (p *Pool) Render(ctx context.Context, roots []Root) []*Output {
	q := &queue{outputs: make([]*Output, len(roots)), left: RunMost().Less(p.spent)}
	n := p.Workers
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	var all sync.WaitGroup
	for range min(n, len(roots)) {
		all.Go(func() { p.work(ctx, q, roots) })
	}
	all.Wait()
	p.spent = RunMost().Less(q.left)
	for i, o := range q.outputs {
		if o == nil || i >= q.counted {
			q.outputs[i] = q.untried(roots, i)
		}
	}
	return q.outputs
}

// queue hands out roots in their order until the budget of the run is spent. What is
// spent is counted in that order as well, so it does not matter who is faster.
type queue struct {
	mu      sync.Mutex
	next    int
	counted int // outputs that are within the budget, from the first
	outputs []*Output
	left    Cost
	spent   bool
	killed  int // workers
}

// mostKilled is how many workers may be killed until no further root is tried.
const mostKilled = 3

// take gives the next root, or -1.
func (q *queue) take() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.spent || q.killed >= mostKilled || q.next == len(q.outputs) {
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
	if o.Problem != nil && o.Problem.Kind == Killed {
		q.killed++
	}
	for !q.spent && q.counted < len(q.outputs) && q.outputs[q.counted] != nil {
		c := q.outputs[q.counted].Cost
		if q.spent = c.Least(q.left) != c; !q.spent {
			q.left = q.left.Less(c)
			q.counted++
		}
	}
}

// untried is the output of a root that nobody waits for, or that is beyond the budget.
func (q *queue) untried(roots []Root, i int) *Output {
	if q.outputs[i] == nil && !q.spent {
		return broken(roots[i], Killed, fmt.Sprintf("not rendered because %d earlier renders were killed", q.killed))
	}
	most := RunMost()
	return broken(roots[i], Refused, fmt.Sprintf("the renders of a run are limited to %d objects, %d MiB of input and %d million steps in all, and the first %d of %d use that up: list fewer under renders, or split the run",
		most.Objects, most.Bytes>>20, most.Steps/1_000_000, q.counted, len(roots)))
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
		root.Left = Most() // what the run has left is counted in the order of the roots
		o, why := w.render(ctx, task{root, p.Nonce}, p.limit(root))
		if why != "" {
			o = broken(roots[i], Killed, why)
			w.stop()
			w = nil
		}
		q.put(i, o)
	}
}

// limit is how long a root may take, and a channel that says when that is over.
type limit struct {
	wait time.Duration
	over <-chan time.Time
}

func (p *Pool) limit(r Root) limit {
	wait := p.Patience
	if wait == 0 {
		wait = patience
	}
	if p.expire != nil {
		return limit{wait, p.expire(r, wait)}
	}
	return limit{wait, time.After(wait)}
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
func (w *worker) render(ctx context.Context, t task, most limit) (o *Output, why string) {
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
	case <-most.over:
		why = fmt.Sprintf("rendering takes longer than %s", most.wait)
	case <-ctx.Done():
		why = "the run was canceled"
	}
	_ = w.cmd.Process.Kill() // it may have ended by itself
	<-done
	return nil, why
}

// MemoryStatus is the exit status of a worker that had more memory in use than it may.
const MemoryStatus = 75

// ended says why a worker that answers no more is not there.
func (w *worker) ended(err error) string {
	_ = w.stdin.Close()
	var exit *exec.ExitError
	if waitErr := w.cmd.Wait(); errors.As(waitErr, &exit) {
		if exit.ExitCode() == MemoryStatus {
			return fmt.Sprintf("rendering takes more than %d MiB of memory", mostMemory>>20)
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
