package locate

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Render is something to judge as deployed rather than as its sources are written.
type Render struct {
	// Chosen describes the render to the configuration. Its Name identifies the render in
	// outputs and baselines.
	config.Chosen
	Root render.Root
	// Files, if not empty, are the output of another tool, relative to Dir, and replace Root.
	// SourceRoot is the directory that the tool rendered, or "".
	Files      []string
	SourceRoot string
	// prefix is the path from the root of the run to Root.Confinement.
	prefix string
	// Argo is set if an Argo CD Application or ApplicationSet deploys it.
	Argo bool
	// Pointer is the place, from the root of the run, of the GitOps pointer that names the
	// root; zero if there is none. Source is the index of the pointer's source.
	Pointer diag.Span
	Source  int
	// Entries names the entry pointers that lead to the render, each with its destination
	// cluster. Renders with a common entry are deployed together.
	Entries []string
	// Requested is set if the render was requested by path. A failure to build it is then an error
	// in the manifests, and otherwise only a note in the summary.
	Requested bool
}

// SetPrefix sets the prefix that turns names from Root.Confinement into names from the root of
// the run.
func (x *Render) SetPrefix(root string) {
	x.prefix = Relative(filepath.ToSlash(worktree.Resolved(root)), filepath.ToSlash(x.Root.Confinement))
}

// FromRoot converts a name from Root.Confinement to one from the root of the run.
func (x *Render) FromRoot(confined string) string { return path.Join(x.prefix, confined) }

// WithEdit returns the chart of a render after applying an edit to its values, if that changes
// any; sure is false if the edit may change others of them.
func (x *Render) WithEdit(e diag.Edit, root string, source func(file string) []byte) (to *render.Chart, changed, sure bool) {
	if x.Root.Chart == nil && x.Root.Overlay == nil {
		return nil, false, true
	}
	x.SetPrefix(root)
	sure = true
	if c := x.Root.Chart; c != nil {
		next := *c
		next.Values = slices.Clone(c.Values)
		for i := range c.Values {
			v := valuesEdit{source: source, x: x, e: e, old: unquote(e.OldText)}
			if next.Values[i] = v.edit(c.Values[i]); v.changed {
				to, changed = &next, true
			}
			sure = sure && !v.unsure
		}
	}
	return to, changed, sure && (changed || !x.oldTextOutsideValues(e))
}

// oldTextOutsideValues reports whether a pointer in the file of an edit contains the old text outside its
// values.
func (x *Render) oldTextOutsideValues(e diag.Edit) bool {
	o, old := x.Root.Overlay, unquote(e.OldText)
	if o == nil || x.FromRoot(o.File) != e.Location.File {
		return false
	}
	said := []string{string(o.Fields)}
	if c := x.Root.Chart; c != nil {
		said = slices.Concat(said, c.Set, c.SetString)
	}
	return slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, old) })
}

// valuesEdit applies an edit to values whose lines were taken from files.
type valuesEdit struct {
	source func(file string) []byte
	x      *Render
	e      diag.Edit
	old    string
	// changed is set if a line was edited; unsure is set if it is unknown whether a line needs
	// the edit.
	changed, unsure bool
}

func (v *valuesEdit) edit(values render.Values) render.Values {
	if values.Text == nil || !v.uses(&values) || !strings.Contains(string(values.Text), v.old) {
		return values
	}
	lines := strings.Split(string(values.Text), "\n")
	for i, line := range lines {
		switch {
		case !strings.Contains(line, v.old):
		case i >= len(values.Places) || values.Places[i].Line == 0:
			v.unsure = true
		default:
			lines[i] = v.line(line, values.Places[i])
		}
	}
	if v.changed {
		values.Text = []byte(strings.Join(lines, "\n"))
	}
	return values
}

// uses reports whether values are known to come from the file of the edit.
func (v *valuesEdit) uses(values *render.Values) bool {
	is := func(file string) bool { return file != "" && v.x.FromRoot(file) == v.e.Location.File }
	return is(values.File) || slices.ContainsFunc(values.Places, func(p render.Place) bool { return is(p.File) })
}

// line edits a line that contains the old text. The edit applies if the line was written with
// the scalar of the edit, or is the line of the edit in a block scalar.
func (v *valuesEdit) line(line string, at render.Place) string {
	if v.x.FromRoot(at.File) != v.e.Location.File {
		return line
	}
	written := sourceLine(v.source(v.e.Location.File), at.Line)
	here := at.Line == v.e.Location.Line
	_, one := once(line, v.old)
	switch {
	case here && one && (at.Column == v.e.Location.Column || strings.TrimSpace(written) == strings.TrimSpace(line)):
		v.changed = true
		return strings.Replace(line, v.old, unquote(v.e.NewText), 1)
	case here && at.Column == v.e.Location.Column, !strings.Contains(written, v.old):
		v.unsure = true
	}
	return line
}

// sourceLine returns line n of a text, counted from 1.
func sourceLine(text []byte, n int) string {
	i := 0
	for line := range strings.Lines(string(text)) {
		if i++; i == n {
			return line
		}
	}
	return ""
}
