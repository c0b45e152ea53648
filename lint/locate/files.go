package locate

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/render"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Files holds the files that a run has read, keyed by name relative to the root. It also converts
// names between the root, the working directory and the configuration directory.
type Files struct {
	Dir, Root string
	// Paths are the paths that the run reads, relative to Dir.
	Paths  []string
	Config *config.Config
	// Reading holds the options for reading manifests.
	Reading source.Options
	ByName  map[string]*source.File
	// Copies holds folders with copies from other repositories.
	Copies []string
}

// NewFiles returns the Files of a run that reads paths with the given options.
func NewFiles(reading source.Options, paths []string, c *config.Config) *Files {
	return &Files{Dir: reading.Dir, Root: reading.Root, Paths: paths, Config: c, ByName: map[string]*source.File{}, Reading: reading}
}

// Keep adds the files of a set, so that they can be found by name.
func (f *Files) Keep(set *source.Set) {
	for _, file := range set.Files {
		f.ByName[file.Name] = file
	}
}

// Text returns the contents of a file, or nil if it was not read.
func (f *Files) Text(name string) []byte {
	if file := f.ByName[name]; file != nil {
		return file.Text
	}
	return nil
}

// Display returns the path of a file as the user wrote it, or as the run found it.
func (f *Files) Display(name string) string {
	if file := f.ByName[name]; file != nil && file.Display != "" {
		return file.Display
	}
	return name
}

// Ignores reports whether a file is a copy from another repository or ignored by the configuration.
// The globs in the configuration are relative to its directory.
func (f *Files) Ignores(name string) bool {
	return f.Copied(name) || f.Config.IgnoresSome() && f.Config.Ignores(f.FromConfig(name))
}

// Copied reports whether a file or directory is a copy from another repository.
func (f *Files) Copied(name string) bool {
	return slices.ContainsFunc(f.Copies, func(folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") })
}

// FromConfig converts a name relative to the root to a name relative to the configuration's
// directory.
func (f *Files) FromConfig(name string) string {
	if f.Config.Dir == "" || name == source.StdinName {
		return name
	}
	rel, err := filepath.Rel(f.Config.Dir, filepath.Join(f.Root, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// Configured converts paths in the configuration to paths relative to Dir.
func (f *Files) Configured(paths []string) []string {
	var all []string
	for _, p := range paths {
		p = worktree.Absolute(f.Config.Dir, p)
		if rel, err := filepath.Rel(f.Dir, p); err == nil {
			p = rel
		}
		all = append(all, p)
	}
	return all
}

// NodesOfClusters returns the topology files that the configuration names for its clusters. Nothing
// else in the run may take nodes from these files.
func (f *Files) NodesOfClusters() map[string]bool {
	names := map[string]bool{}
	for _, c := range f.Config.Clusters {
		for _, path := range f.Configured(c.Topology) {
			at := worktree.Resolved(worktree.Absolute(f.Dir, path))
			name, old := f.Reading.Tree.Name(at)
			if !old {
				name = Relative(filepath.ToSlash(worktree.Resolved(f.Root)), filepath.ToSlash(at))
			}
			names[name] = true
		}
	}
	return names
}

// Cover reports whether the paths include everything below a directory.
func (f *Files) Cover(dir string) bool {
	return slices.ContainsFunc(f.Paths, func(path string) bool {
		return path != "-" && worktree.Inside(worktree.Absolute(f.Dir, path), dir)
	})
}

// FromRoot converts a path that is absolute or relative to Dir to a name relative to the root.
func (f *Files) FromRoot(path string) string {
	path = worktree.Absolute(f.Dir, path)
	if rel, err := filepath.Rel(f.Root, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// Show registers a file that is not a manifest, so that reports can quote it. It returns the file's
// name.
func (f *Files) Show(path, display string, text []byte) string {
	name := f.FromRoot(path)
	if f.ByName[name] == nil {
		f.ByName[name] = &source.File{Name: name, Display: filepath.ToSlash(display), Text: text}
	}
	return name
}

// ShowConfig registers the configuration file and returns its name, or "" if there is none.
func (f *Files) ShowConfig() string {
	path, text := f.Config.Source()
	if path == "" {
		return ""
	}
	return f.Show(filepath.Join(f.Config.Dir, filepath.Base(path)), path, text)
}

// FileLine formats a file name and line number as in text output.
func FileLine(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// Relative returns name relative to dir. Both arguments are relative to the root.
func Relative(dir, name string) string {
	return filepath.ToSlash(worktree.Seen(filepath.FromSlash(dir), filepath.FromSlash(name)))
}

// Render is a kustomization, a chart or the output of a tool. Its rendered objects are checked in
// place of its sources.
type Render struct {
	// Chosen holds the properties by which the configuration selects renders. Its Name identifies
	// the render in reports and baselines.
	config.Chosen
	Root render.Root
	// Files lists the output files of another tool, relative to Dir. If there are any, Root is not
	// used. SourceRoot is the directory that the tool rendered, or "".
	Files      []string
	SourceRoot string
	// prefix is the path from the root of the run to Root.Confinement.
	prefix string
	// Argo is set if an Argo CD Application or ApplicationSet deploys the render.
	Argo bool
	// Pointer is the span of the GitOps pointer that names the root, or zero if there is no
	// pointer. Its file name is relative to the root of the run. PointerName is the pointer's name.
	// If the pointer has several sources, Source is the index of the one that is rendered.
	Pointer     diag.Span
	PointerName string
	Source      int
	// Release identifies the Helm release of a GitOps pointer, or is "". The releases of an
	// ApplicationSet are one, as they have one source.
	Release string
	// Entries names the entry pointers that lead to the render, each with its destination cluster.
	// Renders that share an entry are deployed together.
	Entries []string
	// Requested is set if the render was requested by path. A requested render that cannot be built
	// is an error in the manifests. For any other render, a failure is only a note in the summary.
	Requested bool
}

// SetPrefix sets the prefix that turns names relative to Root.Confinement into names relative to
// root.
func (x *Render) SetPrefix(root string) {
	x.prefix = Relative(filepath.ToSlash(worktree.Resolved(root)), filepath.ToSlash(x.Root.Confinement))
}

// FromRoot converts a name relative to Root.Confinement to a name relative to the root of the run.
func (x *Render) FromRoot(confined string) string { return path.Join(x.prefix, confined) }

// WithEdit applies an edit to the values of the render's chart and returns the changed chart.
// changed is set if the edit affects these values. sure is false if the edit may also affect other
// values.
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

// oldTextOutsideValues reports whether the pointer is in the edited file and contains the old text
// outside its values.
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

// valuesEdit applies an edit to values whose lines were copied from files.
type valuesEdit struct {
	source func(file string) []byte
	x      *Render
	e      diag.Edit
	old    string
	// changed is set if a line was edited. unsure is set if it is unknown whether a line needs the
	// edit.
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

// uses reports whether values are known to come from the edited file.
func (v *valuesEdit) uses(values *render.Values) bool {
	is := func(file string) bool { return file != "" && v.x.FromRoot(file) == v.e.Location.File }
	return is(values.File) || slices.ContainsFunc(values.Places, func(p render.Place) bool { return is(p.File) })
}

// line applies the edit to a line that contains the old text. The line must come from the edited
// scalar or, in a block scalar, from the edited line. Otherwise, the line stays unchanged.
func (v *valuesEdit) line(line string, at render.Place) string {
	if v.x.FromRoot(at.File) != v.e.Location.File {
		return line
	}
	written := ""
	if lines := strings.SplitAfter(string(v.source(v.e.Location.File)), "\n"); at.Line >= 1 && at.Line <= len(lines) {
		written = lines[at.Line-1]
	}
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
