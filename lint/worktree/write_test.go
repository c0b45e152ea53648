package worktree

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWriteFileKeepsLinks checks that WriteFile writes through links, whether or not their target
// exists. Replacing a link with a file would lose the link. /dev/stdout has no target in the file
// system if the output is a pipe or a deleted file.
func TestWriteFileKeepsLinks(t *testing.T) {
	dir := t.TempDir()
	there, missing := filepath.Join(dir, "there"), filepath.Join(dir, "missing")
	if err := os.WriteFile(there, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{there, missing} {
		link := target + ".link"
		if err := os.Symlink(target, link); err != nil {
			t.Skip("no links here:", err)
		}
		err := WriteFile(link, func(w io.Writer) error {
			_, err := io.WriteString(w, "new")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is a link no more: %v", link, err)
		}
		if text, err := os.ReadFile(target); err != nil || string(text) != "new" {
			t.Errorf("%s holds %q: %v", target, text, err)
		}
	}
}

// TestWriteFileWhole checks that a file whose text cannot be written keeps its old contents, with no
// other file beside it.
func TestWriteFileWhole(t *testing.T) {
	path, errHalf := filepath.Join(t.TempDir(), "there"), errors.New("half of it")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Repeat("new", 10_000))
		return cmp.Or(err, errHalf)
	})
	if !errors.Is(err, errHalf) {
		t.Errorf("got %v, want %v", err, errHalf)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "old" {
		t.Errorf("the file holds %q: %v", text, err)
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("beside it are %v: %v", all, err)
	}
}

// TestReplaceFile checks that a file with the expected contents is replaced and keeps its
// permissions. Otherwise nothing may change, and no temporary file may remain.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "web.yaml")
	for _, v := range []struct {
		name    string
		prepare func() error
		refused string
	}{
		{"same", func() error { return nil }, ""},
		{"open to all", func() error { return os.Chmod(path, 0o666) }, ""},
		{"closed", func() error { return os.Chmod(path, 0o600) }, ""},
		{"changed", func() error { return os.WriteFile(path, []byte("new: 1\n"), 0o644) }, "has changed since it was read"},
		{"longer", func() error { return os.WriteFile(path, []byte("old: 1\nnew: 1\n"), 0o644) }, "has changed since it was read"},
		{"gone", func() error { return os.Remove(path) }, "no such file"},
		{"directory", func() error { return os.Mkdir(path, 0o755) }, "is not a regular file"},
		{"link", func() error { return os.Symlink("elsewhere", path) }, "is not a regular file"},
		{"read only", func() error { return os.Chmod(path, 0o444) }, "permission denied"},
	} {
		t.Run(v.name, func(t *testing.T) {
			os.RemoveAll(path)
			if v.name != "directory" && v.name != "link" {
				if err := os.WriteFile(path, []byte("old: 1\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if v.name == "read only" && os.Geteuid() == 0 {
				t.Skip("nothing is read only")
			}
			if err := v.prepare(); err != nil {
				t.Skip(err)
			}
			was := describe(path)
			err := ReplaceFile(path, []byte("old: 1\n"), []byte("fixed: 1\n"))
			if v.refused == "" {
				was = strings.Replace(was, "old", "fixed", 1)
			}
			if v.refused == "" && err != nil || v.refused != "" && (err == nil || !strings.Contains(err.Error(), v.refused)) {
				t.Errorf("error %v, want %q", err, v.refused)
			}
			if is := describe(path); is != was {
				t.Errorf("there is %s, want %s", is, was)
			}
			if entries, _ := os.ReadDir(dir); len(entries) > 1 {
				t.Errorf("something is left beside it: %v", entries)
			}
		})
	}
}

// describe returns a description of the file, directory or link at a path.
func describe(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "nothing"
	}
	text := []byte{}
	if info.Mode().IsRegular() {
		text, _ = os.ReadFile(path)
	}
	return fmt.Sprintf("%s %q", info.Mode(), text)
}
