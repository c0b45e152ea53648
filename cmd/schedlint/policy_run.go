package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/expect"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/rego"
)

// policyRun is one run of the tests of rules.
type policyRun struct {
	dirs             []string
	run              string
	update, coverage bool
	mutants          bool

	pattern *regexp.Regexp
	out     io.Writer
	// failed counts the tests and fixtures that failed, passed the others.
	failed, passed int
	// unnoticed counts the conditions that no test notices, and reasons that are none.
	unnoticed int
}

func newPolicyRun() *cobra.Command {
	var p policyRun
	cmd := &cobra.Command{
		Use:   "test [DIR...]",
		Short: "Run the unit tests and fixtures of your own rules",
		Long: `Test runs the unit tests of the rules below DIR (default: the folders of the
configuration, or policy) and holds their findings against their fixtures.

Unit tests are rules test_... in <id>/rule_test.rego. data.schedlint.facts makes
whole rows: facts.workload({"pods_min": 3}). print writes to standard error.

A fixture is a folder <id>/fixtures/NAME with manifests; NAME starts with bad,
good or unknown. A comment # want "PATTERN" stands on each line of a finding and
matches "rule: message"; any other finding fails the test. Nodes come from
nodes.yaml in the folder or beside it, parameters from a comment
# params: {"key": value}. --update writes the comments, but for vendored rules.

--mutants leaves out each condition of each rule and library in turn, if all
tests pass: a unit test or a fixture must fail. METADATA lists conditions that
no test can notice under custom.untested, each with its reason.

Exit status: 0 if all tests pass, 1 if one fails or a condition is left out and
none does, 2 if a rule or test does not load.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if p.mutants && p.run != "" {
				return errMutants
			}
			if p.dirs, err = policyDirs(args); err != nil {
				return err
			}
			return p.all(cmd)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&p.run, "run", "", "run only tests and fixtures whose name matches this `pattern`, such as ID.test_x or ID/bad")
	flags.BoolVar(&p.update, "update", false, "write the # want comments of fixtures")
	flags.BoolVar(&p.coverage, "coverage", false, "list the lines of rules that no unit test evaluates")
	flags.BoolVar(&p.mutants, "mutants", false, "list the conditions of rules that no test notices")
	return cmd
}

func (p *policyRun) all(cmd *cobra.Command) (err error) {
	if p.pattern, err = regexp.Compile(p.run); err != nil {
		return fmt.Errorf("--run %s: %w", p.run, err)
	}
	own, err := ownRules(p.dirs)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	p.out = out
	if err := p.units(cmd.Context(), cmd.ErrOrStderr()); err != nil {
		return err
	}
	for i := range own {
		if err := p.fixtures(cmd.Context(), &own[i]); err != nil {
			return errors.Join(err, out.Flush())
		}
	}
	if p.mutants {
		if err := p.tryMutants(cmd.Context(), own); err != nil {
			return errors.Join(err, out.Flush())
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", p.passed, p.failed)
	if err := out.Flush(); err != nil {
		return err
	}
	switch {
	case p.failed > 0 || p.unnoticed > 0:
		return statusError{code: exitFindings}
	case p.passed == 0:
		return fmt.Errorf("no test in %s", strings.Join(p.dirs, ", "))
	}
	return nil
}

// units runs the unit tests.
func (p *policyRun) units(ctx context.Context, stderr io.Writer) error {
	tests, uncovered, err := rego.RunUnitTests(ctx, rego.UnitOptions{Dirs: p.dirs, Run: p.pattern, Print: stderr})
	if err != nil {
		return err
	}
	for _, t := range tests {
		if t.Failure == "" {
			p.passed++
			continue
		}
		p.failed++
		fmt.Fprintf(p.out, "%s:%d: %s: %s\n", t.File, t.Line, t.Name, report.Visible(t.Failure))
	}
	if p.coverage {
		for _, u := range uncovered {
			fmt.Fprintf(p.out, "%s:%d: no unit test evaluates this line\n", u.File, u.Line)
		}
	}
	return nil
}

// fixtures holds the findings of a rule against its fixtures.
func (p *policyRun) fixtures(ctx context.Context, r *ownRule) error {
	all, err := r.fixtures()
	if err != nil {
		return err
	}
	for i := range all {
		f := &all[i]
		if !p.pattern.MatchString(r.ID + "/" + f.name) {
			continue
		}
		found, err := p.lint(ctx, r, f, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.ToSlash(f.dir), err)
		}
		if p.update && !r.vendored {
			if err := f.write(found); err != nil {
				return err
			}
		}
		p.hold(r, f, found)
	}
	return nil
}

// hold holds findings against the comments of a fixture.
func (p *policyRun) hold(r *ownRule, f *fixture, found []diag.Diagnostic) {
	all := problems(r, f, found)
	if len(all) == 0 {
		p.passed++
		return
	}
	p.failed++
	for _, x := range all {
		at := filepath.ToSlash(filepath.Join(f.dir, x.File))
		if x.Line > 0 {
			at = fmt.Sprintf("%s:%d", at, x.Line)
		}
		fmt.Fprintf(p.out, "%s: %s\n", report.Visible(at), report.Visible(x.Message))
	}
}

// problems are the findings of a rule that a fixture does not want, and those that it misses.
func problems(r *ownRule, f *fixture, found []diag.Diagnostic) []expect.Problem {
	all := expect.Check(f.files, found)
	fires := slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Rule == r.ID })
	if f.kind() == "bad" && !fires && len(all) == 0 {
		all = append(all, expect.Problem{File: ".", Message: "rule " + r.ID + " finds nothing in a fixture that is bad"})
	}
	return all
}

// paramsComment is the comment of a fixture with the parameters of its rule.
var paramsComment = regexp.MustCompile(`(?m)^# params: (.*)$`)

// params are the parameters of the rule in a fixture.
func (f *fixture) params() (rego.Values, error) {
	var v rego.Values
	for name, text := range f.files {
		if m := paramsComment.FindSubmatch(text); m != nil {
			if err := json.Unmarshal(m[1], &v.Values); err != nil {
				return v, fmt.Errorf("%s: params: %w", name, err)
			}
		}
	}
	return v, nil
}

// lint is what one rule finds in a fixture, on its nodes, without a condition unless that is
// nil.
func (p *policyRun) lint(ctx context.Context, r *ownRule, f *fixture, without *rego.Condition) ([]diag.Diagnostic, error) {
	params, err := f.params()
	if err != nil {
		return nil, err
	}
	o := rego.Options{Dirs: p.dirs, Without: without}
	id := r.ID
	if r.Template {
		id = "use-" + strings.ReplaceAll(r.ID, ".", "-")
		o.Instances = []rego.Instance{{ID: id, Use: r.ID, Params: params, Place: filepath.ToSlash(f.dir)}}
	} else if params.Values != nil {
		o.Params = map[string]rego.Values{id: params}
	}
	o.Off = func(other string) bool { return other != id }
	engine, err := rego.Load(o)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(f.dir)
	if err != nil {
		return nil, err
	}
	var nodes []string
	if f.nodes != "" {
		abs, err := filepath.Abs(f.nodes)
		if err != nil {
			return nil, err
		}
		nodes = []string{abs}
	}
	found, err := lint.Run(ctx, lint.Options{
		Dir: dir, Root: dir, Paths: []string{"."}, Topology: nodes, Policy: engine, Level: func(string) diag.Level { return diag.LevelError },
	})
	if err != nil {
		return nil, err
	}
	if len(found.Failures) > 0 {
		return nil, errors.New(strings.Join(report.Incomplete(found.Failures), "; "))
	}
	for i := range found.Diagnostics {
		if found.Diagnostics[i].Rule == id {
			found.Diagnostics[i].Rule = r.ID
		}
	}
	return found.Diagnostics, nil
}

// write puts the comments in place that findings ask for.
func (f *fixture) write(found []diag.Diagnostic) error {
	for name, text := range f.files {
		now := expect.Write(name, text, found)
		if string(now) == string(text) {
			continue
		}
		f.files[name] = now
		if err := os.WriteFile(filepath.Join(f.dir, name), now, 0o644); err != nil {
			return err
		}
	}
	return nil
}
