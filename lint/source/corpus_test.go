//go:build ci

package source

import "testing"

// corpus is manifests of other projects. Only .ci/run has them.
const corpus = "../../../shared/corpus"

func TestCorpusPlacesOfFiles(t *testing.T) { placesOfFiles(t, corpus) }

func TestCorpusAsKubectl(t *testing.T) { filesAsKubectl(t, corpus) }
