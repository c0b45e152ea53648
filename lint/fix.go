package lint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/locate"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Fixed is the result of applying safe edits to the linted files in memory. The caller writes the
// files, and can first check whether they have changed.
type Fixed struct {
	// Before reports on the original files and After on the edited files.
	Before, After *diag.Report
	// Files holds the files that change, sorted by name.
	Files []FixedFile
	// Withheld holds the safe edits that were not applied.
	Withheld []Withheld
	fixer    *fixer
}

// FixedFile is one file with its edits.
type FixedFile struct {
	// Name is the path relative to the root, and Path is the path to open.
	Name, Path    string
	Before, After []byte
	Edits         []diag.Edit
}

// Withheld is an edit that was not applied, with the reason.
type Withheld struct {
	Edit diag.Edit
	Why  string
}

// ErrUnsure is returned by Fix when part of the input could not be checked. In that case, the
// effect of an edit is unknown.
var ErrUnsure = errors.New("no edit is made unless everything can be read and checked")

// Fix lints the files and applies the safe edits that a second run confirms. To be confirmed, an
// edit must make the findings that propose it disappear. It must not cause new findings. Fix tries
// each edit alone and then all edits together. If edits overlap, Fix applies only the first one.
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
	m := &fixer{ctx: ctx, options: o, outputs: outputs, before: before, counts: count(before), root: worktree.Resolved(o.Root), locks: map[string]string{}}
	fixed := &Fixed{Before: before, After: before, fixer: m}
	if err != nil || !before.Failures.Done() {
		return fixed, errors.Join(err, ErrUnsure)
	}
	repairs := m.repairs(fixed)
	repairs = slices.DeleteFunc(repairs, func(r *repair) bool { return fixed.withhold(r, m.whyNotEditable(r)) })
	repairs = slices.DeleteFunc(repairs, func(r *repair) bool {
		_, why := m.try([]*repair{r})
		return fixed.withhold(r, why)
	})
	fixed.together(repairs)
	sorting.Stable(fixed.Withheld, func(a, b Withheld) int { return a.Edit.Location.Compare(b.Edit.Location) })
	return fixed, nil
}

// Left returns the report on the files after only some of the changes have been written.
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

// withhold records that the edit of r was not applied, unless why is empty. It reports whether why
// is not empty.
func (m *Fixed) withhold(r *repair, why string) bool {
	if why != "" {
		m.Withheld = append(m.Withheld, Withheld{r.edit, why})
	}
	return why != ""
}

// together applies all compatible edits at once. If that causes new findings, it applies the edits
// one by one.
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

// repair is an edit with the findings that propose it.
type repair struct {
	edit     diag.Edit
	findings []identity
}

// fixer holds the state of one Fix call.
type fixer struct {
	ctx     context.Context
	options Options
	before  *diag.Report
	counts  map[identity]int
	root    string
	// outputs holds the output of each render before any file is edited.
	outputs []*render.Output
	// locks maps the name of a file to the reason why the file must not be changed. The reason is
	// "" if the file may be changed.
	locks map[string]string
}

// repairs collects the safe edits in report order, without duplicates. It records each edit that
// cannot be applied at its location.
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

// whyNotEditable returns the reason why an edit cannot be applied, or "" if it can. It does not
// consider how the edit affects findings.
func (m *fixer) whyNotEditable(r *repair) string {
	name := r.edit.Location.File
	why := lazy.Cached(m.locks, name, func() string { // A file behind a symbolic link must not be changed, because other links may point to it.
		if name == source.StdinName {
			return "standard input cannot be written"
		}
		info, err := os.Lstat(m.path(name))
		switch {
		case err != nil:
			return "the file is no longer there"
		case !info.Mode().IsRegular():
			return "it is not a regular file"
		case (&locate.Files{Copies: m.options.copies()}).Copied(name):
			return "it is a copy from another repository, and the lock holds its digest"
		case m.linked(m.before.Display(name)):
			return "a symbolic link leads to the file: name the file itself"
		}
		return ""
	})
	if why == "" && !m.effectKnown(r.edit) {
		why = message.WithheldUntried
	}
	if why == "" {
		if _, err := apply(name, m.before.Source(name), []diag.Edit{r.edit}); err != nil {
			why = err.Error()
		}
	}
	return why
}

func (m *fixer) path(name string) string { return filepath.Join(m.root, filepath.FromSlash(name)) }

// linked reports whether the path of a file contains a symbolic link. It ignores links above the
// working directory or the root.
func (m *fixer) linked(shown string) bool {
	at := worktree.Absolute(m.options.Dir, filepath.FromSlash(shown))
	for {
		if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
			return true
		}
		at = filepath.Dir(at)
		if !strings.HasPrefix(at, m.options.Root+string(filepath.Separator)) || at == m.options.Dir {
			return false
		}
	}
}

// try lints the files with some edits applied. It returns the reason why the edits must not be
// applied, or "". For example, the edits may cause new findings or may not fix the old ones.
func (m *fixer) try(repairs []*repair) (after *diag.Report, why string) {
	if len(repairs) == 0 {
		return m.before, ""
	}
	files := m.files(repairs)
	if slices.ContainsFunc(files, func(f FixedFile) bool { return f.After == nil }) {
		return nil, "it overlaps another edit: run again"
	}
	after, err := m.lint(files)
	if err != nil {
		return nil, "linting with it fails"
	}
	if !after.Failures.Done() {
		return nil, "linting with it is incomplete"
	}
	return after, m.regression(repairs, count(after))
}

// lint runs the linter with the given files replaced. It does not read the other files again. They
// may have changed on disk, and a pipe can only be read once.
func (m *fixer) lint(files []FixedFile) (*diag.Report, error) {
	o, texts := m.options, map[string][]byte{}
	for _, f := range files {
		texts[f.Name] = f.After
	}
	o.Edited = texts
	if o.Renderer != nil {
		var changed map[*render.Chart]bool
		o.Renders, changed = m.editedRenders(files)
		o.Renderer = m.rerender(texts, changed)
	}
	o.Overlay = func(name string) ([]byte, bool) {
		text, ok := texts[name]
		if !ok {
			text = m.before.Source(name)
		}
		return text, text != nil
	}
	return Run(m.ctx, o)
}

// rerender returns a Renderer that reuses the earlier outputs of most roots. It renders only roots
// that use a changed chart or a file in the map "texts".
func (m *fixer) rerender(texts map[string][]byte, changed map[*render.Chart]bool) Renderer {
	return func(ctx context.Context, roots []render.Root) []*render.Output {
		outs := slices.Clone(m.outputs)
		var which []int
		var some []render.Root
		for i, out := range outs {
			if out == nil || changed[roots[i].Chart] || slices.ContainsFunc(slices.Concat(out.Sources, out.Data), func(name string) bool { return texts[name] != nil }) {
				which, some = append(which, i), append(some, roots[i])
			}
		}
		for i, out := range m.options.Renderer(ctx, some) {
			outs[which[i]] = out
		}
		return outs
	}
}

// regression compares the findings before and after some edits. It ignores the findings that the
// edits should fix. It returns the reason why the edits must not be applied, or "".
func (m *fixer) regression(repairs []*repair, after map[identity]int) string {
	solved := map[identity]int{}
	for _, r := range repairs {
		for _, f := range r.findings {
			solved[f]++
		}
	}
	var still, added []string
	for id, n := range after {
		switch {
		case n <= m.counts[id]-solved[id]:
		case solved[id] > 0:
			still = append(still, id.rule)
		default:
			added = append(added, id.rule)
		}
	}
	if len(still) > 0 {
		return "linting with it still finds " + slices.Min(still)
	}
	if len(added) > 0 {
		return fmt.Sprintf("it introduces %s", slices.Min(added))
	}
	return ""
}

// files applies edits to each file. If the edits in a file overlap, the After field of the result
// is nil.
func (m *fixer) files(repairs []*repair) (all []FixedFile) {
	edits := map[string][]diag.Edit{}
	for _, r := range repairs {
		edits[r.edit.Location.File] = append(edits[r.edit.Location.File], r.edit)
	}
	for name, of := range edits {
		f := FixedFile{Name: name, Path: m.path(name), Before: m.before.Source(name), Edits: of}
		f.After, _ = apply(name, f.Before, of)
		all = append(all, f)
	}
	sorting.Stable(all, func(a, b FixedFile) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// apply applies edits, each within a single line, and leaves all other bytes unchanged.
func apply(name string, text []byte, edits []diag.Edit) ([]byte, error) {
	file := source.File{Name: name, Text: text}
	edits = slices.Clone(edits)
	sorting.Stable(edits, func(a, b diag.Edit) int { return a.Location.Compare(b.Location) })
	out := make([]byte, 0, len(text)+64*len(edits))
	at := 0
	for _, e := range edits {
		start, end, ok := file.Range(e.Location)
		if !ok || string(text[start:end]) != e.OldText {
			return nil, errors.New("the text there is not what it should be")
		}
		if start < at {
			return nil, errors.New("edits overlap")
		}
		out = append(append(out, text[at:start]...), e.NewText...)
		at = end
	}
	return append(out, text[at:]...), nil
}

// identity identifies a finding before and after an edit. It contains no lines, messages or
// topology keys, because an edit may change them. Therefore, a diag.Key, which includes the
// topology key, cannot be used.
type identity struct {
	rule, cluster, file string
	level               diag.Level
	object              diag.Object
}

func identify(d *diag.Diagnostic) identity {
	return identity{d.Rule, d.Cluster, d.Location.File, d.Level, d.Object}
}

func count(r *diag.Report) map[identity]int {
	counts := map[identity]int{}
	for i := range r.Diagnostics {
		counts[identify(&r.Diagnostics[i])]++
	}
	return counts
}

// editedRenders returns the renders with pointer values from the edited files. It also returns the
// charts that change because of these values.
func (m *fixer) editedRenders(files []FixedFile) (all []locate.Render, changed map[*render.Chart]bool) {
	all, changed = slices.Clone(m.options.Renders), map[*render.Chart]bool{}
	for i := range all {
		x := &all[i]
		for _, f := range files {
			for _, e := range f.Edits {
				if next, some, _ := x.WithEdit(e, m.options.Root, m.before.Source); some {
					x.Root.Chart = next
					changed[next] = true
				}
			}
		}
	}
	return all, changed
}

// effectKnown reports whether the effect of an edit is known for every value that pointers read
// from the edited file.
func (m *fixer) effectKnown(e diag.Edit) bool {
	return !slices.ContainsFunc(m.options.Renders, func(x locate.Render) bool {
		_, _, sure := x.WithEdit(e, m.options.Root, m.before.Source)
		return !sure
	})
}
