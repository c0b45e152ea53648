package thirdparty

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/schedlint/schedlint/lint/sorting"
	"github.com/schedlint/schedlint/lint/vendored"
	"github.com/schedlint/schedlint/lint/worktree"
)

const (
	// Dir is the default folder, relative to the repository root.
	Dir = "third_party"
	// LockName is the name of the lock in the folder.
	LockName = "schedlint.charts.lock.json"

	lockVersion = 1
)

// Limits for the lock and for the copies. MaxFile is the maximum size of a file, and MaxFiles that
// of all files of a directory, in bytes.
const (
	MaxLock    = 4 << 20
	MaxFile    = 32 << 20
	MaxFiles   = 128 << 20
	maxEntries = 10_000
	maxAddress = 1_000 // bytes
)

// Lock maps addresses to copies.
type Lock struct {
	Version int `json:"version"`
	// Entries are sorted by name, and each name is unique.
	Entries []Entry `json:"entries"`
}

// Entry maps one address to its copy.
type Entry struct {
	// Name is the address like a key of remotes: a chart with @ and the requested version, a URL of
	// a kustomization as written, or a git repository with @ and the requested revision.
	Name string `json:"name"`
	// Path is the file or directory, relative to the folder.
	Path string `json:"path"`
	// Resolved is the version of the chart or the git commit.
	Resolved string `json:"resolved"`
	// SHA256 is the result of Digest.
	SHA256 string `json:"sha256"`
}

// Parse reads a lock, which an attacker may have written.
func Parse(text []byte) (*Lock, error) {
	if len(text) > MaxLock {
		return nil, fmt.Errorf("the file is larger than %d MiB", MaxLock>>20)
	}
	var l Lock
	if err := vendored.Decode(text, &l, "the lock of schedlint vendor"); err != nil {
		return nil, err
	}
	if l.Version != lockVersion {
		return nil, fmt.Errorf("found a lock of version %d; this schedlint reads version %d", l.Version, lockVersion)
	}
	if len(l.Entries) > maxEntries {
		return nil, fmt.Errorf("the lock has %d entries; expected at most %d", len(l.Entries), maxEntries)
	}
	for i, e := range l.Entries {
		err := e.Check()
		switch {
		case err != nil:
		case i > 0 && l.Entries[i-1].Name == e.Name:
			err = errors.New("the name occurs twice")
		case i > 0 && l.Entries[i-1].Name > e.Name:
			err = errors.New("the entries are not sorted by name")
		}
		if err != nil {
			return nil, fmt.Errorf("entry %q: %w", e.Name, err)
		}
	}
	return &l, nil
}

// Check returns an error for an entry that Parse refuses.
func (e *Entry) Check() error {
	if err := checkAddress(e.Name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	if err := checkPath(e.Path); err != nil {
		return fmt.Errorf("path %q: %w", e.Path, err)
	}
	if e.Resolved == "" {
		return errors.New("expected the resolved version or commit")
	}
	if err := checkAddress(e.Resolved); err != nil {
		return fmt.Errorf("resolved: %w", err)
	}
	if err := vendored.CheckSHA256(e.SHA256); err != nil {
		return fmt.Errorf("sha256: %w", err)
	}
	return nil
}

// checkAddress returns an error unless text is short and consists of visible characters and single
// spaces, as in a version range.
func checkAddress(text string) error {
	switch {
	case text == "" || len(text) > maxAddress:
		return fmt.Errorf("expected 1 to %d bytes, found %d", maxAddress, len(text))
	case !utf8.ValidString(text), strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("found a control character, or one that is not printed")
	case strings.TrimSpace(text) != text:
		return errors.New("found a space at the beginning or end")
	}
	return nil
}

// checkPath returns an error unless name is the path of a copy on every operating system.
func checkPath(name string) error {
	switch {
	case worktree.OfGit(name):
		return errors.New("the name has .git in it, which belongs to git")
	case strings.EqualFold(name, LockName):
		return errors.New("the name is that of the lock")
	}
	return vendored.CheckName(name)
}

// Text returns the content of the lock file.
func (l *Lock) Text() []byte { return vendored.Encode(l) }

// New returns a lock with the given entries.
func New(entries []Entry) *Lock {
	l := &Lock{lockVersion, append([]Entry{}, entries...)}
	sorting.Stable(l.Entries, byName)
	return l
}

func byName(a, b Entry) int { return strings.Compare(a.Name, b.Name) }

// Find returns the entry with the given name.
func (l *Lock) Find(name string) (Entry, bool) {
	i, ok := slices.BinarySearchFunc(l.Entries, Entry{Name: name}, byName)
	if !ok {
		return Entry{}, false
	}
	return l.Entries[i], true
}

// GitDir is the subfolder for directories of git repositories.
const GitDir = "git"

// Unit returns the file or directory that Digest covers for a path: the path itself, or everything
// of its commit.
func Unit(name string) string {
	if strings.HasPrefix(name, GitDir+"/") {
		if i := strings.IndexByte(name, '@'); i >= 0 {
			unit, _, _ := strings.Cut(name[i:], "/")
			return name[:i] + unit
		}
	}
	return name
}

// Digest returns the SHA-256 of the copy at a path in the folder. It refuses links and devices, also
// on the path to the copy.
func Digest(folder fs.FS, name string) (string, error) {
	if err := checkPath(name); err != nil {
		return "", fmt.Errorf("%q: %w", name, err)
	}
	var info fs.FileInfo
	for i, c := range name + "/" {
		if c != '/' {
			continue
		}
		var err error
		if info, err = fs.Lstat(folder, name[:i]); err != nil {
			return "", err
		}
		if i < len(name) && !info.IsDir() || !info.IsDir() && !info.Mode().IsRegular() {
			return "", fmt.Errorf("%q: expected files and folders only, found %s", name[:i], kindOf(info.Mode()))
		}
	}
	w := vendored.NewWalker(MaxFile, MaxFiles)
	if !info.IsDir() {
		text, err := w.Read(folder, name)
		return vendored.SHA256(text), err
	}
	unit, err := fs.Sub(folder, Unit(name))
	if err != nil {
		return "", err
	}
	var files []vendored.Locked
	err = w.Walk(unit, func(name string, d fs.DirEntry) error {
		if worktree.OfGit(name) {
			return fmt.Errorf("%q: the name has .git in it, which belongs to git", name)
		}
		if d.IsDir() {
			return nil
		}
		text, err := w.Read(unit, name)
		files = append(files, vendored.Locked{Path: name, SHA256: vendored.SHA256(text)})
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%s: %w", path.Clean(name), err)
	}
	sorting.Stable(files, func(a, b vendored.Locked) int { return strings.Compare(a.Path, b.Path) })
	return vendored.Whole(files), nil
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsRegular():
		return "a file"
	}
	return "a device, a pipe or a socket"
}
