package locate

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/schedlint/schedlint/lint/config"
	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Files holds the files that a run has read, by name from the root. It converts between names
// relative to the root, to the working directory and to the configuration.
type Files struct {
	Dir, Root string
	// Paths that the run reads, relative to dir.
	Paths  []string
	Config *config.Config
	// How manifests are read.
	Reading source.Options
	ByName  map[string]*source.File
}

// NewFiles returns the names of a run that reads paths with the given options.
func NewFiles(reading source.Options, paths []string, c *config.Config) *Files {
	return &Files{Dir: reading.Dir, Root: reading.Root, Paths: paths, Config: c, ByName: map[string]*source.File{}, Reading: reading}
}

// Keep registers the files of a set.
func (f *Files) Keep(set *source.Set) {
	for _, file := range set.Files {
		f.ByName[file.Name] = file
	}
}

// Text returns the contents of a file; nil if it was not read.
func (f *Files) Text(name string) []byte {
	if file := f.ByName[name]; file != nil {
		return file.Text
	}
	return nil
}

// Display returns the path of a file as the user wrote it, or as it was found.
func (f *Files) Display(name string) string {
	if file := f.ByName[name]; file != nil && file.Display != "" {
		return file.Display
	}
	return name
}

// Ignores applies the configuration's globs, which are relative to its directory.
func (f *Files) Ignores(name string) bool {
	return f.Config.IgnoresSome() && f.Config.Ignores(f.FromConfig(name))
}

// FromConfig converts a name from the root to one from the configuration's directory.
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

// Configured converts paths of the configuration to paths relative to dir.
func (f *Files) Configured(paths []string) []string {
	var all []string
	for _, p := range paths {
		p = Absolute(f.Config.Dir, p)
		if rel, err := filepath.Rel(f.Dir, p); err == nil {
			p = rel
		}
		all = append(all, p)
	}
	return all
}

// NodesOfClusters returns the files that the configuration names as the nodes of a cluster. No
// other part takes nodes from these files.
func (f *Files) NodesOfClusters() map[string]bool {
	names := map[string]bool{}
	for _, c := range f.Config.Clusters {
		for _, path := range f.Configured(c.Topology) {
			names[Relative(filepath.ToSlash(worktree.Resolved(f.Root)), filepath.ToSlash(worktree.Resolved(Absolute(f.Dir, path))))] = true
		}
	}
	return names
}

// Cover reports whether the paths include everything below a directory.
func (f *Files) Cover(dir string) bool {
	return slices.ContainsFunc(f.Paths, func(path string) bool {
		if path == "-" {
			return false
		}
		return worktree.Inside(Absolute(f.Dir, path), dir)
	})
}

// FromRoot returns the name from the root for a path that is absolute or relative to dir.
func (f *Files) FromRoot(path string) string {
	path = Absolute(f.Dir, path)
	if rel, err := filepath.Rel(f.Root, path); err == nil {
		path = rel
	}
	return filepath.ToSlash(path)
}

// Show registers a file that is not a manifest and returns its name, so that outputs can show
// the text that a finding points at.
func (f *Files) Show(path, display string, text []byte) string {
	name := f.FromRoot(path)
	if f.ByName[name] == nil {
		f.ByName[name] = &source.File{Name: name, Display: filepath.ToSlash(display), Text: text}
	}
	return name
}

// ShowConfig registers the configuration file and returns its name; "" if there is none.
func (f *Files) ShowConfig() string {
	path, text := f.Config.Source()
	if path == "" {
		return ""
	}
	return f.Show(filepath.Join(f.Config.Dir, filepath.Base(path)), path, text)
}

// FileLine formats a line of a file as text output prints it.
func FileLine(file string, line int) string { return fmt.Sprintf("%s:%d", file, line) }

// Absolute joins a relative path to dir.
func Absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Relative returns name relative to dir; both are names from the root.
func Relative(dir, name string) string {
	rel, err := filepath.Rel(filepath.FromSlash(dir), filepath.FromSlash(name))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}
