package lint_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// renderRoots lists the directories to render in each folder of fixtures/renders.
var renderRoots = map[string][]string{
	"ha-chart":     {"manifests/ha/namespace-install"},
	"component":    {"overlays/release-ha"},
	"overlay":      {"prod"},
	"chart":        {"app"},
	"two-overlays": {"overlays/eu", "overlays/us"},
	"replacements": {"overlay"},
	"one-base":     {"overlays/a", "overlays/b", "overlays/c"},
}

// renderFixtures returns the folders of fixtures/renders.
func renderFixtures(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("../fixtures/renders/*")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d folders: %v", len(all), err)
	}
	return all
}

// TestRenderFixtures renders typical repositories, and checks that each finding is on the line that
// a person would change and that findings of several renders are one result.
func TestRenderFixtures(t *testing.T) {
	folders := renderFixtures(t)
	if len(folders) != len(renderRoots) {
		t.Errorf("%d folders, roots of %d", len(folders), len(renderRoots))
	}
	for _, dir := range folders {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var topology []string
			if _, err := os.Stat(filepath.Join(dir, "nodes.yaml")); err == nil {
				topology = []string{"nodes.yaml"}
			}
			roots := renderRoots[filepath.Base(dir)]
			report, err := runRendering(t, roots, "", nil, dir, topology)
			if err != nil {
				t.Fatal(err)
			}
			report.Merge()
			texts := textsBelow(t, dir)
			compareAll(t, texts, report)
			for _, d := range report.Diagnostics {
				if len(d.Renders) == 0 && d.Rule != "render-refused" {
					t.Errorf("%s names no render", d.Rule)
				}
			}
		})
	}
}

// textsBelow returns all files below a directory.
func textsBelow(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all[name], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRenderFixturesExpect checks that fixtures that render have comments that the tests read:
// without one, a fixture would check nothing.
func TestRenderFixturesExpect(t *testing.T) {
	for _, dir := range renderFixtures(t) {
		wants := 0
		for name, text := range textsBelow(t, dir) {
			read := expectations(t, text)
			wants += len(read)
			if lines := strings.Count(string(text), "# want") + strings.Count(string(text), "# because"); lines > 0 && lines > len(read) {
				t.Errorf("%s/%s: %d comments, %d of them are read", dir, name, lines, len(read))
			}
		}
		if wants == 0 {
			t.Errorf("%s wants nothing", dir)
		}
		if roots := renderRoots[filepath.Base(dir)]; slices.ContainsFunc(roots, func(root string) bool { return !isDir(filepath.Join(dir, root)) }) || len(roots) == 0 {
			t.Errorf("%s: roots %v", dir, roots)
		}
	}
}
