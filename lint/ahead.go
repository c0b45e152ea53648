package lint

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts/build"
)

// Clusters are judged side by side, and told of in their order: while one has its turn,
// others are read and reasoned about already. What that adds to the run waits for their
// turn, and what a cluster may cost depends on those before it, so one that was begun with
// more than it may cost is judged anew. The output is that of one after the other.

// ahead is a part of a run on which work has begun before its turn.
type ahead struct {
	cluster *cluster
	judged  []diag.Judged
	effects effects
	// scene is the only context of the cluster, whose facts are being made; nil if there
	// are several, which share what they have found out.
	scene *scene
	facts chan made
}

// made is the facts of a scene, or why there are none.
type made struct {
	facts    *build.Built
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

// each judges parts in their order, on all processors. Told is called when one has its turn.
func (r *run) each(parts []part, told func(*ahead)) {
	var begun []*ahead
	for len(parts) > 0 || len(begun) > 0 {
		for len(parts) > 0 && len(begun) < runtime.GOMAXPROCS(0) {
			p := parts[0]
			parts[0] = part{} // each is let go once it is judged
			parts, begun = parts[1:], append(begun, r.begin(p))
		}
		turn := begun[0]
		begun[0], begun = nil, begun[1:]
		r.apply(turn.effects)
		told(turn)
	}
}

// begin reads a part and begins to reason about it.
func (r *run) begin(p part) *ahead {
	a := &ahead{}
	a.effects = r.withheld(func() {
		a.cluster = r.clusters.divide(p)
		if r.opts.Compared {
			a.judged = r.clusters.judged(a.cluster)
		}
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
	a.facts = make(chan made, 1)
	input := r.input(a.scene)
	go func() {
		var m made
		defer func() {
			if m.panicked = recover(); m.panicked != nil {
				m.stack = debug.Stack()
			}
			a.facts <- m
		}()
		m.facts = build.Facts(input)
	}()
	return a
}

// known are the facts of a context that were made ahead of its turn; nil if there are none
// that hold.
func (a *ahead) known(r *run) (*scene, *build.Built) {
	if a.facts == nil {
		return nil, nil
	}
	m := <-a.facts
	if m.panicked != nil {
		panic(fmt.Sprintf("%v\n%s", m.panicked, m.stack))
	}
	if r.budget.brief() {
		return nil, nil
	}
	return a.scene, m.facts
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
