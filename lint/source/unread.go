package source

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/worktree"
)

// passedPath is a path that is not read.
type passedPath struct {
	reason, path string
	dir          bool
}

// unread notes a path that is not read.
func (w *walker) unread(reason, path string, dir bool) {
	w.passed = append(w.passed, passedPath{reason, path, dir})
}

// unreadPaths are those that no other way has led to.
func (w *walker) unreadPaths() []Skipped {
	var all []Skipped
	for _, p := range w.passed {
		if p.reason != SkipIgnored && w.seen[worktree.Resolved(p.path)] {
			continue
		}
		name := w.name(p.path)
		if p.dir {
			name += "/"
		}
		all = append(all, Skipped{Reason: p.reason, File: name})
	}
	return all
}

// versionControl are hidden directories that hold no manifests of their own.
var versionControl = map[string]bool{".git": true, ".hg": true, ".svn": true, ".jj": true, ".bzr": true}

// ofOthers reports whether a directory is one where npm, or go mod vendor, keeps what
// others wrote.
func ofOthers(path string) bool {
	switch filepath.Base(path) {
	case "node_modules":
		return true
	case "vendor":
		info, err := os.Stat(filepath.Join(path, "modules.txt"))
		return err == nil && info.Mode().IsRegular()
	}
	return false
}

// hidden notes a directory that is passed over, if manifests may be in it: many a
// repository has one for its editor or its CI alone.
func (w *walker) hidden(reason, path string) {
	switch {
	case versionControl[filepath.Base(path)] || !w.opts.Tracked(path):
	case w.ignored(path):
		w.unread(SkipIgnored, path, true)
	case mayHoldManifests(path):
		w.unread(reason, path, true)
	}
}

// linkUnread notes a link that is not followed, if it leads to anything that would
// be read.
func (w *walker) linkUnread(reason, path string) {
	if info, err := os.Stat(path); err == nil && (info.IsDir() || isManifest(path)) {
		w.unread(reason, path, info.IsDir())
	}
}

// Bounds of the look into a hidden directory.
const (
	maxHiddenNames = 1000
	maxHiddenFiles = 50
	maxHiddenBytes = 4 << 10
)

// versionKey finds the key that every manifest has.
var versionKey = lazy.Regexp(`(?m)^[ \t{]*(?:- +)*["']?apiVersion["']?[ \t]*:`)

// mayHoldManifests reports whether one of the files below a directory begins like a
// manifest. A directory with more names or files than are looked at may hold one.
func mayHoldManifests(dir string) bool {
	names, files := maxHiddenNames, maxHiddenFiles
	for dirs := []string{dir}; len(dirs) > 0; dirs = dirs[1:] {
		entries, err := firstEntries(dirs[0], names+1)
		if names -= len(entries); names < 0 || err != nil {
			return true
		}
		for _, e := range entries {
			path := filepath.Join(dirs[0], e.Name())
			switch {
			case e.IsDir() && !versionControl[e.Name()]:
				dirs = append(dirs, path)
			case e.Type().IsRegular() && isManifest(e.Name()):
				if files--; files < 0 || beginsLikeManifest(path) {
					return true
				}
			}
		}
	}
	return false
}

// firstEntries are at most n entries of a directory, in no order.
func firstEntries(dir string, n int) ([]fs.DirEntry, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	entries, err := d.ReadDir(n)
	if err == io.EOF {
		err = nil
	}
	return entries, err
}

// beginsLikeManifest reports whether the first lines of a file have an apiVersion.
func beginsLikeManifest(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, maxHiddenBytes))
	return err != nil || versionKey().Match(head)
}

// isBrokenList reports whether an object is a List without items that could be
// taken out of it. A kind of its own may end in List, too: that has a name or a spec.
func isBrokenList(o *Object) bool {
	if !strings.HasSuffix(o.Kind, "List") || o.Kind != "List" && (o.Name != "" || o.Root.Get("spec") != nil) {
		return false
	}
	_, items := o.Root.Field("items")
	return items == nil || items.Kind != Sequence && !items.IsNull() // null is how Go writes an empty one
}
