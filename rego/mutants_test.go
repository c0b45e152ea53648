package rego

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// mutant is a rule or library with one condition left out.
type mutant struct {
	file  string
	texts map[string]string // the module with its imports, importers and tests
	n     int               // index of the condition that is left out
}

// TestEveryConditionCounts leaves out each condition of each built-in rule and library in turn. A
// unit test must fail every time.
func TestEveryConditionCounts(t *testing.T) {
	t.Parallel()
	const few = 20
	for _, m := range trials.Sample(t, mutants(t, regoFilesHere(t)), few) {
		if left, survives := m.survives(t); survives {
			t.Errorf("%v: no unit test fails without %v; add one, or remove the condition", left.Location, left)
		}
	}
}

// conditionsMissed holds a rule, its tests and a library. No test notices if a condition on a line
// with the word missed is left out.
var conditionsMissed = map[string]string{
	"a/rule.rego": `package schedlint.rules["a"]

import data.schedlint.lonely

report contains row.id if {
	some row in input.pools
	row.max > 1
	not row.count == 7 # missed
	some zone in row.zones
	zone != "tested"
	every taint in row.taints { taint.key != "missed" }
	every taint in row.taints { taint.key != "tested" }
	large := [node | some node in row.nodes; node != "missed"]
	count(large) >= 0 # missed
	grade(row) in {1, 2} # missed
}

grade(row) := 1 if row.max > 2 # missed

else := 2 if row.max < 9 # missed

grade(_) := 3 if lonely.tested(0)
`,
	"a/rule_test.rego": `package schedlint.rules["a_test"]

import data.schedlint.rules.a

row := {"id": 1, "max": 2, "count": 1, "zones": ["z"], "taints": [], "nodes": []}

reported(changed) := n if {
	n := count(a.report) with input as {"pools": [object.union(row, changed)]}
}

test_reports if reported({}) == 1

test_max if reported({"max": 1}) == 0

test_zone if reported({"zones": ["tested"]}) == 0

test_taint if reported({"taints": [{"key": "tested"}]}) == 0
`,
	"lib/lonely.rego": `package schedlint.lonely

tested(n) if n > 0

untested(n) if n > 0 # missed
`,
}

// TestMutants checks that exactly the conditions that no unit test notices are found.
func TestMutants(t *testing.T) {
	t.Parallel()
	var got, want []string
	for _, m := range mutants(t, conditionsMissed) {
		if left, survives := m.survives(t); survives {
			got = append(got, fmt.Sprintf("%s:%d", m.file, left.Location.Row))
		}
	}
	for file, text := range conditionsMissed {
		for i, line := range strings.Split(text, "\n") {
			if strings.Contains(line, "missed") {
				want = append(want, fmt.Sprintf("%s:%d", file, i+1))
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if got = slices.Compact(got); !slices.Equal(got, want) {
		t.Errorf("unit tests miss %v, want %v", got, want)
	}
}

// mutants returns one mutant per condition of each rule and library, in order.
func mutants(t *testing.T, here map[string]string) (all []mutant) {
	t.Helper()
	imports := importsOf(here)
	for _, file := range slices.Sorted(maps.Keys(here)) {
		if isTest(file) {
			continue
		}
		parsed, err := parse(file, here[file], true)
		if err != nil {
			t.Fatal(err)
		}
		texts := testedWith(file, here, imports)
		for n := range conditionsOf(parsed) {
			all = append(all, mutant{file, texts, n})
		}
	}
	return all
}

// testedWith returns the files for testing a rule or library: the file itself, the tests of the rule, or of
// all rules that import the library directly or indirectly, and the libraries that any of these imports.
func testedWith(file string, here map[string]string, imports map[string][]string) map[string]string {
	changed, texts := map[string]bool{file: true}, map[string]string{}
	for range 3 { // libraries import each other at most two levels deep
		for name := range here {
			changed[name] = changed[name] || slices.ContainsFunc(imports[name], func(library string) bool { return changed[library] })
		}
	}
	for name, text := range here {
		if changed[filepath.Dir(name)+"/rule.rego"] || name == file {
			texts[name] = text
		}
	}
	for range 3 {
		for name := range maps.Clone(texts) {
			for _, library := range imports[name] {
				texts[library] = here[library]
			}
		}
	}
	return texts
}

// importsOf returns the libraries among the files that each file imports.
func importsOf(here map[string]string) map[string][]string {
	imports := map[string][]string{}
	for name, text := range here {
		for _, m := range libraryImport.FindAllStringSubmatch(text, -1) {
			if library := "lib/" + m[1] + ".rego"; here[library] != "" {
				imports[name] = append(imports[name], library)
			}
		}
	}
	return imports
}

var libraryImport = regexp.MustCompile(`(?m)^import data\.schedlint\.([a-z]+)\b`)

// survives reports whether the module without the condition still compiles and passes all unit
// tests.
func (m mutant) survives(t *testing.T) (left *ast.Expr, survives bool) {
	t.Helper()
	modules := map[string]*ast.Module{}
	for name, text := range m.texts {
		parsed, err := parse(name, text, true)
		if err != nil {
			t.Fatal(err)
		}
		modules[name] = parsed
	}
	left = leaveOut(modules[m.file], m.n)
	c := ast.NewCompiler()
	if c.Compile(modules); c.Failed() {
		return left, false
	}
	var tests []*ast.Module
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		if isTest(name) {
			tests = append(tests, modules[name])
		}
	}
	return left, (&program{compiler: c}).passes(t.Context(), tests)
}

// TestTooManyConditions checks that too many conditions are reported before any of them is tried.
func TestTooManyConditions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all := map[string]string{"rule.rego": head + body}
	for i := range 3 {
		all[fmt.Sprintf("%d.rego", i)] = fmt.Sprintf("package team.lib%d\n\nx if {\n%s}\n", i, strings.Repeat("\tinput.a\n", maxMutants/2))
	}
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, err := LoadMutants(UnitOptions{Dirs: []string{dir}})
	if err == nil || !strings.Contains(err.Error(), "conditions; at most 2000 are tried in a run, so name fewer folders") {
		t.Error(err)
	}
}
