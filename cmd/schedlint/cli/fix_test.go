package cli

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/lint"
)

// TestWriteFilesGoesOn checks that an error for one file does not prevent writing the others, and
// that errors name the files relative to the working directory.
func TestWriteFilesGoesOn(t *testing.T) {
	dir := t.TempDir()
	var files []lint.FixedFile
	for _, name := range []string{"a.yaml", "b.yaml"} {
		files = append(files, lint.FixedFile{Name: name, Path: filepath.Join(dir, name), Before: []byte("old"), After: []byte("fixed")})
		if err := os.WriteFile(filepath.Join(dir, name), []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(files[0].Path, []byte("other"), 0o644); err != nil {
		t.Fatal(err)
	}
	written, err := writeFiles(dir, files)
	if err == nil || err.Error() != "--fix: replace a.yaml: has changed since it was read" {
		t.Errorf("error %v", err)
	}
	if len(written) != 1 || written[0].Name != "b.yaml" {
		t.Errorf("written: %v", written)
	}
	for path, want := range map[string]string{files[0].Path: "other", files[1].Path: "fixed"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s holds %q, want %q: %v", path, text, want, err)
		}
	}
}

// TestUnifiedApplies applies diffs of many texts with git and patch. The result must be the second
// text.
func TestUnifiedApplies(t *testing.T) {
	tools := map[string][]string{"git": {"apply", "in.diff"}, "patch": {"-p1", "--binary", "-i", "in.diff"}}
	for tool, args := range tools {
		t.Run(tool, func(t *testing.T) {
			if _, err := exec.LookPath(tool); err != nil {
				t.Skip(err)
			}
			random := rand.New(rand.NewPCG(1, 2))
			for _, name := range []string{"web.yaml", "a dir/some file.yaml", `odd "name".yaml`, `back\slash.yaml`, "ü 世界.yaml", "tab\there.yaml"} {
				for range 6 {
					before, after := texts(random)
					applyDiff(t, name, before, after, exec.Command(tool, args...))
				}
			}
		})
	}
}

// texts returns a random file before and after an edit: the line count is the same, but some lines
// change.
func texts(random *rand.Rand) (before, after string) {
	end := []string{"\n", "\r\n"}[random.IntN(2)]
	lines := 1 + random.IntN(40)
	changed := random.IntN(lines)
	for i := range lines {
		line := fmt.Sprintf("key%d: värde\t%d", random.IntN(5), random.IntN(3))
		other := line
		if i == changed || random.IntN(6) == 0 {
			other += " 世界"
		}
		if i < lines-1 || random.IntN(2) == 0 {
			line, other = line+end, other+end
		}
		before, after = before+line, after+other
	}
	return before, after
}

// applyDiff applies a diff with another program.
func applyDiff(t *testing.T, name, before, after string, cmd *exec.Cmd) {
	t.Helper()
	var diff bytes.Buffer
	unified(&diff, name, []byte(before), []byte(after))
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(cmd.Dir), "HOME="+cmd.Dir)
	path := filepath.Join(cmd.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for at, text := range map[string]string{path: before, filepath.Join(cmd.Dir, "in.diff"): diff.String()} {
		if err := os.WriteFile(at, []byte(text), fs.FileMode(0o644)); err != nil {
			t.Fatal(err)
		}
	}
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s\n%s", name, err, said, diff.String())
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != after {
		t.Errorf("%s: got %q, want %q: %v", name, text, after, err)
	}
}

// TestFixFollowsNoLink checks that a file is not written if one of its parent directories has
// become a symbolic link since the file was read.
func TestFixFollowsNoLink(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"repo/.git", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	outside := filepath.Join(dir, "elsewhere", "web.yaml")
	if err := os.WriteFile(outside, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../elsewhere", filepath.Join(dir, "repo", "apps")); err != nil {
		t.Skip("no links here:", err)
	}
	root := filepath.Join(dir, "repo")
	_, err := writeFiles(root, []lint.FixedFile{{Name: "apps/web.yaml", Path: filepath.Join(root, "apps", "web.yaml"), Before: []byte("old"), After: []byte("new")}})
	if err == nil || err.Error() != "--fix: apps/web.yaml: apps is a symbolic link" {
		t.Errorf("error %v", err)
	}
	if text, _ := os.ReadFile(outside); string(text) != "old" {
		t.Errorf("it holds %q", text)
	}
}
