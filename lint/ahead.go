package lint

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/schedlint/schedlint/lint/diag"
)

// Clusters are judged side by side, and told of in their order: while one has its turn,
// others are read and reasoned about already. What that adds to the run waits for their
// turn, and what a cluster may cost depends on those before it, so one that was begun with
// more than it may cost is judged anew. The output is that of one after the other.

// ahead is a part of a run on which work has begun before its turn.
type ahead[T any] struct {
	cluster *cluster
	judged  []diag.Judged
	effects effects
	// leftOut is what was left out so far, in words.
	leftOut string
	// scene is the only context of the cluster, about which it is reasoned; nil if there
	// are several, which share what they have found out.
	scene *scene
	made  chan made[T]
}

// made is what was found out about a scene, or why nothing was.
type made[T any] struct {
	out      T
	panicked any
	stack    []byte
}

// effects are what reading a part adds to a run beside numbers that are only summed up.
type effects struct {
	errs    []error
	undone  diag.Failures
	notes   []string
	objects int
}

// each reasons about parts in their order, on all processors. Reason is given the only
// context of a part, and what it returns is called beside others; told is called when a
// part has its turn.
func each[T any](r *run, parts []part, reason func(*scene) func() T, told func(*ahead[T])) {
	var begun []*ahead[T]
	for len(parts) > 0 || len(begun) > 0 {
		for len(parts) > 0 && len(begun) < runtime.GOMAXPROCS(0) {
			p := parts[0]
			parts[0] = part{} // each is let go once it is judged
			parts, begun = parts[1:], append(begun, begin(r, p, reason))
		}
		turn := begun[0]
		begun[0], begun = nil, begun[1:]
		r.apply(turn.effects)
		told(turn)
	}
}

// begin reads a part and begins to reason about it.
func begin[T any](r *run, p part, reason func(*scene) func() T) *ahead[T] {
	a := &ahead[T]{}
	a.effects = r.withheld(func() {
		a.cluster = r.clusters.divide(p)
		if r.opts.Compared && p.entry == "" {
			a.judged = r.clusters.judged(a.cluster)
		}
		a.leftOut = r.summary.leftOut()
		if a.cluster.Len() > 1 || r.budget.brief() {
			return
		}
		for x := range a.cluster.Contexts() {
			a.scene = r.clusters.scene(a.cluster, x)
		}
	})
	if a.scene == nil {
		return a
	}
	a.made = make(chan made[T], 1)
	work := reason(a.scene)
	go func() {
		var m made[T]
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

// known is what was found out about the only context of a part ahead of its turn, and
// whether that holds.
func (a *ahead[T]) known(r *run) (s *scene, out T, holds bool) {
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

// withheld is what a function adds to the run, which is not added yet.
func (r *run) withheld(f func()) effects {
	kept := effects{r.failures.errs, r.failures.undone, r.summary.Notes, r.budget.objects}
	r.failures.errs, r.failures.undone, r.summary.Notes, r.budget.objects = nil, nil, nil, 0
	f()
	added := effects{r.failures.errs, r.failures.undone, r.summary.Notes, r.budget.objects}
	r.failures.errs, r.failures.undone, r.summary.Notes, r.budget.objects = kept.errs, kept.undone, kept.notes, kept.objects
	return added
}

// apply adds what was withheld.
func (r *run) apply(e effects) {
	for _, err := range e.errs {
		r.failures.fail(err)
	}
	for _, work := range e.undone {
		r.failures.leave(work)
	}
	r.summary.note(e.notes...)
	r.budget.objects += e.objects
}
