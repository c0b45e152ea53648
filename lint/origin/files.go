package origin

import (
	"path/filepath"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// maxBytes bounds the bytes that are read in total.
const maxBytes = 64 << 20

// files reads files of the repository by their names from its root.
type files struct {
	*worktree.Lookup
	dir     string // without symbolic links
	tracked func(path string) bool
	known   map[string]*source.File
	printed map[string]*source.File
	roots   map[string][]*source.Node
	indexes map[string]index
	left    int64
}

// index maps kinds and names to the objects of a file.
type index map[groupKind]map[string][]*source.Object

type groupKind struct{ group, kind string }

// directory returns the name of a directory, or "" if it does not exist.
func (f *files) directory(name string) string {
	if e := f.Entry(name); e.Info != nil && e.Info.IsDir() {
		return e.Name
	}
	return ""
}

// read returns a file, or nil. It skips anything but regular files, as a pipe or a device would
// block.
func (f *files) read(name string) *source.File {
	if file := f.printed[name]; file != nil {
		return file
	}
	e := f.Entry(name)
	if e.Info == nil || !e.Info.Mode().IsRegular() {
		return nil
	}
	real := filepath.Join(f.Root(), filepath.FromSlash(e.Name))
	if f.tracked != nil && !f.tracked(real) {
		return nil
	}
	if file := f.known[e.Name]; file != nil {
		return file
	}
	text, err := worktree.ReadFile(f.Root(), filepath.FromSlash(e.Name), f.left)
	if err != nil {
		return nil
	}
	f.left -= int64(len(text))
	display := e.Name
	if rel, err := filepath.Rel(f.dir, real); err == nil {
		display = filepath.ToSlash(rel)
	}
	file := source.NewFile(e.Name, display, text)
	f.known[e.Name] = file
	return file
}

// documents returns the documents of a file, which is parsed once.
func (f *files) documents(file *source.File) []*source.Node {
	roots, known := f.roots[file.Name]
	if !known {
		roots = file.Roots()
		f.roots[file.Name] = roots
	}
	return roots
}

// objects returns the objects of a file, by group and kind and then by name.
func (f *files) objects(file *source.File) index {
	x, known := f.indexes[file.Name]
	if known {
		return x
	}
	x = index{}
	for _, root := range f.documents(file) {
		for _, o := range file.ObjectsOf(root) {
			of := groupKind{o.Group(), o.Kind}
			if x[of] == nil {
				x[of] = map[string][]*source.Object{}
			}
			x[of][o.Name] = append(x[of][o.Name], o)
		}
	}
	f.indexes[file.Name] = x
	return x
}
