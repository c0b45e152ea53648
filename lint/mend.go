package lint

import (
	"context"
	"errors"
	"slices"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/render"
)

// Mended is what safe edits make of the files that were linted. Nothing is
// written: that is for the caller, with what it knows of the files by then.
type Mended struct {
	// Before is the report on the files as they are, After the one on what they
	// would be.
	Before, After *diag.Report
	// Files are those that change, by name.
	Files []MendedFile
	// Withheld are safe edits that are not made.
	Withheld []Withheld
	mender   *mender
}

// MendedFile is one file with its edits.
type MendedFile struct {
	// Name is that from the root, Path that which is to be opened.
	Name, Path    string
	Before, After []byte
	Edits         []diag.Edit
}

// Withheld is an edit that is not made, and why.
type Withheld struct {
	Edit diag.Edit
	Why  string
}

// ErrUnsure is returned by Mend if not everything could be looked at: then
// nobody knows what an edit brings about.
var ErrUnsure = errors.New("no edit is made unless everything can be read and checked")

// Mend lints and makes the safe edits that linting again bears out: with the
// edit alone the findings that ask for it are gone and none is new, and with all
// edits together the same holds. Of edits that overlap the first is made.
func Mend(ctx context.Context, o Options) (*Mended, error) {
	var outputs []*render.Output
	first := o
	if o.Renderer != nil {
		first.Renderer = func(ctx context.Context, roots []render.Root) []*render.Output {
			outputs = o.Renderer(ctx, roots)
			return outputs
		}
	}
	before, err := Run(ctx, first)
	m := &mender{ctx: ctx, options: o, outputs: outputs, before: before, counts: count(before), root: resolved(o.Root), locks: map[string]string{}}
	mended := &Mended{Before: before, After: before, mender: m}
	if err != nil || !before.Complete() {
		return mended, errors.Join(err, ErrUnsure)
	}
	repairs := m.repairs(mended)
	repairs = slices.DeleteFunc(repairs, func(r *repair) bool { return mended.withhold(r, m.refuses(r)) })
	repairs = slices.DeleteFunc(repairs, func(r *repair) bool {
		_, why := m.try([]*repair{r})
		return mended.withhold(r, why)
	})
	mended.together(repairs)
	slices.SortStableFunc(mended.Withheld, func(a, b Withheld) int { return a.Edit.Location.Compare(b.Edit.Location) })
	return mended, nil
}

// Left is the report on the files if only some of the changes were made.
func (m *Mended) Left(made func(name string) bool) (*diag.Report, error) {
	texts := map[string][]byte{}
	for _, f := range m.Files {
		if made(f.Name) {
			texts[f.Name] = f.After
		}
	}
	switch len(texts) {
	case len(m.Files):
		return m.After, nil
	case 0:
		return m.Before, nil
	}
	return m.mender.lint(texts)
}

// withhold notes an edit that is not made, if there is a reason.
func (m *Mended) withhold(r *repair, why string) bool {
	if why != "" {
		m.Withheld = append(m.Withheld, Withheld{r.edit, why})
	}
	return why != ""
}

// together makes all the edits that get along: all at once if that holds, else
// one after another.
func (m *Mended) together(all []*repair) {
	var made []*repair
	after, why := m.mender.try(all)
	if why == "" {
		made = all
	} else {
		after = m.Before
		for _, r := range all {
			next, why := m.mender.try(append(slices.Clone(made), r))
			if !m.withhold(r, why) {
				made, after = append(made, r), next
			}
		}
	}
	m.After = after
	m.Files = m.mender.files(made)
}

// repair is one edit and the findings that ask for it.
type repair struct {
	edit     diag.Edit
	findings []identity
}

// mender is the state of one Mend.
type mender struct {
	ctx     context.Context
	options Options
	before  *diag.Report
	counts  map[identity]int
	root    string
	// outputs are those of the renders before.
	outputs []*render.Output
	// locks says of a file why it must stay as it is.
	locks map[string]string
}

// repairs gathers the safe edits in the order of the report, each once, and
// notes those that cannot be safe where they stand.
func (m *mender) repairs(mended *Mended) (all []*repair) {
	seen := map[diag.Edit]*repair{}
	for i := range m.before.Diagnostics {
		d := &m.before.Diagnostics[i]
		for _, f := range d.Fixes {
			if len(f.Edits) != 1 || !f.Safe && f.Withheld == "" {
				continue
			}
			r := seen[f.Edits[0]]
			if r == nil {
				r = &repair{edit: f.Edits[0]}
				seen[r.edit] = r
				if !mended.withhold(r, f.Withheld) {
					all = append(all, r)
				}
			}
			r.findings = append(r.findings, identify(d))
		}
	}
	return all
}
