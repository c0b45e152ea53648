package revision

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// TestFetch fetches branches, tags and commits of a repository on this machine, and reads their
// files. Nothing is checked out, and no hook runs.
func TestFetch(t *testing.T) {
	dir := trials.InGit(t, map[string]string{"a.yaml": "a: 1\n"}, "a.yaml")
	trials.Git(t, "commit", "-q", "-m", "x")
	first := gitRaw(t, nil, "rev-parse", "HEAD")
	trials.Git(t, "tag", "-a", "-m", "t", "v1")
	trials.Git(t, "commit", "-q", "--allow-empty", "-m", "y")
	second := gitRaw(t, nil, "rev-parse", "HEAD")
	trials.Git(t, "branch", "next")
	t.Setenv("TMPDIR", t.TempDir())
	s, err := NewStore(true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Remove()
	url := "file://" + filepath.ToSlash(dir)
	refs, err := s.Refs(url)
	if err != nil || refs[0] != (Ref{"HEAD", second}) {
		t.Fatalf("%+v, %v", refs, err)
	}
	for revision, want := range map[string]string{"": second, "v1": first, "next": second, "refs/heads/next": second} {
		ref, err := Find(refs, revision)
		if err != nil || ref.Commit != want {
			t.Fatalf("%q: %+v, %v, want %s", revision, ref, err, want)
		}
		if err := s.Fetch(url, ref.Name, ref.Commit); err != nil {
			t.Fatalf("%q: %v", revision, err)
		}
		tree, err := Unpack(s.Dir, ref.Commit, everything)
		if err != nil {
			t.Fatalf("%q: %v", revision, err)
		}
		if text, err := os.ReadFile(filepath.Join(tree.Dir, "a.yaml")); string(text) != "a: 1\n" {
			t.Errorf("%q: %q, %v", revision, text, err)
		}
		tree.Remove()
	}
	if err := s.Fetch(url, first, first); err != nil {
		t.Error(err)
	}
	if err := s.Fetch(url, "refs/heads/next", first); err == nil || !strings.Contains(err.Error(), "run again") {
		t.Error(err)
	}
	if _, err := Find(refs, "none"); err == nil {
		t.Error("found a ref that is not there")
	}
	s.Local = false
	for _, url := range []string{url, dir, "http://127.0.0.1:1/x", "ext::sh -c true", "git://127.0.0.1:1/x"} {
		if _, err := s.Refs(url); err == nil || !strings.Contains(err.Error(), "not allowed") {
			t.Errorf("%s: %v", url, err)
		}
	}
	s.Remove()
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}
