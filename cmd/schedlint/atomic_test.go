package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriteFileKeepsLinks writes through links, to what is there and to what is
// not: a link that was replaced by a file would be lost, and /dev/stdout is one
// that leads to no name where output is a pipe or a file that is deleted.
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
		if err := writeFile(link, []byte("new")); err != nil {
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
