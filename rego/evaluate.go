package rego

import (
	"cmp"
	"context"
	"fmt"
	"runtime/metrics"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/schedlint/schedlint/lint/cpu"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/sorting"
)

// maxFindings is the maximum number of findings that a rule can report in a run, across all
// contexts.
const maxFindings = 100_000

// Evaluate returns the findings of all rules for the given facts, without duplicates, sorted by
// fact, rule and message. A rule fails if it exceeds a limit, misuses a function, or reports
// something other than a finding. The tally records the failure, and the rule is skipped for the
// rest of the run. Evaluate drops the findings of a failed rule. The exception is a rule with too
// many findings, which keeps the first ones. Evaluate returns an error if ctx is done or if a
// built-in rule does not compile.
func (e *Engine) Evaluate(ctx context.Context, f *facts.Facts, tally *facts.Tally) ([]facts.Judgement, error) {
	due, read := e.due(f, tally)
	if err := e.compile(due); err != nil {
		return nil, err
	}
	run := evaluation{Engine: e, facts: f, rows: f.Rows(), input: convert(f, &read), tally: tally}
	run.inventory = sync.OnceValue(func() *ast.Term { return inventoryOf(run.input) })
	// Custom rules cannot delay built-in rules, which have their own time limit. Built-in rules
	// with configured parameters run after all other built-in rules.
	slices.SortStableFunc(due, func(a, b *rule) int { return cmp.Compare(order(a), order(b)) })
	found, err := run.all(ctx, e.deadline, slices.DeleteFunc(slices.Clone(due), func(r *rule) bool { return r.own }))
	if err != nil {
		return nil, err
	}
	begun := cpu.Now()
	own, err := run.all(ctx, e.deadline-tally.Took, slices.DeleteFunc(due, func(r *rule) bool { return !r.own }))
	if err != nil {
		return nil, err
	}
	tally.Took += cpu.Since(begun)
	found = append(found, own...)
	sorting.Stable(found, compareJudgements)
	return slices.CompactFunc(found, func(a, b facts.Judgement) bool { return compareJudgements(a, b) == 0 }), nil
}

// order returns a sort key that puts rules with configured parameters last.
func order(r *rule) int {
	if r.configured || r.instance != nil {
		return 1
	}
	return 0
}

func compareJudgements(a, b facts.Judgement) int {
	return cmp.Or(
		cmp.Compare(a.Fact, b.Fact), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message), slices.Compare(a.Details, b.Details),
		cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Help, b.Help), slices.Compare(a.Path, b.Path), cmp.Compare(a.Level, b.Level),
	)
}

// evaluation holds the state that all rules share during one call of Evaluate.
type evaluation struct {
	*Engine
	facts *facts.Facts
	rows  []facts.Row // indexed by id
	input *ast.Term
	tally *facts.Tally
	// inventory returns the objects of the input as foreign libraries see them.
	inventory func() *ast.Term
}

// all evaluates the rules one after another. The time limit applies to all of them together.
func (e *evaluation) all(ctx context.Context, limit time.Duration, rules []*rule) (found []facts.Judgement, err error) {
	timed, cancel := cpu.WithLimit(ctx, limit)
	defer cancel()
	for _, r := range rules {
		judgements, err := e.one(timed, r)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("evaluating rule %s: %w", r.id, ctx.Err())
		}
		if err == nil {
			judgements, err = e.limitFindings(r, judgements)
		}
		if err != nil {
			e.tally.Failures.Add(failure(r, err))
		}
		found = append(found, judgements...)
	}
	return found, nil
}

// one evaluates a single rule. A custom rule is isolated, and its steps are counted.
func (e *evaluation) one(ctx context.Context, r *rule) ([]facts.Judgement, error) {
	switch {
	case ctx.Err() != nil:
		return nil, refusal{what: "was not evaluated: the rules before it took all the time"}
	case !r.own:
		return e.judge(ctx, r, func(q *topdown.Query) *topdown.Query { return q })
	case e.endless.Load():
		return nil, refusal{what: "was not evaluated: another rule does not stop"}
	}
	m := newMeter(e.tally.Steps[r.id], e.steps)
	o := e.isolated(ctx, r, m)
	if o.abandoned {
		e.endless.Store(true)
		return nil, o.err
	}
	e.tally.Steps[r.id] = m.spent
	return o.found, o.err
}

// judge evaluates a rule and converts its report to judgements. The argument "with" is a function
// that adds options to the query.
func (e *evaluation) judge(ctx context.Context, r *rule, with func(*topdown.Query) *topdown.Query) ([]facts.Judgement, error) {
	var objects *ast.Term
	if r.program.foreign {
		objects = e.inventory()
	}
	report, err := r.program.run(ctx, r.code, withParams(e.input, r.params), objects, with)
	if err != nil || report == nil || report.Len() == 0 {
		return nil, err
	}
	var judgements []facts.Judgement
	err = report.Iter(func(t *ast.Term) error {
		j, given, err := judgement(r, t)
		if err == nil && !e.reads(r, j.Fact) {
			err = refusal{what: fmt.Sprintf("reports the fact %d, which is none of those that it reads; report the fact itself", j.Fact)}
		}
		if err == nil && j.Message == "" { // the rule gives a reason instead of a message
			text, ok := e.words.Finding(j.Reason, e.rows[j.Fact].Value, given, e.facts)
			switch {
			case !ok:
				err = refusal{what: fmt.Sprintf("reports the reason %s, which the catalogue of messages does not have for this row", strconv.Quote(shortened(j.Reason)))}
			case given != nil: // use the text as the rule's own message
				j.Reason, j.Message, j.Help = "", shortened(text.Headline), shortened(text.Help)
			default:
				j.Message, j.Details = text.Headline, text.Details
			}
		}
		judgements = append(judgements, j)
		return err
	})
	if err != nil {
		return nil, err
	}
	return judgements, nil
}

// reads reports whether the rule reads the list that contains the row with the given id.
func (e *evaluation) reads(r *rule, id int) bool {
	return id > 0 && id < len(e.rows) && e.rows[id].Value != nil && r.reads.has(e.rows[id].List)
}

// limitFindings drops a rule's findings that exceed the limit for a run.
func (e *evaluation) limitFindings(r *rule, found []facts.Judgement) ([]facts.Judgement, error) {
	room := maxFindings - e.tally.Findings[r.id]
	e.tally.Findings[r.id] += len(found)
	if len(found) <= room {
		return found, nil
	}
	sorting.Stable(found, compareJudgements)
	return found[:room], refusal{what: fmt.Sprintf("reports more than %d findings; the others are left out", maxFindings), limit: true}
}

// due returns the rules to evaluate and all fields that these rules read. It omits a rule if all
// lists that the rule reads are empty.
func (e *Engine) due(f *facts.Facts, tally *facts.Tally) ([]*rule, reads) {
	var due []*rule
	var read reads
	var present []string // lists that are not empty
	for _, list := range factLists(f) {
		if list.rows.Len() > 0 {
			present = append(present, list.name)
		}
	}
	for _, r := range e.rules {
		if !r.off && slices.ContainsFunc(present, r.reads.has) && !tally.HasFailed(r.id) {
			due = append(due, r)
			read.all = read.all || r.reads.all
			if read.paths == nil {
				read.paths = map[string]bool{}
			}
			for path, whole := range r.reads.paths {
				read.paths[path] = read.paths[path] || whole
			}
		}
	}
	return due, read
}

// compile compiles the given rules unless they have already been compiled.
func (e *Engine) compile(due []*rule) error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	var missing []*code
	for _, r := range due {
		if r.program == nil && !slices.Contains(missing, r.code) {
			missing = append(missing, r.code)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	p, err := compileTrusted(missing)
	for _, c := range missing {
		c.program = p
	}
	return err
}

// Limits on memory and CPU time. maxHeap is the maximum number of bytes that a rule may add to the
// heap. heapEvery is the interval between heap checks. grace is the CPU time that a rule has to
// stop after it was told to.
const (
	maxHeap   = 512 << 20
	heapEvery = 20 * time.Millisecond
	grace     = 2 * time.Second
)

// outcome is the result of evaluating a rule.
type outcome struct {
	found []facts.Judgement
	err   error
	// abandoned is set if the rule did not stop when it was told to. OPA checks for cancellation
	// only between steps, and a single step can run forever.
	abandoned bool
}

// isolated evaluates a custom rule. If the rule exceeds a limit or panics, only its own findings
// are lost.
func (e *evaluation) isolated(ctx context.Context, r *rule, m *meter) outcome {
	return isolate(ctx, m, func(ctx context.Context) ([]facts.Judgement, error) {
		return e.judge(ctx, r, func(q *topdown.Query) *topdown.Query {
			return q.WithQueryTracer(m).WithBuiltins(m.functions())
		})
	})
}

// isolate calls evaluate in a goroutine and recovers from panics.
func isolate(ctx context.Context, m *meter, evaluate func(ctx context.Context) ([]facts.Judgement, error)) outcome {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if panicked := recover(); panicked != nil {
				o = outcome{err: recovered(m, panicked)}
			}
			done <- o
		}()
		o.found, o.err = evaluate(ctx)
	}()
	return watch(ctx, done, m, cancel)
}

// recovered converts a panic to an error. A panic means that the rule exceeded a limit or triggered
// a bug in OPA.
func recovered(m *meter, panicked any) error {
	if refused, ok := panicked.(refusal); ok {
		return refused
	}
	return refusal{at: m.at, what: fmt.Sprintf("makes the Rego evaluator fail: %v", panicked)}
}

// watch waits for an evaluation to finish. It stops an evaluation that takes too much time or
// memory. If the evaluation does not stop, watch abandons it.
func watch(ctx context.Context, done <-chan outcome, m *meter, cancel func()) outcome {
	tick := time.NewTicker(heapEvery)
	defer tick.Stop()
	allowed := m.heap() + maxHeap
	expired := ctx.Done()
	var over <-chan struct{}
	for {
		select {
		case o := <-done:
			return o
		case <-over:
			return outcome{err: refusal{what: *m.stop.Load()}, abandoned: true}
		case <-expired:
			m.halt(tooLong)
		case <-tick.C:
			if m.heap() <= allowed {
				continue
			}
			m.halt("takes too much memory")
			cancel()
		}
		if over == nil {
			late, stop := cpu.WithLimit(context.Background(), grace)
			defer stop()
			over = late.Done()
		}
		expired = nil
	}
}

// halt makes the evaluation end at its next step. If halt is called more than once, the first
// reason counts.
func (m *meter) halt(why string) { m.stop.CompareAndSwap(nil, &why) }

// heap returns the total size of all heap objects in bytes, including garbage that has not been
// collected yet.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
