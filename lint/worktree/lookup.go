package worktree

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Lookup says what names lead to below a root, links followed. It looks once for each
// name.
type Lookup struct {
	root    string // without symbolic links
	entries map[string]Entry
}

// Entry is what a name leads to.
type Entry struct {
	// Name is from the root, without symbolic links; Info is nil if nothing of the tree
	// is there.
	Name string
	Info fs.FileInfo
	// Outside is set if something is there, or would be, that is no part of the tree.
	Outside bool
}

// NewLookup looks below a root, an absolute path.
func NewLookup(root string) *Lookup {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		real = filepath.Clean(root)
	}
	return &Lookup{root: real, entries: map[string]Entry{}}
}

// Root is the root without symbolic links.
func (l *Lookup) Root() string { return l.root }

// Inside gives the name of a path from the root; ok is false for one outside, or of
// git's own.
func (l *Lookup) Inside(real string) (name string, ok bool) {
	rel, ok := Below(l.root, real)
	name = filepath.ToSlash(rel)
	return name, ok && !OfGit(name)
}

// Entry looks a name up, with forward slashes from the root.
func (l *Lookup) Entry(name string) Entry {
	if e, known := l.entries[name]; known {
		return e
	}
	e := l.find(name)
	l.entries[name] = e
	return e
}

func (l *Lookup) find(name string) Entry {
	if name = path.Clean(name); !Local(name) {
		return Entry{Outside: true}
	}
	real, err := filepath.EvalSymlinks(filepath.Join(l.root, filepath.FromSlash(name)))
	if err != nil {
		return Entry{}
	}
	inside, ok := l.Inside(real)
	if !ok {
		return Entry{Outside: true}
	}
	info, err := os.Lstat(real)
	if err != nil {
		return Entry{}
	}
	return Entry{Name: inside, Info: info}
}
