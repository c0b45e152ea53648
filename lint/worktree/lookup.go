package worktree

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Lookup finds what names below a root refer to, following links. It caches the result for each
// name.
type Lookup struct {
	root    string // without symbolic links
	entries map[string]Entry
}

// Entry is a file or directory that a name refers to.
type Entry struct {
	// Name is relative to the root, without symbolic links; Info is nil if the name refers to
	// nothing in the tree.
	Name string
	Info fs.FileInfo
	// Outside is set if the name refers to something that is not part of the tree, existing or
	// not.
	Outside bool
}

// NewLookup returns a Lookup below a root, an absolute path.
func NewLookup(root string) *Lookup {
	return &Lookup{root: Resolved(root), entries: map[string]Entry{}}
}

// Resolved returns a path without symbolic links, or as it is if it does not exist.
func Resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// Root returns the root without symbolic links.
func (l *Lookup) Root() string { return l.root }

// Inside returns the name of a path relative to the root; ok is false if the path is outside
// the root or inside .git.
func (l *Lookup) Inside(real string) (name string, ok bool) {
	rel, ok := Below(l.root, real)
	name = filepath.ToSlash(rel)
	return name, ok && !OfGit(name)
}

// Entry returns what a name refers to. The name has forward slashes and is relative to the
// root.
func (l *Lookup) Entry(name string) Entry {
	if e, known := l.entries[name]; known {
		return e
	}
	e := l.find(name)
	l.entries[name] = e
	return e
}

// Tracked is like Entry, but finds nothing that does not belong to what is looked at: tracked takes
// absolute paths, and nil takes all.
func (l *Lookup) Tracked(name string, tracked func(path string) bool) Entry {
	e := l.Entry(name)
	if e.Info != nil && tracked != nil && !tracked(filepath.Join(l.root, filepath.FromSlash(e.Name))) {
		return Entry{}
	}
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
