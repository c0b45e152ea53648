//go:build ci

package source

import "testing"

// corpus is a directory with manifests of other projects. Only .ci/run provides it.
const corpus = "../../../shared/corpus"

func TestCorpusPlacesOfFiles(t *testing.T) { placesOfFiles(t, corpus) }

func TestCorpusAsKubectl(t *testing.T) { filesAsKubectl(t, corpus) }

func TestCorpusIsReadAsTheParserDoes(t *testing.T) { readAsParser(t, corpus, 7) }

func TestCorpusFolds(t *testing.T) {
	if n := folds(t, corpus); n < 700 {
		t.Errorf("%d objects can be read again", n)
	}
}
