package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWalkInputs checks that Walk lists files by name and stops at a limit.
func TestWalkInputs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/Kustomization", "a/x.txt", "b/Kustomization", ".c/Kustomization", "d/e/Kustomization"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for most, want := range map[int]string{9: "a/Kustomization b/Kustomization d/e/Kustomization false", 8: "a/Kustomization b/Kustomization true", 4: "a/Kustomization true"} {
		all, over, err := Walk(Options{Dir: dir, Root: dir}, []string{".", "a"}, most, IsKustomizationFile)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, in := range all {
			names = append(names, in.Name)
		}
		if got := strings.Join(append(names, fmt.Sprint(over)), " "); got != want {
			t.Errorf("%d: %s, want %s", most, got, want)
		}
	}
	if _, _, err := Walk(Options{Dir: dir, Root: dir}, []string{"gone"}, 9, isManifest); err == nil || err.Error() != `reading "gone": no such file or directory` {
		t.Errorf("%v", err)
	}
}
