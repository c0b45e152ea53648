package rego

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	oparego "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/message"
)

// TestShippedRulesHoldNoSentence checks that the message catalogue has the wording for all shipped
// rules and their libraries, and no wording that no rule uses.
func TestShippedRulesHoldNoSentence(t *testing.T) {
	var all strings.Builder
	for name, text := range regoFilesHere(t) {
		if isTest(name) {
			continue
		}
		m, err := parse(name, text, true)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(text)
		ast.WalkTerms(m, func(term *ast.Term) bool {
			switch v := term.Value.(type) {
			case ast.String:
				if strings.ContainsAny(string(v), " \n") {
					t.Errorf("%v: %v is a sentence; the words of a rule belong to lint/message", term.Location, term)
				}
			case ast.Ref:
				if s := v.String(); s == "sprintf" || s == "data.schedlint.result.finding" || s == "result.finding" {
					t.Errorf("%v: %v words a finding; name an entry of lint/message", term.Location, term)
				}
			}
			return false
		})
	}
	for reason := range message.NewCatalogue() {
		if !strings.Contains(all.String(), strconv.Quote(reason)) {
			t.Errorf("no rule reports %s", reason)
		}
	}
}

// TestRuleUnitsAreWorded runs the unit tests of all rules. The catalogue must have a wording for
// all values that they report, and each value must affect the wording for some of them.
func TestRuleUnitsAreWorded(t *testing.T) {
	var mutex sync.Mutex // unit tests run in parallel
	counts := map[string]map[string]bool{}
	words := message.NewCatalogue()
	worded := func(_ oparego.BuiltinContext, given *ast.Term) (*ast.Term, error) {
		mutex.Lock()
		defer mutex.Unlock()
		var j facts.Judgement
		var values message.Values
		if problem := finding(given, givens(&j, &values)); problem != "" {
			t.Errorf("%v: a finding %s", given, problem)
		}
		if values == nil {
			return given, nil
		}
		if _, ok := words.Finding(j.Reason, nil, values, nil); !ok {
			t.Errorf("%v: a value is missing, or of another type than its words want", given)
		}
		if counts[j.Reason] == nil {
			counts[j.Reason] = map[string]bool{}
		}
		for name := range values {
			others := maps.Clone(values)
			delete(others, name)
			_, ok := words.Finding(j.Reason, nil, others, nil)
			counts[j.Reason][name] = counts[j.Reason][name] || !ok
		}
		return given, nil
	}
	check := &ast.Builtin{Name: "test.worded", Decl: types.NewFunction(types.Args(types.A), types.A)}
	known, modules := capabilities(), map[string]*ast.Module{}
	known.Builtins = append(slices.Clip(known.Builtins), check)
	for name, text := range regoFilesHere(t) {
		if name == "lib/result.rego" {
			text = strings.Replace(text, `"given": given`, `"given": test.worded(given)`, 1)
		}
		m, err := parseWith(name, text, true, known)
		if err != nil {
			t.Fatal(err)
		}
		modules[name] = m
	}
	results, err := tester.NewRunner().SetModules(modules).RaiseBuiltinErrors(true).AddCustomBuiltins([]*tester.Builtin{{
		Decl: check, Func: oparego.Function1(&oparego.Function{Name: check.Name, Decl: check.Decl}, worded),
	}}).RunTests(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range results { // TestRuleUnits checks the results
	}
	const few = 40
	if len(counts) < few {
		t.Errorf("the unit tests report %d reasons with values, want at least %d", len(counts), few)
	}
	for reason, names := range counts {
		for name, counts := range names {
			if !counts {
				t.Errorf("%s: no words say %s", reason, name)
			}
		}
	}
}
