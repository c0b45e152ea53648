package worktree

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteFile puts a whole file in place at once, so that a reader never sees half
// of one and a full disk leaves the old one. In a work tree no link is followed, as
// a pull request may bring it; elsewhere a path is written as it is named.
func WriteFile(path string, data []byte) error {
	if err := RefuseLink(path); err != nil {
		return err
	}
	spot, err := openSpot(path)
	switch {
	case err != nil:
		return Named(err, path)
	case spot == nil:
		return writeOutside(path, data)
	}
	defer spot.Close()
	return Named(writeInto(spot.Dir, spot.Name, data), path)
}

// openSpot opens the place of a file in the work tree that it lies in; nil outside
// of all.
func openSpot(path string) (*Spot, error) {
	root, name, ok := Locate(path)
	if !ok {
		return nil, nil
	}
	return At(root, name)
}

// RefuseLink refuses a path with a link in the work tree, and says what to do.
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

// writeOutside writes a file outside of work trees. What is no plain file (a pipe,
// a device), or a link that leads to no name, is written to, never replaced.
func writeOutside(path string, data []byte) error {
	const mode = 0o644
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real // keeps the link
	} else if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		return os.WriteFile(path, data, mode) // it leads to no name, as /dev/stdout does to a pipe or a file that is deleted
	}
	if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(path, data, mode)
	}
	dir, err := os.OpenRoot(filepath.Dir(target))
	if errors.Is(err, fs.ErrPermission) {
		return os.WriteFile(path, data, mode) // the file may be ours where the directory is not
	}
	if err != nil {
		return Named(err, path)
	}
	defer dir.Close()
	return Named(writeInto(dir, filepath.Base(target), data), path)
}

// writeInto writes a file in an open directory, where it is no link.
func writeInto(dir *os.Root, name string, data []byte) error {
	mode := fs.FileMode(0o644)
	info, err := dir.Lstat(name)
	switch {
	case err == nil && info.Mode()&fs.ModeSymlink != 0:
		return &LinkError{Name: name} // since it was looked at
	case err == nil && !info.Mode().IsRegular():
		return dir.WriteFile(name, data, mode)
	case err == nil:
		mode = info.Mode().Perm()
	}
	temp, err := writeBeside(dir, name, data, mode)
	if errors.Is(err, fs.ErrPermission) && info != nil {
		return dir.WriteFile(name, data, mode) // the file may be ours where the directory is not
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil && temp != "" {
		dir.Remove(temp)
	}
	return err
}

// ReplaceFile puts a text in place of the one that is expected in a plain file,
// at once and with the same permissions, or leaves everything as it is. Another
// name of the same file, a hard link, keeps the old text.
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
	temp, err := writeBeside(dir, name, after, info.Mode().Perm())
	if err == nil {
		err = dir.Chmod(temp, info.Mode().Perm()) // the mask took its part
	}
	if err == nil {
		err = unchanged(dir, name, before) // as late as can be
	}
	if err == nil {
		err = dir.Rename(temp, name)
	}
	if err != nil && temp != "" {
		dir.Remove(temp)
	}
	return err
}

// unchanged demands that a file still has a text, and that it could be written
// in place: where only the directory may be written, the file is not ours.
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

// writeBeside writes a file that is not there yet in the directory of another.
// The name has the process in it and not chance, as two runs that write the
// same file at once are told apart by that.
func writeBeside(dir *os.Root, name string, data []byte, mode fs.FileMode) (temp string, err error) {
	temp = fmt.Sprintf(".%.100s.%d.tmp", name, os.Getpid())
	file, err := dir.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	return temp, errors.Join(err, file.Close())
}
