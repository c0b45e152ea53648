package lint

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/locate"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/message"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
)

// whyNotEditable returns why an edit cannot be applied, whatever its effect; "" if it can.
func (m *fixer) whyNotEditable(r *repair) string {
	name := r.edit.Location.File
	why, known := m.locks[name]
	if !known {
		why = m.lock(name)
		m.locks[name] = why
	}
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

// lock returns why a file must not be changed; "" if it may be. A file behind a symbolic link
// is locked, because other links may lead to it.
func (m *fixer) lock(name string) string {
	if name == source.StdinName {
		return "standard input cannot be written"
	}
	info, err := os.Lstat(m.path(name))
	switch {
	case err != nil:
		return "the file is no longer there"
	case !info.Mode().IsRegular():
		return "it is not a regular file"
	case m.linked(m.before.Display(name)):
		return "a symbolic link leads to the file: name the file itself"
	}
	return ""
}

func (m *fixer) path(name string) string { return filepath.Join(m.root, filepath.FromSlash(name)) }

// linked reports whether the path of a file, as the user wrote it or as it was found, contains
// a symbolic link. Links on the way to the working directory or to the root do not count.
func (m *fixer) linked(shown string) bool {
	at := locate.Absolute(m.options.Dir, filepath.FromSlash(shown))
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

// try lints with some edits applied. It returns why they must not be applied, if so: a finding
// that proposes one is still reported, or there is a new finding.
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
	if !after.Complete() {
		return nil, "linting with it is incomplete"
	}
	return after, m.regression(repairs, count(after))
}

// lint lints with the given texts. For all other files it uses the texts of the first run,
// because files may have changed since and a pipe can be read only once.
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

// rerender renders the roots that use one of some files or a changed chart, and reuses all other
// outputs.
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

// regression compares the findings after some edits with those before, except those that the edits
// should fix. It returns why the edits must not be applied, or "".
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

// files applies edits, file by file; After is nil if edits overlap.
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
	slices.SortFunc(all, func(a, b FixedFile) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// apply applies edits within lines; it changes no other byte.
func apply(name string, text []byte, edits []diag.Edit) ([]byte, error) {
	file := source.File{Name: name, Text: text}
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b diag.Edit) int { return a.Location.Compare(b.Location) })
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

// identity identifies a finding before and after an edit. It excludes lines and messages, which
// an edit may change, and is not a diag.Key, which names an item by its topology key.
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
