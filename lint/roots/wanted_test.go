package roots

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestRepository splits URLs of kustomizations as kustomize does.
func TestRepository(t *testing.T) {
	for text, want := range map[string]string{
		"https://github.com/org/repo//base/x?ref=v1.2":             "https://github.com/org/repo base/x v1.2",
		"https://github.com/org/repo/base/x?ref=v1.2&timeout=30s":  "https://github.com/org/repo base/x v1.2",
		"https://github.com/org/repo":                              "https://github.com/org/repo . ",
		"https://github.com/org/repo.git/base?version=main":        "https://github.com/org/repo.git base main",
		"https://git.example.com/a/b/c.git//base":                  "https://git.example.com/a/b/c.git base ",
		"github.com/org/repo/base?ref=main":                        "https://github.com/org/repo base main",
		"github.com:org/repo/base?ref=main":                        "https://github.com/org/repo base main",
		"git::https://git.example.com/org/repo.git//base?ref=1":    "https://git.example.com/org/repo.git base 1",
		"git@github.com:org/repo//base?ref=main":                   "git@github.com:org/repo base main",
		"ssh://git@git.example.com:22/org/repo.git//base":          "ssh://git@git.example.com:22/org/repo.git base ",
		"https://user@dev.azure.com/org/project/_git/repo/base/x":  "https://user@dev.azure.com/org/project/_git/repo base/x ",
		"file:///srv/repo.git//base?ref=main":                      "file:///srv/repo.git base main",
		"https://github.com/org/repo//../../x":                     "https://github.com/org/repo ../../x ",
		"https://example.com/crds.yaml":                            "file",
		"https://github.com/org/repo/releases/download/v1/all.yml": "file",
		"https://":     "https:// . ",
		"git@host":     "git@host . ",
		"https://x?%z": "https://x . ",
	} {
		w := repository(text)
		got := fmt.Sprintf("%s %s %s", w.URL, w.Path, w.Ref)
		if w.Plain {
			got = "file"
		}
		if got != want || w.Name != text || w.Git == w.Plain {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestDependencies checks that the lock of a chart decides on versions, and that charts/ and local
// charts are left out.
func TestDependencies(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a/Chart.yaml": `
name: a
dependencies:
- {name: redis, version: ^1, repository: "https://charts.example.com/"}
- {name: cache, version: 2.x, repository: "oci://ghcr.io/x"}
- {name: here, version: 1.0.0, repository: "https://charts.example.com"}
- {name: packed, version: 1.0.0, repository: "https://charts.example.com"}
- {name: local, version: 1.0.0, repository: "file://../local"}
- {name: bare, version: 1.0.0}
`,
		"a/Chart.lock":             `dependencies: [{name: redis, version: 1.7.2, repository: "https://charts.example.com/"}]`,
		"a/charts/here/Chart.yaml": "name: here",
		"a/charts/packed-1.0.tgz":  "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := ""
	for _, w := range Dependencies(dir, "a") {
		got += fmt.Sprintf("%s (%s:%d)\n", w.Name, w.File, w.Line)
	}
	want := "https://charts.example.com/redis@1.7.2 (a/Chart.yaml:4)\noci://ghcr.io/x/cache@2.x (a/Chart.yaml:5)\n"
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
