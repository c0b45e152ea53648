package engine

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/schedlint/schedlint/lint/worktree"
)

// fileSystem is what kustomize sees of a tree: read-only, with the texts of the plan in
// place of those that it changed.
type fileSystem struct {
	tree   *tree
	served map[string][]byte // by the name without symbolic links
	// refused is the first refusal, because kustomize may swallow it; it is about name.
	refused error
	name    string
}

var (
	errReadOnly    = errors.New("rendering does not write files")
	errUnsupported = errors.New("rendering does not search directories")
)

func (s *fileSystem) file(abs string) (*file, error) {
	rel, ok := worktree.Below(s.tree.dir, filepath.Clean(abs))
	if !ok {
		return nil, s.note(filepath.Base(abs), refusal("is outside the repository"))
	}
	name := filepath.ToSlash(rel)
	f := s.tree.read(name)
	if f.err != nil {
		return nil, s.note(name, f.err)
	}
	return f, nil
}

func (s *fileSystem) note(name string, err error) error {
	var r refusal
	if errors.As(err, &r) && s.refused == nil {
		s.refused, s.name = err, name
	}
	return fmt.Errorf("%s %w", shown(name), err)
}

// ReadFile gives a text that the caller may change.
func (s *fileSystem) ReadFile(abs string) ([]byte, error) {
	f, err := s.file(abs)
	switch {
	case err != nil:
		return nil, err
	case f.dir:
		return nil, fmt.Errorf("%s is a directory", shown(f.name))
	}
	if text, ok := s.served[f.name]; ok {
		return append([]byte(nil), text...), nil
	}
	return append([]byte(nil), f.text...), nil
}

// CleanedAbs splits a path, without symbolic links, into directory and file.
func (s *fileSystem) CleanedAbs(abs string) (filesys.ConfirmedDir, string, error) {
	f, err := s.file(abs)
	switch {
	case err != nil:
		return "", "", err
	case f.dir:
		return s.abs(f.name), "", nil
	}
	return s.abs(path.Dir(f.name)), path.Base(f.name), nil
}

func (s *fileSystem) abs(name string) filesys.ConfirmedDir {
	return filesys.ConfirmedDir(filepath.Join(s.tree.dir, filepath.FromSlash(name)))
}

// IsDir reports whether there is a directory.
func (s *fileSystem) IsDir(abs string) bool {
	f, err := s.file(abs)
	return err == nil && f.dir
}

// Exists reports whether there is a file or directory.
func (s *fileSystem) Exists(abs string) bool {
	_, err := s.file(abs)
	return err == nil
}

// The rest is not needed for a build.

func (*fileSystem) Open(string) (filesys.File, error)    { return nil, errUnsupported }
func (*fileSystem) ReadDir(string) ([]string, error)     { return nil, errUnsupported }
func (*fileSystem) Glob(string) ([]string, error)        { return nil, errUnsupported }
func (*fileSystem) Walk(string, filepath.WalkFunc) error { return errUnsupported }
func (*fileSystem) Create(string) (filesys.File, error)  { return nil, errReadOnly }
func (*fileSystem) Mkdir(string) error                   { return errReadOnly }
func (*fileSystem) MkdirAll(string) error                { return errReadOnly }
func (*fileSystem) RemoveAll(string) error               { return errReadOnly }
func (*fileSystem) WriteFile(string, []byte) error       { return errReadOnly }
