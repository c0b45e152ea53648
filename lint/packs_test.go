package lint_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/rego"
	"github.com/schedlint/schedlint/rules"
)

// paramsLine is a comment of a fixture with the parameters of its rule.
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

// TestPackFixtures runs each rule of a pack, and each template, over its own fixtures: bad
// ones give what their comments want and nothing else, good ones and unknown ones nothing
// but that.
func TestPackFixtures(t *testing.T) {
	for _, rule := range engine(t).All() {
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

// nodesLine is a comment of a fixture with its file of nodes, nodes.yaml unless it says so.
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
	report, err := lint.Run(context.Background(), lint.Options{
		Dir: abs, Root: abs, Paths: []string{file}, Topology: topology, Policy: alone(t, rule, text), Survive: survive(text), Today: "2026-11-21",
		Level: func(string) diag.Level { return diag.LevelError },
	})
	if err != nil {
		t.Fatal(err)
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
