package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestReader checks that one reader for all files returns the same as a new reader for each, in
// any order.
func TestReader(t *testing.T) {
	top := checkout(t, map[string]string{
		"repo/.git/config": "secret", "repo/a/b.txt": "b", "repo/a/c.txt": "cc", "repo/a/d/e.txt": "",
		"repo/link": "->a", "repo/a/away.txt": "->../../out.txt", "repo/a/near.txt": "->b.txt", "out.txt": "out", "repo/large.txt": "123456",
	})
	root := filepath.Join(top, "repo")
	names := []string{"a/b.txt", "a/c.txt", "a/d/e.txt", "a/b.txt", "a/../a/c.txt", "link/b.txt", "a/away.txt", "a/near.txt",
		".git/config", "../out.txt", "a/d", "a", ".", "large.txt", "none.txt", "none/b.txt", "a/b.txt"}
	r := NewReader(root)
	defer r.Close()
	for _, name := range names {
		text, err := r.ReadFile(name, 5)
		want, wantErr := ReadFile(root, name, 5)
		if string(text) != string(want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: %q %v, want %q %v", name, text, err, want, wantErr)
		}
		if on, _ := os.ReadFile(filepath.Join(root, name)); err == nil && string(on) != string(text) {
			t.Errorf("%s: %q, want %q", name, text, on)
		}
	}
	for name, want := range map[string]string{"a/c.txt": "cc", "a/d/e.txt": ""} {
		if text, err := r.ReadFile(name, 5); err != nil || string(text) != want || cap(text) != len(want)+1 {
			t.Errorf("%s: %q %v with room for %d", name, text, err, cap(text))
		}
	}
	for _, name := range []string{"a/away.txt", "a/near.txt", "link/b.txt", ".git/config", "../out.txt", "a", ".", "large.txt"} {
		if text, err := r.ReadFile(name, 5); err == nil {
			t.Errorf("%s is read: %q", name, text)
		}
	}
}
