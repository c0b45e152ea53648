package policy

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

	"github.com/schedlint/schedlint/lint"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/expect"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/rego"
)

// Tests is one run of the tests of rules.
type Tests struct {
	Dirs []string
	// Run is a pattern that the names of tests and fixtures match.
	Run string
	// Update writes the comments of fixtures, Coverage lists lines that no unit test evaluates,
	// and Mutants the conditions that no test notices.
	Update, Coverage, Mutants bool

	pattern *regexp.Regexp
	out     io.Writer
	// failed counts the tests and fixtures that failed, passed the others.
	failed, passed int
	// unnoticed counts the conditions that no test notices, and reasons that are none.
	unnoticed int
}

// All runs all tests and reports whether they passed. What rules print goes to printed.
func (p *Tests) All(ctx context.Context, w, printed io.Writer) (passed bool, err error) {
	if p.pattern, err = regexp.Compile(p.Run); err != nil {
		return false, fmt.Errorf("--run %s: %w", p.Run, err)
	}
	own, err := ownRules(p.Dirs)
	if err != nil {
		return false, err
	}
	out := bufio.NewWriter(w)
	p.out = out
	if err := p.units(ctx, printed); err != nil {
		return false, err
	}
	for i := range own {
		if err := p.fixtures(ctx, &own[i]); err != nil {
			return false, errors.Join(err, out.Flush())
		}
	}
	if p.Mutants {
		if err := p.tryMutants(ctx, own); err != nil {
			return false, errors.Join(err, out.Flush())
		}
	}
	fmt.Fprintf(out, "%d passed, %d failed\n", p.passed, p.failed)
	if err := out.Flush(); err != nil {
		return false, err
	}
	if p.failed+p.unnoticed+p.passed == 0 {
		return false, fmt.Errorf("no test in %s", strings.Join(p.Dirs, ", "))
	}
	return p.failed+p.unnoticed == 0, nil
}

// units runs the unit tests.
func (p *Tests) units(ctx context.Context, printed io.Writer) error {
	tests, uncovered, err := rego.RunUnitTests(ctx, rego.UnitOptions{Dirs: p.Dirs, Run: p.pattern, Print: printed})
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
	if p.Coverage {
		for _, u := range uncovered {
			fmt.Fprintf(p.out, "%s:%d: no unit test evaluates this line\n", u.File, u.Line)
		}
	}
	return nil
}

// fixtures holds the findings of a rule against its fixtures.
func (p *Tests) fixtures(ctx context.Context, r *ownRule) error {
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
		if p.Update && !r.vendored {
			if err := f.write(found); err != nil {
				return err
			}
		}
		wrong := problems(r, f, found)
		if len(wrong) == 0 {
			p.passed++
			continue
		}
		p.failed++
		for _, x := range wrong {
			at := filepath.ToSlash(filepath.Join(f.dir, x.File))
			if x.Line > 0 {
				at = fmt.Sprintf("%s:%d", at, x.Line)
			}
			fmt.Fprintf(p.out, "%s: %s\n", report.Visible(at), report.Visible(x.Message))
		}
	}
	return nil
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
func (p *Tests) lint(ctx context.Context, r *ownRule, f *fixture, without *rego.Condition) ([]diag.Diagnostic, error) {
	params, err := f.params()
	if err != nil {
		return nil, err
	}
	o := rego.Options{Dirs: p.Dirs, Without: without}
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
	var nodes []string
	if err == nil && f.nodes != "" {
		nodes = []string{""}
		nodes[0], err = filepath.Abs(f.nodes)
	}
	if err != nil {
		return nil, err
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
