package rego

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
)

// DefaultDeadline is CPU time, far beyond what rules need that only read their facts.
const DefaultDeadline = 30 * time.Second

// Engine holds loaded rules. It is safe for concurrent use.
type Engine struct {
	rules    []*rule // sorted by id
	ids      []string
	packs    []string
	deadline time.Duration
	// steps is the budget of a custom rule in a run.
	steps   int64
	words   message.Catalogue
	modules []*module // of custom rules, kept to compare engines

	// conditions returns the conditions of the built-in rules. The result is cached.
	conditions func() necessary

	mutex sync.Mutex // guards the programs of rules
	// endless is set once a custom rule does not stop when asked to. No other custom rule is then
	// evaluated beside it.
	endless atomic.Bool
}

// Load reads the rules. Custom rules are type-checked against the facts and compiled. The error
// holds all problems of the rules.
func Load(opts Options) (*Engine, error) {
	e := &Engine{deadline: cmp.Or(opts.Deadline, DefaultDeadline), steps: maxSteps, words: message.NewCatalogue()}
	own, err := loadOwn(opts)
	if err != nil {
		return nil, err
	}
	builtin, err := loadBuiltin(opts.Rules)
	if err != nil {
		return nil, err
	}
	e.modules = own
	if err := join(replacements(own, builtin)); err != nil {
		return nil, err
	}
	if err := e.addCustom(own, opts.Without != nil); err != nil {
		return nil, err
	}
	for _, r := range builtin {
		if r.pack != "" && !slices.Contains(e.packs, r.pack) {
			e.packs = append(e.packs, r.pack)
		}
		if e.find(r.id) == nil { // no custom rule replaces it
			e.rules = append(e.rules, r)
		}
	}
	slices.Sort(e.packs)
	if err := e.instances(opts.Instances); err != nil {
		return nil, err
	}
	slices.SortFunc(e.rules, func(a, b *rule) int { return cmp.Compare(a.id, b.id) })
	for _, r := range e.rules {
		r.off = r.isTemplate() || opts.Off != nil && opts.Off(r.id) ||
			r.instance == nil && r.pack != "" && !slices.Contains(opts.Packs, r.pack)
		if !r.isTemplate() {
			e.ids = append(e.ids, r.id)
		}
	}
	if err := e.parameters(opts.Params, opts.Shared); err != nil {
		return nil, err
	}
	e.conditions = sync.OnceValue(e.bodies)
	return e, e.analysePacks()
}

// replacements requires a rule that replaces a built-in one to declare it, as a rule that has the
// same id by accident would silence the built-in one.
func replacements(own []*module, builtin []*rule) (errs []error) {
	var ids []string
	for _, r := range builtin {
		ids = append(ids, r.id)
	}
	for _, m := range own {
		if m.rule == nil {
			continue
		}
		id, replaces := m.rule.id, m.replaces()
		at := fmt.Sprintf("%s:%d", m.file, m.parsed.Package.Location.Row)
		switch exists := slices.Contains(ids, id); {
		case exists && !replaces:
			errs = append(errs, fmt.Errorf("%s: a built-in rule has the id %s; choose another id, or replace it with custom.replaces: %[2]s", at, id))
		case replaces && !exists:
			errs = append(errs, fmt.Errorf("%s: custom.replaces: no built-in rule has the id %s%s", at, id, near(id, ids)))
		}
	}
	return errs
}

// analysePacks analyses what the enabled rules of packs and templates read: whole lists of workloads cost
// more than the fields that they read.
func (e *Engine) analysePacks() error {
	var further []*code
	for _, r := range e.rules {
		if r.outsideCore() && !r.own && !r.off && !slices.Contains(further, r.code) {
			further = append(further, r.code)
		}
	}
	if len(further) == 0 {
		return nil
	}
	p, err := compileTrusted(further)
	if err != nil {
		return err
	}
	t := newTracer(p.compiler, factsNode())
	for _, c := range further {
		c.program = p
		c.reads, _ = t.module(p.compiler.Modules[c.file])
	}
	return nil
}

// addCustom compiles the custom modules and adds their rules. The argument mutant is set if a condition
// is left out.
func (e *Engine) addCustom(own []*module, mutant bool) error {
	if len(own) == 0 {
		return nil
	}
	p, err := compileWithin(e.deadline, compilation{own: own, mutant: mutant})
	if err != nil {
		return err
	}
	for _, m := range own {
		if m.rule != nil {
			m.rule.program = p
			m.rule.reads = p.reads[m]
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

// Whole reports whether an enabled rule outside the core (custom, in a pack or an instance) may
// read a list of facts, or a field of its rows such as workloads.terms.
func (e *Engine) Whole(path string) bool {
	return slices.ContainsFunc(e.rules, func(r *rule) bool { return r.outsideCore() && !r.off && r.reads.has(path) })
}

// Packs returns the names of the packs that exist, sorted.
func (e *Engine) Packs() []string { return slices.Clone(e.packs) }

// IDs returns the ids of all rules that may run, sorted, including those that are off but excluding
// templates. The list belongs to the engine and must not be changed.
func (e *Engine) IDs() []string {
	return slices.Clip(e.ids)
}

// Rules returns the rules that are not off, sorted by id, with the level of their category.
func (e *Engine) Rules() []diag.Rule {
	var rules []diag.Rule
	for _, r := range e.rules {
		if !r.off {
			rules = append(rules, r.meta())
		}
	}
	return rules
}

// All returns all rules, including templates and those that are off, sorted by id.
func (e *Engine) All() []diag.Rule {
	var rules []diag.Rule
	for _, r := range e.rules {
		rules = append(rules, r.meta())
	}
	return rules
}

// Rule returns the rule or template with that id, even if it is off; false means that there is
// none.
func (e *Engine) Rule(id string) (diag.Rule, bool) {
	r := e.find(id)
	if r == nil {
		return diag.Rule{}, false
	}
	return r.meta(), true
}

// File returns the file of a custom rule, as errors name it, or "" for any other rule.
func (e *Engine) File(id string) string {
	if r := e.find(id); r != nil && r.own && r.instance == nil {
		return r.file
	}
	return ""
}

// Vendored reports whether a rule is vendored: a lock pins its content.
func (e *Engine) Vendored(id string) bool {
	return slices.ContainsFunc(e.modules, func(m *module) bool { return m.rule != nil && m.rule.id == id && m.locked })
}

// Own reports whether a rule is custom, or an instance of a template in the configuration.
func (e *Engine) Own(id string) bool {
	r := e.find(id)
	return r != nil && (r.own || r.instance != nil)
}

// Level returns the level that a rule declares: off for a rule that does not run, "" for one that
// does not exist.
func (e *Engine) Level(id string) diag.Level {
	r := e.find(id)
	switch {
	case r == nil:
		return ""
	case r.off:
		return diag.LevelOff
	}
	return r.level()
}

// Runs reports whether a rule is evaluated.
func (e *Engine) Runs(id string) bool {
	r := e.find(id)
	return r != nil && !r.off
}
