package vendored

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree writes files into a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rules")
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFolders checks that a folder is copied in the same way as an archive, and that links are
// refused.
func TestFolders(t *testing.T) {
	dir := tree(t, map[string]string{"web/rule.rego": "x", "README.md": "r", ".git/config": "secret", "go.mod": "m"})
	s, err := Open(dir)
	if err != nil || len(s.Files) != 2 || strings.Join(s.Left, " ") != ".git/ go.mod" || s.Given != "rules" || s.Archive != "" {
		t.Errorf("%+v, %v", s, err)
	}
	if err := os.Symlink("rule.rego", filepath.Join(dir, "web", "link.rego")); err != nil {
		t.Skip(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), `"web/link.rego": found a symbolic link`) {
		t.Error(err)
	}
}

// TestWriteAndCheck checks that a written folder matches its lock, and that every change is
// reported.
func TestWriteAndCheck(t *testing.T) {
	s, err := Open(tree(t, map[string]string{"web/rule.rego": "a\nb\n", "web/fixtures/bad/app.yaml": "y", "LICENSE": "l"}))
	if err != nil {
		t.Fatal(err)
	}
	const shown = "policy/acme"
	for want, change := range map[string]func(dir string) error{
		"": func(string) error { return nil },
		"policy/acme/web/rule.rego: the file has changed: expected the SHA-256 ": func(dir string) error { return os.WriteFile(dir+"/web/rule.rego", []byte("c"), 0o644) },
		"policy/acme/web/rule.rego: only the line endings differ":                func(dir string) error { return os.WriteFile(dir+"/web/rule.rego", []byte("a\r\nb\r\n"), 0o644) },
		"policy/acme/LICENSE: the file is missing":                               func(dir string) error { return os.Remove(dir + "/LICENSE") },
		"policy/acme/more.rego: " + LockName + " does not list this file":        func(dir string) error { return os.WriteFile(dir+"/more.rego", nil, 0o644) },
		"policy/acme/.x/more.rego: " + LockName + " does not list": func(dir string) error {
			return errorOf(os.Mkdir(dir+"/.x", 0o755), os.WriteFile(dir+"/.x/more.rego", nil, 0o644))
		},
		"policy/acme/web/fixtures/bad/.b.yaml: " + LockName + " does not list": func(dir string) error { return os.WriteFile(dir+"/web/fixtures/bad/.b.yaml", nil, 0o644) },
		"policy/acme/" + LockName + ": expected the lock of vendored rules":    func(dir string) error { return os.WriteFile(dir+"/"+LockName, []byte("{"), 0o644) },
		"policy/acme/" + LockName + ": the digest is not that of the files": func(dir string) error {
			text, err := os.ReadFile(dir + "/" + LockName)
			return errorOf(err, os.WriteFile(dir+"/"+LockName, bytes.Replace(text, []byte("LICENSE"), []byte("LICENCE"), 1), 0o644))
		},
	} {
		dir := filepath.Join(t.TempDir(), "policy", "acme")
		if err := s.Write(dir, false); err != nil {
			t.Fatal(err)
		}
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		locked, errs := CheckDir(dir, shown)
		if len(locked) != 1 || (want == "") != (len(errs) == 0) || want != "" && !strings.HasPrefix(errs[0].Error(), want) {
			t.Errorf("%v, %v; want %q", locked, errs, want)
		}
		err := s.Write(dir, false)
		if (err == nil) != (want == "") {
			t.Errorf("writing again: %v", err)
		}
		if err := s.Write(dir, true); err != nil {
			t.Error(err)
		}
		if _, errs := CheckDir(dir, shown); len(errs) > 0 {
			t.Error(errs)
		}
		if left, _ := filepath.Glob(filepath.Dir(dir) + "/.*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

func errorOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestPartOfVendored checks that a folder inside a vendored folder is checked together with the
// whole vendored folder.
func TestPartOfVendored(t *testing.T) {
	s, err := Open(tree(t, map[string]string{"web/rule.rego": "x", "lib.rego": "y"}))
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	put(t, filepath.Join(top, ".git", "HEAD"), "")
	dir := filepath.Join(top, "acme")
	if err := s.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "lib.rego"), "z")
	locked, errs := CheckDir(filepath.Join(dir, "web"), "acme/web")
	if len(locked) != 1 || locked[0] != "acme" || len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), "acme/lib.rego: the file has changed") {
		t.Errorf("%v, %v", locked, errs)
	}
	if Home(top) != "" {
		t.Error(Home(top))
	}
}

// TestNeverReplaced checks that a folder with other content is never replaced, even with force, and
// that a link on the way to it is refused in a work tree.
func TestNeverReplaced(t *testing.T) {
	s, err := Open(tree(t, map[string]string{"web/rule.rego": "x"}))
	if err != nil {
		t.Fatal(err)
	}
	top := t.TempDir()
	put(t, filepath.Join(top, ".git", "HEAD"), "")
	put(t, filepath.Join(top, "own", "rule.rego"), "own")
	put(t, filepath.Join(top, "file"), "f")
	outside := t.TempDir()
	for name, want := range map[string]string{
		"own":           "the folder has no " + LockName,
		"file":          "expected a folder, or nothing",
		"file/acme":     "not a directory",
		".git/hooks":    "expected a folder of its own",
		"link/acme":     "link is a symbolic link",
		"policy/a/b/ok": "",
	} {
		if strings.HasPrefix(name, "link") && os.Symlink(outside, filepath.Join(top, "link")) != nil {
			continue
		}
		for _, forced := range []bool{false, true} {
			err := s.Write(filepath.Join(top, name), forced)
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
	if text, err := os.ReadFile(filepath.Join(top, "own", "rule.rego")); err != nil || string(text) != "own" {
		t.Errorf("%s, %v", text, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
	put(t, filepath.Join(top, "policy/a/b/ok/notes.txt"), "mine")
	if err := s.Write(filepath.Join(top, "policy/a/b/ok"), false); err == nil || !strings.Contains(err.Error(), "notes.txt: the file is not vendored") {
		t.Error(err)
	}
}

// TestFailedWrite checks that the previous content remains if the new files cannot be written.
func TestFailedWrite(t *testing.T) {
	s, err := Open(tree(t, map[string]string{"web/rule.rego": "x"}))
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "acme")
	if err := s.Write(dir, false); err != nil {
		t.Fatal(err)
	}
	broken := &Source{Given: "y", Files: []File{{"a", []byte("a")}, {"a/b.rego", []byte("b")}}}
	if err := broken.Write(dir, false); err == nil {
		t.Fatal("a file that is a folder is written")
	}
	if _, errs := CheckDir(dir, "acme"); len(errs) > 0 {
		t.Error(errs)
	}
	var all []string
	err = fs.WalkDir(os.DirFS(filepath.Dir(dir)), ".", func(name string, _ fs.DirEntry, err error) error {
		all = append(all, name)
		return err
	})
	if got := strings.Join(all, " "); err != nil || got != ". acme acme/"+LockName+" acme/web acme/web/rule.rego" {
		t.Errorf("%s, %v", got, err)
	}
}
