package lint

import (
	"context"
	"errors"
	"slices"

	"github.com/schedlint/schedlint/lint/locate"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/render"
)

// Fixed is the result of applying safe edits to the linted files in memory. The caller writes
// the files, because they may have changed since.
type Fixed struct {
	// Before is the report on the files as they are, After the report on the edited files.
	Before, After *diag.Report
	// Files that change, by name.
	Files []FixedFile
	// Safe edits that are not applied.
	Withheld []Withheld
	fixer    *fixer
}

// FixedFile is one file with its edits.
type FixedFile struct {
	// Name is relative to the root; Path is the one to open.
	Name, Path    string
	Before, After []byte
	Edits         []diag.Edit
}

// Withheld is an edit that is not applied, and the reason.
type Withheld struct {
	Edit diag.Edit
	Why  string
}

// ErrUnsure is returned by Fix if something could not be checked, because the effect of an edit
// is then unknown.
var ErrUnsure = errors.New("no edit is made unless everything can be read and checked")

// Fix lints and applies the safe edits that a second run confirms: with the edit alone, the
// findings that propose it are gone and no finding is new, and the same holds for all edits
// together. Of overlapping edits, the first is applied.
func Fix(ctx context.Context, o Options) (*Fixed, error) {
	var outputs []*render.Output
	first := o
	if o.Renderer != nil {
		first.Renderer = func(ctx context.Context, roots []render.Root) []*render.Output {
			outputs = o.Renderer(ctx, roots)
			return outputs
		}
	}
	before, err := Run(ctx, first)
	m := &fixer{ctx: ctx, options: o, outputs: outputs, before: before, counts: count(before), root: locate.Resolved(o.Root), locks: map[string]string{}}
	fixed := &Fixed{Before: before, After: before, fixer: m}
	if err != nil || !before.Complete() {
		return fixed, errors.Join(err, ErrUnsure)
	}
	repairs := m.repairs(fixed)
	repairs = slices.DeleteFunc(repairs, func(r *repair) bool { return fixed.withhold(r, m.whyNotEditable(r)) })
	repairs = slices.DeleteFunc(repairs, func(r *repair) bool {
		_, why := m.try([]*repair{r})
		return fixed.withhold(r, why)
	})
	fixed.together(repairs)
	slices.SortStableFunc(fixed.Withheld, func(a, b Withheld) int { return a.Edit.Location.Compare(b.Edit.Location) })
	return fixed, nil
}

// Left returns the report on the files if only some of the changes were written.
func (m *Fixed) Left(made func(name string) bool) (*diag.Report, error) {
	files := slices.DeleteFunc(slices.Clone(m.Files), func(f FixedFile) bool { return !made(f.Name) })
	switch len(files) {
	case len(m.Files):
		return m.After, nil
	case 0:
		return m.Before, nil
	}
	return m.fixer.lint(files)
}

// withhold records an edit that is not applied, and reports whether there is a reason not to.
func (m *Fixed) withhold(r *repair, why string) bool {
	if why != "" {
		m.Withheld = append(m.Withheld, Withheld{r.edit, why})
	}
	return why != ""
}

// together applies all compatible edits: all at once if the result is good, otherwise one by
// one.
func (m *Fixed) together(all []*repair) {
	var made []*repair
	after, why := m.fixer.try(all)
	if why == "" {
		made = all
	} else {
		after = m.Before
		for _, r := range all {
			next, why := m.fixer.try(append(slices.Clone(made), r))
			if !m.withhold(r, why) {
				made, after = append(made, r), next
			}
		}
	}
	m.After = after
	m.Files = m.fixer.files(made)
}

// repair is one edit and the findings that propose it.
type repair struct {
	edit     diag.Edit
	findings []identity
}

// fixer is the state of one Fix.
type fixer struct {
	ctx     context.Context
	options Options
	before  *diag.Report
	counts  map[identity]int
	root    string
	// Outputs of the renders before any edit.
	outputs []*render.Output
	// Reasons, by file, why it must not be changed; "" for none.
	locks map[string]string
}

// repairs collects the safe edits in the order of the report, without duplicates, and records
// those that cannot be applied safely at their place.
func (m *fixer) repairs(fixed *Fixed) (all []*repair) {
	seen := map[diag.Edit]*repair{}
	for i := range m.before.Diagnostics {
		d := &m.before.Diagnostics[i]
		for _, f := range d.Fixes {
			if len(f.Edits) == 0 && f.Withheld != "" {
				f.Edits = []diag.Edit{f.Placeless}
			}
			if len(f.Edits) != 1 || !f.Safe && f.Withheld == "" {
				continue
			}
			r := seen[f.Edits[0]]
			if r == nil {
				r = &repair{edit: f.Edits[0]}
				seen[r.edit] = r
				if !fixed.withhold(r, f.Withheld) {
					all = append(all, r)
				}
			}
			r.findings = append(r.findings, identify(d))
		}
	}
	return all
}
