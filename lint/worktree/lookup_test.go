package worktree

import (
	"path/filepath"
	"testing"
)

// TestLookup checks what names refer to.
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
