package main

import (
	"errors"
	"fmt"
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
