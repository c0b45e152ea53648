package lint_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/schedlint/schedlint/fixtures/linttest"
	"github.com/schedlint/schedlint/fixtures/trials"
	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/facts"
	"github.com/schedlint/schedlint/lint/limits"
	"github.com/schedlint/schedlint/lint/render"
	kustomizer "github.com/schedlint/schedlint/lint/render/engine"
	"github.com/schedlint/schedlint/rego"
)

// run lints paths below dir, which is also the repository root.
func run(t testing.TB, dir string, topology []string, paths ...string) (*diag.Report, error) {
	t.Helper()
	return runFor(t, "", nil, dir, topology, paths...)
}

// runFor is like run, with a rule enabled that is off by default, and with losses that all
// workloads must survive.
func runFor(t testing.TB, rule string, survive []string, dir string, topology []string, paths ...string) (*diag.Report, error) {
	t.Helper()
	return runRendering(t, nil, rule, survive, dir, topology, paths...)
}

// runRendering is like runFor, with renders of directories below dir.
func runRendering(t testing.TB, renders []string, rule string, survive []string, dir string, topology []string, paths ...string) (*diag.Report, error) {
	t.Helper()
	e := linttest.Engine(t)
	abs, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []lint.Render
	for _, name := range renders {
		all = append(all, lint.Render{Chosen: config.Chosen{Name: name, Dir: name}, Root: render.Root{Confinement: abs, Dir: name}, Requested: true})
	}
	var settings config.Config
	for _, name := range paths {
		text, _ := os.ReadFile(filepath.Join(abs, name)) // a path may be a directory
		if m := kubernetesLine.FindSubmatch(text); m != nil {
			settings.Kubernetes = string(m[1])
		}
	}
	return lint.Run(context.Background(), lint.Options{
		Dir: abs, Root: abs, Paths: paths, Renders: all, Renderer: renderHere, Topology: topology, Policy: e, Survive: survive, Today: "2026-11-21", Config: &settings,
		Level: func(id string) diag.Level {
			r, _ := e.Rule(id)
			if id == rule && r.Level == diag.LevelOff {
				return diag.LevelNote
			}
			return r.Level
		},
	})
}

// renderHere renders in this process.
func renderHere(_ context.Context, roots []render.Root) []*render.Output {
	var outs []*render.Output
	for _, r := range roots {
		r.Left = limits.Render
		outs = append(outs, kustomizer.Build(r, "0123456789abcdef"))
	}
	return outs
}

// kubernetesLine matches a comment of a fixture that says which version of Kubernetes the cluster
// runs.
var kubernetesLine = regexp.MustCompile(`(?m)^# kubernetes: (\S+)$`)

var expectation = regexp.MustCompile(`# (want|because) "((?:[^"\\]|\\.)*)"((?: "(?:[^"\\]|\\.)*")*)`)

// expected is one comment in a fixture. It expects a finding that starts on its line, or a related
// location of a finding in the file.
type expected struct {
	line    int
	kind    string
	pattern *regexp.Regexp
	met     bool
}

func expectations(t *testing.T, text []byte) []expected {
	var all []expected
	for i, line := range bytes.Split(text, []byte("\n")) {
		for _, m := range expectation.FindAllSubmatch(line, -1) {
			for _, pattern := range regexp.MustCompile(`"((?:[^"\\]|\\.)*)"`).FindAllSubmatch(m[0], -1) {
				re, err := regexp.Compile(string(pattern[1]))
				if err != nil {
					t.Fatalf("line %d: %v", i+1, err)
				}
				all = append(all, expected{line: i + 1, kind: string(m[1]), pattern: re})
			}
		}
	}
	return all
}

// compare checks the findings in one file against its comments, in both directions.
func compare(t *testing.T, name string, text []byte, report *diag.Report) {
	t.Helper()
	compareAll(t, map[string][]byte{name: text}, report)
}

// compareAll is like compare, for the files of a tree. The message of a finding is followed by
// its details and, in brackets, the renders that have it.
func compareAll(t *testing.T, texts map[string][]byte, report *diag.Report) {
	t.Helper()
	wants := map[string][]expected{}
	for name, text := range texts {
		wants[name] = expectations(t, text)
	}
	for _, d := range report.Diagnostics {
		if _, ok := texts[d.Location.File]; !ok {
			t.Errorf("finding outside the files: %s:%d %s: %s", d.Location.File, d.Location.Line, d.Rule, d.Message)
			continue
		}
		said := d.Rule + ": " + linttest.Text(&d)
		if len(d.Renders) > 0 {
			said += " [" + strings.Join(d.Renders, " ") + "]"
		}
		if !meet(wants, "want", d.Location, said) {
			t.Errorf("%s:%d: unexpected %s", d.Location.File, d.Location.Line, said)
		}
		for _, r := range d.Related {
			meet(wants, "because", r.Location, r.Message)
		}
	}
	for name, all := range wants {
		for _, w := range all {
			if !w.met {
				t.Errorf("%s:%d: missing %s %q", name, w.line, w.kind, w.pattern)
			}
		}
	}
}

// meet marks what expects something at a place, and reports whether anything does.
func meet(wants map[string][]expected, kind string, at diag.Span, said string) (met bool) {
	for i := range wants[at.File] {
		if w := &wants[at.File][i]; w.kind == kind && w.line == at.Line && w.pattern.MatchString(said) {
			w.met, met = true, true
		}
	}
	return met
}

// TestRuleFixtures runs all rules on the fixtures of every rule. The bad fixture gives exactly the
// findings that its comments expect, and the good one gives none. The comments name rules and
// numbers. The wording is in one golden file.
func TestRuleFixtures(t *testing.T) {
	var messages strings.Builder
	left := 2 * len(linttest.Engine(t).Rules())
	for _, rule := range linttest.Engine(t).Rules() {
		for _, file := range []string{"bad.yaml", "good.yaml"} {
			t.Run(rule.ID+"/"+file, func(t *testing.T) {
				dir := filepath.Join("..", "fixtures", rule.ID)
				var topology []string
				if _, err := os.Stat(filepath.Join(dir, "nodes.yaml")); err == nil {
					topology = []string{"nodes.yaml"}
				}
				paths, renders := []string{file}, []string(nil)
				if root := strings.TrimSuffix(file, ".yaml"); isDir(filepath.Join(dir, root)) {
					paths, renders, file = nil, []string{root}, root+"/kustomization.yaml"
				}
				text, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				report, err := runRendering(t, renders, rule.ID, linttest.Survive(text), dir, topology, paths...)
				if err != nil {
					t.Fatal(err)
				}
				compare(t, file, text, report)
				if strings.HasPrefix(file, "bad") && !slices.ContainsFunc(report.Diagnostics, func(d diag.Diagnostic) bool { return d.Rule == rule.ID }) {
					t.Errorf("%s does not fire on its own fixture", rule.ID)
				}
				left--
				for _, d := range report.Diagnostics {
					fmt.Fprintf(&messages, "%s/%s:%d: %s: %s\n", rule.ID, d.Location.File, d.Location.Line, d.Rule, d.Message)
					for _, r := range d.Related {
						fmt.Fprintf(&messages, "  %d: %s\n", r.Location.Line, r.Message)
					}
				}
			})
		}
	}
	if left == 0 { // -run may select some of them
		golden(t, filepath.Join("..", "fixtures", "report", "messages.golden"), messages.String())
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// TestFixtureFoldersAreRules checks that each fixture folder belongs to a rule. Otherwise its
// fixtures would never run.
func TestFixtureFoldersAreRules(t *testing.T) {
	shared := []string{"apps", "charts", "clusters", "demo", "incidents", "kinds", "linttest", "models", "mutate", "oracle", "recorded", "renders", "report", "scripts", "seeds", "templates", "topology", "trials"}
	shared = append(shared, linttest.Engine(t).Packs()...)
	entries, err := os.ReadDir("../fixtures")
	if err != nil {
		t.Fatal(err)
	}
	e := linttest.Engine(t)
	for _, entry := range entries {
		if _, ok := e.Rule(entry.Name()); entry.IsDir() && !ok && !slices.Contains(shared, entry.Name()) {
			t.Errorf("fixtures/%s belongs to no rule", entry.Name())
		}
	}
}

// all requests every fact, as rules of a team's own do, and validates them against the schema.
type all struct {
	*rego.Engine
	t *testing.T
}

func (all) Whole(string) bool         { return true }
func (all) Wants(string, ...any) bool { return true }

var factsSchema = sync.OnceValue(func() *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(facts.Schema()))
	if err != nil {
		panic(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("facts.json", doc); err != nil {
		panic(err)
	}
	return c.MustCompile("facts.json")
})

func (a all) Evaluate(ctx context.Context, f *facts.Facts, tally *facts.Tally) ([]facts.Judgement, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(f.JSON()))
	if err != nil {
		a.t.Fatal(err)
	}
	if len(f.Documents) == 0 && len(f.Suppressions) == 0 { // the facts of a context
		if err := factsSchema().Validate(value); err != nil {
			a.t.Errorf("facts do not fit their schema: %v", err)
		}
	}
	return a.Engine.Evaluate(ctx, f, tally)
}

// TestHealthyFactsAreSpared runs spared on a large tree.
func TestHealthyFactsAreSpared(t *testing.T) {
	trials.Large(t)
	tree := t.TempDir()
	writeTree(t, tree)
	if !trials.Full(t) { // a quarter of the teams
		for i := 25; i < 100; i++ {
			if err := os.RemoveAll(filepath.Join(tree, fmt.Sprintf("team-%02d", i))); err != nil {
				t.Fatal(err)
			}
		}
	}
	nodes := filepath.Join(tree, "nodes.yaml")
	linttest.Put(t, nodes, nodes50)
	spared(t, tree, nodes)
}

// spared lints with and without the facts about healthy workloads, and checks that the built-in
// rules report nothing about such workloads.
func spared(t *testing.T, dir, topology string) {
	t.Helper()
	e := linttest.Engine(t)
	with := func(policy lint.Policy) string {
		report, err := lint.Run(context.Background(), lint.Options{
			Dir: dir, Root: dir, Paths: []string{"."}, Topology: []string{topology}, Policy: policy,
			Level: func(id string) diag.Level { r, _ := e.Rule(id); return r.Level },
		})
		if err != nil && !errors.Is(err, lint.ErrNothing) {
			t.Fatal(err)
		}
		return fmt.Sprint(report.Diagnostics)
	}
	if with(e) != with(all{e, t}) {
		t.Errorf("%s: findings differ", dir)
	}
}

// findings returns the rules that fired with their lines, for short comparisons.
func findings(r *diag.Report) string {
	var list []string
	for _, d := range r.Diagnostics {
		list = append(list, fmt.Sprintf("%d %s", d.Location.Line, d.Rule))
	}
	return strings.Join(list, "\n")
}
