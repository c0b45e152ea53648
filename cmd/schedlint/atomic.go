package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFile puts a whole file in place at once, so that nobody reads half of
// one and a full disk leaves the old one. What is no plain file (a pipe, a
// device), or a link that leads to no name, is written to, never replaced.
func writeFile(path string, data []byte) error {
	target := path
	mode := fs.FileMode(0o644)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real // keeps the link
	} else if link, err := os.Lstat(path); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		return os.WriteFile(path, data, mode) // it leads to no name, as /dev/stdout does to a pipe or a file that is deleted
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return os.WriteFile(path, data, mode)
	case err == nil:
		mode = info.Mode().Perm()
	}
	temp, err := writeBeside(target, data, mode)
	if errors.Is(err, fs.ErrPermission) && info != nil {
		return os.WriteFile(path, data, mode) // the file may be ours where the directory is not
	}
	if err == nil {
		err = os.Rename(temp, target)
	}
	if err != nil {
		os.Remove(temp)
		return named(err, path)
	}
	return nil
}

// replaceFile puts a text in place of the one that is expected in a plain file,
// at once and with the same permissions, or leaves everything as it is. Another
// name of the same file, a hard link, keeps the old text.
func replaceFile(path string, before, after []byte) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &fs.PathError{Op: "replace", Path: path, Err: errors.New("is not a regular file")}
	}
	temp, err := writeBeside(path, after, info.Mode().Perm())
	if err == nil {
		err = os.Chmod(temp, info.Mode().Perm()) // the mask took its part
	}
	if err == nil {
		err = unchanged(path, before) // as late as can be
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
		return named(err, path)
	}
	return nil
}

// unchanged demands that a file still has a text, and that it could be written
// in place: where only the directory may be written, the file is not ours.
func unchanged(path string, before []byte) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	now, err := io.ReadAll(io.LimitReader(file, int64(len(before))+1))
	if err == nil && !bytes.Equal(now, before) {
		err = &fs.PathError{Op: "replace", Path: path, Err: errors.New("has changed since it was read")}
	}
	return err
}

// writeBeside writes a file that is not there yet in the directory of another.
// The name has the process in it and not chance, as two runs that write the
// same file at once are told apart by that.
func writeBeside(path string, data []byte, mode fs.FileMode) (temp string, err error) {
	temp = filepath.Join(filepath.Dir(path), fmt.Sprintf(".%.100s.%d.tmp", filepath.Base(path), os.Getpid()))
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", err
	}
	_, err = file.Write(data)
	return temp, errors.Join(err, file.Close())
}

// named makes an error one about the file that was asked for.
func named(err error, path string) error {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		return &fs.PathError{Op: p.Op, Path: path, Err: p.Err}
	case errors.As(err, &l):
		return &fs.PathError{Op: l.Op, Path: path, Err: l.Err}
	}
	return err
}
