package lint

import (
	"path/filepath"
	"slices"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/workload"
	"github.com/schedlint/schedlint/lint/worktree"
)

// files holds the files that a run has read, by name from the root. It converts between names
// relative to the root, to the working directory and to the configuration.
type files struct {
	dir, root string
	// Paths that the run reads, relative to dir.
	paths  []string
	config *config.Config
	// How manifests are read.
	reading source.Options
	byName  map[string]*source.File
}

func newFiles(o *Options, table workload.Table) *files {
	return &files{
		dir: o.Dir, root: o.Root, paths: o.Paths, config: o.Config, byName: map[string]*source.File{},
		reading: source.Options{
			Dir: o.Dir, Root: o.Root, Stdin: o.Stdin, Overlay: o.Overlay, Tracked: o.Tracked,
			Keep: table.Read, Drop: workload.Unread,
		},
	}
}

func (f *files) keep(set *source.Set) {
	for _, file := range set.Files {
		f.byName[file.Name] = file
	}
}

// text returns the contents of a file; nil if it was not read.
func (f *files) text(name string) []byte {
	if file := f.byName[name]; file != nil {
		return file.Text
	}
	return nil
}

func (f *files) display(name string) string {
	if file := f.byName[name]; file != nil && file.Display != "" {
		return file.Display
	}
	return name
}

// ignores applies the configuration's globs, which are relative to its directory.
func (f *files) ignores(name string) bool {
	return f.config.IgnoresSome() && f.config.Ignores(f.fromConfig(name))
}

// fromConfig converts a name from the root to one from the configuration's directory.
func (f *files) fromConfig(name string) string {
	if f.config.Dir == "" || name == source.StdinName {
		return name
	}
	rel, err := filepath.Rel(f.config.Dir, filepath.Join(f.root, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// configured converts paths of the configuration to paths relative to dir.
func (f *files) configured(paths []string) []string {
	var all []string
	for _, p := range paths {
		p = absolute(f.config.Dir, p)
		if rel, err := filepath.Rel(f.dir, p); err == nil {
			p = rel
		}
		all = append(all, p)
	}
	return all
}

// nodesOfClusters returns the files that the configuration names as the nodes of a cluster. No
// other part takes nodes from these files.
func (f *files) nodesOfClusters() map[string]bool {
	names := map[string]bool{}
	for _, c := range f.config.Clusters {
		for _, path := range f.configured(c.Topology) {
			names[relative(filepath.ToSlash(resolved(f.root)), filepath.ToSlash(resolved(absolute(f.dir, path))))] = true
		}
	}
	return names
}

// cover reports whether the paths include everything below a directory.
func (f *files) cover(dir string) bool {
	return slices.ContainsFunc(f.paths, func(path string) bool {
		if path == "-" {
			return false
		}
		return worktree.Inside(absolute(f.dir, path), dir)
	})
}

// fromRoot returns the name from the root for a path that is absolute or relative to dir.
func (f *files) fromRoot(path string) string {
	path = absolute(f.dir, path)
	if rel, err := filepath.Rel(f.root, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// show registers a file that is not a manifest and returns its name, so that outputs can show
// the text that a finding points at.
func (f *files) show(path, display string, text []byte) string {
	name := f.fromRoot(path)
	if f.byName[name] == nil {
		f.byName[name] = &source.File{Name: name, Display: filepath.ToSlash(display), Text: text}
	}
	return name
}

// showConfig registers the configuration file and returns its name; "" if there is none.
func (f *files) showConfig() string {
	path, text := f.config.Source()
	if path == "" {
		return ""
	}
	return f.show(filepath.Join(f.config.Dir, filepath.Base(path)), path, text)
}
