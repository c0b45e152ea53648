package rego

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/tester"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// mutant is a rule without one of its conditions.
type mutant struct {
	id, dir string
	n       int // which condition of the rule is left out
}

// spared are the conditions that no unit test can miss, by rule and text, and why they stay.
var spared = map[string]string{}

// TestEveryConditionCounts leaves out each condition of each built-in rule in turn: a unit
// test of the rule fails, or the condition is spared.
func TestEveryConditionCounts(t *testing.T) {
	t.Parallel()
	all, libraries := mutants(t), librariesHere(t)
	const few, mostSpared = 20, 5 // percent
	used := map[string]bool{}
	for _, m := range trials.Sample(t, all, few) {
		left, survives := m.survives(t, libraries)
		if !survives {
			continue
		}
		if name := m.id + ": " + left.String(); spared[name] == "" {
			t.Errorf("%s:%d: no unit test fails without %s; add one, or remove the condition", left.Location.File, left.Location.Row, left)
		} else {
			used[name] = true
		}
	}
	if len(spared)*100 > len(all)*mostSpared {
		t.Errorf("%d of %d conditions are spared, at most %d%% may be", len(spared), len(all), mostSpared)
	}
	for name := range spared {
		if !used[name] && !trials.Few(t) {
			t.Errorf("%s: a unit test fails without it, or it is gone; take it off the list", name)
		}
	}
}

// mutants are one for each condition of each rule, in order.
func mutants(t *testing.T) (all []mutant) {
	t.Helper()
	dirs := ruleFolders(t)
	for _, id := range slices.Sorted(maps.Keys(dirs)) {
		for n := range conditionsOf(moduleHere(t, filepath.Join("../rules", dirs[id], "rule.rego"))) {
			all = append(all, mutant{id, dirs[id], n})
		}
	}
	return all
}

// conditionsOf are the expressions of a module that bind nothing by their form, in order, those
// of comprehensions and of every included.
func conditionsOf(m *ast.Module) (all []*ast.Expr) {
	ast.WalkBodies(m, func(body ast.Body) bool {
		for _, e := range body {
			if !e.Generated && !declares(e) && !e.IsAssignment() && !alwaysTrue(e) {
				all = append(all, e)
			}
		}
		return false
	})
	return all
}

func declares(e *ast.Expr) bool {
	_, some := e.Terms.(*ast.SomeDecl)
	return some
}

// alwaysTrue reports whether an expression is the body that the parser gives to rules without one.
func alwaysTrue(e *ast.Expr) bool {
	term, ok := e.Terms.(*ast.Term)
	return ok && term.Equal(ast.InternedTerm(true))
}

// survives leaves out the condition, and reports whether the rule still compiles and all of
// its unit tests pass.
func (m mutant) survives(t *testing.T, libraries map[string]*ast.Module) (left *ast.Expr, survives bool) {
	t.Helper()
	rule := filepath.Join("../rules", m.dir, "rule.rego")
	test := filepath.Join("../rules", m.dir, "rule_test.rego")
	modules := map[string]*ast.Module{rule: moduleHere(t, rule), test: moduleHere(t, test)}
	maps.Copy(modules, libraries)
	e := conditionsOf(modules[rule])[m.n]
	left = e.Copy()
	e.Terms, e.Negated, e.With = named(modules[rule], e), false, nil
	c := ast.NewCompiler()
	if c.Compile(modules); c.Failed() {
		return left, false
	}
	results, err := tester.NewRunner().SetCompiler(c).SetModules(modules).RaiseBuiltinErrors(true).
		SetTimeout(DefaultDeadline).RunTests(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	survives = true
	for r := range results {
		survives = survives && r.Pass()
	}
	return left, survives
}

// named is an array of the variables that an expression shares with declarations, which is
// always true. OPA refuses a declared variable without a use.
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
				if in, ok := symbol.Value.(ast.Call); ok { // the function, what is declared, and the domain
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

// librariesHere are the modules that rules may import.
func librariesHere(t *testing.T) map[string]*ast.Module {
	t.Helper()
	names, err := filepath.Glob("lib/*.rego")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*ast.Module{}
	for _, name := range names {
		all[name] = moduleHere(t, name)
	}
	return all
}

func moduleHere(t *testing.T, name string) *ast.Module {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := parse(name, string(text), true)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
