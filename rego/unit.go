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
	"github.com/schedlint/schedlint/lint/facts"
)

// UnitOptions selects the unit tests of rules to run.
type UnitOptions struct {
	// Dirs and Shown are the same as in Options. The files *_test.rego hold the tests.
	Dirs  []string
	Shown func(dir string) string
	// Run selects tests by package and name; nil selects all.
	Run *regexp.Regexp
	// Print receives what rules and tests print; nil drops it.
	Print io.Writer
}

// UnitTest is the result of one test.
type UnitTest struct {
	// Package is the package of the test without data, Name its rule, File and Line its place.
	Package, Name, File string
	Line                int
	// Failure says why it failed, "" if it passed.
	Failure string
}

// Uncovered is an expression of a rule that no test has evaluated.
type Uncovered struct {
	File string
	Line int
}

// RunUnitTests runs the unit tests of rules: every rule test_... in files *_test.rego. A test
// passes if it is defined and not false. The error is about rules or tests that do not load. Each
// test has the budget of a rule.
func RunUnitTests(ctx context.Context, o UnitOptions) (tests []UnitTest, uncovered []Uncovered, err error) {
	own, err := loadOwn(Options{Dirs: o.Dirs, Shown: o.Shown})
	if err != nil {
		return nil, nil, err
	}
	units, err := loadTests(o.Dirs, o.Shown)
	if err != nil {
		return nil, nil, err
	}
	if len(units) == 0 {
		return nil, nil, nil
	}
	var parsed []*ast.Module
	for _, m := range units {
		parsed = append(parsed, m.parsed)
	}
	if err := join(testedFacts(parsed...)); err != nil {
		return nil, nil, err
	}
	p, err := compileWithin(DefaultDeadline, compilation{own: own, tests: units})
	if err != nil {
		return nil, nil, err
	}
	seen := coverage{}
	for _, m := range units {
		for _, r := range testsIn(m.parsed) {
			t := UnitTest{Package: strings.TrimPrefix(m.parsed.Package.Path.String(), "data."), Name: nameOf(r), File: m.file, Line: r.Location.Row}
			if o.Run != nil && !o.Run.MatchString(t.Package+"."+t.Name) {
				continue
			}
			if err := p.test(ctx, m.parsed, t.Name, o.Print, seen); err != nil {
				t.Failure = err.Error()
			}
			tests = append(tests, t)
		}
	}
	return tests, seen.missing(own), ctx.Err()
}

// loadTests reads the files with tests.
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

// isTest reports whether a file holds tests.
func isTest(name string) bool { return strings.HasSuffix(name, "_test.rego") }

// testsIn returns the rules of a module that are tests, the first of each name.
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

// testCapabilities returns the functions that tests, and rules under test, may call: those of rules
// and print.
func testCapabilities() *ast.Capabilities {
	c := *capabilities()
	c.Builtins = append(slices.Clone(c.Builtins), ast.Print, ast.InternalPrint)
	return &c
}

// test evaluates one test, with the limits of a custom rule.
func (p *program) test(ctx context.Context, of *ast.Module, name string, out io.Writer, seen coverage) error {
	ctx, cancel := cpu.WithLimit(ctx, DefaultDeadline)
	defer cancel()
	m := newMeter(0, maxSteps)
	err := isolate(ctx, m, func(ctx context.Context) ([]facts.Judgement, error) {
		held := false
		ref := append(slices.Clone(of.Package.Path), ast.StringTerm(name))
		err := p.query(ctx, ast.NewTerm(ref), func(q *topdown.Query) *topdown.Query {
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

// printer writes what rules print, each line after its place.
type printer struct{ to io.Writer }

var _ print.Hook = printer{}

// Print implements print.Hook.
func (p printer) Print(c print.Context, text string) error {
	_, err := fmt.Fprintf(p.to, "%s%s\n", place(c.Location), strings.ToValidUTF8(text, "\ufffd"))
	return err
}

// coverage records the lines of rules that tests have evaluated. It is a tracer of OPA.
type coverage map[[2]any]bool

var _ topdown.QueryTracer = coverage(nil)

// Enabled implements topdown.QueryTracer.
func (l coverage) Enabled() bool { return true }

// Config implements topdown.QueryTracer.
func (l coverage) Config() topdown.TraceConfig { return topdown.TraceConfig{} }

// TraceEvent records what is evaluated.
func (l coverage) TraceEvent(e topdown.Event) {
	if e.Location != nil && (e.Op == topdown.EvalOp || e.Op == topdown.ExitOp) {
		l[[2]any{e.Location.File, e.Location.Row}] = true
	}
}

// missing returns the lines of rules with an expression that was not evaluated.
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
	slices.SortFunc(all, func(a, b Uncovered) int { return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return slices.Compact(all)
}
