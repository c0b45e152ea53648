package worktree

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is the maximum number of links to follow outside of work trees. Linux has the same
// limit.
const maxLinks = 40

// Root returns the root of the work tree that contains dir. The root is dir itself or its nearest
// parent that contains an entry named .git.
func Root(dir string) (root string, ok bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if isRoot(at) {
			return at, true
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}

func isRoot(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

// Locate returns the root of the work tree that contains a path, and the path's name relative to
// that root. It prefers the work tree of the working directory. Otherwise it uses the first work
// tree on the path. It follows links outside work trees.
func Locate(path string) (root, name string, ok bool) {
	here, err := os.Getwd()
	if err != nil {
		return "", "", false
	}
	abs := filepath.Clean(Absolute(here, path))
	if root, ok = Root(here); ok {
		if name, ok = Below(root, abs); ok {
			return root, name, true
		}
	}
	return follow(abs)
}

// Inside reports whether path is dir or below it.
func Inside(dir, path string) bool {
	_, ok := Below(dir, path)
	return ok
}

// Below returns a path's name relative to dir. ok is false if the path leads out of dir.
func Below(dir, path string) (name string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return rel, true
}

// Local reports whether a relative name with forward slashes stays within its directory. It checks
// only the name, as Below does. A link may still lead out of the directory.
func Local(name string) bool { return filepath.IsLocal(filepath.FromSlash(name)) }

// follow follows a path component by component up to the root of a work tree. It returns false if a
// component does not exist. It also returns false for a link in /proc, which may stand for an open
// file.
func follow(abs string) (root, name string, ok bool) {
	top := filepath.VolumeName(abs) + string(filepath.Separator)
	at, rest := top, parts(abs)
	for links := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		switch {
		case rest[0] == "..": // from the target of a link; at contains no links
			at, rest = filepath.Dir(at), rest[1:]
			continue
		case isRoot(at):
			return at, filepath.Join(rest...), filepath.IsLocal(filepath.Join(rest...))
		}
		info, err := os.Lstat(next)
		if err != nil {
			return "", "", false
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at, rest = next, rest[1:]
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks || strings.HasPrefix(next, "/proc/") {
			return "", "", false
		}
		if filepath.IsAbs(target) {
			at = top
		}
		rest = slices.Concat(parts(target), rest[1:])
	}
	return "", "", false
}

// parts returns a path's components without the volume. It does not clean the path, because this
// would change the meaning of a path with links.
func parts(path string) []string {
	path = strings.TrimPrefix(path, filepath.VolumeName(path))
	return slices.DeleteFunc(strings.Split(filepath.ToSlash(path), "/"), func(s string) bool { return s == "" || s == "." })
}

// Absolute returns path as an absolute path. A relative path is resolved against dir.
func Absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// Seen returns path relative to dir. If that is impossible, it returns path unchanged.
func Seen(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil {
		return rel
	}
	return path
}

// Here returns path relative to the working directory.
func Here(path string) string {
	dir, err := os.Getwd()
	if err != nil {
		return path
	}
	return Seen(dir, path)
}

// IsDir reports whether path is a directory or a link to one.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Lookup resolves names below a root to files and directories. It follows links and caches the
// result for each name.
type Lookup struct {
	root    string // with symbolic links resolved
	entries map[string]Entry
}

// Entry describes the file or directory that a name refers to.
type Entry struct {
	// Name is relative to the root and contains no symbolic links. Info is nil if the name does not
	// exist in the tree.
	Name string
	Info fs.FileInfo
	// Outside is set if the name leads out of the tree. The target may not exist.
	Outside bool
}

// NewLookup returns a Lookup for names below root, which must be an absolute path.
func NewLookup(root string) *Lookup {
	return &Lookup{root: Resolved(root), entries: map[string]Entry{}}
}

// Resolved returns path with symbolic links resolved. If the path does not exist, Resolved only
// cleans it.
func Resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// Root returns the root with symbolic links resolved.
func (l *Lookup) Root() string { return l.root }

// Inside returns a path's name relative to the root. ok is false if the path is outside the root or
// inside .git.
func (l *Lookup) Inside(real string) (name string, ok bool) {
	rel, ok := Below(l.root, real)
	name = filepath.ToSlash(rel)
	return name, ok && !OfGit(name)
}

// Entry returns what a name refers to. The name is relative to the root and has forward slashes.
func (l *Lookup) Entry(name string) Entry {
	if e, known := l.entries[name]; known {
		return e
	}
	e := l.find(name)
	l.entries[name] = e
	return e
}

// Tracked is like Entry, but a file exists only if tracked returns true for its absolute path. A
// nil function accepts all paths.
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

// Reader reads files in a work tree. It keeps the directory of the last file open, so reading files
// in name order is cheap.
type Reader struct {
	root, dir string
	last      *os.Root // open directory dir, or nil
}

// NewReader returns a Reader for files below root. The caller must call Close.
func NewReader(root string) *Reader { return &Reader{root: root} }

// Close closes the directory that is currently open.
func (r *Reader) Close() {
	if r.last != nil {
		r.last.Close()
		r.last = nil
	}
}

// ReadFile reads a file. The file must pass Check.
func (r *Reader) ReadFile(name string, limit int64) ([]byte, error) {
	if OfGit(name) {
		return nil, errOfGit
	}
	name = filepath.Clean(name)
	if dir := filepath.Dir(name); r.last == nil || dir != r.dir || name == "." || !filepath.IsLocal(name) {
		r.Close()
		spot, err := At(r.root, name)
		if err != nil {
			return nil, err
		}
		r.last, r.dir = spot.Dir, dir
	}
	spot := &Spot{r.last, filepath.Base(name), name}
	size, err := spot.check(limit)
	if err != nil {
		return nil, err
	}
	file, err := r.last.Open(spot.Name)
	if err != nil {
		return nil, Named(err, name)
	}
	defer file.Close()
	text, err := ReadSized(file, size, limit)
	if err == nil && int64(len(text)) > limit {
		return nil, TooLarge(limit)
	}
	return text, err
}

// ReadSized reads a file with an expected size. It reads at most limit+1 bytes, so that the caller
// can detect a file that is too large. For a file of the expected size, the returned slice has
// almost no spare capacity.
func ReadSized(in io.Reader, size, limit int64) ([]byte, error) {
	text := make([]byte, 0, size+1)
	for in = io.LimitReader(in, limit+1); ; {
		n, err := in.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case err == io.EOF:
			return text, nil
		case err != nil:
			return nil, err
		case len(text) == cap(text):
			text = slices.Grow(text, bytes.MinRead)
		}
	}
}
