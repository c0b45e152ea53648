package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// checkout creates a work tree. A value that begins with -> is the target of a link, and a name
// that ends in a slash is a directory.
func checkout(t *testing.T, entries map[string]string) (top string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range entries {
		path := filepath.Join(top, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		target, isLink := strings.CutPrefix(text, "->")
		switch {
		case err != nil:
		case isLink:
			err = os.Symlink(target, path)
		case strings.HasSuffix(name, "/"):
			err = os.MkdirAll(path, 0o755)
		default:
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Skip("no links here:", err)
		}
	}
	return top
}

// TestLocate checks which work tree contains a path, and the name of the path in it.
func TestLocate(t *testing.T) {
	top := checkout(t, map[string]string{
		"repo/.git/":     "",
		"repo/a/b.txt":   "x",
		"repo/out":       "->..",
		"repo/sub/.git":  "gitdir: elsewhere",
		"repo/again":     "->.",
		"way":            "->repo",
		"deep":           "->way/a",
		"up":             "->deep/../a",
		"loop":           "->loop",
		"plain/file.txt": "x",
		"aside":          "->plain/file.txt",
	})
	for _, c := range []struct{ cwd, path, root, name string }{
		{"repo", "x.txt", "repo", "x.txt"},
		{"repo/a", "../../repo/x.txt", "repo", "x.txt"},
		{"repo", "out/x.txt", "repo", "out/x.txt"},
		{"repo", "again/out/x.txt", "repo", "again/out/x.txt"}, // a .git that is reached through a link does not make a root
		{"repo", "sub/x.txt", "repo", "sub/x.txt"},
		{"repo/sub", "x.txt", "repo/sub", "x.txt"},
		{"repo/sub", "../x.txt", "repo", "x.txt"},
		{"way", "x.txt", "repo", "x.txt"}, // the working directory is resolved
		{".", "way/x.txt", "repo", "x.txt"},
		{".", "way/again/x.txt", "repo", "again/x.txt"},
		{".", "deep/b.txt", "repo", "a/b.txt"},
		{".", "up/b.txt", "repo", "a/b.txt"},
		{".", "x.txt", "", ""},
		{".", "aside", "", ""},
		{".", "nowhere/x.txt", "", ""},
		{".", "loop/x.txt", "", ""},
		{".", "repo", "", ""},
	} {
		t.Chdir(filepath.Join(top, c.cwd))
		for _, path := range []string{c.path, filepath.Join(top, c.cwd, c.path)} {
			root, name, ok := Locate(path)
			if c.root == "" && !ok {
				continue
			}
			real, _ := filepath.EvalSymlinks(root)
			if want := filepath.Join(top, c.root); !ok || real != want || filepath.ToSlash(name) != c.name {
				t.Errorf("%s in %s: %s in %s, %v; want %s in %s", path, c.cwd, name, root, ok, c.name, c.root)
			}
		}
	}
}

// TestReadFile checks that a file is read only if it is regular and there is no link on its path.
func TestReadFile(t *testing.T) {
	top := checkout(t, map[string]string{
		"secret.txt":        "secret",
		"repo/.git/config":  "secret",
		"repo/a/b.txt":      "text",
		"repo/big.txt":      strings.Repeat("x", 1<<20+1),
		"repo/inside.txt":   "->a/b.txt",
		"repo/link":         "->a",
		"repo/outside.txt":  "->../secret.txt",
		"repo/zero.txt":     "->/dev/zero",
		"repo/dangling.txt": "->nowhere",
		"repo/deep/.GIT/x":  "secret",
	})
	for name, want := range map[string]string{
		"a/b.txt":        "",
		"./a/../a/b.txt": "",
		"link/b.txt":     "link is a symbolic link",
		"inside.txt":     "inside.txt is a symbolic link",
		"outside.txt":    "outside.txt is a symbolic link",
		"zero.txt":       "zero.txt is a symbolic link",
		"dangling.txt":   "dangling.txt is a symbolic link",
		"a":              "is not a regular file",
		"a/b.txt/c":      "not a directory",
		"nowhere.txt":    "no such file",
		"../secret.txt":  "is no name of a file below the root",
		".":              "is no name of a file below the root",
		".git/config":    "belongs to git",
		"deep/.GIT/x":    "belongs to git",
		"big.txt":        "is larger than 1 MiB",
	} {
		text, err := ReadFile(filepath.Join(top, "repo"), name, 1<<20)
		checked := Check(filepath.Join(top, "repo"), name, 1<<20)
		switch {
		case want == "":
			if err != nil || checked != nil || string(text) != "text" {
				t.Errorf("%s: %q, %v, %v", name, text, err, checked)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v, want %s", name, err, want)
		case checked == nil || checked.Error() != err.Error():
			t.Errorf("%s: %v where it is checked, %v where it is read", name, checked, err)
		case strings.Contains(err.Error(), top):
			t.Errorf("%s: %v has the way to the root", name, err)
		}
	}
}

// TestSwapped checks that an opened directory stays in use even if a link replaces it in the
// meantime.
func TestSwapped(t *testing.T) {
	top := checkout(t, map[string]string{"repo/.git/": "", "repo/a/b.txt": "text", "elsewhere/b.txt": "secret"})
	spot, err := At(filepath.Join(top, "repo"), "a/b.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer spot.Close()
	if err := errors.Join(os.Rename(filepath.Join(top, "repo/a"), filepath.Join(top, "repo/old")), os.Symlink("../elsewhere", filepath.Join(top, "repo/a"))); err != nil {
		t.Skip(err)
	}
	if text, err := spot.Dir.ReadFile(spot.Name); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	var link *LinkError
	if _, err := At(filepath.Join(top, "repo"), "a/b.txt"); !errors.As(err, &link) || link.Name != "a" {
		t.Errorf("%v", err)
	}
}
