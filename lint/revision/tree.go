package revision

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/schedlint/schedlint/lint/worktree"
)

// Tree is the tree of a revision, unpacked into a temporary directory.
type Tree struct {
	Root string // root of the work tree
	Dir  string // directory with the unpacked tree
}

// treeEntry is a file, a link or a submodule in a tree.
type treeEntry struct {
	mode, kind, object, name string
}

// content lists the files and links to unpack from one repository. git stores the objects of a
// submodule in a separate repository.
type content struct {
	repository   string
	files, links []treeEntry
}

// Unpack unpacks the wanted files of a revision's tree. The caller must call Remove on the result.
// Unpack does not check anything out: hooks and filters do not run, and the work tree and the index
// stay unchanged.
func Unpack(root, revision string, wanted func(name string) bool) (*Tree, error) {
	id, err := ID(root, revision)
	if err != nil {
		return nil, err
	}
	contents, err := contentsOf(root, "", id, wanted)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "schedlint-")
	if err != nil {
		return nil, err
	}
	t := &Tree{Root: root, Dir: dir}
	if t.Dir, err = filepath.EvalSymlinks(dir); err == nil {
		err = t.fill(contents)
	}
	if err != nil {
		t.Remove()
		return nil, err
	}
	return t, nil
}

// ID returns the object id of a revision's tree. If git warns about the revision, for instance
// because the name is ambiguous, ID returns an error.
func ID(root, revision string) (string, error) {
	id, said, err := gitSays(root, nil, "rev-parse", "--verify", "--end-of-options", revision+"^{tree}")
	if err != nil && err.Error() == "Needed a single revision" { // git's message in all of these cases
		err = errors.New("git knows no such revision, or it is no tree; of a shallow clone fetch it first")
	}
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(said) {
		why, warned := strings.CutPrefix(line, "warning: ")
		if warned && !strings.HasPrefix(why, "unable to access ") { // git only skips a configuration file
			return "", fmt.Errorf("git warns: %s: name a commit", strings.TrimRight(why, ".\n"))
		}
	}
	return strings.TrimSpace(string(id)), nil
}

// contentsOf lists the entries of a tree and of the submodules that are checked out in the work
// tree. The argument prefix is the path of the repository with a trailing slash.
func contentsOf(root, prefix, id string, wanted func(name string) bool) ([]content, error) {
	own := content{repository: filepath.Join(root, filepath.FromSlash(prefix))}
	list, err := gitOutput(own.repository, nil, "ls-tree", "-r", "-z", "--full-tree", id)
	if err != nil && prefix != "" {
		return nil, fmt.Errorf("the submodule %s has no commit %s: fetch it there first", strings.TrimSuffix(prefix, "/"), id)
	}
	if err != nil {
		return nil, err
	}
	var below []content
	for line := range bytes.SplitSeq(list, []byte{0}) {
		head, name, ok := strings.Cut(string(line), "\t") // <mode> <type> <object>\t<name>
		fields := strings.Fields(head)
		if !ok || len(fields) != 3 {
			continue
		}
		e := treeEntry{fields[0], fields[1], fields[2], prefix + name}
		switch {
		case !worktree.Local(e.name):
			return nil, fmt.Errorf("the tree has a file named %q", e.name)
		case e.kind == "commit" && isRepository(root, e.name):
			more, err := contentsOf(root, e.name+"/", e.object, wanted)
			if err != nil {
				return nil, err
			}
			below = append(below, more...)
		case e.mode == linkMode:
			own.links = append(own.links, e)
		case e.kind == "blob" && wanted(e.name):
			own.files = append(own.files, e)
		}
	}
	return append([]content{own}, below...), nil
}

// isRepository reports whether a submodule is checked out at name. Neither the directory nor its
// parents may be links.
func isRepository(root, name string) bool {
	spot, err := worktree.At(root, filepath.Join(filepath.FromSlash(name), ".git"))
	if err != nil {
		return false
	}
	defer spot.Close()
	_, err = spot.Dir.Lstat(spot.Name)
	return err == nil
}

// Remove removes the temporary directory.
func (t *Tree) Remove() { os.RemoveAll(t.Dir) }

// Clean replaces the name of the temporary directory with a prefix, because the name differs from
// run to run.
func (t *Tree) Clean(text, prefix string) string {
	const sep = string(filepath.Separator)
	return strings.NewReplacer(worktree.Here(t.Dir)+sep, prefix, t.Dir+sep, prefix).Replace(text)
}

const linkMode = "120000"

// fill writes the entries. It writes links last, so that it cannot write a file through a link.
func (t *Tree) fill(contents []content) error {
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, c := range contents {
		if err := writeEntries(root, c.repository, c.files); err != nil {
			return err
		}
	}
	for _, c := range contents {
		if err := writeEntries(root, c.repository, c.links); err != nil {
			return err
		}
	}
	return nil
}

// writeEntries writes the entries of one repository. An attacker may choose their names. No name
// may lead out of the directory, neither by itself nor through a link in the same tree.
func writeEntries(root *os.Root, repository string, entries []treeEntry) error {
	entries, large, err := bySize(repository, entries)
	if err != nil {
		return err
	}
	for _, e := range large {
		if err := writeLarge(root, e); err != nil {
			return err
		}
	}
	return gitBlobs(repository, entries, func(i int, text []byte) error {
		e := entries[i]
		name := filepath.FromSlash(e.name)
		if !worktree.Local(e.name) {
			return fmt.Errorf("the tree has a file named %q", e.name)
		}
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(e.name)), 0o755); err != nil {
			return err
		}
		if e.mode == linkMode {
			return root.Symlink(string(text), name)
		}
		return root.WriteFile(name, text, 0o644)
	})
}

// Inside returns a path's name relative to the root of a work tree. The result ok is false if the
// path is outside. Inside resolves links that lead into the work tree from outside, for instance if
// /tmp is a link. Without this, files below such a link would count as outside the repository, and
// therefore as unchanged.
func Inside(root, abs string) (name string, ok bool) {
	if name, ok = worktree.Below(root, abs); ok {
		return name, true
	}
	rest := ""
	for at := abs; ; at = filepath.Dir(at) { // continue to the top, because links within the work tree belong to the tree
		if real, err := filepath.EvalSymlinks(at); err == nil {
			if from, in := worktree.Below(root, real); in {
				name, ok = filepath.Join(from, rest), true
			}
		}
		if at == filepath.Dir(at) {
			return name, ok
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// Has reports whether the tree contains a file or directory with the given name.
func (t *Tree) Has(name string) bool {
	_, err := os.Stat(filepath.Join(t.Dir, name))
	return err == nil
}

// Adopt copies a file from the work tree into the tree. It does nothing if the tree already has the
// file or if git tracks the file. A generated file, such as the output of kubectl, belongs to no
// revision and is used for every revision.
func (t *Tree) Adopt(name string, tracked map[string]bool) error {
	if t.Has(name) {
		return nil
	}
	for at := filepath.ToSlash(name); at != "."; at = path.Dir(at) { // a link above the file may be tracked
		if tracked[at] {
			return nil
		}
	}
	from := filepath.Join(t.Root, name)
	if info, err := os.Stat(from); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file, so it can be read only once: name a file", filepath.ToSlash(name))
	}
	text, err := worktree.ReadTrusted(from, maxBlob)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the error is reported when the file is read
	}
	if err != nil {
		return err
	}
	to := filepath.Join(t.Dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// Mapped maps paths of the work tree to paths in the tree. It omits paths that are not in the tree.
// Paths are relative to dir. Paths outside the work tree become absolute.
func (t *Tree) Mapped(dir string, paths []string) []string {
	var all []string
	for _, path := range paths {
		abs := worktree.Absolute(dir, path)
		name, ok := Inside(t.Root, abs)
		switch {
		case !ok:
			all = append(all, abs)
		case t.Has(name):
			all = append(all, filepath.Join(t.Dir, name))
		}
	}
	return all
}
