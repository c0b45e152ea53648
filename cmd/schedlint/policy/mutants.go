package policy

import (
	"context"
	"fmt"

	"github.com/schedlint/schedlint/lint/report"
	"github.com/schedlint/schedlint/rego"
)

// tryMutants leaves out each condition of the rules in turn, and reports those that no unit test
// and no fixture notices. It requires that all tests pass.
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
	needless := map[[2]string]rego.Condition{} // exemptions in custom.untested that are not needed, by file and text
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

// fixturesNotice reports whether a fixture fails without a condition: a fixture of its rule, or of
// any rule if the condition is in a library.
func (p *Tests) fixturesNotice(ctx context.Context, own []ownRule, c *rego.Condition) bool {
	for i := range own {
		r := &own[i]
		if c.Rule != "" && c.Rule != r.ID {
			continue
		}
		all, err := r.fixtures()
		if err != nil {
			return true // cannot happen: the fixtures were read before
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
