package policy

import (
	"bufio"
	"bytes"
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
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/rego"
)

// Tests runs the tests of rules.
type Tests struct {
	Dirs []string
	// Run is a regular expression that selects tests and fixtures by name.
	Run string
	// Update rewrites the comments in fixtures. Coverage lists lines that no unit test evaluates.
	// Mutants lists conditions that no test needs.
	Update, Coverage, Mutants bool

	pattern *regexp.Regexp
	out     io.Writer
	// failed and passed count the tests and fixtures with each result.
	failed, passed int
	// unnoticed counts the conditions that can be removed without any test failing. It also counts
	// exemptions in METADATA for conditions that cannot be removed without a test failing.
	unnoticed int
}

// All runs all tests and reports whether they passed. The output of print calls in rules goes to
// the argument "printed".
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

// fixtures compares a rule's findings with the expectations in its fixtures.
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
		if p.Update && !r.vendored && f.kind() == "bad" {
			if err := f.write(p.out, found); err != nil {
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

// problems compares a rule's findings in a fixture with the expected ones. It returns the
// unexpected findings and the missing ones.
func problems(r *ownRule, f *fixture, found []diag.Diagnostic) []expect.Problem {
	all := append(expect.Check(f.files, found), f.wanted()...)
	fires := slices.ContainsFunc(found, func(d diag.Diagnostic) bool { return d.Rule == r.ID })
	if f.kind() == "bad" && !fires && len(all) == 0 {
		all = append(all, expect.Problem{File: ".", Message: "rule " + r.ID + " finds nothing in a fixture that is bad"})
	}
	return all
}

// paramsComment matches the comment in a fixture that sets the rule's parameters.
var paramsComment = lazy.Regexp(`(?m)^# params: (.*)$`)

// params returns the parameters that the fixture sets for its rule.
func (f *fixture) params() (rego.Values, error) {
	v := rego.Values{At: func(...string) string { return "" }} // errors name the fixture anyway
	for name, text := range f.files {
		if m := paramsComment().FindSubmatch(text); m != nil {
			if err := json.Unmarshal(m[1], &v.Values); err != nil {
				return v, fmt.Errorf("%s: params: %w", name, err)
			}
		}
	}
	return v, nil
}

// lint returns a rule's findings in a fixture. The argument "without" is a condition to remove from
// the rule, or nil.
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
	} else {
		o.Params = map[string]rego.Values{id: params}
	}
	o.Off = func(other string) bool { return other != id }
	engine, err := rego.Load(o)
	if err != nil {
		if params.Values == nil && slices.ContainsFunc(r.Params, func(p diag.Param) bool { return p.Default == "" }) {
			err = fmt.Errorf("%w; give the parameters in a comment, # params: {\"key\": value}", err)
		}
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

// write updates the expectations in the fixture's comments to match the findings, and names each
// line that it changes.
func (f *fixture) write(out io.Writer, found []diag.Diagnostic) error {
	for _, name := range sorting.Keys(f.files) {
		was, now := f.files[name], expect.Write(name, f.files[name], found)
		if bytes.Equal(was, now) {
			continue
		}
		f.files[name] = now
		path := filepath.Join(f.dir, name)
		if err := os.WriteFile(path, now, 0o644); err != nil {
			return err
		}
		before := bytes.Split(was, []byte("\n"))
		for i, line := range bytes.Split(now, []byte("\n")) {
			if !bytes.Equal(line, before[i]) {
				fmt.Fprintf(out, "%s:%d: updated: %s\n", report.Visible(filepath.ToSlash(path)), i+1, report.Visible(string(bytes.TrimSpace(line))))
			}
		}
	}
	return nil
}

// tryMutants removes one condition at a time and runs the unit tests and fixtures. It reports each
// condition whose removal breaks nothing. All tests must pass beforehand.
func (p *Tests) tryMutants(ctx context.Context, own []ownRule) error {
	if p.failed > 0 {
		fmt.Fprintln(p.out, "mutants skipped: fix the failing tests first")
		return nil
	}
	mutants, err := rego.LoadMutants(rego.UnitOptions{Dirs: p.Dirs})
	if err != nil {
		return err
	}
	all := mutants.Conditions()
	needless := map[[2]string]rego.Condition{} // unnecessary exemptions in custom.untested, by file and text
	for _, c := range all {
		if c.Reason != "" {
			needless[[2]string{c.File, c.Text}] = c
		}
	}
	for i := range all {
		c := &all[i]
		noticed := mutants.Noticed(ctx, *c) || p.fixturesNotice(ctx, own, c)
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case noticed:
		case c.Reason != "":
			delete(needless, [2]string{c.File, c.Text})
		default:
			p.unnoticed++
			fmt.Fprintf(p.out, "%s:%d: no test fails without %s; add a test, or remove the condition\n", c.File, c.Line, report.Visible(c.Text))
		}
	}
	for i := range all {
		c := &all[i]
		if at := [2]string{c.File, c.Text}; needless[at] == *c {
			p.unnoticed++
			fmt.Fprintf(p.out, "%s:%d: a test fails without %s; remove it from custom.untested\n", c.File, c.Line, report.Visible(c.Text))
		}
	}
	fmt.Fprintf(p.out, "%s left out in turn\n", report.Count(len(all), "condition"))
	return nil
}

// fixturesNotice reports whether removing a condition makes a fixture fail. For a condition in a
// library, it runs the fixtures of all rules.
func (p *Tests) fixturesNotice(ctx context.Context, own []ownRule, c *rego.Condition) bool {
	for i := range own {
		r := &own[i]
		if c.Rule != "" && c.Rule != r.ID {
			continue
		}
		all, err := r.fixtures()
		if err != nil {
			return true // cannot happen, because the fixtures have been read before
		}
		for j := range all {
			found, err := p.lint(ctx, r, &all[j], c)
			if err != nil || len(problems(r, &all[j], found)) > 0 {
				return true
			}
		}
	}
	return false
}
