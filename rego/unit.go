package rego

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/print"

	"github.com/schedlint/schedlint/lint/cpu"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/lists"
	"github.com/schedlint/schedlint/lint/sorting"
)

// UnitOptions selects which unit tests to run.
type UnitOptions struct {
	// Dirs and Shown have the same meaning as in Options. Tests are in files named *_test.rego.
	Dirs  []string
	Shown func(dir string) string
	// Run selects tests by package and name. If it is nil, all tests run.
	Run *regexp.Regexp
	// Print receives the output of print calls in rules and tests. If it is nil, the output is
	// discarded.
	Print io.Writer
}

// UnitTest is the result of one unit test.
type UnitTest struct {
	// Package is the test's package without the data prefix, and Name is the name of the test rule.
	// File and Line give the position of that rule.
	Package, Name, File string
	Line                int
	// Failure explains why the test failed. It is empty if the test passed.
	Failure string

	of *ast.Module
}

// Uncovered is the position of a rule expression that no test has evaluated.
type Uncovered struct {
	File string
	Line int
}

// units holds compiled rules and their unit tests.
type units struct {
	own, tests []*module
	program    *program // nil if there are no tests
}

// loadUnits loads and compiles rules together with their unit tests. It returns an error if any
// rule or test fails to load.
func loadUnits(o UnitOptions) (u units, err error) {
	if u.own, err = loadOwn(Options{Dirs: o.Dirs, Shown: o.Shown}); err != nil {
		return u, err
	}
	if u.tests, err = loadTests(o.Dirs, o.Shown); err != nil || len(u.tests) == 0 {
		return u, err
	}
	parsed := lists.Of(u.tests, func(m *module) *ast.Module { return m.parsed })
	if err := join(testedFacts(parsed...)); err != nil {
		return u, err
	}
	u.program, err = compileWithin(DefaultDeadline, compilation{own: u.own, tests: u.tests})
	return u, err
}

// all returns all tests that the options select, without results.
func (u *units) all(o UnitOptions) (tests []UnitTest) {
	for _, m := range u.tests {
		for _, r := range testsIn(m.parsed) {
			t := UnitTest{Package: strings.TrimPrefix(m.parsed.Package.Path.String(), "data."), Name: nameOf(r), File: m.file, Line: r.Location.Row, of: m.parsed}
			if o.Run == nil || o.Run.MatchString(t.Package+"."+t.Name) {
				tests = append(tests, t)
			}
		}
	}
	return tests
}

// RunUnitTests runs the unit tests of rules. Every rule named test_... in a *_test.rego file is a
// test. A test passes if its value is defined and not false. Each test has the same step budget as
// a custom rule. RunUnitTests returns an error if any rule or test fails to load.
func RunUnitTests(ctx context.Context, o UnitOptions) (tests []UnitTest, uncovered []Uncovered, err error) {
	u, err := loadUnits(o)
	if err != nil || u.program == nil {
		return nil, nil, err
	}
	seen := coverage{}
	tests = u.all(o)
	for i := range tests {
		if err := u.program.test(ctx, tests[i].of, tests[i].Name, o.Print, seen); err != nil {
			tests[i].Failure = err.Error()
		}
	}
	return tests, seen.missing(u.own), ctx.Err()
}

// IdleTests returns the unit tests that use no rule and no library, not even through other rules of
// the tests. No change of a rule can make such a test fail. IdleTests returns an error if any rule or
// test fails to load.
func IdleTests(o UnitOptions) (idle []UnitTest, err error) {
	u, err := loadUnits(o)
	if err != nil || u.program == nil {
		return nil, err
	}
	own := lists.SetOf(u.own, func(m *module) string { return m.file })
	for _, t := range u.all(o) {
		ref := append(slices.Clone(t.of.Package.Path), ast.StringTerm(t.Name))
		if !u.program.uses(ref, own) {
			idle = append(idle, t)
		}
	}
	return idle, nil
}

// uses reports whether the rules at a reference depend on a rule in one of the given files.
func (p *program) uses(ref ast.Ref, files map[string]bool) bool {
	seen := map[*ast.Rule]bool{}
	left := p.compiler.GetRules(ref)
	for len(left) > 0 {
		r := left[len(left)-1]
		left = left[:len(left)-1]
		if seen[r] {
			continue
		}
		if seen[r] = true; files[r.Location.File] {
			return true
		}
		for of := range p.compiler.Graph.Dependencies(r) {
			if of, ok := of.(*ast.Rule); ok {
				left = append(left, of)
			}
		}
	}
	return false
}

// loadTests reads and parses the test files in the given folders and their subfolders.
func loadTests(dirs []string, shown func(string) string) ([]*module, error) {
	var all []*module
	var errs []error
	for _, dir := range dirs {
		name := dir
		if shown != nil {
			name = shown(dir)
		}
		files, err := regoFiles(dir, name, isTest)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, f := range files {
			parsed, err := parseWith(f.name, f.text, true, testCapabilities())
			if err != nil {
				errs = append(errs, err)
				continue
			}
			all = append(all, &module{file: f.name, text: f.text, parsed: parsed})
		}
	}
	return all, join(errs)
}

func isTest(name string) bool { return strings.HasSuffix(name, "_test.rego") }

// testsIn returns the first definition of each test in a module.
func testsIn(m *ast.Module) []*ast.Rule {
	var all []*ast.Rule
	seen := map[string]bool{}
	for _, r := range m.Rules {
		if name := nameOf(r); strings.HasPrefix(name, "test_") && !seen[name] && len(r.Head.Args) == 0 {
			seen[name] = true
			all = append(all, r)
		}
	}
	return all
}

func nameOf(r *ast.Rule) string {
	name, _ := r.Head.Ref()[0].Value.(ast.Var)
	return string(name)
}

// testCapabilities returns the functions that tests and tested rules may call. In addition to the
// functions for rules, it includes print.
func testCapabilities() *ast.Capabilities {
	c := *capabilities()
	c.Builtins = append(slices.Clone(c.Builtins), ast.Print, ast.InternalPrint)
	return &c
}

// test runs one test with the limits of a custom rule. It returns nil if the test passes.
func (p *program) test(ctx context.Context, of *ast.Module, name string, out io.Writer, seen coverage) error {
	ctx, cancel := cpu.WithLimit(ctx, DefaultDeadline)
	defer cancel()
	m := newMeter(0, maxSteps)
	err := isolate(ctx, m, func(ctx context.Context) ([]facts.Judgement, error) {
		held := false
		ref := append(slices.Clone(of.Package.Path), ast.StringTerm(name))
		err := p.query(ctx, ast.NewTerm(ref), nil, func(q *topdown.Query) *topdown.Query {
			if out != nil {
				q = q.WithPrintHook(printer{out})
			}
			return q.WithQueryTracer(m).WithQueryTracer(seen).WithBuiltins(m.functions())
		}, func(result *ast.Term) { held = held || !result.Equal(ast.InternedTerm(false)) })
		if err == nil && !held {
			err = errors.New("the test does not hold")
		}
		return nil, err
	}).err
	var failed *topdown.Error
	var refused refusal
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("%s%w", place(refused.at), err)
	case errors.As(err, &failed):
		return fmt.Errorf("%s%s", place(failed.Location), failed.Message)
	}
	return err
}

// printer writes the output of print calls. Each call becomes one line that starts with the call's
// position.
type printer struct{ to io.Writer }

var _ print.Hook = printer{}

// Print implements print.Hook.
func (p printer) Print(c print.Context, text string) error {
	_, err := fmt.Fprintf(p.to, "%s%s\n", place(c.Location), strings.ToValidUTF8(text, "\ufffd"))
	return err
}

// coverage is an OPA tracer that records which lines have been evaluated.
type coverage map[[2]any]bool

var _ topdown.QueryTracer = coverage(nil)

// Enabled implements topdown.QueryTracer.
func (l coverage) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (l coverage) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent records the line of each evaluated expression.
func (l coverage) TraceEvent(e topdown.Event) {
	if e.Location != nil && (e.Op == topdown.EvalOp || e.Op == topdown.ExitOp) {
		l[[2]any{e.Location.File, e.Location.Row}] = true
	}
}

// missing returns the lines with expressions that have not been evaluated.
func (l coverage) missing(own []*module) []Uncovered {
	var all []Uncovered
	for _, m := range own {
		ast.WalkExprs(m.parsed, func(e *ast.Expr) bool {
			if at := e.Location; at != nil && !l[[2]any{at.File, at.Row}] {
				all = append(all, Uncovered{m.file, at.Row})
			}
			return false
		})
	}
	sorting.Stable(all, func(a, b Uncovered) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return slices.Compact(all)
}

// maxMutants is the maximum number of conditions to remove in a run. For each condition, the rules
// are compiled and tested again.
const maxMutants = 2_000

// Condition is an expression in a rule or library that can be removed. An expression that declares
// variables cannot be removed, so it is not a condition.
type Condition struct {
	File string
	Line int
	// Text is the condition's source on one line.
	Text string
	// Rule is the rule's id, or "" if the condition is in a library.
	Rule string
	// Reason is the reason given in METADATA for exempting the condition from mutation tests. It
	// may be empty.
	Reason string

	n int // index of the condition in its file
}

// Mutants holds custom rules and their unit tests. Mutation tests remove the rules' conditions, one
// at a time.
type Mutants struct {
	own, tests []*module
	conditions []Condition
}

// LoadMutants loads rules and tests. It ignores the Run and Print options. It returns an error if a
// file fails to load, if METADATA exempts a condition that does not exist, or if there are too many
// conditions.
func LoadMutants(o UnitOptions) (*Mutants, error) {
	own, err := loadOwn(Options{Dirs: o.Dirs, Shown: o.Shown})
	if err != nil {
		return nil, err
	}
	tests, err := loadTests(o.Dirs, o.Shown)
	if err != nil {
		return nil, err
	}
	m := &Mutants{own: own, tests: tests}
	var errs []error
	for _, of := range own {
		if of.locked {
			continue // users do not add tests to vendored rules
		}
		found, wrong := of.conditions()
		m.conditions, errs = append(m.conditions, found...), append(errs, wrong...)
	}
	if n := len(m.conditions); n > maxMutants {
		errs = append(errs, fmt.Errorf("the rules have %d conditions; at most %d are tried in a run, so name fewer folders", n, maxMutants))
	}
	return m, join(errs)
}

// Conditions returns the conditions in all rules and libraries that are not vendored, in file
// order.
func (m *Mutants) Conditions() []Condition { return slices.Clone(m.conditions) }

// Noticed reports whether leaving out a condition breaks anything: either the rules no longer
// compile, or a unit test fails. Each test has the same step budget as a custom rule.
func (m *Mutants) Noticed(ctx context.Context, c Condition) bool {
	own := slices.Clone(m.own)
	i := slices.IndexFunc(own, func(of *module) bool { return of.file == c.File })
	mutant, errs := newModule(c.File, own[i].text)
	if len(errs) > 0 {
		return true // it parsed before, so this can only fail for lack of memory or time
	}
	leaveOut(mutant.parsed, c.n)
	own[i] = mutant
	p, err := compileWithin(DefaultDeadline, compilation{own: own, tests: m.tests, mutant: true})
	if err != nil {
		return true
	}
	tests := lists.Of(m.tests, func(of *module) *ast.Module { return of.parsed })
	return !p.passes(ctx, tests)
}

// passes reports whether all tests in the given modules pass.
func (p *program) passes(ctx context.Context, tests []*ast.Module) bool {
	for _, of := range tests {
		for _, r := range testsIn(of) {
			if p.test(ctx, of, nameOf(r), nil, coverage{}) != nil {
				return false
			}
		}
	}
	return true
}

// conditions returns a module's conditions, together with the reasons for exempting them from
// mutation tests. It returns an error for each exemption of a condition that does not exist.
func (m *module) conditions() (all []Condition, errs []error) {
	said, errs := m.untested()
	for n, e := range conditionsOf(m.parsed) {
		c := Condition{File: m.file, Line: e.Location.Row, Text: oneLine(string(e.Location.Text)), n: n}
		if m.rule != nil {
			c.Rule = m.rule.id
		}
		for i := range said {
			if said[i].condition == c.Text {
				c.Reason, said[i].met = said[i].reason, true
			}
		}
		all = append(all, c)
	}
	for _, u := range said {
		if !u.met {
			errs = append(errs, fmt.Errorf("%s:%d: METADATA has custom.untested with %q, which is not a condition in this file; copy its text exactly, or remove the entry",
				m.file, u.line, cut(u.condition)))
		}
	}
	return all, errs
}

// conditionsOf returns all expressions in a module that do not declare variables, in order. They
// include those inside comprehensions and "every" expressions.
func conditionsOf(m *ast.Module) (all []*ast.Expr) {
	ast.WalkBodies(m, func(body ast.Body) bool {
		for _, e := range body {
			_, declares := e.Terms.(*ast.SomeDecl)
			term, ok := e.Terms.(*ast.Term)
			alwaysTrue := ok && term.Equal(ast.InternedTerm(true)) // the parser adds this body to rules without one
			if !e.Generated && !declares && !e.IsAssignment() && !alwaysTrue {
				all = append(all, e)
			}
		}
		return false
	})
	return all
}

// leaveOut replaces a condition with an expression that is always true, and returns the condition.
func leaveOut(m *ast.Module, n int) (left *ast.Expr) {
	e := conditionsOf(m)[n]
	left = e.Copy()
	e.Terms, e.Negated, e.With = named(m, e), false, nil
	return left
}

// named returns an array of all declared variables that an expression uses. The array replaces a
// removed condition, because OPA rejects unused variables. As an expression, an array is always
// true.
func named(m *ast.Module, e *ast.Expr) *ast.Term {
	declared := ast.NewVarSet()
	gather := func(t *ast.Term) {
		ast.WalkVars(t, func(v ast.Var) bool {
			declared.Add(v)
			return false
		})
	}
	ast.WalkExprs(m, func(e *ast.Expr) bool {
		switch terms := e.Terms.(type) {
		case *ast.SomeDecl:
			for _, symbol := range terms.Symbols {
				if in, ok := symbol.Value.(ast.Call); ok { // the call holds the function, the declared terms and the domain
					symbol = ast.ArrayTerm(in[1 : len(in)-1]...)
				}
				gather(symbol)
			}
		case *ast.Every:
			gather(ast.ArrayTerm(slices.DeleteFunc([]*ast.Term{terms.Key, terms.Value}, func(t *ast.Term) bool { return t == nil })...))
		}
		return false
	})
	var found []*ast.Term
	for _, v := range e.Vars(ast.VarVisitorParams{SkipClosures: true, SkipRefCallHead: true}).Intersect(declared).Sorted() {
		found = append(found, ast.NewTerm(v))
	}
	return ast.ArrayTerm(found...)
}

// Altered describes changes to custom rules and libraries that may hide findings. It lists modules
// that were removed or edited and modules that are no longer locked. It lists a new module only if
// the module replaces a built-in rule, because other new rules only add findings. If before is nil,
// all modules count as new.
func (e *Engine) Altered(before *Engine) []diag.Silence {
	had, has := map[string]*module{}, byPackage(e.modules)
	if before != nil {
		had = byPackage(before.modules)
	}
	var all []diag.Silence
	for name, was := range had {
		if has[name] == nil {
			all = append(all, diag.Silence{Message: was.name() + " is gone"})
		}
	}
	for name, is := range has {
		text := ""
		switch was := had[name]; {
		case was != nil && was.text != is.text:
			text = "has changed, and may find less"
		case was != nil && was.locked && !is.locked:
			text = "is not locked any more, so it may change without a word"
		case was == nil && is.replaces():
			text = "takes the place of the built-in one"
		default:
			continue
		}
		at := diag.Span{File: is.file, Line: 1, Column: 1, EndLine: 1, EndColumn: 2}
		all = append(all, diag.Silence{Message: is.name() + " " + text, Location: at})
	}
	sorting.Stable(all, func(a, b diag.Silence) int { return cmp.Compare(a.Message, b.Message) })
	return all
}

func byPackage(modules []*module) map[string]*module {
	all := map[string]*module{}
	for _, m := range modules {
		all[m.parsed.Package.Path.String()] = m
	}
	return all
}

// name returns the module's name for use in messages.
func (m *module) name() string {
	if m.rule != nil {
		return "rule " + m.rule.id
	}
	return fmt.Sprintf("library %s", m.parsed.Package.Path)
}

// replaces reports whether the module is a rule that replaces a built-in rule.
func (m *module) replaces() bool { return m.rule != nil && m.rule.notes().Replaces != "" }

// untested is a condition that METADATA exempts from mutation tests, with the reason.
type untested struct {
	condition, reason string
	line              int  // line of the METADATA comment
	met               bool // whether the condition exists in the file
}

const untestedForm = `a list such as [{condition: "row.pods > 1", reason: "the facts have no such row"}]`

// maxUntested is the maximum number of exempt conditions in a module.
const maxUntested = 50

// untestedOf parses the value of custom.untested.
func untestedOf(value any) (all []untested, err error) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 || len(list) > maxUntested {
		return nil, fmt.Errorf("%s; expected %s of at most %d", found(value), untestedForm, maxUntested)
	}
	for _, v := range list {
		entry, _ := v.(map[string]any)
		condition, _ := entry["condition"].(string)
		reason, _ := entry["reason"].(string)
		if len(entry) != 2 || strings.TrimSpace(condition) == "" || strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("with %s; expected %s", found(v), untestedForm)
		}
		all = append(all, untested{condition: oneLine(condition), reason: oneLine(reason)})
	}
	return all, nil
}

// untested returns the conditions that a module's METADATA exempts from mutation tests.
func (m *module) untested() ([]untested, []error) {
	a := packageAnnotation(m.parsed)
	if a == nil || a.Custom["untested"] == nil {
		return nil, nil
	}
	all, err := untestedOf(a.Custom["untested"])
	if err != nil {
		return nil, []error{fmt.Errorf("%s:%d: METADATA has custom.untested %w", m.file, a.Location.Row, err)}
	}
	for i := range all {
		all[i].line = a.Location.Row
	}
	return all, nil
}
