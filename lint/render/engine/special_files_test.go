//go:build unix

package engine

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/schedlint/schedlint/lint/render"
)

// TestSpecialFiles builds with kinds of files that a txtar archive cannot contain.
func TestSpecialFiles(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(dir string) error
		want string
	}{
		{"pipe", func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "r/a.yaml"), 0o600) }, "not a regular file"},
		{"link out", func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "r/a.yaml")) }, "outside the repository"},
		{"relative link out", func(dir string) error {
			return os.Symlink("../../../../../../etc/passwd", filepath.Join(dir, "r/a.yaml"))
		}, "outside the repository"},
		{"link to git", func(dir string) error { return os.Symlink("../.git/config", filepath.Join(dir, "r/a.yaml")) }, "into .git"},
		{"dangling link", func(dir string) error { return os.Symlink("nowhere", filepath.Join(dir, "r/a.yaml")) }, "does not exist"},
		{"huge", func(dir string) error {
			f, err := os.Create(filepath.Join(dir, "r/a.yaml"))
			if err != nil {
				return err
			}
			defer f.Close()
			return f.Truncate(100 << 20)
		}, "104857600 bytes"},
		{"directory", func(dir string) error { return os.Mkdir(filepath.Join(dir, "r/a.yaml"), 0o755) }, "no kustomization.yaml"},
		{"unreadable", func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "r/a.yaml"), []byte("\x00\xff\xfe"), 0o600)
		}, "a.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := repository(t, "-- r/kustomization.yaml --\nresources:\n- a.yaml\n-- .git/config --\nsecret\n")
			if err := c.make(dir); err != nil {
				t.Skip(err)
			}
			p := problem(t, dir, "r")
			if p.File != "r/kustomization.yaml" || p.Line != 2 || !strings.Contains(p.Detail, c.want) {
				t.Errorf("got %v, want %s", p, c.want)
			}
		})
	}
	t.Run("kustomization is a directory", func(t *testing.T) {
		dir := repository(t, "-- r/kustomization.yaml/x --\n")
		if p := problem(t, dir, "r"); !strings.Contains(p.Detail, "has no kustomization") {
			t.Error(p)
		}
	})
	t.Run("kustomization is a link out", func(t *testing.T) {
		dir := repository(t, "-- r/x --\n")
		if err := os.Symlink("/etc/passwd", filepath.Join(dir, "r/kustomization.yaml")); err != nil {
			t.Skip(err)
		}
		if p := problem(t, dir, "r"); p.Kind != render.Refused {
			t.Error(p)
		}
	})
	t.Run("links within", func(t *testing.T) {
		dir := repository(t, "-- base/kustomization.yaml --\nresources: [../files/a.yaml]\n-- files/b.yaml --\n"+small)
		for link, to := range map[string]string{"files/a.yaml": "b.yaml", "r": "base"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Skip(err)
			}
		}
		out := Build(rootOf(dir, "r"), nonce)
		verify(t, dir, "r", out)
		if got := placed(out, "a: b"); got != "files/b.yaml:6" {
			t.Error(got)
		}
	})
}
