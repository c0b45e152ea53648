package rego

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
)

// DefaultDeadline is far beyond what rules need that only look at their facts.
const DefaultDeadline = 30 * time.Second

// Engine holds loaded rules. It may be used by several goroutines.
type Engine struct {
	rules    []*rule // sorted by id
	ids      []string
	deadline time.Duration
	// steps is the budget of a rule of the user's own in a run.
	steps   int64
	words   message.Catalogue
	modules []*module // of the user's own, for whoever compares engines

	mutex sync.Mutex // guards the programs of rules
	// endless is set once a rule of the user's own goes on although it was told to
	// stop: no other one is evaluated beside it.
	endless atomic.Bool
}

// Load reads the rules. Those of the user's own are type-checked against the
// facts and compiled. The error is about all that is wrong with them.
func Load(opts Options) (*Engine, error) {
	e := &Engine{deadline: cmp.Or(opts.Deadline, DefaultDeadline), steps: maxSteps, words: message.NewCatalogue()}
	own, err := loadOwn(opts.Dirs, opts.Shown)
	if err != nil {
		return nil, err
	}
	e.modules = own
	if err := e.adopt(own); err != nil {
		return nil, err
	}
	builtin, err := loadBuiltin(opts.Rules)
	if err != nil {
		return nil, err
	}
	for _, r := range builtin {
		if e.find(r.id) == nil { // a rule of the user's own replaces the built-in
			e.rules = append(e.rules, r)
		}
	}
	slices.SortFunc(e.rules, func(a, b *rule) int { return cmp.Compare(a.id, b.id) })
	for _, r := range e.rules {
		r.off = opts.Off != nil && opts.Off(r.id)
		e.ids = append(e.ids, r.id)
	}
	return e, nil
}

// adopt compiles the modules of the user's own and takes their rules in.
func (e *Engine) adopt(own []*module) error {
	if len(own) == 0 {
		return nil
	}
	p, err := inTime(e.deadline, own)
	if err != nil {
		return err
	}
	var shared reads // a rule may look at facts through any library
	for _, m := range own {
		if m.rule == nil {
			shared.add(readsOf(m.text))
		}
	}
	for _, m := range own {
		if m.rule != nil {
			m.rule.program = p
			m.rule.reads.add(shared)
			e.rules = append(e.rules, m.rule)
		}
	}
	return nil
}

func (e *Engine) find(id string) *rule {
	for _, r := range e.rules {
		if r.id == id {
			return r
		}
	}
	return nil
}

// Whole reports whether a rule of the user's own that is not off may look at a list of
// facts, or at a field of its rows as in workloads.terms.
func (e *Engine) Whole(path string) bool {
	return slices.ContainsFunc(e.rules, func(r *rule) bool { return r.own && !r.off && r.reads.has(path) })
}

// IDs gives the ids of all rules, those that are off included, sorted. The list is the
// engine's own and is not to be changed.
func (e *Engine) IDs() []string {
	return slices.Clip(e.ids)
}

// Rules gives the rules that are not off, sorted by id, with the level that
// their category stands for.
func (e *Engine) Rules() []diag.Rule {
	var rules []diag.Rule
	for _, r := range e.rules {
		if !r.off {
			rules = append(rules, r.meta())
		}
	}
	return rules
}

// Rule gives the rule with that id, be it off or not; false means that there is
// none.
func (e *Engine) Rule(id string) (diag.Rule, bool) {
	r := e.find(id)
	if r == nil {
		return diag.Rule{}, false
	}
	return r.meta(), true
}
