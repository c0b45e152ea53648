package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestInside(t *testing.T) {
	for path, name := range map[string]string{"/r/a": "a", "/r": ".", "/r/..env/a": "..env/a", "/r/../x": "", "/rest/a": "", "/": "", "/r/a/../../x": ""} {
		got, ok := Below(filepath.FromSlash("/r"), filepath.FromSlash(path))
		if filepath.ToSlash(got) != name || ok != (name != "") || Inside(filepath.FromSlash("/r"), filepath.FromSlash(path)) != ok {
			t.Errorf("%s: %q, %v, expected %q", path, got, ok, name)
		}
	}
	for name, want := range map[string]bool{"a/b": true, "..env/a": true, "a/../b": true, ".": true, "..": false, "../a": false, "a/../../b": false, "/a": false, "": false} {
		if Local(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}

// TestLookup checks which files and directories names refer to.
func TestLookup(t *testing.T) {
	top := checkout(t, map[string]string{
		"repo/.git/config": "secret",
		"repo/a/b.txt":     "x",
		"repo/link":        "->a",
		"repo/away":        "->..",
		"repo/loop":        "->loop",
		"repo/git":         "->.git",
		"again":            "->repo",
	})
	l := NewLookup(filepath.Join(top, "again"))
	if l.Root() != filepath.Join(top, "repo") {
		t.Errorf("the root is %s", l.Root())
	}
	for name, want := range map[string]struct {
		name    string
		outside bool
	}{
		"a":           {"a", false},
		".":           {".", false},
		"a/../a/":     {"a", false},
		"link/b.txt":  {"a/b.txt", false},
		"nowhere":     {"", false},
		"loop":        {"", false},
		"a/b.txt/c":   {"", false},
		"..":          {"", true},
		"a/../../x":   {"", true},
		"away":        {"", true},
		"away/repo/a": {"a", false},
		".git/config": {"", true},
		"git/config":  {"", true},
		"/etc":        {"", true},
	} {
		for range 2 {
			e := l.Entry(name)
			if e.Name != want.name || e.Outside != want.outside || (e.Info != nil) != (want.name != "") {
				t.Errorf("%s: %+v, want %+v", name, e, want)
			}
		}
	}
}

// TestReader checks that a single Reader returns the same as a new Reader for each file, in any
// order.
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
