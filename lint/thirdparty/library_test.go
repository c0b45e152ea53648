package thirdparty

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// library writes a folder of copies below a new root. It returns the library of a lock that lists
// all of them.
func library(t *testing.T, files map[string]string, entries ...Entry) *Library {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, files)
	folder, err := os.OpenRoot(filepath.Join(root, Dir))
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for i := range entries {
		if entries[i].SHA256, err = Digest(folder.FS(), entries[i].Path); err != nil {
			t.Fatal(err)
		}
		entries[i].Resolved = "1"
	}
	write(t, root, map[string]string{LockName: string(New(entries).Text())})
	l, err := Open(root, Dir)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(root, Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefuse checks that a copy is used only if it is what was locked.
func TestRefuse(t *testing.T) {
	const commit = "git/example.com/o/r@0123"
	l := library(t, map[string]string{
		"charts/a-1.tgz": "a", "charts/b-1.tgz": "b", "charts/c-1.tgz": "c", "charts/free.tgz": "d",
		commit + "/base/k.yaml": "k", commit + "/over/k.yaml": "k",
	}, Entry{Name: "a", Path: "charts/a-1.tgz"}, Entry{Name: "b", Path: "charts/b-1.tgz"}, Entry{Name: "c", Path: "charts/c-1.tgz"},
		Entry{Name: "base", Path: commit + "/base"}, Entry{Name: "repository", Path: commit})
	if why, _ := l.Refuse("third_party/charts/a-1.tgz"); why != "" {
		t.Error(why)
	}
	write(t, l.Root, map[string]string{"charts/b-1.tgz": "changed", commit + "/over/k.yaml": "changed"})
	if err := os.Remove(filepath.Join(l.Root, "third_party/charts/c-1.tgz")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"charts/a-1.tgz": "", "charts/free.tgz": "", "elsewhere": "",
		"charts/b-1.tgz": "third_party/charts/b-1.tgz differs from the lock, run schedlint vendor",
		"charts/c-1.tgz": "third_party/charts/c-1.tgz is missing, run schedlint vendor",
		commit + "/base": "third_party/" + commit + "/base differs from the lock, run schedlint vendor",
		commit:           "third_party/" + commit + " differs from the lock, run schedlint vendor",
	} {
		if why, changed := l.Refuse("third_party/" + name); why != want || changed != strings.Contains(want, "differs") {
			t.Errorf("%s: %q, want %q", name, why, want)
		}
	}
	if why, _ := (*Library)(nil).Refuse("third_party/charts/b-1.tgz"); why != "" {
		t.Error(why)
	}
	write(t, l.Root, map[string]string{"charts/a-1.tgz": "changed"})
	if why, _ := l.Refuse("third_party/charts/a-1.tgz"); why != "" {
		t.Error("a copy is compared twice in a run:", why)
	}
	if why, changed := l.At(l.Root, "main").Refuse("third_party/charts/a-1.tgz"); !changed || !strings.Contains(why, "differs from the lock of main, run") {
		t.Error(why, changed)
	}
	if why, changed := l.At(l.Root, "main").Refuse("third_party/" + commit); changed || why == "" {
		t.Error("a directory can have more of its commit:", why)
	}
	if why, changed := l.At(l.Root, "main").Refuse("third_party/charts/c-1.tgz"); changed || why == "" {
		t.Error(why, changed)
	}
}

// TestLinkedFolder checks that copies are not read through a link.
func TestLinkedFolder(t *testing.T) {
	l := library(t, map[string]string{"a.tgz": "a"}, Entry{Name: "a", Path: "a.tgz"})
	if err := os.Symlink(Dir, filepath.Join(l.Root, "link")); err != nil {
		t.Skip("no links here:", err)
	}
	l.Folder = "link"
	if why, changed := l.Refuse("link/a.tgz"); !strings.Contains(why, "symbolic link") || !changed {
		t.Error(why)
	}
	if _, err := Open(l.Root, "link"); err == nil {
		t.Error("the lock is read through a link")
	}
}

// TestOpenMistakes checks that an unusable lock is an error and a missing one is not.
func TestOpenMistakes(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if l, err := Open(root, Dir); l != nil || err != nil {
		t.Error(l, err)
	}
	write(t, root, map[string]string{LockName: "{"})
	if _, err := Open(root, Dir); err == nil || !strings.Contains(err.Error(), LockName+": expected the lock") {
		t.Error(err)
	}
}

// TestRemotes checks which addresses of the lock count beside those of the configuration.
func TestRemotes(t *testing.T) {
	var entries []Entry
	for _, name := range []string{
		"https://charts.example.com/a@1", "https://charts.example.com/b@1", "https://charts.example.com/b@2",
		"oci://example.com/c@1", "https://git.example.com/d.git@main", "https://git.example.com/e//base?ref=v1",
	} {
		entries = append(entries, Entry{name, "x", "1", zeros})
	}
	l := &Library{Lock: New(entries), Root: "/r", Folder: Dir}
	explicit := map[string]string{
		"https://charts.example.com/a/": "a", "https://charts.example.com/b@2": "b", "example.com/c@1": "c", "https://git.example.com/d": "d",
	}
	want := maps.Clone(explicit)
	for _, name := range []string{"https://charts.example.com/b@1", "https://git.example.com/e//base?ref=v1"} {
		want[name] = "third_party/x"
	}
	if got := l.Remotes(explicit); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if got := (*Library)(nil).Remotes(explicit); !maps.Equal(got, explicit) {
		t.Errorf("%v", got)
	}
	if got := l.Remotes(nil); len(got) != len(entries) {
		t.Errorf("%v", got)
	}
}
