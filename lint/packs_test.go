package lint_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	oparego "github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// paramsLine matches a comment of a fixture with the parameters of its rule.
var paramsLine = regexp.MustCompile(`(?m)^# params: (.*)$`)

// alone loads one rule of a pack, or a template under its own name, and no other.
func alone(t *testing.T, rule *diag.Rule, text []byte) *rego.Engine {
	t.Helper()
	params := rego.Values{Values: map[string]any{}}
	if m := paramsLine.FindSubmatch(text); m != nil {
		if err := json.Unmarshal(m[1], &params.Values); err != nil {
			t.Fatalf("params: %v", err)
		}
	}
	o := rego.Options{Rules: rules.FS, Packs: []string{rule.Pack}, Params: map[string]rego.Values{rule.ID: params}}
	id := rule.ID
	if rule.Template {
		id = "own-" + rule.ID
		o.Params, o.Instances = nil, []rego.Instance{{ID: id, Use: rule.ID, Params: params, Place: "fixture"}}
	}
	o.Off = func(other string) bool { return other != id }
	e, err := rego.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPackFixtures runs each rule of a pack, and each template, on its own fixtures. Bad, good and
// unknown fixtures give exactly the findings that their comments expect.
func TestPackFixtures(t *testing.T) {
	for _, rule := range linttest.Engine(t).All() {
		kind := rule.Pack
		if rule.Template {
			kind = "templates"
		}
		if kind == "" {
			continue
		}
		dir := filepath.Join("..", "fixtures", kind, strings.TrimPrefix(rule.ID, kind+"."))
		files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var seen []string
		for _, path := range files {
			file := filepath.Base(path)
			name, _, _ := strings.Cut(strings.TrimSuffix(file, ".yaml"), "-")
			if name == "nodes" {
				continue
			}
			seen = append(seen, name)
			t.Run(rule.ID+"/"+file, func(t *testing.T) { packFixture(t, &rule, dir, file) })
		}
		for _, name := range []string{"bad", "good", "unknown"} {
			if !slices.Contains(seen, name) {
				t.Errorf("%s has no fixture %s.yaml", dir, name)
			}
		}
	}
}

// libraries returns the modules that rules import.
func libraries(t *testing.T) []func(*oparego.Rego) {
	t.Helper()
	names, err := filepath.Glob("../rego/lib/*.rego")
	if err != nil || len(names) == 0 {
		t.Fatal("no library", err)
	}
	var all []func(*oparego.Rego)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, oparego.Module(name, string(text)))
	}
	return all
}

// underPlainOPA returns the number of findings that a rule reports when plain OPA evaluates it on
// the output of the facts command. That output has all facts, while lint builds only those that the
// rule reads.
func underPlainOPA(t *testing.T, o lint.Options, id, source string, params []byte) (found int) {
	t.Helper()
	d, err := lint.Facts(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Contexts {
		var input map[string]any
		if err := util.UnmarshalJSON(c.Facts.JSON(), &input); err != nil {
			t.Fatal(err)
		}
		if params != nil {
			var values any
			if err := util.UnmarshalJSON(params, &values); err != nil {
				t.Fatal(err)
			}
			input["params"] = values
		}
		query := oparego.New(append(libraries(t),
			oparego.Query("count(data.schedlint.rules["+strconv.Quote(id)+"].report)"), oparego.Module("rule.rego", source), oparego.Input(input))...)
		results, err := query.Eval(context.Background())
		if err != nil || len(results) != 1 {
			t.Fatal(results, err)
		}
		n, err := results[0].Expressions[0].Value.(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		found += int(n)
	}
	return found
}

// nodesLine matches a comment of a fixture that names its file of nodes; the default is
// nodes.yaml.
var nodesLine = regexp.MustCompile(`(?m)^# nodes: (\S+)$`)

func packFixture(t *testing.T, rule *diag.Rule, dir, file string) {
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	nodes := "nodes.yaml"
	if m := nodesLine.FindSubmatch(text); m != nil {
		nodes = string(m[1])
	}
	var topology []string
	if _, err := os.Stat(filepath.Join(dir, nodes)); err == nil {
		topology = []string{nodes}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	policy := alone(t, rule, text)
	options := lint.Options{
		Dir: abs, Root: abs, Paths: []string{file}, Topology: topology, Policy: policy, Survive: linttest.Survive(text), Today: "2026-11-21",
		Level: func(string) diag.Level { return diag.LevelError },
	}
	report, err := lint.Run(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	id := rule.ID
	if rule.Template {
		id = "own-" + id
	}
	params, err := policy.Params(id)
	if err != nil {
		t.Fatal(err)
	}
	if got := underPlainOPA(t, options, rule.ID, policy.Source(rule.ID), params); got != len(report.Diagnostics) {
		t.Errorf("plain OPA reports %d findings on the facts of the facts command, schedlint %d", got, len(report.Diagnostics))
	}
	for i := range report.Diagnostics {
		report.Diagnostics[i].Rule = strings.TrimPrefix(report.Diagnostics[i].Rule, "own-")
	}
	if len(report.Failures) > 0 {
		t.Errorf("the run is incomplete: %v", report.Failures)
	}
	compare(t, file, text, report)
	if found := slices.ContainsFunc(report.Diagnostics, func(d diag.Diagnostic) bool { return d.Rule == rule.ID }); strings.HasPrefix(file, "bad") && !found {
		t.Errorf("%s does not fire on its own fixture", rule.ID)
	}
}
