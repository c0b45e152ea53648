package worktree

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Spot is a place for a file in an open directory of a work tree.
type Spot struct {
	// Dir contains the file, and Name is its name there. The path to the directory contains no
	// link; the file itself may be one.
	Dir  *os.Root
	Name string
	name string // from the root
}

// LinkError is returned for a symbolic link where none is allowed.
type LinkError struct {
	// Name is the name of the link from the root of the work tree.
	Name string
}

func (e *LinkError) Error() string {
	return filepath.ToSlash(e.Name) + " is a symbolic link"
}

// At opens the directory of a file, given its name from a root.
func At(root, name string) (*Spot, error) {
	if name = filepath.Clean(name); !filepath.IsLocal(name) || name == "." {
		return nil, fmt.Errorf("%s is no name of a file below the root", filepath.ToSlash(name))
	}
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	above := parts(name)
	for i, part := range above[:len(above)-1] {
		next, err := step(dir, part, filepath.Join(above[:i+1]...))
		dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return &Spot{dir, above[len(above)-1], name}, nil
}

// Make is like At, but creates missing directories.
func Make(root, name string) (*Spot, error) {
	above := parts(filepath.Clean(name))
	for i := 1; i < len(above); i++ {
		spot, err := At(root, filepath.Join(above[:i]...))
		if err != nil {
			return nil, err
		}
		err = spot.Dir.Mkdir(spot.Name, 0o755)
		if spot.Close(); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, Named(err, name)
		}
	}
	return At(root, name)
}

// step opens a directory in another one; name is its name from the root.
func step(dir *os.Root, part, name string) (*os.Root, error) {
	info, err := dir.Lstat(part)
	switch {
	case err != nil:
		return nil, Named(err, name)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, &LinkError{name}
	}
	next, err := dir.OpenRoot(part)
	if err != nil {
		return nil, Named(err, name)
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(info, opened) {
		err = fmt.Errorf("%s has changed while it was opened", filepath.ToSlash(name))
	}
	if err != nil {
		next.Close()
		return nil, err
	}
	return next, nil
}

// Close closes the directory.
func (s *Spot) Close() error { return s.Dir.Close() }

// Lstat describes the file. It returns a LinkError for a link.
func (s *Spot) Lstat() (fs.FileInfo, error) {
	info, err := s.Dir.Lstat(s.Name)
	switch {
	case err != nil:
		return nil, Named(err, s.name)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, &LinkError{s.name}
	}
	return info, nil
}

// ErrNotRegular is returned for a pipe, a device or a directory in place of a file.
var ErrNotRegular = errors.New("is not a regular file")

// Check checks that a name below a root is a regular file of at most limit bytes. The name must
// not lead into .git, which is not part of the work tree.
func Check(root, name string, limit int64) error {
	if OfGit(name) {
		return errOfGit
	}
	spot, err := At(root, name)
	if err != nil {
		return err
	}
	defer spot.Close()
	_, err = spot.check(limit)
	return err
}

// OfGit reports whether a path leads into git's own directory. Its files, such as a
// configuration with credentials, are not part of the work tree.
func OfGit(path string) bool {
	return slices.ContainsFunc(parts(path), func(s string) bool { return strings.EqualFold(s, ".git") })
}

var errOfGit = errors.New("belongs to git, not to the work tree")

// check returns the size of a regular file.
func (s *Spot) check(limit int64) (size int64, err error) {
	info, err := s.Lstat()
	switch {
	case err != nil:
		return 0, err
	case !info.Mode().IsRegular():
		return 0, ErrNotRegular
	case info.Size() > limit:
		return 0, TooLarge(limit)
	}
	return info.Size(), nil
}

// ReadFile reads a file that passes Check.
func ReadFile(root, name string, limit int64) ([]byte, error) {
	r := NewReader(root)
	defer r.Close()
	return r.ReadFile(name, limit)
}

// ReadTrusted reads a file that the user vouches for. It may be a pipe or a device.
func ReadTrusted(path string, limit int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadAll(file, limit)
}

// ReadAll reads at most limit bytes, and returns an error if there are more.
func ReadAll(in io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, TooLarge(limit)
	}
	return text, err
}

// TooLarge returns the error for a file that exceeds a limit, which is a multiple of 1 MiB.
func TooLarge(limit int64) error { return fmt.Errorf("is larger than %d MiB", limit>>20) }

// Named replaces the path in an error of the file system by a name, because errors of an open
// directory contain only the last component.
func Named(err error, name string) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return &fs.PathError{Op: strings.TrimSuffix(p.Op, "at"), Path: name, Err: p.Err}
	case errors.As(err, &l):
		return &fs.PathError{Op: strings.TrimSuffix(l.Op, "at"), Path: name, Err: l.Err}
	}
	return err
}
