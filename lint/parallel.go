package lint

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/schedlint/schedlint/lint/contexts"
	"github.com/schedlint/schedlint/lint/diag"
)

// Clusters are judged concurrently and reported in order: while one is reported, the next ones
// are read and reasoned about. What reading one adds to the run is part of the cluster until its turn. The
// budget of a cluster depends on those before it, so a cluster that began with too large a
// budget is judged again. The output is the same as that of a sequential run.

// pendingPart is a part of a run on which work begins before its turn.
type pendingPart[T any] struct {
	cluster *cluster
	judged  []diag.Judged
	// Describes what was skipped so far.
	leftOut string
	// The only context of the cluster; nil if it has several, which share what they find out
	// and therefore wait for their turn.
	scene *scene
	made  chan partOutcome[T]
}

// partOutcome is the result for a scene, or the panic that prevented it.
type partOutcome[T any] struct {
	out      T
	panicked any
	stack    []byte
}

// effects holds what reading a part adds to a run, except for counters that are only summed up.
type effects struct {
	errs    []error
	notes   []string
	objects int
}

// fail adds an error, unless it is nil.
func (e *effects) fail(err error) {
	if err != nil {
		e.errs = append(e.errs, err)
	}
}

// apply adds the effects of reading a cluster to the run, and removes them from the cluster.
func (r *run) apply(c *cluster) {
	r.failures.errs = append(r.failures.errs, c.effects.errs...)
	r.summary.note(c.effects.notes...)
	r.budget.objects += c.effects.objects
	c.effects = effects{}
}

// scene loads a context of a cluster whose turn it is.
func (r *run) scene(c *cluster, x contexts.Context) *scene {
	s := r.clusters.scene(c, x)
	r.apply(c)
	return s
}

// each processes parts in order, using all processors. It calls reason with the only context of
// a part and runs the returned function concurrently. It calls told when it is the part's turn.
func each[T any](r *run, parts []part, reason func(*scene) func() T, told func(*pendingPart[T])) {
	var begun []*pendingPart[T]
	for len(parts) > 0 || len(begun) > 0 {
		for len(parts) > 0 && len(begun) < runtime.GOMAXPROCS(0) {
			p := parts[0]
			parts[0] = part{} // lets each part be freed once it is judged
			parts, begun = parts[1:], append(begun, begin(r, p, reason))
		}
		turn := begun[0]
		begun[0], begun = nil, begun[1:]
		r.apply(turn.cluster)
		told(turn)
	}
}

// begin reads a part and starts to reason about it.
func begin[T any](r *run, p part, reason func(*scene) func() T) *pendingPart[T] {
	a := &pendingPart[T]{cluster: r.clusters.divide(p)}
	if r.opts.Compared && p.entry == "" {
		a.judged = r.clusters.judged(a.cluster)
	}
	a.leftOut = r.summary.leftOut()
	if a.cluster.Len() > 1 || r.budget.brief() {
		return a
	}
	for x := range a.cluster.Contexts() {
		a.scene = r.clusters.scene(a.cluster, x)
	}
	if a.scene == nil {
		return a
	}
	a.made = make(chan partOutcome[T], 1)
	work := reason(a.scene)
	go func() {
		var m partOutcome[T]
		defer func() {
			if m.panicked = recover(); m.panicked != nil {
				m.stack = debug.Stack()
			}
			a.made <- m
		}()
		m.out = work()
	}()
	return a
}

// known returns the result for the only context of a part, if work began ahead of its turn and
// the budget that it used still applies.
func (a *pendingPart[T]) known(r *run) (s *scene, out T, holds bool) {
	if a.made == nil {
		return nil, out, false
	}
	m := <-a.made
	if m.panicked != nil {
		panic(fmt.Sprintf("%v\n%s", m.panicked, m.stack))
	}
	if r.budget.brief() {
		return nil, out, false
	}
	return a.scene, m.out, true
}
