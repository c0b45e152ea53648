package thirdparty

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/lint/diag"
	"github.com/schedlint/schedlint/lint/lazy"
	"github.com/schedlint/schedlint/lint/worktree"
)

// Library is a folder with copies and its lock. It compares a copy with the lock when the copy is
// first used. A nil Library is empty.
type Library struct {
	*Lock
	// Root is an absolute path. Folder is relative to it and has forward slashes.
	Root, Folder string
	// Of is the revision that the lock is from, or "" if it is the folder's own.
	Of string

	entries map[string][]Entry   // by path from Root; nil until first used
	checked map[[2]string]string // reasons by unit and expected digest
}

// Open reads the lock in a folder, which is relative to root. It returns nil if there is no lock.
func Open(root, folder string) (*Library, error) {
	name := filepath.Join(filepath.FromSlash(folder), LockName)
	text, err := worktree.ReadFile(root, name, MaxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	l := &Library{Root: root, Folder: filepath.ToSlash(folder)}
	if err == nil {
		l.Lock, err = Parse(text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; restore it from version control, or delete it and %s", worktree.Here(filepath.Join(root, name)), err, diag.Vendor)
	}
	return l, nil
}

// At returns the library of another tree for the same folder, with the lock of a revision.
func (l *Library) At(root, revision string) *Library {
	return &Library{Lock: l.Lock, Root: root, Folder: l.Folder, Of: revision}
}

// Holds reports whether a name is in the folder. The name is relative to Root.
func (l *Library) Holds(name string) bool {
	return l != nil && (name == l.Folder || strings.HasPrefix(name, l.Folder+"/"))
}

// Remotes adds the addresses of the lock to explicit ones, which have precedence. An explicit address
// without a version has precedence over all versions. The copies are relative to Root.
func (l *Library) Remotes(explicit map[string]string) map[string]string {
	if l == nil {
		return explicit
	}
	replaced, all := Replaced(explicit), maps.Clone(explicit)
	if all == nil {
		all = map[string]string{}
	}
	for _, e := range l.Entries {
		if !replaced(e.Name) {
			all[e.Name] = path.Join(l.Folder, e.Path)
		}
	}
	return all
}

// Replaced returns a function that reports whether explicit addresses have precedence over one of
// the lock.
func Replaced(explicit map[string]string) func(name string) bool {
	given := map[string]bool{}
	for key := range explicit {
		given[plain(key)] = true
	}
	return func(name string) bool {
		name = plain(name)
		return given[name] || given[name[:max(0, strings.LastIndexByte(name, '@'))]]
	}
}

// plain makes addresses equal that differ only in how they are written.
func plain(address string) string {
	address = strings.ReplaceAll(strings.TrimPrefix(address, "oci://"), ".git@", "@")
	return strings.TrimSuffix(strings.TrimRight(address, "/"), ".git")
}

// OfCommit reports whether the copy is part of a git commit. Its digest then also changes if more of
// the commit is copied.
func (e *Entry) OfCommit() bool { return strings.HasPrefix(e.Path, GitDir+"/") }

// Refuse returns the reason why a copy must not be used, or "" if the copy is what was locked. The
// name is relative to Root. The lock says nothing about other files. changed is set if there is a
// copy that somebody has changed.
func (l *Library) Refuse(name string) (why string, changed bool) {
	if !l.Holds(name) {
		return "", false
	}
	if l.entries == nil {
		l.entries, l.checked = map[string][]Entry{}, map[[2]string]string{}
		for _, e := range l.Entries {
			at := path.Join(l.Folder, e.Path)
			l.entries[at] = append(l.entries[at], e)
		}
	}
	for _, e := range l.entries[name] {
		why = lazy.Cached(l.checked, [2]string{Unit(e.Path), e.SHA256}, func() string { return l.compare(e) })
		if why != "" {
			// With the lock of a revision, more of a commit may have been copied since.
			return name + why + ", " + diag.Vendor, why != missing && (l.Of == "" || !e.OfCommit())
		}
	}
	return "", false
}

func (l *Library) compare(e Entry) string {
	at := filepath.Join(l.Root, filepath.FromSlash(l.Folder))
	if real, err := filepath.EvalSymlinks(at); err == nil && real != at {
		return " is below a symbolic link"
	}
	digest, err := "", error(nil)
	folder, err := os.OpenRoot(at)
	if err == nil {
		defer folder.Close()
		digest, err = Digest(folder.FS(), e.Path)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return missing
	case err != nil:
		return " cannot be compared with the lock: " + err.Error()
	case digest != e.SHA256:
		return " differs from the lock" + strings.TrimSuffix(" of "+l.Of, " of ")
	}
	return ""
}

const missing = " is missing"
