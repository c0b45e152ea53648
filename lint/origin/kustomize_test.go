//go:build ci

package origin_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// kustomize returns the path of a kustomize binary with the version in .ci/kustomize. It exists
// only in .ci/run, so that only tests with the build tag ci use it.
func kustomize(t *testing.T) string {
	t.Helper()
	path := os.Getenv("SCHEDLINT_KUSTOMIZE")
	if path == "" {
		t.Fatal("SCHEDLINT_KUSTOMIZE names no kustomize")
	}
	return path
}

func render(path, dir string, args ...string) ([]byte, error) {
	cmd := exec.Command(path, append([]string{"build"}, args...)...)
	cmd.Dir = dir
	return cmd.Output()
}

// TestRenderedByKustomize compares the outputs in the scripts with those of kustomize.
// SCHEDLINT_UPDATE=1 rewrites them.
func TestRenderedByKustomize(t *testing.T) {
	path := kustomize(t)
	for dir, calls := range unpack(t) {
		if err := os.Chmod(filepath.Join(dir, "shop", "make.sh"), 0o755); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, b := range calls {
			got, err := render(path, dir, append(strings.Fields(b.flags), b.root)...)
			if err != nil {
				t.Errorf("%s: %s: %v", b.script, b.root, err)
				continue
			}
			want, err := os.ReadFile(filepath.Join(dir, b.file))
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case bytes.Equal(got, want):
			case os.Getenv("SCHEDLINT_UPDATE") != "":
				rewrite(t, b, got)
			default:
				t.Errorf("%s: %s is not what kustomize build %s prints:\n%s", b.script, b.file, b.root, got)
			}
		}
	}
}

// TestCorpusPlaces builds kustomizations of other projects, which are next to the checkout, and
// locates the fields of their output.
func TestCorpusPlaces(t *testing.T) {
	corpus, err := filepath.Abs("../../../shared/corpus")
	if err != nil {
		t.Fatal(err)
	}
	path := kustomize(t)
	found, err := filepath.Glob(filepath.Join(corpus, "*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("%d projects: %v", len(found), err)
	}
	for _, project := range found {
		var roots []string
		dir := t.TempDir()
		filepath.WalkDir(project, func(at string, d os.DirEntry, err error) error {
			if err == nil && strings.EqualFold(strings.TrimSuffix(strings.TrimSuffix(d.Name(), ".yaml"), ".yml"), "kustomization") {
				roots = append(roots, filepath.Dir(at))
			}
			return nil
		})
		if len(roots) == 0 {
			continue
		}
		if err := os.CopyFS(dir, os.DirFS(project)); err != nil {
			t.Fatal(err)
		}
		for _, root := range roots {
			root, err := filepath.Rel(project, root)
			if err != nil {
				t.Fatal(err)
			}
			checkBuild(t, path, dir, root)
		}
	}
}

// checkBuild builds a kustomization through another one that turns on origin annotations.
func checkBuild(t *testing.T, path, dir, root string) {
	t.Helper()
	above := filepath.Join(dir, "with-origins")
	text := "resources: [../" + filepath.ToSlash(root) + "]\nbuildMetadata: [originAnnotations]\n"
	if err := os.MkdirAll(above, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(above, "kustomization.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	rendered, err := render(path, dir, "with-origins")
	if err != nil { // a component, or a kustomization that needs the network
		return
	}
	n := checkRendered(t, dir, "with-origins", rendered)
	t.Logf("%s: %d places, %d of them the very one", root, n.places, n.exact)
}

func rewrite(t *testing.T, b build, text []byte) {
	t.Helper()
	archive, err := txtar.ParseFile(b.script)
	if err != nil {
		t.Fatal(err)
	}
	for i := range archive.Files {
		if archive.Files[i].Name == b.file {
			archive.Files[i].Data = text
		}
	}
	if err := os.WriteFile(b.script, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
