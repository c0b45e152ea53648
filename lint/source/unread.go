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

// unread records a path that is not read.
func (w *walker) unread(reason, path string, dir bool) {
	w.passed = append(w.passed, passedPath{reason, path, dir})
}

// unreadPaths returns the paths that were not reached in another way.
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

// versionControl lists hidden directories that contain no manifests of their own.
var versionControl = map[string]bool{".git": true, ".hg": true, ".svn": true, ".jj": true, ".bzr": true}

// ofOthers reports whether a directory contains third-party files of npm or go mod vendor.
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

// hidden records a directory that is skipped if it may contain manifests: many repositories have
// hidden directories only for an editor or the CI.
func (w *walker) hidden(reason, path string) {
	switch {
	case versionControl[filepath.Base(path)] || !w.opts.Tracked(path):
	case w.ignored(path):
		w.unread(SkipIgnored, path, true)
	case mayHoldManifests(path):
		w.unread(reason, path, true)
	}
}

// linkUnread records a link that is not followed if its target would be read.
func (w *walker) linkUnread(reason, path string) {
	if info, err := os.Stat(path); err == nil && (info.IsDir() || isManifest(path)) {
		w.unread(reason, path, info.IsDir())
	}
}

// Limits of the search in a hidden directory.
const (
	maxHiddenNames = 1000
	maxHiddenFiles = 50
	maxHiddenBytes = 4 << 10
)

// versionKey matches the key that every manifest has.
var versionKey = lazy.Regexp(`(?m)^[ \t{]*(?:- +)*["']?apiVersion["']?[ \t]*:`)

// mayHoldManifests reports whether a file below a directory begins like a manifest. It returns true
// if the directory exceeds the limits of the search.
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

// firstEntries returns at most n entries of a directory, in any order.
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

// isBrokenList reports whether an object is a List without usable items. A custom kind may also end
// in List: it has a name or a spec.
func isBrokenList(o *Object) bool {
	if !strings.HasSuffix(o.Kind, "List") || o.Kind != "List" && (o.Name != "" || o.Root.Get("spec") != nil) {
		return false
	}
	_, items := o.Root.Field("items")
	return items == nil || items.Kind != Sequence && !items.IsNull() // Go writes an empty list as null
}
