package worktree

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// WriteFile replaces a whole file atomically with the text that write writes. Readers never see a
// partial file. The old file remains if the disk is full or write fails. In a work tree, WriteFile
// does not follow links, because a pull request may contain one. Outside work trees, it follows
// links.
func WriteFile(path string, write func(io.Writer) error) error {
	if err := RefuseLink(path); err != nil {
		return err
	}
	spot, err := openSpot(path)
	switch {
	case err != nil:
		return Named(err, path)
	case spot == nil:
		return writeOutside(path, write)
	}
	defer spot.Close()
	return Named(writeInto(spot.Dir, spot.Name, write), path)
}

// openSpot opens a file's directory in its work tree. It returns nil if the path is outside every
// work tree.
func openSpot(path string) (*Spot, error) {
	root, name, ok := Locate(path)
	if !ok {
		return nil, nil
	}
	return At(root, name)
}

// RefuseLink returns an error if a component of path in the work tree is a link. The error contains
// advice.
func RefuseLink(path string) error {
	spot, err := openSpot(path)
	if spot != nil {
		defer spot.Close()
		_, err = spot.Lstat()
	}
	var link *LinkError
	if !errors.As(err, &link) {
		return nil
	}
	err = fmt.Errorf("%w in the work tree: remove it or name a file outside of the work tree", err)
	if shown := filepath.ToSlash(filepath.Clean(path)); shown != filepath.ToSlash(link.Name) {
		return fmt.Errorf("%s: %w", shown, err)
	}
	return err
}

// writeOutside writes a file outside every work tree. It replaces only regular files. It writes
// directly to a pipe, a device or a link whose target is not in the file system.
func writeOutside(path string, write func(io.Writer) error) error {
	direct := func() error {
		file, err := os.OpenFile(path, directly, 0o644)
		return fill(file, err, write)
	}
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real // keep the link
	} else if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		return direct() // the target is not in the file system: /dev/stdout may lead to a pipe or a deleted file
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return direct()
	}
	dir, err := os.OpenRoot(filepath.Dir(target))
	if errors.Is(err, fs.ErrPermission) {
		return direct() // the file may be writable even if its directory is not
	}
	if err != nil {
		return Named(err, path)
	}
	defer dir.Close()
	return Named(writeInto(dir, filepath.Base(target), write), path)
}

// writeInto writes a file in an open directory. The file must not be a link.
func writeInto(dir *os.Root, name string, write func(io.Writer) error) error {
	mode := fs.FileMode(0o644)
	direct := func() error {
		file, err := dir.OpenFile(name, directly, mode)
		return fill(file, err, write)
	}
	info, err := dir.Lstat(name)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return &LinkError{Name: name} // it has become a link since it was inspected
	case err == nil && !info.Mode().IsRegular():
		return direct()
	case err == nil:
		mode = info.Mode().Perm()
	}
	temp, err := writeBeside(dir, name, write, mode)
	if errors.Is(err, fs.ErrPermission) && info != nil {
		return direct() // the file may be writable even if its directory is not
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil && temp != "" {
		dir.Remove(temp)
	}
	return err
}

// ReplaceFile replaces the contents of a regular file atomically and keeps its permissions. It
// changes nothing if the file does not have the expected contents. Other hard links to the file
// keep the old contents.
func ReplaceFile(path string, before, after []byte) error {
	spot, err := openSpot(path)
	if err == nil && spot == nil {
		var dir *os.Root
		dir, err = os.OpenRoot(filepath.Dir(path))
		spot = &Spot{Dir: dir, Name: filepath.Base(path)}
	}
	if err != nil {
		return Named(err, path)
	}
	defer spot.Close()
	return Named(replaceIn(spot.Dir, spot.Name, before, after), path)
}

func replaceIn(dir *os.Root, name string, before, after []byte) error {
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "replace", Path: name, Err: ErrNotRegular}
	}
	temp, err := writeBeside(dir, name, func(w io.Writer) error {
		_, err := w.Write(after)
		return err
	}, info.Mode().Perm())
	if err == nil {
		err = dir.Chmod(temp, info.Mode().Perm()) // the umask has removed some bits
	}
	if err == nil {
		err = unchanged(dir, name, before) // check as late as possible
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil && temp != "" {
		dir.Remove(temp)
	}
	return err
}

// unchanged returns an error if the contents of a file have changed or if the file is not writable.
// Replacing a file requires only a writable directory. Without the second check, replacing would
// ignore the read-only mode of the file.
func unchanged(dir *os.Root, name string, before []byte) error {
	file, err := dir.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	now, err := io.ReadAll(io.LimitReader(file, int64(len(before))+1))
	if err == nil && !bytes.Equal(now, before) {
		err = &fs.PathError{Op: "replace", Path: name, Err: errors.New("has changed since it was read")}
	}
	return err
}

// writeBeside writes a temporary file next to another file. The temporary name contains the process
// id, because two runs may write the same file at the same time.
func writeBeside(dir *os.Root, name string, write func(io.Writer) error, mode fs.FileMode) (temp string, err error) {
	temp = fmt.Sprintf(".%.100s.%d.tmp", name, os.Getpid())
	file, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	return temp, fill(file, nil, write)
}

// directly has the flags for opening a file that cannot be replaced.
const directly = os.O_WRONLY | os.O_CREATE | os.O_TRUNC

// fill writes the text of a file that was opened, and closes it.
func fill(file *os.File, opened error, write func(io.Writer) error) error {
	if opened != nil {
		return opened
	}
	w := bufio.NewWriter(file)
	return cmp.Or(write(w), w.Flush(), file.Close())
}

// Spot is a file name in an open directory of a work tree.
type Spot struct {
	// Dir is the open directory, and Name is the file's name in it. The path to the directory
	// contains no links. The file itself may be a link.
	Dir  *os.Root
	Name string
	name string // relative to the root
}

// LinkError is the error for a symbolic link where links are not allowed.
type LinkError struct {
	// Name is the link's path relative to the root of the work tree.
	Name string
}

func (e *LinkError) Error() string {
	return filepath.ToSlash(e.Name) + " is a symbolic link"
}

// At opens a file's directory. The file name is relative to root.
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

// step opens a subdirectory of dir. part is its name, and name is its path relative to the root.
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

// Lstat returns information about the file. It returns a LinkError if the file is a link.
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

// ErrNotRegular is the error for anything except a regular file, such as a pipe, a device or a
// directory.
var ErrNotRegular = errors.New("is not a regular file")

// Check returns an error unless name is a regular file below root with at most limit bytes. The
// name must not lead into .git, which is not part of the work tree.
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

// OfGit reports whether a path leads into git's own directory. Its files are not part of the work
// tree and may contain credentials.
func OfGit(path string) bool {
	return slices.ContainsFunc(parts(path), func(s string) bool { return strings.EqualFold(s, ".git") })
}

var errOfGit = errors.New("belongs to git, not to the work tree")

// check returns the size of the file. It returns an error if the file is not regular or larger than
// limit.
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

// ReadFile reads a file below root. The file must pass Check.
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

// ReadAll reads everything from in. It returns an error if there are more than limit bytes.
func ReadAll(in io.Reader, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, TooLarge(limit)
	}
	return text, err
}

// TooLarge returns the error for a file that is larger than the limit. The limit must be a multiple
// of 1 MiB.
func TooLarge(limit int64) error { return fmt.Errorf("is larger than %d MiB", limit>>20) }

// Named replaces the path in a file system error with name. In an error from an open directory, the
// path is only its last component.
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
