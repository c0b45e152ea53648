package origin

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/lint/source"
	"github.com/schedlint/schedlint/lint/worktree"
)

// maxBytes bounds what is read in all.
const maxBytes = 64 << 20

// files reads files of the repository by their names from its root.
type files struct {
	dir, root string // without symbolic links
	tracked   func(path string) bool
	known     map[string]*source.File
	entries   map[string]entry
	roots     map[string][]*source.Node
	indexes   map[string]index
	left      int64
}

// index finds the objects of a file.
type index map[groupKind]map[string][]*source.Object

type groupKind struct{ group, kind string }

// entry is what a name leads to, under the name without symbolic links.
type entry struct {
	name string
	info fs.FileInfo
}

func newFiles(o Options) *files {
	return &files{
		dir: resolved(o.Dir), root: resolved(o.Root), tracked: o.Tracked, known: o.Files,
		entries: map[string]entry{}, roots: map[string][]*source.Node{}, indexes: map[string]index{}, left: maxBytes,
	}
}

func resolved(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// inside gives the name of a path from the root; ok is false for one outside, or of
// git's own.
func (f *files) inside(real string) (name string, ok bool) {
	rel, err := filepath.Rel(f.root, real)
	name = filepath.ToSlash(rel)
	return name, err == nil && name != ".." && !strings.HasPrefix(name, "../") && !worktree.OfGit(name)
}

// entry looks a name up; its info is nil if nothing of the repository is there.
func (f *files) entry(name string) entry {
	e, known := f.entries[name]
	if known || name == ".." || strings.HasPrefix(name, "../") || path.IsAbs(name) {
		return e
	}
	real, err := filepath.EvalSymlinks(filepath.Join(f.root, filepath.FromSlash(name)))
	if err == nil {
		if inside, ok := f.inside(real); ok {
			if info, err := os.Lstat(real); err == nil {
				e = entry{inside, info}
			}
		}
	}
	f.entries[name] = e
	return e
}

// directory is the name of a directory, "" if there is none.
func (f *files) directory(name string) string {
	if e := f.entry(name); e.info != nil && e.info.IsDir() {
		return e.name
	}
	return ""
}

// read gives a file, or nil. A pipe or a device would block, and is none.
func (f *files) read(name string) *source.File {
	e := f.entry(name)
	if e.info == nil || !e.info.Mode().IsRegular() {
		return nil
	}
	real := filepath.Join(f.root, filepath.FromSlash(e.name))
	if f.tracked != nil && !f.tracked(real) {
		return nil
	}
	if file := f.known[e.name]; file != nil {
		return file
	}
	text := f.text(real, e.info.Size())
	if text == nil {
		return nil
	}
	display := e.name
	if rel, err := filepath.Rel(f.dir, real); err == nil {
		display = filepath.ToSlash(rel)
	}
	file := source.NewFile(e.name, display, text)
	f.known[e.name] = file
	return file
}

func (f *files) text(real string, size int64) []byte {
	if size > f.left {
		return nil
	}
	file, err := os.Open(real)
	if err != nil {
		return nil
	}
	defer file.Close()
	var buf bytes.Buffer
	n, err := buf.ReadFrom(io.LimitReader(file, f.left+1))
	if err != nil || n > f.left {
		return nil
	}
	f.left -= n
	return append([]byte{}, buf.Bytes()...)
}

// documents are those of a file, parsed once.
func (f *files) documents(file *source.File) []*source.Node {
	roots, known := f.roots[file.Name]
	if !known {
		roots = file.Roots()
		f.roots[file.Name] = roots
	}
	return roots
}

// objects are those of a file, by group and kind and then by name.
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
