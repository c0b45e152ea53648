//go:build ci

package workload

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/schedlint/schedlint/lint/source"
)

// TestPatchesOfTheCorpus reads a base that is a patch although nothing marks it as one: its
// kustomization adds the selector and the labels.
func TestPatchesOfTheCorpus(t *testing.T) {
	path := filepath.Join("..", "..", "..", "shared", "corpus", "kubernetes-sigs__metrics-server", "manifests", "base", "deployment.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range loadSet(t, string(text)).Skipped {
		if k.Reason != source.SkipPatch {
			t.Errorf("got %+v", k)
		}
	}
}
