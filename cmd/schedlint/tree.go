package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// tree is the tree of a revision, unpacked in a directory of its own. It is read
// from git's objects: nothing is checked out, so that no hook and no filter runs
// and neither the work tree nor the index is touched.
type tree struct {
	root string // of the work tree
	dir  string // where the tree lies
}

// treeEntry is one file or link of a tree.
type treeEntry struct {
	mode, object, name string
}

// unpack unpacks the tree of a revision, as far as files are wanted. The caller
// removes it.
func unpack(root, revision string, wanted func(name string) bool) (*tree, error) {
	id, err := gitOutput(root, nil, "rev-parse", "--verify", "--end-of-options", revision+"^{tree}")
	if err != nil && err.Error() == "Needed a single revision" { // git's words for all of these
		err = errors.New("git knows no such revision, or it is no tree; of a shallow clone fetch it first")
	}
	if err != nil {
		return nil, err
	}
	list, err := gitOutput(root, nil, "ls-tree", "-r", "-z", "--full-tree", strings.TrimSpace(string(id)))
	if err != nil {
		return nil, err
	}
	var entries, links []treeEntry
	for line := range bytes.SplitSeq(list, []byte{0}) {
		switch e, ok := parseEntry(string(line)); {
		case ok && e.mode == linkMode:
			links = append(links, e)
		case ok && wanted(e.name):
			entries = append(entries, e)
		}
	}
	dir, err := os.MkdirTemp("", "schedlint-")
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, dir: dir}
	if t.dir, err = filepath.EvalSymlinks(dir); err == nil {
		err = t.fill(append(entries, links...)) // no file is written through a link
	}
	if err != nil {
		t.remove()
		return nil, err
	}
	return t, nil
}

func (t *tree) remove() { os.RemoveAll(t.dir) }

const linkMode = "120000"

// parseEntry reads "<mode> <type> <object>\t<name>". Submodules are trees of
// others, and are left out.
func parseEntry(line string) (e treeEntry, ok bool) {
	head, name, ok := strings.Cut(line, "\t")
	fields := strings.Fields(head)
	if !ok || len(fields) != 3 || fields[1] != "blob" {
		return e, false
	}
	return treeEntry{fields[0], fields[2], name}, true
}

// fill writes the entries. Names come from whoever made the objects: none leads
// out of the directory, be it by itself or by a link in the same tree.
func (t *tree) fill(entries []treeEntry) error {
	root, err := os.OpenRoot(t.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	write := func(e treeEntry, text []byte) error {
		if !filepath.IsLocal(filepath.FromSlash(e.name)) {
			return fmt.Errorf("the tree has a file named %q", e.name)
		}
		if err := root.MkdirAll(filepath.FromSlash(path.Dir(e.name)), 0o755); err != nil {
			return err
		}
		if e.mode == linkMode {
			return root.Symlink(string(text), filepath.FromSlash(e.name))
		}
		return root.WriteFile(filepath.FromSlash(e.name), text, 0o644)
	}
	var objects bytes.Buffer
	for _, e := range entries {
		objects.WriteString(e.object + "\n")
	}
	return gitBlobs(t.root, &objects, len(entries), func(i int, text []byte) error { return write(entries[i], text) })
}

// gitBlobs hands the texts of objects to a function, in their order.
func gitBlobs(dir string, objects io.Reader, n int, each func(i int, text []byte) error) error {
	cmd := gitCommand(dir, "cat-file", "--batch")
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = objects, &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	in := bufio.NewReader(out)
	for i := 0; i < n && err == nil; i++ {
		var text []byte
		if text, err = readBlob(in); err == nil {
			err = each(i, text)
		}
	}
	if err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		return err
	}
	if err := cmd.Wait(); err != nil {
		return fatal(said.String(), err)
	}
	return nil
}

// readBlob reads "<object> <type> <size>\n<text>\n".
func readBlob(in *bufio.Reader) ([]byte, error) {
	head, err := in.ReadString('\n')
	if err != nil {
		return nil, errors.New("git ends too early")
	}
	fields := strings.Fields(head)
	if len(fields) != 3 || fields[1] != "blob" {
		return nil, fmt.Errorf("the file of object %s is not here: fetch the revision as a whole", strings.TrimSpace(head))
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return nil, err
	}
	text := make([]byte, size+1)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, errors.New("git ends too early")
	}
	return text[:size], nil
}

// inside is a path below the root of the work tree as a name from there. A path
// may lead there from elsewhere, as where /tmp is a link: taken for one outside of
// the repository, its files would be the same for every revision.
func (t *tree) inside(abs string) (name string, ok bool) {
	if name, ok = below(t.root, abs); ok {
		return name, true
	}
	rest := ""
	for at := abs; ; at = filepath.Dir(at) { // the highest counts: links in the work tree are the tree's
		if real, err := filepath.EvalSymlinks(at); err == nil {
			if from, in := below(t.root, real); in {
				name, ok = filepath.Join(from, rest), true
			}
		}
		if at == filepath.Dir(at) {
			return name, ok
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// below is a path as a name from a directory that it lies in.
func below(dir, path string) (name string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", false
	}
	return rel, true
}

// has reports whether the tree has a file or a directory of a name.
func (t *tree) has(name string) bool {
	_, err := os.Stat(filepath.Join(t.dir, name))
	return err == nil
}

// adopt takes a file of the work tree into the tree, if that has none of the name
// and git does not track it: what is made on the spot, such as the answer of a
// cluster, belongs to no revision and counts for all.
func (t *tree) adopt(name string, tracked map[string]bool) error {
	if t.has(name) || tracked[filepath.ToSlash(name)] {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(t.root, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // whoever asks for it says so
	}
	if err != nil {
		return err
	}
	to := filepath.Join(t.dir, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
