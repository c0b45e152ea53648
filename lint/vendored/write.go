package vendored

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/schedlint/schedlint/lint/worktree"
)

// Write replaces the files and the lock in a folder. Without a lock, the folder must be empty.
// Unless forced is set, the folder must not differ from its lock. If Write fails, the folder keeps
// its previous content.
func (s *Source) Write(dir string, forced bool) error {
	parent, name, err := Parent(dir)
	if err != nil {
		return err
	}
	defer parent.Close()
	before, err := replaceable(parent, name, dir, forced)
	if err != nil {
		return err
	}
	return replace(parent, name, dir, before, append(s.Files, File{LockName, s.Lock().text()}))
}

// Replace replaces the content of a folder in one step. If it fails, the folder keeps its previous
// content. The names of the files must have been checked.
func Replace(dir string, files []File) error {
	parent, name, err := Parent(dir)
	if err != nil {
		return err
	}
	defer parent.Close()
	_, err = parent.Lstat(name)
	return replace(parent, name, dir, err == nil, files)
}

// replace replaces a folder in an open parent. before says whether there is one.
func replace(parent *os.Root, name, dir string, before bool, files []File) error {
	fresh, old := fmt.Sprintf(".%.100s.%d.tmp", name, os.Getpid()), fmt.Sprintf(".%.100s.%d.old", name, os.Getpid())
	err := fill(parent, fresh, files)
	if err == nil && before {
		err = parent.Rename(name, old)
	}
	if err == nil {
		if err = parent.Rename(fresh, name); err != nil && before {
			err = errors.Join(err, parent.Rename(old, name))
		}
	}
	if err != nil {
		return errors.Join(worktree.Named(err, dir), parent.RemoveAll(fresh))
	}
	return parent.RemoveAll(old)
}

// Parent opens the parent of a folder or file and creates missing parents. In a work tree, none of
// the parents may be a link.
func Parent(dir string) (parent *os.Root, name string, err error) {
	root, below, inTree := worktree.Locate(dir)
	if !inTree {
		abs, err := filepath.Abs(dir)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(abs), 0o755)
		}
		if err != nil {
			return nil, "", err
		}
		parent, err = os.OpenRoot(filepath.Dir(abs))
		return parent, filepath.Base(abs), err
	}
	if worktree.OfGit(below) || below == "." {
		return nil, "", fmt.Errorf("%s: expected a folder of its own in the work tree", filepath.ToSlash(dir))
	}
	spot, err := worktree.Make(root, below)
	if err != nil {
		return nil, "", err
	}
	return spot.Dir, spot.Name, nil
}

// replaceable reports whether a folder exists. It returns an error if the folder must not be
// replaced.
func replaceable(parent *os.Root, name, dir string, forced bool) (exists bool, err error) {
	shown := filepath.ToSlash(filepath.Clean(dir))
	info, err := parent.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, worktree.Named(err, dir)
	case !info.IsDir():
		return false, fmt.Errorf("%s: expected a folder, or nothing; remove what is there, or choose another folder with --to", shown)
	}
	folder, err := parent.OpenRoot(name)
	if err != nil {
		return false, worktree.Named(err, dir)
	}
	defer folder.Close()
	if _, err := folder.Lstat(LockName); err != nil {
		entries, readErr := fs.ReadDir(folder.FS(), ".")
		if readErr == nil && len(entries) == 0 {
			return true, nil
		}
		return false, fmt.Errorf("%s: the folder has no %s, so its files are not vendored; choose another folder with --to", shown, LockName)
	}
	if forced {
		return true, nil
	}
	differences := append(check(folder.FS(), shown), others(folder.FS(), shown)...)
	if len(differences) > 0 {
		return true, errors.Join(append(differences, fmt.Errorf("%s: nothing is written; --force discards these changes", shown))...)
	}
	return true, nil
}

// others returns an error for each file that does not belong to the rules. Replacing the folder
// would delete such a file.
func others(folder fs.FS, shown string) (all []error) {
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !counts(name) && name != LockName && len(all) < maxDifferences {
			all = append(all, fmt.Errorf("%s: the file is not vendored; move it out of the folder", path.Join(shown, name)))
		}
		return err
	})
	if err != nil {
		all = append(all, fmt.Errorf("%s: %w", shown, err))
	}
	return all
}

// fill writes files into a new folder.
func fill(parent *os.Root, name string, files []File) error {
	if err := parent.Mkdir(name, 0o755); err != nil {
		return err
	}
	folder, err := parent.OpenRoot(name)
	if err != nil {
		return err
	}
	defer folder.Close()
	for _, f := range files {
		if err := folder.MkdirAll(filepath.FromSlash(path.Dir(f.Name)), 0o755); err != nil {
			return err
		}
		if err := folder.WriteFile(filepath.FromSlash(f.Name), f.Text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

const (
	maxName  = 200 // bytes
	maxDepth = 20  // elements
)

// CheckName returns an error for an invalid entry name. A valid name means the same file on every
// operating system.
func CheckName(name string) error {
	switch {
	case len(name) > maxName || strings.Count(name, "/") >= maxDepth:
		return fmt.Errorf("the name is too long; expected at most %d bytes and %d elements", maxName, maxDepth)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }):
		return errors.New("the name has a control character, or one that is not printed")
	case strings.HasPrefix(name, "/"):
		return errors.New("the name is absolute")
	case strings.ContainsAny(name, `\:*?"<>|`):
		return errors.New(`the name has one of \ : * ? " < > |, which not every system can store`)
	}
	for element := range strings.SplitSeq(name, "/") {
		switch {
		case element == "" || element == ".":
			return errors.New("the name has an empty element")
		case !worktree.Local(element):
			return errors.New("the name has .. in it, which leads outside")
		case strings.HasSuffix(element, ".") || strings.HasSuffix(element, " ") || strings.HasPrefix(element, " "):
			return errors.New("an element of the name begins with a space or ends in a space or a dot, which not every system can store")
		}
	}
	return nil
}

// spot records the original name for a folded name.
type spot struct {
	name string
	dir  bool
}

// names detects entries whose names collide on a case-insensitive file system.
type names map[string]spot

// add records a file and the folders that contain it. It returns an error if another name means the
// same file or folder.
func (all names) add(name string) error {
	for at, dir := name, false; at != "."; at, dir = path.Dir(at), true {
		key := fold(at)
		other, taken := all[key]
		switch {
		case !taken:
			all[key] = spot{at, dir}
		case other.name != at:
			return fmt.Errorf("the name differs from %q only in case", other.name)
		case !dir && !other.dir:
			return errors.New("the name occurs twice")
		case dir != other.dir:
			return fmt.Errorf("%q is both a file and a folder", at)
		}
	}
	return nil
}

// fold returns the same name for all names that differ only in case. It replaces each rune with the
// smallest rune that is equal to it under case folding.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}
