package worktree

import (
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
