//go:build ci

package engine

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// TestCorpus renders every kustomization in the projects next to the checkout, or in the
// repositories in the subdirectories of SCHEDLINT_CORPUS, and prints statistics.
func TestCorpus(t *testing.T) {
	corpus := os.Getenv("SCHEDLINT_CORPUS")
	if corpus == "" {
		corpus = "../../../../shared/corpus"
	}
	corpus, err := filepath.EvalSymlinks(corpus)
	if err != nil {
		t.Fatal(err)
	}
	repositories, err := os.ReadDir(corpus)
	if err != nil {
		t.Fatal(err)
	}
	var sum figures
	for _, r := range repositories {
		if r.IsDir() {
			sum.repository(t, filepath.Join(corpus, r.Name()))
		}
	}
	t.Logf("%d kustomizations: %d rendered, %d components, %d without a result (%d of them rendered by kustomize)", sum.roots, sum.rendered, sum.components, sum.failed, sum.missed)
	t.Logf("%d objects, %d with their document; %d scalars, %d marked", sum.objects, sum.known, sum.scalars, sum.marked)
	if sum.roots == 0 || sum.missed > 0 {
		t.Error("there is nothing to render, or too little is rendered")
	}
}

type figures struct{ roots, rendered, components, failed, missed, objects, known, scalars, marked int }

func (s *figures) repository(t *testing.T, dir string) {
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && slices.Contains(konfig.RecognizedKustomizationFileNames(), d.Name()) {
			rel, _ := filepath.Rel(dir, filepath.Dir(path))
			s.root(t, dir, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func (s *figures) root(t *testing.T, confinement, dir string) {
	out := Build(rootOf(confinement, dir), nonce)
	s.roots++
	if text, _ := os.ReadFile(filepath.Join(confinement, dir, "kustomization.yaml")); strings.Contains(string(text), "kind: Component") {
		s.components++
		return
	}
	if out.Problem != nil {
		s.failed++
		t.Logf("%s: %s: %v", filepath.Base(confinement), out.Problem.Kind, out.Problem)
		if out.Problem.Kind == "failed" {
			if _, err := plain(filepath.Join(confinement, dir)); err == nil {
				s.missed++
				t.Errorf("%s: kustomize renders it", dir)
			}
		}
		return
	}
	verify(t, confinement, dir, out)
	s.rendered++
	s.marked += len(out.Marks)
	doc, err := parse(out.Text)
	if err != nil {
		t.Fatal(err)
	}
	for i, root := range doc.docs {
		s.objects++
		s.scalars += scalarsIn(root)
		if out.Documents[i].File >= 0 {
			s.known++
		}
	}
}

// scalarsIn counts the scalars that are values.
func scalarsIn(n *yaml.Node) int {
	if n.Kind == yaml.ScalarNode {
		return 1
	}
	sum := 0
	for i, child := range n.Content {
		if n.Kind == yaml.SequenceNode || i%2 == 1 {
			sum += scalarsIn(child)
		}
	}
	return sum
}
