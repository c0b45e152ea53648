package revision

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/schedlint/schedlint/fixtures/trials"
)

// everything accepts every file.
func everything(string) bool { return true }

// gitRaw runs git with the given input and returns its output.
func gitRaw(t *testing.T, stdin []byte, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// rawTree creates a tree object that git itself would not create.
func rawTree(t *testing.T, entries ...[3]string) string {
	t.Helper()
	var raw []byte
	for _, e := range entries {
		id, err := hex.DecodeString(e[2])
		if err != nil {
			t.Fatal(err)
		}
		raw = append(append(raw, e[0]+" "+e[1]+"\x00"...), id...)
	}
	return gitRaw(t, raw, "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
}

// TestHostileTrees unpacks trees with names and links that lead outside, and checks that nothing
// is written outside of the temporary directory.
func TestHostileTrees(t *testing.T) {
	dir := trials.InGit(t, map[string]string{"a.yaml": "a: 1\n"}, "a.yaml")
	t.Setenv("TMPDIR", t.TempDir())
	outside := filepath.Join(dir, "..", "owned.yaml")
	blob := gitRaw(t, []byte("b: 2\n"), "hash-object", "-w", "--stdin")
	link := gitRaw(t, []byte(dir), "hash-object", "-w", "--stdin")
	sub := rawTree(t, [3]string{"100644", "owned.yaml", blob})
	for name, tree := range map[string]string{
		"a name that leads up":     rawTree(t, [3]string{"100644", "../owned.yaml", blob}),
		"a directory that does":    rawTree(t, [3]string{"40000", "..", sub}),
		"an absolute name":         rawTree(t, [3]string{"100644", outside, blob}),
		"a directory and a link":   rawTree(t, [3]string{"120000", "x", link}, [3]string{"40000", "x", sub}),
		"a link and a directory":   rawTree(t, [3]string{"40000", "x", sub}, [3]string{"120000", "x", link}),
		"a name that comes twice":  rawTree(t, [3]string{"100644", "x.yaml", blob}, [3]string{"120000", "x.yaml", link}),
		"a file in place of a dir": rawTree(t, [3]string{"100644", "x", blob}, [3]string{"40000", "x", sub}),
	} {
		unpacked, err := Unpack(dir, tree, everything)
		if err == nil {
			t.Errorf("%s: unpacked", name)
			unpacked.Remove()
		}
		for _, path := range []string{outside, filepath.Join(dir, "owned.yaml")} {
			if _, err := os.Lstat(path); err == nil {
				t.Fatalf("%s: %s is there", name, path)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "schedlint-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestUnpack unpacks files, links and unusual names. It checks that no program named in the
// configuration runs and that the work tree stays unchanged.
func TestUnpack(t *testing.T) {
	dir := trials.InGit(t, map[string]string{
		"a.yaml": "a: 1\n", "deep/er/b.yml": "\r\nb", "odd \"name\"\n.yaml": "", "other.txt": "x", ".gitattributes": "* filter=evil\n", "evil": "#!/bin/sh\ntouch ran\ncat\n",
	})
	if err := os.Symlink("deep", "link"); err != nil {
		t.Fatal(err)
	}
	trials.Git(t, "add", "-A")
	trials.Git(t, "commit", "-q", "-m", "x")
	for _, key := range []string{"core.fsmonitor", "core.pager", "filter.evil.smudge", "filter.evil.process", "core.gitProxy"} {
		trials.Git(t, "config", key, filepath.Join(dir, "evil"))
	}
	if err := os.RemoveAll("deep"); err != nil {
		t.Fatal(err)
	}
	unpacked, err := Unpack(dir, "HEAD", func(name string) bool { return filepath.Ext(name) != ".txt" })
	if err != nil {
		t.Fatal(err)
	}
	defer unpacked.Remove()
	for name, want := range map[string]string{"a.yaml": "a: 1\n", "deep/er/b.yml": "\r\nb", "odd \"name\"\n.yaml": "", "link/er/b.yml": "\r\nb"} {
		if text, err := os.ReadFile(filepath.Join(unpacked.Dir, name)); err != nil || string(text) != want {
			t.Errorf("%q: %q, %v", name, text, err)
		}
	}
	if unpacked.Has("other.txt") {
		t.Error("a file that is not wanted is there")
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("a program of the tree has been run")
	}
	if _, err := os.Stat("deep"); err == nil {
		t.Error("the work tree has changed")
	}
}

// TestMissingObjects unpacks a tree from an incomplete clone.
func TestMissingObjects(t *testing.T) {
	dir := trials.InGit(t, map[string]string{"a.yaml": "a: 1\n"}, "a.yaml")
	trials.Git(t, "commit", "-q", "-m", "x")
	id := gitRaw(t, nil, "rev-parse", "HEAD:a.yaml")
	if err := os.Remove(filepath.Join(".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	if _, err := Unpack(dir, "HEAD", everything); err == nil || !strings.Contains(err.Error(), "fetch the revision as a whole") {
		t.Errorf("%v", err)
	}
}

// TestTreeOutside checks that no repository outside of the work tree is read, whatever a submodule
// is called and whatever has replaced it since.
func TestTreeOutside(t *testing.T) {
	other := trials.InGit(t, map[string]string{"secret.yaml": "a: 1\n"}, "secret.yaml")
	trials.Git(t, "commit", "-q", "-m", "x")
	head := gitRaw(t, nil, "rev-parse", "HEAD")
	dir := trials.InGit(t, map[string]string{"a.yaml": "a: 1\n"}, "a.yaml")
	up, err := filepath.Rel(dir, other)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{up, "x/../" + up, other} {
		if unpacked, err := Unpack(dir, rawTree(t, [3]string{"160000", name, head}), everything); err == nil || !strings.Contains(err.Error(), "the tree has a file named") {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				unpacked.Remove()
			}
		}
	}
	for link, name := range map[string]string{"r": "r", "way": "way/" + filepath.Base(other)} {
		to := map[string]string{"r": other, "way": filepath.Dir(other)}[link]
		if err := os.Symlink(to, link); err != nil {
			t.Skip("no links here:", err)
		}
		tree := rawTree(t, [3]string{"160000", name, head})
		unpacked, err := Unpack(dir, tree, everything)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if unpacked.Has(filepath.Join(name, "secret.yaml")) {
			t.Errorf("%s: a repository elsewhere is read", name)
		}
		unpacked.Remove()
	}
}

// TestBareInTree checks that a directory that looks like a bare repository is not used as one.
func TestBareInTree(t *testing.T) {
	dir := trials.InGit(t, map[string]string{"a.yaml": "a: 1\n"}, "a.yaml")
	trials.Git(t, "init", "-q", "--bare", "evil.d")
	trials.Git(t, "-C", "evil.d", "config", "core.worktree", dir)
	if err := os.WriteFile("evil.d/b.yaml", []byte("b: 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	trials.Git(t, "--git-dir=evil.d", "--work-tree=.", "add", "-f", "evil.d/b.yaml")
	if names, err := Files(filepath.Join(dir, "evil.d")); err == nil && slices.ContainsFunc(names, func(s string) bool { return strings.HasSuffix(s, "b.yaml") }) {
		t.Errorf("the index of the directory counts: %q", names)
	}
}

// TestWarnings checks that a revision that makes git print a warning is an error.
func TestWarnings(t *testing.T) {
	dir := trials.InGit(t, map[string]string{"a.yaml": "a: 1\n"}, "a.yaml")
	trials.Git(t, "commit", "-q", "-m", "x")
	trials.Git(t, "branch", "twice")
	trials.Git(t, "tag", "twice")
	trials.Git(t, "branch", "once")
	for revision, want := range map[string]string{
		"HEAD@{2001-01-01}":         "git warns: log for 'HEAD' only goes back to ",
		"HEAD@{2001-01-01 00:00}~0": "git warns: log for 'HEAD' only goes back to ",
		"twice":                     "git warns: refname 'twice' is ambiguous: name a commit",
		"once":                      "",
		"refs/heads/twice":          "",
		"HEAD@{0}":                  "",
		"HEAD@{9}":                  "only has 1 entries",
	} {
		_, err := ID(dir, revision)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", revision, err, want)
		}
	}
}

// TestLargeBlobs unpacks trees with blobs that compress well. A blob that is too large must not be
// read or take disk space, and must be refused as in the work tree.
func TestLargeBlobs(t *testing.T) {
	trials.Large(t)
	dir := trials.InGit(t, map[string]string{"a.yaml": "a: 1\n"}, "a.yaml")
	blob := func(size int64) string {
		path := filepath.Join(t.TempDir(), "zeros")
		if err := errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, size)); err != nil {
			t.Fatal(err)
		}
		return gitRaw(t, nil, "-c", "core.compression=1", "hash-object", "-w", "--no-filters", path)
	}
	small, large := gitRaw(t, []byte("b: 2\n"), "hash-object", "-w", "--stdin"), blob(maxBlob+5)
	unpacked, err := Unpack(dir, rawTree(t, [3]string{"100644", "a.yaml", small}, [3]string{"100644", "b.yaml", large}, [3]string{"100644", "c.yaml", small}), everything)
	if err != nil {
		t.Fatal(err)
	}
	defer unpacked.Remove()
	for name, want := range map[string]int64{"a.yaml": 5, "b.yaml": maxBlob + 1, "c.yaml": 5} {
		if info, err := os.Stat(filepath.Join(unpacked.Dir, name)); err != nil || info.Size() != want {
			t.Errorf("%s: %v, want %d bytes", name, err, want)
		}
	}
	if _, err := Unpack(dir, rawTree(t, [3]string{"120000", "a", blob(maxLink + 1)}), everything); err == nil || !strings.Contains(err.Error(), "expected at most 4096") {
		t.Errorf("%v", err)
	}
	all := make([]treeEntry, 17)
	full := blob(maxBlob)
	for i := range all {
		all[i] = treeEntry{"100644", "blob", full, "x.yaml"}
	}
	if _, _, err := bySize(dir, all); err == nil || !strings.Contains(err.Error(), "larger than 1024 MiB in all") {
		t.Errorf("%v", err)
	}
}
